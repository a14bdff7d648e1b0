//! The code from before the change: where it is, what is on record about it, and running it.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flakeproof_core::{Base, Dependencies, History, Signature, TestId, TreeState};
use flakeproof_runner::Cancel;
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::git::{Checkout, NoBeginning, Repository};

use super::{ChangeSince, servers};
use crate::triage::{BaseProject, Record};

/// A base must be collected, and built where that is needed, within this time or twice the suite's.
const LONGEST_PREPARATION: Duration = Duration::from_secs(120);

/// Whether what reruns leave open is run on the code before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareBase {
    /// On what git says was there before the change.
    Auto,
    /// Not at all.
    Off,
    /// On this revision.
    Revision(String),
}

/// What is judged where that is not the whole suite.
#[derive(Debug, Clone, Copy)]
pub struct PartOfSuite<'a> {
    /// The tests of the part.
    pub part: &'a HashSet<TestId>,
    /// All tests of the suite.
    pub suite: &'a HashSet<TestId>,
}

impl PartOfSuite<'_> {
    /// The same part of another version of the suite, and why its order may not have been that one.
    fn of_base(&self, all: Vec<TestId>) -> (Vec<TestId>, Option<String>) {
        let doubt = all.iter().find(|test| !self.suite.contains(*test)).map(|gone| {
            format!("`{gone}` is there and not here, and may have run before it in this shard")
        });
        (all.into_iter().filter(|test| self.part.contains(test)).collect(), doubt)
    }
}

/// The code from before the change.
#[derive(Debug)]
pub struct BeforeTheChange<'a> {
    repository: Result<&'a Repository, String>,
    base: Result<Base, NoBeginning>,
    compare: &'a CompareBase,
    now: &'a TreeState,
}

impl<'a> BeforeTheChange<'a> {
    /// What `--compare-base` or `--base` names, or where the change began.
    pub fn new(
        repository: &'a Result<Repository, String>,
        named: Option<&str>,
        compare: &'a CompareBase,
        now: &'a TreeState,
        beginning: &Result<Base, NoBeginning>,
    ) -> Self {
        let repository = repository.as_ref().map_err(Clone::clone);
        let named = match compare {
            CompareBase::Revision(revision) => Some(revision.as_str()),
            CompareBase::Auto | CompareBase::Off => named,
        };
        let base = match named {
            Some(revision) => Ok(Base::Named { revision: revision.to_owned() }),
            None => beginning.clone(),
        };
        Self { repository, base, compare, now }
    }

    /// The revision before the change.
    ///
    /// # Errors
    /// Why there is none.
    pub fn base(&self) -> Result<(&'a Repository, Base), String> {
        let repository = self.repository.clone()?;
        let base = self.base.clone().map_err(|why| why.to_string())?;
        Ok((repository, base))
    }

    /// Why there is a change and nobody can see it, if that is so: its beginning is not known, or git does
    /// not tell what came after it.
    pub fn hidden(&self, since: &ChangeSince<'_>) -> Option<String> {
        match (&self.base, &self.repository) {
            (Err(why), _) if !why.hides_the_change() => None,
            (Err(_), Err(why)) => Some(why.clone()),
            (Err(why), Ok(_)) => Some(why.to_string()),
            (Ok(base), _) => since.facts_since(base.clone()).err(),
        }
    }

    /// How a test fared before the change, as far as it failed like this.
    pub fn record(
        &self,
        history: &dyn History,
        test: &TestId,
        signature: Option<&Signature>,
    ) -> Record {
        let (Ok((repository, base)), Ok(past)) = (self.base(), history.past_outcomes(test)) else {
            return Record::default();
        };
        let is_before = |revision: &Option<String>| {
            revision.as_ref().is_some_and(|it| repository.is_in(it, base.full_revision()))
        };
        let mut record = Record::default();
        for outcome in past.iter().filter(|it| it.is_clean && is_before(&it.revision)) {
            let fails_alike = outcome.signature.as_ref() == signature;
            match (outcome.outcome.is_failure(), outcome.verdict) {
                (false, _) => record.passes += 1,
                (true, Some(verdict)) if fails_alike && verdict.is_shown_flaky() => {
                    record.flaky.push(outcome.kind);
                }
                // The same failure was there before and was no chance: the record excuses nothing.
                (true, _) if fails_alike => return Record::default(),
                (true, _) => {}
            }
        }
        record
    }

    /// The base, checked out beside the project and collected.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn project(
        &self,
        request: &RunRequest,
        changed: Vec<String>,
        part: Option<PartOfSuite<'_>>,
    ) -> Result<BaseProject, String> {
        if *self.compare == CompareBase::Off {
            return Err(
                "running it on the code before the change would tell, and is switched off \
                        (`--compare-base auto`)"
                    .to_owned(),
            );
        }
        let (repository, base) = self.base()?;
        if self.now.revision.as_deref() == Some(base.full_revision()) && changed.is_empty() {
            return Err("nothing changed since the commit before".to_owned());
        }
        let checkout =
            repository.check_out(base.full_revision()).map_err(|error| error.to_string())?;
        let folder = request.folder.canonicalize().unwrap_or_else(|_| request.folder.clone());
        let below = folder.strip_prefix(repository.root()).unwrap_or(Path::new(""));
        if let Some(why) = code_from_elsewhere(&request.command, below, checkout.root()) {
            return Err(why);
        }
        let (canceller, cancel) = Cancel::new();
        let limit = Deadline::start(canceller, request.cancel.clone(), LONGEST_PREPARATION);
        let adapter = adapters::open(RunRequest {
            folder: checkout.root().join(below),
            is_output_shown: false,
            is_whole_suite_next: false,
            cancel,
            in_force: flakeproof_runner::levers::InForce::default(),
            ..request.clone()
        })
        .map_err(|error| format!("the base cannot be run: {error}"))?;
        let suite = adapter.discover().map_err(|error| format!("the base cannot be run: {error}"));
        limit.is_met();
        let (order, order_doubt) = match part {
            None => (suite?.ids(), None),
            Some(part) => {
                let (order, doubt) = part.of_base(suite?.ids());
                let narrowed = adapter.narrow(&order);
                narrowed.map_err(|error| format!("the base cannot be run: {error}"))?;
                (order, doubt)
            }
        };
        let head = repository.root().to_path_buf();
        let is_built_here =
            is_built_where_it_runs(&request.command) && !adapter.can().examines_servers;
        let checkout = Rc::new(checkout);
        let seen = Rc::clone(&checkout);
        let foreign_code = move |used: Option<&Dependencies>| match used {
            Some(used) => foreign_code(used, &head, &seen, &changed),
            None if is_built_here => None,
            None => Some("which code it runs there is not measured".to_owned()),
        };
        Ok(BaseProject {
            adapter,
            order,
            order_doubt,
            revision: base.revision().to_owned(),
            foreign_code: Box::new(foreign_code),
            checkout: Box::new((checkout, limit)),
        })
    }
}

/// Whether a command runs the code of its folder and nothing else of the project: what is installed
/// beside it was looked at before.
fn is_built_where_it_runs(command: &[String]) -> bool {
    let program = command.first().map(|word| word.rsplit('/').next().unwrap_or(word));
    matches!(
        program,
        Some(
            "go" | "cargo" | "node" | "npx" | "npm" | "pnpm" | "yarn" | "jest" | "vitest" | "mocha"
        )
    )
}

/// Code that an execution on the base used and that is the head's.
fn foreign_code(
    used: &Dependencies,
    head: &Path,
    checkout: &Checkout,
    changed: &[String],
) -> Option<String> {
    let of_head = |path: &&String| {
        let path = Path::new(path.as_str());
        path.starts_with(head) && !path.starts_with(checkout.root()) && !checkout.is_linked(path)
    };
    if let Some(path) = used.code.iter().chain(&used.opened).find(of_head) {
        return Some(format!("it uses {path} of the project there, not of the base"));
    }
    if let Some(why) = servers::code_of_the_change(used, changed) {
        return Some(why);
    }
    let is_outside = |path: &&String| !Path::new(path.as_str()).starts_with(checkout.root());
    let installed = used.code.iter().filter(is_outside);
    installed.into_iter().find_map(|path| {
        let copy = changed.iter().find(|changed| is_copy_of(path, changed))?;
        Some(format!("it runs {path}, an installed copy of {copy}"))
    })
}

/// Whether a file outside the project has the name of one inside: package and module.
fn is_copy_of(path: &str, changed: &str) -> bool {
    let end = |text: &str| -> String {
        let parts: Vec<&str> = text.rsplit('/').take(2).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    };
    match changed.contains('/') {
        true => {
            let without_source_folder = changed.strip_prefix("src/").unwrap_or(changed);
            match without_source_folder.contains('/') {
                true => end(path) == end(without_source_folder),
                false => path.ends_with(&format!("-packages/{without_source_folder}")),
            }
        }
        false => path.ends_with(&format!("-packages/{changed}")),
    }
}

/// Why a command on the base would use code that was built from the head, where that is known before.
fn code_from_elsewhere(command: &[String], below: &Path, root: &Path) -> Option<String> {
    // Also behind programs that only prepare what surrounds it: `env A=1 mvn test`.
    let name = |word: &String| word.rsplit('/').next().unwrap_or(word).to_owned();
    let is_maven =
        command.iter().map(name).any(|it| matches!(it.as_str(), "mvn" | "mvnw" | "mvnd"));
    if is_maven && !below.as_os_str().is_empty() {
        return Some("a module of Maven's uses its siblings from the local repository".to_owned());
    }
    let configured = std::fs::read_to_string(root.join(".mvn/maven.config")).unwrap_or_default();
    let everywhere = std::env::var("MAVEN_ARGS").unwrap_or_default();
    let words: Vec<&str> = (command.iter().map(String::as_str))
        .chain(configured.split_whitespace())
        .chain(everywhere.split_whitespace())
        .collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let begins = |word: &str, options: &[&str]| options.iter().any(|it| word.starts_with(it));
    let is_part = |word: &&str| begins(word, &["-pl", "--projects"]);
    // `-fae`, `-ff` and `-fn` say how to go on after a failure.
    let is_elsewhere = |word: &&str| {
        begins(word, &["-f", "--file", "-rf", "--resume-from"])
            && !matches!(*word, "-fae" | "-ff" | "-fn" | "--fail-fast")
    };
    let builds_siblings = has(&["-am", "--also-make"]) && !words.iter().any(is_elsewhere);
    if is_maven && words.iter().any(|it| is_part(it) || is_elsewhere(it)) && !builds_siblings {
        return Some(
            "modules that are not built (`-pl` without `-am`, `-f`, `-rf`) come from the local \
             repository"
                .to_owned(),
        );
    }
    let modules = std::fs::read_to_string(root.join(below).join("go.mod")).unwrap_or_default();
    let leaves = |line: &&str| line.split("=>").nth(1).is_some_and(|to| to.trim().starts_with('/'));
    if let Some(line) = modules.lines().find(leaves) {
        return Some(format!("go.mod takes code from elsewhere: {}", line.trim()));
    }
    None
}

/// Cancels work that takes too long, or that the user does not want any more.
struct Deadline {
    met: mpsc::Sender<()>,
}

impl Deadline {
    fn start(canceller: flakeproof_runner::Canceller, user: Cancel, limit: Duration) -> Self {
        let (met, is_met) = mpsc::channel();
        std::thread::spawn(move || {
            let step = Duration::from_millis(100);
            let mut left = limit;
            let mut has_deadline = true;
            loop {
                match is_met.recv_timeout(step) {
                    Ok(()) => has_deadline = false,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        left = left.saturating_sub(step);
                    }
                }
                if user.is_cancelled() || (has_deadline && left.is_zero()) {
                    canceller.cancel();
                    return;
                }
            }
        });
        Self { met }
    }

    /// What had to be done in time is done.
    fn is_met(&self) {
        let _ = self.met.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_copy_is_known_by_its_package_and_module() {
        let site = "/v/lib/python3.11/site-packages";
        assert!(is_copy_of(&format!("{site}/shop/cart.py"), "src/shop/cart.py"));
        assert!(is_copy_of(&format!("{site}/shop/cart.py"), "shop/cart.py"));
        assert!(is_copy_of(&format!("{site}/cart.py"), "cart.py"));
        assert!(is_copy_of(&format!("{site}/cart.py"), "src/cart.py"));
        assert!(!is_copy_of(&format!("{site}/other/cart.py"), "src/shop/cart.py"));
        assert!(!is_copy_of("/usr/lib/python3.11/cart.py", "cart.py"));
    }

    #[test]
    fn a_test_that_is_gone_casts_doubt_on_the_order_of_a_shard() {
        let ids = |names: &[&str]| names.iter().map(|name| TestId::from(*name)).collect::<Vec<_>>();
        let set = |names: &[&str]| ids(names).into_iter().collect::<HashSet<_>>();
        let (part, suite) = (set(&["b", "c", "new"]), set(&["a", "b", "c", "new"]));
        let shard = PartOfSuite { part: &part, suite: &suite };
        assert_eq!(shard.of_base(ids(&["c", "b", "a"])), (ids(&["c", "b"]), None));
        let (order, doubt) = shard.of_base(ids(&["a", "cleaner", "b"]));
        assert_eq!(order, ids(&["b"]));
        assert!(doubt.is_some_and(|why| why.contains("`cleaner`")));
    }

    #[test]
    fn siblings_from_a_local_repository_are_no_base() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let folder = tempfile::tempdir().unwrap();
        let why = |command: &str, below: &str| {
            code_from_elsewhere(&words(command), Path::new(below), folder.path())
        };
        assert!(why("mvn test -pl web", "").is_some());
        assert!(why("mvn test -pl web -am", "").is_none());
        assert!(why("mvn test", "web").is_some());
        assert!(why("mvn test", "").is_none());
        assert!(why("mvn -fae test", "").is_none());
        for hidden in [
            "env A=1 mvn test -pl web",
            "./mvnw -pl=web test",
            "mvn --projects=web test",
            "mvn -f web/pom.xml test",
            "mvn -f web/pom.xml -am test",
            "mvn test -rf :web",
        ] {
            assert!(why(hidden, "").is_some(), "{hidden}");
        }
        std::fs::create_dir(folder.path().join(".mvn")).unwrap();
        std::fs::write(folder.path().join(".mvn/maven.config"), "-pl\nweb\n").unwrap();
        assert!(why("mvn test", "").is_some());
        std::fs::write(folder.path().join("go.mod"), "replace a.b/c => /elsewhere/c\n").unwrap();
        assert!(why("go test ./...", "").is_some());
    }
}
