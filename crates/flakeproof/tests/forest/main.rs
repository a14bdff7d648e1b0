//! `flakeproof train forest`, `evaluate forest`, `evaluate cannier` and `explain` with a forest, as
//! a user runs them.
//!
//! How features are measured is asked in `features.rs` and `features_command.rs`.

mod bad_tables;
mod cannier;
mod evaluate;
mod explain;
mod new_user;
mod tables;
mod train;

use flakeproof_testkit::{Project, Ran};
pub(crate) use flakeproof_testkit::{assert_says, finish};

use self::tables::Tables;

/// An empty project.
pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// A project with `features.csv` and `outcomes.csv`.
pub(crate) fn project_with(tables: &Tables) -> Project {
    project().file("features.csv", &tables.features()).file("outcomes.csv", &tables.outcomes())
}

/// Run flakeproof in a project.
pub(crate) fn flakeproof(project: &Project, arguments: &[&str]) -> Ran {
    finish(&mut project.flakeproof(arguments))
}

/// The words that ask a forest about `features.csv` and `outcomes.csv`.
const TABLES: [&str; 4] = ["--features", "features.csv", "--outcomes", "outcomes.csv"];

/// `flakeproof train forest` on the project's tables.
pub(crate) fn train(project: &Project, problem: &str, options: &[&str]) -> Ran {
    finish(
        project.flakeproof(&["train", "forest", "--problem", problem]).args(TABLES).args(options),
    )
}

/// `flakeproof evaluate forest` on the project's tables.
pub(crate) fn evaluate(project: &Project, problem: &str, options: &[&str]) -> Ran {
    finish(
        project
            .flakeproof(&["evaluate", "forest", "--problem", problem])
            .args(TABLES)
            .args(options),
    )
}

/// `flakeproof evaluate cannier` on the project's tables of features and outcomes.
pub(crate) fn cannier(project: &Project, options: &[&str]) -> Ran {
    finish(project.flakeproof(&["evaluate", "cannier"]).args(TABLES).args(options))
}

/// What was printed on stdout.
pub(crate) fn stdout(ran: &Ran) -> String {
    String::from_utf8_lossy(&ran.output.stdout).into_owned()
}

/// It is refused as a mistake of the user, says all of this, and says what to do next.
#[track_caller]
pub(crate) fn assert_refuses(ran: &Ran, words: &[&str]) {
    assert_says(ran, 2, words);
    assert_says(ran, 2, &["error: ", "next: "]);
    assert_eq!(stdout(ran), "", "nothing is data when nothing was found");
}
