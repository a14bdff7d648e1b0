//! The court: small projects in five languages, each with the verdict that it must get.
//!
//! The cases are Markdown files in `examples/court`, one folder per runner; its README says how to
//! write one. Each day a part of them is heard, within `DAYS` days all, and with
//! `FLAKEPROOF_WHOLE_CAMPAIGNS=1` all at once. `COURT_ONLY=pytest/decimal cargo test -p flakeproof --test
//! court` hears only cases whose name has that text (or one of several, with commas), `COURT_PROGRAM`
//! names another program to be judged, and with `COURT_KEEP` the projects stay under `target/tmp/court`.

#![expect(clippy::print_stdout, reason = "says how long each case takes, with `--nocapture`")]

mod case;
mod scene;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use case::Case;
use flakeproof_testkit::{campaign, node, python, skipped};
use scene::Tools;

/// The runners whose cases are heard, and the language of their projects.
const RUNNERS: [(&str, &str); 8] = [
    ("cargo", "Rust"),
    ("go", "Go"),
    ("jest", "JavaScript"),
    ("maven", "Java"),
    ("mocha", "JavaScript"),
    ("node", "JavaScript"),
    ("pytest", "Python"),
    ("vitest", "JavaScript"),
];

/// After so many days every case was heard: all of them take longer than all other tests together.
const DAYS: usize = 7;

/// How many cases are heard at a time: each starts processes of its own.
const AT_A_TIME: usize = 2;

#[test]
fn pytest_gets_the_verdicts_it_must() {
    let packages = [python::USUAL.as_slice(), &["setuptools==80.9.0"]].concat();
    hear("pytest", || {
        let python = python::with("python3", &packages)?;
        let programs = python.parent().map(Path::to_path_buf).into_iter().collect();
        Ok(Tools { path: programs, modules: None, has_own_home: true })
    });
}

#[test]
fn go_test_gets_the_verdicts_it_must() {
    hear("go", || needs(&[["go", "version"]]));
}

#[test]
fn cargo_test_gets_the_verdicts_it_must() {
    hear("cargo", || needs(&[["cargo", "--version"]]));
}

#[test]
fn maven_gets_the_verdicts_it_must() {
    hear("maven", || needs(&[["mvn", "-version"], ["javac", "-version"]]));
}

#[test]
fn node_test_gets_the_verdicts_it_must() {
    hear("node", || needs(&[["node", "--version"]]));
}

#[test]
fn jest_gets_the_verdicts_it_must() {
    hear("jest", || with_modules(node::JEST));
}

#[test]
fn mocha_gets_the_verdicts_it_must() {
    hear("mocha", || with_modules(node::MOCHA));
}

#[test]
fn vitest_gets_the_verdicts_it_must() {
    hear("vitest", || with_modules("vitest@3"));
}

#[test]
fn at_least_sixty_cases_in_five_languages_are_heard() {
    let folders = std::fs::read_dir(shelf()).expect("the cases are there");
    let folders = folders.filter_map(|entry| Some(entry.ok()?.path())).filter(|it| it.is_dir());
    let found: BTreeSet<String> =
        folders.filter_map(|it| Some(it.file_name()?.to_string_lossy().into_owned())).collect();
    let heard: BTreeSet<String> = RUNNERS.iter().map(|(runner, _)| (*runner).to_owned()).collect();
    assert_eq!(found, heard, "every folder has its test");
    let languages: BTreeSet<&str> = RUNNERS.iter().map(|(_, language)| *language).collect();
    assert_eq!(languages.len(), 5);
    let cases: usize = RUNNERS.iter().map(|(runner, _)| cases(runner).len()).sum();
    assert!(cases >= 60, "{cases} cases");
}

/// Hear the cases of a runner that are due, and fail with all that is wrong; a runner that is not on
/// this machine is noted as skipped.
fn hear(runner: &str, tools: impl FnOnce() -> Result<Tools, String>) {
    let cases = due(cases(runner));
    if cases.is_empty() {
        return;
    }
    let tools = match tools() {
        Ok(tools) => tools,
        Err(why) => return skipped::note(&format!("the court of {runner}"), &why),
    };
    let waiting = Mutex::new(cases.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(path) = next(&waiting) {
                    let _seat = Seat::take();
                    let begin = Instant::now();
                    let heard = hear_one(path, &tools);
                    println!("{:6.1} s  {}", begin.elapsed().as_secs_f64(), name(path));
                    if let Err(why) = heard {
                        let said = format!("--- {}\n{why}", name(path));
                        wrong.lock().unwrap_or_else(PoisonError::into_inner).push(said);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn hear_one(path: &Path, tools: &Tools) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let case = Case::parse(&text)?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("court").join(name(path));
    scene::hear(&case, &folder, tools).map_err(|why| format!("{}\n{why}", case.title))
}

/// The folder of all cases.
fn shelf() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/court")
}

/// The cases of a runner, in the order of their names.
fn cases(runner: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(shelf().join(runner)).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut cases: Vec<PathBuf> =
        paths.filter(|it| it.extension().is_some_and(|it| it == "md")).collect();
    cases.sort();
    cases
}

/// Those that are asked for by name, or today's.
fn due(mut cases: Vec<PathBuf>) -> Vec<PathBuf> {
    if let Ok(only) = std::env::var("COURT_ONLY") {
        cases.retain(|path| only.split(',').any(|it| name(path).contains(it)));
        return cases;
    }
    let today = campaign::today(cases.len(), cases.len().div_ceil(DAYS));
    today.into_iter().map(|at| cases[at].clone()).collect()
}

/// `RUNNER/CASE`.
fn name(path: &Path) -> String {
    let part = |part: Option<&std::ffi::OsStr>| {
        part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let runner = part(path.parent().and_then(Path::file_name));
    format!("{runner}/{}", part(path.file_stem()))
}

/// A package of Node and its programs: `npx` would take as long to start as they do.
fn with_modules(package: &str) -> Result<Tools, String> {
    let modules = node::modules(&[package])?;
    Ok(Tools { path: vec![modules.join(".bin")], modules: Some(modules), ..Tools::default() })
}

/// No tools but what is installed, or what is missing.
fn needs(programs: &[[&str; 2]]) -> Result<Tools, String> {
    for [program, version] in programs {
        if Command::new(program).arg(version).output().is_err() {
            return Err(format!("there is no `{program}`"));
        }
    }
    Ok(Tools::default())
}

fn next<'a>(waiting: &Mutex<std::slice::Iter<'a, PathBuf>>) -> Option<&'a PathBuf> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// The right to hear a case now, among all tests of this process.
struct Seat;

static TAKEN: Mutex<usize> = Mutex::new(0);
static LEFT: Condvar = Condvar::new();

impl Seat {
    fn take() -> Self {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = LEFT.wait_while(taken, |taken| *taken >= AT_A_TIME);
        *taken.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        LEFT.notify_one();
    }
}
