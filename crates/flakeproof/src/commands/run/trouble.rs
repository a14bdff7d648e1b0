//! What the runner's errors mean to the user, and what to do about them.

use flakeproof_core::ExitCode;
use flakeproof_runner::Error;

use crate::problem::Problem;

/// pytest's own exit codes that mean something here.
const PYTEST_USAGE: i32 = 4;
const PYTEST_NO_TESTS: i32 = 5;

/// A command that selects nothing.
pub(in crate::commands) fn no_tests(command: &[String]) -> Problem {
    Problem::new(
        ExitCode::NoTests,
        format!("`{}` selects no test", command.join(" ")),
        "check the paths and the `-k` and `-m` expressions after `--`",
    )
}

/// Trouble after tests ran: the runner's own words help.
pub(in crate::commands) fn explain_after_start(error: Error, output: &str) -> Problem {
    let problem = explain(error);
    if problem.details.is_empty() { problem.with_details(last_lines(output, 30)) } else { problem }
}

/// What happened, and what to do next.
pub(in crate::commands) fn explain(error: Error) -> Problem {
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
            Problem::broken(
                format!("pytest cannot collect {files}, so no test ran"),
                "mend the errors above, or add `--continue-on-collection-errors` after `-- pytest` \
                 to run the rest",
            )
            .with_details(texts.collect::<Vec<_>>().join("\n\n"))
        }
        Error::Cancelled => Problem::new(
            ExitCode::Interrupted,
            "interrupted before any test ran",
            "run it again when you like; nothing was changed",
        ),
        Error::Stopped { reason } => Problem::broken(
            format!("pytest stopped the session: {reason}"),
            "look at what stops it, with the same command and without flakeproof",
        ),
        Error::Agent(text) => Problem::broken(
            "pytest, a plugin of it, or flakeproof's agent inside it has a fault",
            "run the same command without flakeproof; if that works, please report this as a bug",
        )
        .with_details(text),
        Error::Io { doing, source } => Problem::broken(
            format!("flakeproof cannot {doing}: {source}"),
            "check free space and permissions of the temporary folder (TMPDIR)",
        ),
        Error::EnvironmentLost { .. }
        | Error::NotPossible { .. }
        | Error::UnknownTest { .. }
        | Error::CollectOnly { .. } => Problem::broken(
            format!("the run broke off: {error}"),
            "run it again; if it happens again, please report this as a bug",
        ),
    }
}

fn cannot_start(command: &str, cause: &str) -> Problem {
    let program = command.split_whitespace().next().unwrap_or(command);
    let next = if program.contains("pytest") {
        "install pytest in this environment (`python -m pip install pytest`), activate the \
         environment that has it, or run `flakeproof run -- python -m pytest`"
    } else {
        "check the command after `--`"
    };
    Problem::usage(format!("`{program}` cannot be started: {cause}"), next)
}

fn ended_early(
    command: &str,
    status: &str,
    code: Option<i32>,
    output: &str,
    reached_framework: bool,
) -> Problem {
    let details = last_lines(output, 40);
    if code == Some(0) && reached_framework {
        // `--help`, `--version` and the like.
        return Problem::new(
            ExitCode::Clean,
            format!("`{command}` ended without running tests"),
            "leave out the option that only prints something",
        )
        .with_details(output);
    }
    if output.contains("No module named pytest") || output.contains("No module named 'pytest'") {
        return Problem::usage(
            format!("`{command}` finds no pytest"),
            "install it there (`python -m pip install pytest`), or use the Python that has it",
        )
        .with_details(details);
    }
    if code == Some(PYTEST_NO_TESTS) {
        return no_tests(&[command.to_owned()]);
    }
    if code == Some(PYTEST_USAGE) {
        return Problem::usage(
            format!("pytest does not accept `{command}`"),
            "mend the command after `--`; everything there goes to pytest as it is",
        )
        .with_details(details);
    }
    if reached_framework {
        return Problem::broken(
            format!("`{command}` ended while it collected tests ({status})"),
            "run the same command without flakeproof to see the cause",
        )
        .with_details(details);
    }
    Problem::usage(
        format!("`{command}` ended without starting pytest ({status})"),
        "the command after `--` must run pytest, and must not clear PYTHONPATH or PYTEST_ADDOPTS \
         (as `python -I`, `python -E` and `tox` without `pass_env` do)",
    )
    .with_details(details)
}

fn refused(reason: &str, detail: &str) -> Problem {
    match reason {
        "xdist" => Problem::usage(
            "pytest-xdist (`-n`) runs tests in processes of its own, where a failure cannot be \
             rerun in the same environment",
            format!(
                "leave out `-n` (add `-n 0` if the project's configuration sets it) and use \
                 `flakeproof run -j {} -- pytest …`",
                if detail.parse::<u32>().is_ok() { detail } else { "4" }
            ),
        ),
        "debugger" => Problem::usage(
            "`--pdb` and `--trace` need the terminal, which a rerun test does not have",
            "run pytest itself to debug, with the command that flakeproof prints to reproduce",
        ),
        "python" => Problem::usage(
            format!("the tests run on Python {detail}, and flakeproof needs 3.9 or newer"),
            "use a newer Python for the tests",
        ),
        other => Problem::usage(
            format!("pytest cannot be run like this: {other} {detail}"),
            "change the command after `--`",
        ),
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
