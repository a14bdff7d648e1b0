//! What cargo's troubles mean to the user, and what to do about them.

use crate::adapter::{Blame, Error};

/// The project does not compile, or cargo does not like the command.
pub(super) fn not_built(command: &[String], printed: &str) -> Error {
    let command = command.join(" ");
    let is_compiling = ["could not compile", "error[E", "failed to run custom build command"];
    match is_compiling.iter().any(|it| printed.contains(it)) {
        true => Error::Explained {
            blame: Blame::Runner,
            what: "the tests do not compile, so none ran".to_owned(),
            next: format!("mend the errors above; `{command}` shows them as well"),
            details: last_lines(printed, 60),
        },
        false => Error::Explained {
            blame: Blame::Usage,
            what: format!("cargo does not accept `{command}`"),
            next: "mend the command after `--`; everything there goes to cargo as it is".to_owned(),
            details: last_lines(printed, 20),
        },
    }
}

/// There is no project, or cargo cannot read it.
pub(super) fn no_project(printed: &str) -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: "cargo cannot tell what is to be tested".to_owned(),
        next: "run it in the folder of a `Cargo.toml`, or name one with `--manifest-path`; for \
               another runner, name its adapter with `--adapter`"
            .to_owned(),
        details: last_lines(printed, 20),
    }
}

/// The tests were built, and cargo cannot list them.
pub(super) fn not_listed(command: &[String], printed: &str) -> Error {
    if printed.contains("several matching instances of `target.'cfg(..)'.runner`") {
        return own_runner();
    }
    Error::Explained {
        blame: Blame::Runner,
        what: format!("`{}` cannot list its tests", command.join(" ")),
        next: "run the same command without flakeproof and with `-- --list` to see the cause"
            .to_owned(),
        details: last_lines(printed, 40),
    }
}

/// The tests are started by a program of the project's choice.
pub(super) fn own_runner() -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: "cargo starts these tests by a `runner` that its configuration names".to_owned(),
        next: "leave out `target.….runner` (or the variable `CARGO_TARGET_…_RUNNER`) for \
               flakeproof: it starts the tests itself"
            .to_owned(),
        details: String::new(),
    }
}

/// cargo itself is not there.
pub(super) fn explained(error: Error) -> Error {
    match error {
        Error::CannotStart { command, cause } => {
            let program = command.split_whitespace().next().unwrap_or(&command);
            Error::Explained {
                blame: Blame::Usage,
                what: format!("`{program}` cannot be started: {cause}"),
                next: "install Rust (https://rustup.rs), or check the command after `--`"
                    .to_owned(),
                details: String::new(),
            }
        }
        other => other,
    }
}

/// Nothing is selected.
pub(super) fn no_tests(command: &[String], has_targets: bool) -> Error {
    let command = command.join(" ");
    let next = match has_targets {
        true => "check the names and `--skip` after the command, and the chosen targets",
        false => "add a test target, or choose another package with `-p`",
    };
    Error::Explained {
        blame: Blame::NoTests,
        what: format!("`{command}` selects no test"),
        next: next.to_owned(),
        details: String::new(),
    }
}

/// nextest is not there, or does not like the command.
pub(super) fn no_nextest(printed: &str) -> Error {
    let is_missing = printed.contains("no such command") || printed.contains("no such subcommand");
    let (what, next) = match is_missing {
        true => (
            "`cargo nextest` is not installed",
            "install it (`cargo install cargo-nextest --locked`), or use `cargo test`",
        ),
        false => (
            "`cargo nextest` cannot list the tests",
            "run `cargo nextest list` with the same options to see the cause",
        ),
    };
    Error::Explained {
        blame: Blame::Usage,
        what: what.to_owned(),
        next: next.to_owned(),
        details: if is_missing { String::new() } else { last_lines(printed, 40) },
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
