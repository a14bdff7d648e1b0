//! A test that is a run of a program: its exit code is the result.

use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use super::execution;
use super::found::{Binary, Listed};
use super::session::Session;
use super::threads;
use super::watch::Section;
use crate::adapter::{Probe, Result};
use crate::process::{Death, End, run_to_end};

/// Run a test of a harness of the project's own, or a binary that is one test.
pub(super) fn run(
    session: &Session,
    binary: &Binary,
    listed: &Listed,
    test: &TestId,
    probe: Probe,
) -> Result<Execution> {
    let mut command = vec![binary.path.clone()];
    if listed.name.is_empty() {
        command.extend(session.command.filters.iter().cloned());
        command.extend(session.command.harness.typed.iter().cloned());
    } else {
        command.extend(session.command.harness.naming(std::iter::once(&*listed.name)));
    }
    let mut variables = binary.variables.clone();
    variables.extend(session.variables_for_tests(probe.attempt));
    let instructions = session.instructions(command, &binary.folder, variables);
    let limit = session.settings.timeout;
    let mut where_it_hangs = String::new();
    let ended = run_to_end(&session.hub, &instructions, limit, &session.settings.cancel, |pid| {
        where_it_hangs = threads::of(pid);
    })?;
    let text = [ended.stdout.trim_end(), ended.stderr.trim_end()].join("\n");
    let section = Section { text, duration: ended.duration };
    Ok(match ended.how {
        End::Died(Death::Exit(0)) => {
            execution::plain(test, Outcome::Passed, section.duration, &section.text)
        }
        End::Died(death @ Death::Exit(_)) => failed(test, &section, death),
        End::Died(death @ Death::Signal(_)) => {
            execution::crashed(test, &section, execution::died(death))
        }
        End::TimedOut => execution::timed_out(session, test, &section, &where_it_hangs),
    })
}

fn failed(test: &TestId, section: &Section, death: Death) -> Execution {
    let message = format!("the program ended with {death}");
    let own = Location { file: test.to_string(), line: None };
    let failure = Failure {
        phase: Phase::Call,
        signature: Signature::of(&message, Some(&own)),
        text: format!("{message}\n\n{}", section.text.trim()),
        message,
        location: None,
    };
    let execution = execution::plain(test, Outcome::Failed, section.duration, &section.text);
    Execution { failure: Some(failure), ..execution }
}
