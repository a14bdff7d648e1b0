//! What must be the same for a hunt to go on: the code, the suite, what they run on, and what
//! models say about it.

use std::collections::HashSet;

use flakeproof_core::{Suite, Surroundings};
use flakeproof_detect::hunt::Strategy;

use crate::session::Code;

/// Digests of the code, the suite and what they run on, and of the hunt's strategy if there is one
/// does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Fingerprint(Vec<String>);

impl Fingerprint {
    /// The fingerprint of what is about to run.
    ///
    /// Tests write files, and a hunt runs many: of what git does not track only code counts.
    pub(in crate::commands) fn of(code: &Code, suite: &Suite, surroundings: &Surroundings) -> Self {
        let tracked = code.repository.as_ref().ok().and_then(|it| it.tracked_files().ok());
        let tracked: HashSet<String> = tracked.unwrap_or_default();
        let is_code = |path: &str| tracked.contains(path) || path.ends_with(".py");
        let mut of_code = vec![code.tree.revision.clone().unwrap_or_default()];
        for (path, content) in code.tree.edited.iter().filter(|(path, _)| is_code(path)) {
            of_code.extend([path.clone(), content.clone()]);
        }
        let of_suite = suite.tests.iter().map(|test| test.id.as_str());
        let runtime = surroundings.runtime.iter().map(String::as_str);
        Self(vec![
            digest(of_code.iter().map(String::as_str)),
            digest(of_suite),
            digest(runtime.chain([surroundings.packages.as_str()])),
        ])
    }

    /// The same for a hunt with this strategy.
    pub(super) fn with_strategy(mut self, strategy: &Strategy) -> Self {
        self.0.push(match strategy {
            Strategy::Off => String::new(),
            // Every digit of every number is in what it says about itself.
            Strategy::Cannier(_) | Strategy::Plan(_) => {
                digest([format!("{strategy:?}").as_str()].into_iter())
            }
        });
        self
    }

    /// As one word, to be kept.
    pub(in crate::commands) fn text(&self) -> String {
        self.0.join(":")
    }

    /// What is not as it was when the fingerprint was kept; `None` if everything is.
    pub(in crate::commands) fn changed_since(&self, kept: &str) -> Option<&'static str> {
        let names = [
            "the code changed since",
            "the suite has other tests since",
            "the runtime or the installed packages changed since",
            "the models, the measured features or the base of `--diff` changed since",
        ];
        let mut kept = kept.split(':');
        let mut parts = self.0.iter().zip(names);
        parts.find(|(now, _)| kept.next().unwrap_or_default() != now.as_str()).map(|(_, what)| what)
    }
}

fn digest<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flakeproof_core::{SuiteTest, TreeState};
    use flakeproof_detect::hunt::Candidates;

    use super::*;

    fn of(edited: &[(&str, &str)], tests: &[&str], packages: &str) -> Fingerprint {
        let pairs = edited.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned()));
        let tree = TreeState { edited: pairs.collect::<BTreeMap<_, _>>(), ..TreeState::default() };
        let code = Code { repository: Err("no git".into()), tree };
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        let suite = Suite { tests: tests.iter().map(test).collect(), problems: Vec::new() };
        let surroundings = Surroundings { packages: packages.into(), ..Surroundings::default() };
        Fingerprint::of(&code, &suite, &surroundings)
    }

    #[test]
    fn what_changed_is_named() {
        let kept = of(&[("a.py", "1")], &["x", "y"], "p").text();
        let changed = |now: Fingerprint| now.changed_since(&kept);
        assert_eq!(changed(of(&[("a.py", "1")], &["x", "y"], "p")), None);
        let code = changed(of(&[("a.py", "2")], &["x", "y"], "p"));
        assert_eq!(code, Some("the code changed since"));
        let suite = changed(of(&[("a.py", "1")], &["xy"], "p"));
        assert_eq!(suite, Some("the suite has other tests since"));
        assert!(changed(of(&[("a.py", "1")], &["x", "y"], "q")).is_some());
    }

    #[test]
    fn a_hunt_with_other_models_is_another_hunt() {
        let chosen = |candidates| {
            Strategy::Cannier(Candidates { victims: candidates, ..Candidates::default() })
        };
        let now = |strategy: &Strategy| of(&[], &["x"], "p").with_strategy(strategy);
        let kept = now(&chosen(Some(vec![true]))).text();
        assert_eq!(now(&chosen(Some(vec![true]))).changed_since(&kept), None);
        let other = now(&chosen(Some(vec![false]))).changed_since(&kept);
        assert!(other.is_some_and(|what| what.contains("models")), "{other:?}");
        assert_eq!(of(&[], &["x"], "p").changed_since(&kept), None, "who asks only about code");
        let without = of(&[], &["x"], "p").text();
        assert_eq!(now(&Strategy::Off).changed_since(&without), None);
    }

    #[test]
    fn what_tests_write_is_not_code() {
        let kept = of(&[], &["x"], "p").text();
        assert_eq!(of(&[("counter.txt", "1")], &["x"], "p").changed_since(&kept), None);
    }
}
