//! Commands that show a failure again, as the user would type them.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering;

use flakeproof_core::TestId;

use super::Session;
use super::launch::hash_seed_of_main;
use crate::adapter::LONGEST_COMMAND;
use crate::shell::shell;

/// The user's command for one test alone.
pub(super) fn for_one(session: &Session, test: &TestId) -> String {
    let mut words = without_selectors(session);
    words.extend(in_one_worker(session));
    words.push(typed(session, test));
    let names_move = session.names_move.load(Ordering::Relaxed);
    with_seed(shell(&words), hash_seed_of_main(session).filter(|_| names_move))
}

/// The same with this hash seed.
pub(super) fn for_one_with_seed(session: &Session, test: &TestId, seed: u32) -> String {
    let mut words = without_selectors(session);
    words.extend(in_one_worker(session));
    words.push(typed(session, test));
    with_seed(shell(&words), Some(seed))
}

/// The user's command for some tests in this order; `None` where nobody would type it, or where
/// pytest would not obey: it runs a test that is named twice once.
pub(super) fn for_order(session: &Session, order: &[TestId]) -> Option<String> {
    let is_repeating = order.iter().collect::<HashSet<_>>().len() < order.len();
    if order.is_empty() || is_repeating {
        return None;
    }
    let mut words = without_selectors(session);
    words.extend(in_one_worker(session));
    words.extend(session.collected.get()?.collected.for_order.iter().cloned());
    words.extend(order.iter().map(|test| typed(session, test)));
    Some(shell(&words)).filter(|command| command.chars().count() <= LONGEST_COMMAND)
}

/// What makes pytest-xdist run the tests one after another where it would share them among workers:
/// one of them, so that tests see a worker as they did here.
fn in_one_worker(session: &Session) -> Vec<String> {
    let asked = session.collected.get().and_then(|project| project.collected.workers.as_ref());
    asked.map_or_else(Vec::new, |_| vec!["-n".to_owned(), "1".to_owned()])
}

/// The user's command without the files, folders and ids that it names.
fn without_selectors(session: &Session) -> Vec<String> {
    let collected = session.collected.get().map(|project| &project.collected);
    let mut words = session.settings.command.clone();
    for selector in collected.map(|collected| &collected.selectors).into_iter().flatten() {
        // The last one: an option's value may read the same, but stands before it as a rule.
        if let Some(at) = words.iter().rposition(|word| word == selector) {
            words.remove(at);
        }
    }
    without_reports(words, &[])
}

/// A command without the options that write a report or ask for coverage: to see a failure again must not
/// overwrite the report of the run, nor fail for want of coverage.
fn without_reports(words: Vec<String>, selectors: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if !(word.starts_with("--junit") || word.starts_with("--cov")) {
            kept.push(word);
            continue;
        }
        // `--cov` can stand without its value; all others cannot.
        let has_value =
            |next: &String| word != "--cov" || !(next.starts_with('-') || selectors.contains(next));
        let is_flag = matches!(word.as_str(), "--cov-append" | "--cov-branch");
        if !word.contains('=') && !is_flag && words.peek().is_some_and(has_value) {
            words.next();
        }
    }
    kept
}

/// A test as an argument of the user's command.
fn typed(session: &Session, test: &TestId) -> String {
    let root = session.collected.get().map_or("", |project| &*project.collected.root);
    as_typed_in(&session.settings.folder, Path::new(root), test.as_str())
}

/// The user's command, with the hash seed of this run if the user left it to chance.
pub(super) fn for_all(session: &Session) -> String {
    let collected = session.collected.get().map(|project| &project.collected);
    let selectors = collected.map(|collected| collected.selectors.as_slice()).unwrap_or_default();
    let words = without_reports(session.settings.command.clone(), selectors);
    with_seed(shell(&words), hash_seed_of_main(session))
}

fn with_seed(command: String, seed: Option<u32>) -> String {
    match seed {
        Some(seed) => format!("PYTHONHASHSEED={seed} {command}"),
        None => command,
    }
}

/// The words of a command that may change what a test does: not which tests are selected, and not
/// how results are shown or where they are written. How pytest is started counts: `python -W error
/// -m pytest` is another matter than `pytest`.
pub(super) fn options(command: &[String], selectors: &[String]) -> Vec<String> {
    let start = command.iter().position(|word| word.ends_with("pytest")).map_or(0, |at| at + 1);
    let mut options = command[..start].to_vec();
    let mut words = command[start..].iter();
    while let Some(word) = words.next() {
        if word == "-k" || word == "-m" {
            words.next();
        } else if !selectors.contains(word) && !is_without_effect(word) {
            options.push(word.clone());
        }
    }
    options
}

/// Whether an option only says how results are shown or kept, or when to stop. In doubt it does
/// not: `-qWerror` makes errors of warnings.
fn is_without_effect(option: &str) -> bool {
    const LONG: [&str; 12] = [
        "--color",
        "--deselect",
        "--durations",
        "--exitfirst",
        "--failed-first",
        "--ff",
        "--last-failed",
        "--lf",
        "--maxfail",
        "--no-header",
        "--quiet",
        "--tb",
    ];
    if option.starts_with("--") {
        let name = option.split('=').next().unwrap_or(option);
        let is_of_a_report = name.starts_with("--cov") || name.starts_with("--junit");
        return is_of_a_report || LONG.contains(&name);
    }
    // `-r` takes the rest of the word; the others are letters that can stand together.
    option.strip_prefix('-').is_some_and(|letters| {
        let before_r = letters.split('r').next().unwrap_or(letters);
        !letters.is_empty() && before_r.chars().all(|letter| matches!(letter, 'q' | 'v' | 'x'))
    })
}

/// A test's id as an argument: ids are relative to the root, arguments to the current folder.
fn as_typed_in(folder: &Path, root: &Path, id: &str) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let Ok(below) = folder.strip_prefix(root) else {
        return root.join(id).to_string_lossy().into_owned();
    };
    if below.as_os_str().is_empty() {
        return id.to_owned();
    }
    let prefix = format!("{}/", below.display());
    match id.strip_prefix(&prefix) {
        Some(short) => short.to_owned(),
        None => root.join(id).to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_and_looks_are_no_options_that_matter() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let command = words("python -m pytest -q -k slow -W error tests/unit --tb=short");
        let matters = words("python -m pytest -W error");
        assert_eq!(options(&command, &words("tests/unit")), matters);
    }

    #[test]
    fn a_command_that_shows_a_failure_again_writes_no_report() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (typed, shown) in [
            ("pytest -q --junitxml=out.xml tests", "pytest -q tests"),
            ("pytest --junit-xml out.xml -x tests", "pytest -x tests"),
            ("pytest --cov tests", "pytest tests"),
            ("pytest --cov shop tests --cov-report term --cov-branch -x", "pytest tests -x"),
            ("pytest --cov=shop --cov-fail-under 80 tests", "pytest tests"),
        ] {
            assert_eq!(without_reports(words(typed), &words("tests")), words(shown), "{typed}");
        }
    }

    #[test]
    fn how_pytest_and_its_interpreter_are_started_matters() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let strict = words("python -W error -m pytest");
        assert_ne!(options(&strict, &[]), options(&words("python -m pytest"), &[]));
        for (word, matters) in
            [("-qWerror", true), ("-vvx", false), ("-rfE", false), ("-qr", false), ("--tbx", true)]
        {
            assert_eq!(!is_without_effect(word), matters, "{word}");
        }
    }

    #[test]
    fn an_id_is_written_from_where_the_command_runs() {
        let typed = |folder: &str, id| as_typed_in(Path::new(folder), Path::new("/p"), id);
        assert_eq!(typed("/p", "t/test_a.py::x"), "t/test_a.py::x");
        assert_eq!(typed("/p/t", "t/test_a.py::x"), "test_a.py::x");
        assert_eq!(typed("/p/t", "u/test_a.py::x"), "/p/u/test_a.py::x");
        assert_eq!(typed("/q", "t/test_a.py::x"), "/p/t/test_a.py::x");
    }
}
