//! `flakeproof train jury|peeler` and `flakeproof evaluate jury|peeler`, as a user runs them.

mod bad_input;
mod evaluate;
mod shelf;
mod train;

use std::process::Command;

use flakeproof_testkit::{Project, Ran};
pub(crate) use flakeproof_testkit::{assert_says, finish};

/// A folder with the small data set.
pub(crate) fn project() -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    shelf::fill(&project);
    project
}

/// Options with which a network learns in no time.
pub(crate) const QUICK: [&str; 8] =
    ["--dimension", "8", "--hidden", "8", "--epochs", "2", "--members", "2"];

/// A command on the small data set.
pub(crate) fn command(project: &Project, verb: &str, model: &str, options: &[&str]) -> Command {
    let mut arguments = vec![verb, model, "--data", "tests.jsonl"];
    arguments.extend(options);
    project.flakeproof(&arguments)
}

/// Run flakeproof on the small data set and its source.
pub(crate) fn with_sources(project: &Project, verb: &str, model: &str, options: &[&str]) -> Ran {
    let mut command = command(project, verb, model, &["--sources", "sources"]);
    finish(command.args(QUICK).args(options))
}

/// It is refused, says all of this, and says what to do next.
#[track_caller]
pub(crate) fn assert_refuses(ran: &Ran, words: &[&str]) {
    assert_says(ran, 2, words);
    assert_says(ran, 2, &["error: ", "next: "]);
    assert!(ran.output.stdout.is_empty(), "nothing is data when nothing was found");
}
