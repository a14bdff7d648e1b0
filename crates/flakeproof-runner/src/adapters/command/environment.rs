//! Tests run by processes of the runner.
//!
//! A process of a runner cannot be talked to: it is told which tests to run, and reports when all
//! of them have ended. So there are three ways to run what is announced. The whole suite runs as
//! the user's own command would run it, in one go, and what it said is handed out test by test.
//! Some tests run in one process where the runner keeps their order. All others run in a process
//! each, and share nothing but what lies outside of processes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use flakeproof_core::{Execution, Isolation, State, TestId};

use super::session::Session;
use crate::adapter::{Environment, Error, Probe, Result, Then};

/// A place where tests are run.
#[derive(Debug)]
pub(super) struct CommandEnvironment {
    session: Arc<Session>,
    isolation: Isolation,
    announced: Vec<TestId>,
    /// What a process for all that was announced came to; `None` before it ran.
    together: Option<HashMap<TestId, Execution>>,
    /// Tests whose process has ended with others in it.
    gone: HashSet<TestId>,
}

impl CommandEnvironment {
    pub(super) fn new(session: &Arc<Session>, isolation: Isolation) -> Self {
        Self {
            session: Arc::clone(session),
            isolation,
            announced: Vec::new(),
            together: None,
            gone: HashSet::new(),
        }
    }

    /// Whether what is announced is the suite as the user's own command runs it.
    fn is_whole_suite(&self) -> Result<bool> {
        let suite = &self.session.project()?.suite.tests;
        let is_equal = suite.len() == self.announced.len()
            && suite.iter().zip(&self.announced).all(|(test, id)| test.id == *id);
        Ok(self.isolation == Isolation::Same && is_equal)
    }

    /// What a process with other tests in it says about this one.
    fn run_with_others(&mut self, test: &TestId) -> Result<Option<Execution>> {
        if self.isolation == Isolation::Same {
            if !self.session.has_run_all() && self.is_whole_suite()? {
                self.session.run_all(&self.announced)?;
            }
            if let Some(execution) = self.session.take(test) {
                self.gone.insert(test.clone());
                return Ok(Some(execution));
            }
        }
        if self.announced.len() < 2 || !self.session.profile().keeps_order() {
            return Ok(None);
        }
        let together = match &mut self.together {
            Some(together) => together,
            None => {
                let ran = self.session.run_in_order(&self.announced, self.isolation)?;
                self.together.insert(ran)
            }
        };
        let execution = together.remove(test);
        if execution.is_some() {
            self.gone.insert(test.clone());
        }
        Ok(execution)
    }
}

impl Environment for CommandEnvironment {
    fn expect(&mut self, upcoming: &[TestId], _: Then) -> Result<()> {
        if self.together.is_some() {
            return Err(Error::NotPossible {
                what: "another order in this environment".into(),
                why: "the runner's process has ended".into(),
            });
        }
        for test in upcoming {
            self.session.fields(test)?;
        }
        self.announced = upcoming.to_vec();
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        self.session.fields(test)?;
        if self.gone.contains(test) {
            return Err(Error::EnvironmentLost {
                cause: "the runner's process has ended, and with it what its tests left".into(),
            });
        }
        match self.run_with_others(test)? {
            Some(execution) => Ok(execution),
            None => self.session.run_alone(test, probe, self.isolation),
        }
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible {
            what: "a snapshot".into(),
            why: "a runner's process cannot be copied".into(),
        })
    }

    fn look(&mut self) -> Result<State> {
        Err(Error::NotPossible {
            what: "a look at what tests leave behind".into(),
            why: "a runner's process cannot be asked".into(),
        })
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
