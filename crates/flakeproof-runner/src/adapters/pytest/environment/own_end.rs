//! How the user's own session and command ended, and whether their tests explain it.
//!
//! The wrapped command's word stands. With no failing test only exit code 0 is clean; with failing
//! tests pytest's 1 is explained, and nothing else. Reruns are silent: the status is that of the
//! session's own first executions.

use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;

use super::super::Session;
use super::{COPY_END, DEATH, PytestEnvironment};
use crate::adapter::{Error, Result};
use crate::agent::protocol::{FromAgent, ToAgent};
use crate::lock::locked;
use crate::process::{Death, Guarded, kill_group};

/// How long the user's own session may take to write its reports and end.
const SESSION_END: Duration = Duration::from_secs(60);
/// How long a command around pytest may go on after pytest's end.
const COMMAND_END: Duration = Duration::from_secs(600);
/// How often it is looked whether somebody died whose line is still open.
const LOOK: Duration = Duration::from_millis(50);

/// What is known about the end of the user's own session.
#[derive(Debug)]
pub(super) struct OwnEnd {
    /// The process of the user's command: pytest itself, or what started it.
    command: u32,
    /// Whether a first execution failed, or something could not be collected.
    has_failed: bool,
    /// The exit code that pytest said it ends with.
    said: Option<i32>,
}

impl OwnEnd {
    /// Nothing is known yet.
    pub(super) fn begin(session: &Session) -> Result<Self> {
        let project = session.project()?;
        let has_failed = !project.collected.problems.is_empty();
        Ok(Self { command: project.command, has_failed, said: None })
    }

    /// A first execution failed, which explains a red session.
    pub(super) fn note_failure(&mut self) {
        self.has_failed = true;
    }

    /// What the session's last message tells that no test explains.
    fn hear(&mut self, exit: i32, besides_tests: bool) -> Option<String> {
        self.said = Some(exit);
        let is_explained = exit == 0 || (exit == 1 && self.has_failed);
        (besides_tests || !is_explained)
            .then(|| format!("pytest itself ends with exit code {exit}, not only for its tests"))
    }

    /// What the death of the command tells that no test explains.
    fn judge(&self, pytest: u32, death: Option<Death>) -> Option<String> {
        let Some(death) = death else {
            return Some("how the command ended is not known".to_owned());
        };
        if self.said.is_none() {
            return Some(format!("pytest ended within its session ({death}), not by its tests"));
        }
        let is_explained = match death {
            Death::Exit(0) => true,
            Death::Exit(1) if self.command == pytest => self.has_failed,
            // Those who start pytest have codes of their own for its failure, as make has 2.
            Death::Exit(_) if self.command != pytest => self.has_failed && self.said != Some(0),
            Death::Exit(_) | Death::Signal(_) => false,
        };
        (!is_explained).then(|| format!("the command ends with {death}, not only for its tests"))
    }
}

impl PytestEnvironment {
    /// Say goodbye, and hear to the end what is left to say.
    pub(super) fn end(&mut self) -> Result<()> {
        // An environment that is gone already needs no goodbye.
        let _ = self.connection.send(&ToAgent::Bye);
        let patience = if self.own_end.is_some() { SESSION_END } else { COPY_END };
        let deadline = Instant::now() + patience;
        loop {
            match self.connection.messages.recv_timeout(LOOK) {
                Ok(message) => self.hear_at_the_end(&message),
                Err(RecvTimeoutError::Disconnected) => break,
                // A child that a test forked may hold the line of a process that is gone.
                Err(RecvTimeoutError::Timeout) if self.is_dead() => {
                    for message in self.connection.messages.try_iter().collect::<Vec<_>>() {
                        self.hear_at_the_end(&message);
                    }
                    break;
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    kill_group(self.connection.hello.pid);
                    let cause = format!(
                        "it did not end within {patience:?} after its last test and was killed"
                    );
                    self.accuse(self.own_end.as_ref().map(|_| format!("pytest: {cause}")));
                    return Err(Error::EnvironmentLost { cause });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        if let Some(end) = &self.own_end {
            self.accuse(end.judge(self.connection.hello.pid, self.death_of_command(end.command)));
        }
        Ok(())
    }

    /// The user's own session is gone although no test was running: nothing that it would have
    /// said can be known any more.
    pub(super) fn died_between_tests(&self) {
        if self.own_end.is_some() {
            match self.session.hub.death_of(self.connection.hello.pid, DEATH) {
                Some(Death::Exit(0)) => {}
                Some(death) => {
                    self.accuse(Some(format!("pytest died between two tests ({death})")));
                }
                None => self.accuse(Some("pytest died between two tests".to_owned())),
            }
        }
    }

    /// Keep what else than a test made the session fail.
    fn hear_at_the_end(&mut self, message: &FromAgent) {
        if let (FromAgent::Ended { exit, besides_tests }, Some(end)) = (message, &mut self.own_end)
        {
            let what = end.hear(*exit, *besides_tests);
            self.accuse(what);
        }
    }

    fn is_dead(&self) -> bool {
        let command = self.own_end.as_ref().map(|end| end.command);
        let mut processes = [Some(self.connection.hello.pid), command].into_iter().flatten();
        processes.any(|pid| self.session.hub.death_of(pid, Duration::ZERO).is_some())
    }

    /// How the user's command ended; `None` if it goes on, or if nobody is left to tell.
    fn death_of_command(&self, command: u32) -> Option<Death> {
        let deadline = Instant::now() + COMMAND_END;
        loop {
            let is_over = Instant::now() >= deadline
                || self.session.settings.cancel.is_cancelled()
                || locked(&self.session.guard).as_mut().is_none_or(Guarded::is_gone);
            let death = self.session.hub.death_of(command, LOOK);
            if death.is_some() || is_over {
                return death;
            }
        }
    }

    fn accuse(&self, what: Option<String>) {
        if let Some(what) = what {
            locked(&self.session.own_failure).get_or_insert(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTEST: u32 = 7;

    fn end(command: u32, has_failed: bool, said: i32) -> OwnEnd {
        OwnEnd { command, has_failed, said: Some(said) }
    }

    #[test]
    fn without_a_failing_test_only_zero_is_clean() {
        for code in [1, 2, 3, 7, 120] {
            assert!(end(PYTEST, false, 0).judge(PYTEST, Some(Death::Exit(code))).is_some());
            assert!(end(1, false, 0).judge(PYTEST, Some(Death::Exit(code))).is_some());
            assert!(end(PYTEST, false, 0).hear(code, false).is_some());
        }
        assert_eq!(end(PYTEST, false, 0).judge(PYTEST, Some(Death::Exit(0))), None);
        assert_eq!(end(PYTEST, false, 0).hear(0, false), None);
    }

    #[test]
    fn failing_tests_explain_pytests_own_code_for_them_and_no_other() {
        assert_eq!(end(PYTEST, true, 1).judge(PYTEST, Some(Death::Exit(1))), None);
        assert_eq!(end(PYTEST, true, 0).judge(PYTEST, Some(Death::Exit(0))), None, "forgiven");
        assert_eq!(end(PYTEST, true, 1).hear(1, false), None);
        assert!(end(PYTEST, true, 1).hear(1, true).is_some());
        assert!(end(PYTEST, true, 1).judge(PYTEST, Some(Death::Exit(7))).is_some());
        assert!(end(PYTEST, true, 1).judge(PYTEST, Some(Death::Signal(11))).is_some());
    }

    #[test]
    fn what_starts_pytest_has_codes_of_its_own_for_failing_tests() {
        assert_eq!(end(1, true, 1).judge(PYTEST, Some(Death::Exit(2))), None);
        let forgiven = end(1, true, 0).judge(PYTEST, Some(Death::Exit(2)));
        assert!(forgiven.is_some(), "something else than pytest failed");
    }

    #[test]
    fn a_session_that_says_nothing_at_its_end_did_not_end_by_its_tests() {
        let silent = OwnEnd { command: PYTEST, has_failed: true, said: None };
        assert!(silent.judge(PYTEST, Some(Death::Exit(1))).is_some());
        assert!(silent.judge(PYTEST, None).is_some());
    }
}
