//! What pytest's troubles mean to the user, and what to do about them.

use crate::adapter::{Blame, Error};

/// pytest's own exit codes that mean something here.
const USAGE: i32 = 4;
const NO_TESTS: i32 = 5;

/// The same error in words of pytest, where it has any.
pub(super) fn explained(error: Error) -> Error {
    match error {
        Error::CannotStart { command, cause } => cannot_start(&command, &cause),
        Error::EndedEarly { command, status, code, output, reached_framework } => {
            ended_early(&command, &status, code, &output, reached_framework)
        }
        Error::Refused { reason, detail } => refused(&reason, &detail),
        Error::CannotCollect { problems } => {
            let texts = problems.iter().map(|it| format!("{}\n{}", it.place, it.text));
            let files = match problems.len() {
                1 => "1 file".to_owned(),
                count => format!("{count} files"),
            };
            Error::Explained {
                blame: Blame::Runner,
                what: format!("pytest cannot collect {files}, so no test ran"),
                next: "mend the errors above, or add `--continue-on-collection-errors` after \
                       `-- pytest` to run the rest"
                    .to_owned(),
                details: texts.collect::<Vec<_>>().join("\n\n"),
            }
        }
        other => other,
    }
}

fn cannot_start(command: &str, cause: &str) -> Error {
    let program = command.split_whitespace().next().unwrap_or(command);
    let next = if program.contains("pytest") {
        "install pytest in this environment (`python -m pip install pytest`), activate the \
         environment that has it, or run `flakeproof run -- python -m pytest`"
    } else {
        "check the command after `--`"
    };
    usage(format!("`{program}` cannot be started: {cause}"), next)
}

fn ended_early(
    command: &str,
    status: &str,
    code: Option<i32>,
    output: &str,
    reached_framework: bool,
) -> Error {
    let (blame, what, next) = if code == Some(0) && reached_framework {
        // `--help`, `--version` and the like.
        (
            Blame::Nobody,
            format!("`{command}` ended without running tests"),
            "leave out the option that only prints something",
        )
    } else if output.contains("No module named pytest")
        || output.contains("No module named 'pytest'")
    {
        (
            Blame::Usage,
            format!("`{command}` finds no pytest"),
            "install it there (`python -m pip install pytest`), or use the Python that has it",
        )
    } else if code == Some(NO_TESTS) {
        (
            Blame::NoTests,
            format!("`{command}` selects no test"),
            "check the paths and the `-k` and `-m` expressions after `--`",
        )
    } else if code == Some(USAGE) {
        (
            Blame::Usage,
            format!("pytest does not accept `{command}`"),
            "mend the command after `--`; everything there goes to pytest as it is",
        )
    } else if reached_framework {
        (
            Blame::Runner,
            format!("`{command}` ended while it collected tests ({status})"),
            "run the same command without flakeproof to see the cause",
        )
    } else {
        (
            Blame::Usage,
            format!("`{command}` ended without starting pytest ({status})"),
            "the command after `--` must run pytest, and must not clear PYTHONPATH or \
             PYTEST_ADDOPTS (as `python -I`, `python -E` and `tox` without `pass_env` do); for \
             another runner, name its adapter with `--adapter`",
        )
    };
    let details = match blame {
        Blame::Nobody => output.to_owned(),
        Blame::NoTests => String::new(),
        Blame::Usage | Blame::Runner => last_lines(output, 40),
    };
    Error::Explained { blame, what, next: next.to_owned(), details }
}

fn refused(reason: &str, detail: &str) -> Error {
    match reason {
        "xdist" => usage(
            "pytest-xdist (`-n`) runs tests in processes of its own, where a failure cannot be \
             rerun in the same environment",
            format!(
                "leave out `-n` (add `-n 0` if the project's configuration sets it) and use \
                 `flakeproof run -j {} -- pytest …`",
                if detail.parse::<u32>().is_ok() { detail } else { "4" }
            ),
        ),
        "debugger" => usage(
            "`--pdb` and `--trace` need the terminal, which a rerun test does not have",
            "run pytest itself to debug, with the command that flakeproof prints to reproduce",
        ),
        "python" => usage(
            format!("the tests run on Python {detail}, and flakeproof needs 3.9 or newer"),
            "use a newer Python for the tests",
        ),
        other => usage(
            format!("pytest cannot be run like this: {other} {detail}"),
            "change the command after `--`",
        ),
    }
}

fn usage(what: impl Into<String>, next: impl Into<String>) -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: what.into(),
        next: next.into(),
        details: String::new(),
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
