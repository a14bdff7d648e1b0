//! Runs the claims for each subject, as a test harness does.

#![expect(clippy::print_stdout, reason = "says which claims hold, as a test harness does")]

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::scene::Scene;
use super::subjects::Subject;
use super::{environments, single_tests};
use crate::skipped;

/// What came of a claim that did not fail: it holds, or why it was not arguments.
pub(super) type Held = Result<(), String>;

/// A name and what to check.
pub(super) type Claim = (&'static str, fn(&Scene<'_>) -> Held);

/// The claims of a file.
macro_rules! claims {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), $name as fn(&super::scene::Scene<'_>) -> super::claim::Held)),*]
    };
}
pub(super) use claims;

/// Every claim; the last one looks at what all others left.
fn all() -> Vec<Claim> {
    [
        single_tests::DISCOVERY,
        single_tests::OUTCOMES,
        environments::ORDER,
        environments::STATE,
        single_tests::MEASURING,
        environments::ENDINGS,
        single_tests::LAST_OF_ALL,
    ]
    .concat()
}

/// Check the claims that the command line asks for, for each subject.
///
/// Arguments are those of the usual harness: parts of names (`pytest::a_crash`), `--skip`,
/// `--exact` and `--list`.
#[must_use]
pub fn check(subjects: &[Subject]) -> ExitCode {
    let arguments = HarnessArguments::read(std::env::args().skip(1));
    // Much of the time goes by in waiting for tests that hang: the subjects share the cores.
    let workers = match arguments.is_list {
        true => 1,
        false => std::thread::available_parallelism().map_or(1, NonZero::get).min(4),
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = || subjects.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(mine).map(|subject| check_one(subject, &arguments)).sum::<usize>()
    };
    let failed: usize = std::thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        // A worker that panics has failed, whatever it was.
        all.into_iter().map(|worker| worker.join().unwrap_or(1)).sum()
    });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The number of claims that do not hold.
fn check_one(subject: &Subject, arguments: &HarnessArguments) -> usize {
    let full = |name: &str| format!("{}::{name}", subject.name);
    let wanted: Vec<Claim> =
        all().into_iter().filter(|(name, _)| arguments.includes(&full(name))).collect();
    if arguments.is_list {
        wanted.iter().for_each(|(name, _)| println!("{}: test", full(name)));
        return 0;
    }
    if wanted.is_empty() {
        return 0;
    }
    let scene = match Scene::new(subject) {
        Ok(scene) => scene,
        Err(why) => {
            println!("test {} ... skipped: {why}", full("*"));
            skipped::note(&format!("conformance of {}", subject.name), &why);
            return 0;
        }
    };
    let begin = Instant::now();
    let held = wanted.iter().filter(|(name, check)| holds(&scene, &full(name), *check)).count();
    println!("{}: {held} of {} in {:.0?}\n", subject.name, wanted.len(), begin.elapsed());
    wanted.len() - held
}

/// Check one claim and say what came of it.
fn holds(scene: &Scene<'_>, name: &str, check: fn(&Scene<'_>) -> Held) -> bool {
    scene.notes.forget();
    let begin = Instant::now();
    let held = catch_unwind(AssertUnwindSafe(|| check(scene)));
    let word = match &held {
        Ok(Ok(())) => "ok".to_owned(),
        Ok(Err(why)) => format!("not asked: {why}"),
        Err(_) => "FAILED".to_owned(),
    };
    println!("test {name} ... {word} ({:.1?})", begin.elapsed());
    held.is_ok()
}

/// What the command line asks for.
#[derive(Debug, Default)]
struct HarnessArguments {
    is_list: bool,
    is_exact: bool,
    is_ignored_only: bool,
    skipped: Vec<String>,
    names: Vec<String>,
}

impl HarnessArguments {
    /// Read the arguments of the usual harness, of which most change nothing here.
    fn read(mut typed: impl Iterator<Item = String>) -> Self {
        let mut arguments = Self::default();
        while let Some(argument) = typed.next() {
            match argument.as_str() {
                "--list" => arguments.is_list = true,
                "--exact" => arguments.is_exact = true,
                "--ignored" => arguments.is_ignored_only = true,
                "--skip" => arguments.skipped.extend(typed.next()),
                "--color" | "--format" | "--logfile" | "--shuffle-seed" | "--test-threads"
                | "-Z" => drop(typed.next()),
                option if option.starts_with('-') => {}
                _ => arguments.names.push(argument),
            }
        }
        arguments
    }

    fn includes(&self, name: &str) -> bool {
        let fits = |it: &String| if self.is_exact { name == it } else { name.contains(it) };
        let is_named = self.names.is_empty() || self.names.iter().any(fits);
        is_named && !self.skipped.iter().any(fits) && !self.is_ignored_only
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(arguments: &[&str]) -> HarnessArguments {
        HarnessArguments::read(arguments.iter().map(|&it| it.to_owned()))
    }

    #[test]
    fn names_are_parts_unless_they_are_exact() {
        assert!(typed(&["crash"]).includes("pytest::a_crash"));
        assert!(!typed(&["--exact", "crash"]).includes("pytest::a_crash"));
        assert!(!typed(&["--skip", "pytest"]).includes("pytest::a_crash"));
        assert!(!typed(&["--test-threads", "1", "hang"]).includes("pytest::a_crash"));
    }
}
