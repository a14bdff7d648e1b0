//! Running the build tool, which compiles the project and tells how its tests are run.

use super::Session;
use super::module::Module;
use crate::adapter::{Blame, Error, Result};
use crate::process::{Death, End, Instructions, USUAL_CAP, run_to_end};

/// Lines of a broken build that are shown: Maven ends with advice of about ten.
const LAST_LINES: usize = 40;

/// What a build tool told about a project.
#[derive(Debug)]
pub(super) struct Built {
    /// In the build tool's order.
    pub(super) modules: Vec<Module>,
    /// Tests that cannot be run here: their module, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// Run a command of the build tool to its end and give what it printed.
pub(super) fn run_build(session: &Session, command: Vec<String>) -> Result<String> {
    let instructions = Instructions {
        command,
        folder: session.request.folder.clone(),
        variables: std::collections::BTreeMap::new(),
        socket: session.hub.socket().to_path_buf(),
        guard_name: "guard-of-build".into(),
        is_shown: session.request.is_output_shown,
        kept: USUAL_CAP,
    };
    let ended = run_to_end(&session.hub, &instructions, None, &session.request.cancel, |_| {});
    let ended = match ended {
        Err(Error::CannotStart { cause, .. }) => return Err(cannot_start(session, &cause)),
        other => other?,
    };
    let output = without_colours(&format!("{}{}", ended.stdout, ended.stderr));
    session.keep_output(&output);
    match ended.how {
        End::Died(Death::Exit(0)) => Ok(output),
        End::Died(death) => Err(broken(session, &death.to_string(), &output)),
        End::TimedOut => Err(broken(session, "it took too long", &output)),
    }
}

fn cannot_start(session: &Session, cause: &str) -> Error {
    let program = session.request.command.first().map_or("", String::as_str);
    Error::Explained {
        blame: Blame::Usage,
        what: format!("`{program}` cannot be started: {cause}"),
        next: "install the build tool, or use the project's wrapper (`./mvnw`, `./gradlew`)".into(),
        details: String::new(),
    }
}

fn broken(session: &Session, status: &str, output: &str) -> Error {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let errors: Vec<&str> = lines.iter().copied().filter(|line| line.contains("ERROR")).collect();
    let shown = if errors.is_empty() { &lines } else { &errors };
    let shown = match errors.is_empty() {
        true => &shown[shown.len().saturating_sub(LAST_LINES)..],
        // Maven's errors come first, its advice last.
        false => &shown[..shown.len().min(LAST_LINES)],
    };
    Error::Explained {
        blame: Blame::Runner,
        what: format!(
            "`{}` failed before any test ran ({status})",
            session.request.command.join(" ")
        ),
        next: "run the same command without flakeproof, and mend what it says".into(),
        details: shown.join("\n"),
    }
}

/// A text without the codes that colour it on a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let code = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        plain + code.and_then(|at| part.get(at + 1..)).unwrap_or(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_away_and_nothing_else() {
        assert_eq!(without_colours("\u{1b}[0m[\u{1b}[1;31mERROR\u{1b}[m] a [b]"), "[ERROR] a [b]");
        assert_eq!(without_colours("plain"), "plain");
    }
}
