//! An environment of a warm JVM, with a new JVM beside it as long as the warm ones are not trusted, and
//! now and then after that.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeproof_core::{Execution, Isolation, Outcome, State, TestId};

use super::JvmSession;
use super::environment::JvmEnvironment;
use super::launch::Purpose;
use super::warm::{Place, Trust};
use crate::adapter::{Environment, Error, Probe, Result, Then};

/// So often each kind of JVM runs an order again before the two are said to disagree: a test may fail by
/// chance in both.
const REPETITIONS: usize = 3;

/// An environment as [`Isolation::Fork`] asks for it.
#[derive(Debug)]
pub(super) struct NearlyFresh {
    session: Arc<JvmSession>,
    /// Where its tests run, chosen when the first of them are known.
    inner: Option<(Place, JvmEnvironment)>,
    begin: Instant,
    /// What ran, in order, and how it ended.
    ran: Vec<(TestId, Outcome)>,
    /// What it took until the last of them ended.
    took: Duration,
    /// Whether the same tests in one order would be the same environment.
    is_one_order: bool,
    /// Whether somebody wants to know what its tests leave behind.
    is_looked_at: bool,
}

impl NearlyFresh {
    pub(super) fn new(session: &Arc<JvmSession>) -> Self {
        Self {
            session: Arc::clone(session),
            inner: None,
            begin: Instant::now(),
            ran: Vec::new(),
            took: Duration::ZERO,
            is_one_order: true,
            is_looked_at: false,
        }
    }

    /// The environment for tests of some modules.
    fn inner(&mut self, modules: &BTreeSet<usize>) -> Result<&mut JvmEnvironment> {
        let inner = match self.inner.take() {
            Some(inner) => inner,
            None => {
                // A look decides nothing, and only warm JVMs can take one.
                let place = match place(&self.session, modules)? {
                    _ if self.is_looked_at => Place::Warm,
                    place => place,
                };
                self.start_ahead(place, modules)?;
                let isolation = match place {
                    Place::New | Place::Both => Isolation::Spawn,
                    Place::Warm => Isolation::Fork,
                };
                (place, JvmEnvironment::new(&self.session, isolation))
            }
        };
        Ok(&mut self.inner.insert(inner).1)
    }

    /// Let JVMs start that will be needed soon.
    fn start_ahead(&self, place: Place, modules: &BTreeSet<usize>) -> Result<()> {
        for number in modules {
            let module = self.session.module(*number)?;
            let new = || module.spare.start(&self.session, *number, || Purpose::PLAIN);
            match place {
                Place::New => {}
                Place::Both => module.warmth.start_ahead(&self.session, *number),
                // The first failure is compared, and what is found is confirmed.
                Place::Warm if module.warmth.trust(|trust| trust.is_new()) => new(),
                Place::Warm => {}
            }
        }
        Ok(())
    }

    fn modules_of(&self, tests: &[TestId]) -> Result<BTreeSet<usize>> {
        let project = self.session.project()?;
        let module = |test: &TestId| match project.place(test) {
            Some(place) => Ok(place.module),
            None => Err(Error::UnknownTest { test: test.clone() }),
        };
        tests.iter().map(module).collect()
    }

    /// Ask the other kind of JVM about what ran here, where it is its turn. What goes wrong with that is
    /// no trouble of the tests that ran, but the end of warm JVMs.
    fn compare(&self, place: Place) -> Result<()> {
        match self.ask_the_other(place) {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => {
                let tests: Vec<TestId> = self.ran.iter().map(|(test, _)| test.clone()).collect();
                let why = format!("they cannot be compared with warm ones: {error}");
                self.trust_in(&self.modules_of(&tests)?, |trust| trust.give_up(why.clone()))
            }
            Ok(()) => Ok(()),
        }
    }

    fn ask_the_other(&self, place: Place) -> Result<()> {
        let tests: Vec<TestId> = self.ran.iter().map(|(test, _)| test.clone()).collect();
        if tests.is_empty() || !self.is_one_order {
            return Ok(());
        }
        let modules = self.modules_of(&tests)?;
        let other = match place {
            Place::New => return Ok(()),
            Place::Both => Isolation::Fork,
            Place::Warm if self.is_to_be_checked(&modules)? => Isolation::Spawn,
            Place::Warm => return Ok(()),
        };
        let (seen, took) = replay(&self.session, &tests, other)?;
        let mut pairs = self.ran.iter().zip(&seen);
        let differs = pairs.position(|((_, here), there)| !is_alike(*here, *there));
        match differs {
            // The other one was lost on the way, and says nothing.
            None if seen.len() < tests.len() => Ok(()),
            None if place == Place::Both => {
                self.trust_in(&modules, |trust| trust.agree(tests.len(), self.took, took))
            }
            None => Ok(()),
            Some(at) => self.look_again(&tests[..=at]),
        }
    }

    /// Run an order again in both kinds of JVM: unless its last test does the same each time in each,
    /// what differed was chance.
    fn look_again(&self, order: &[TestId]) -> Result<()> {
        let Some(test) = order.last() else { return Ok(()) };
        let last = |isolation| -> Result<Option<Outcome>> {
            let mut first: Option<Outcome> = None;
            for _ in 0..REPETITIONS {
                let seen = replay(&self.session, order, isolation)?.0.get(order.len() - 1).copied();
                match (first, seen) {
                    (_, None) => return Ok(None),
                    (None, seen) => first = seen,
                    (Some(first), Some(seen)) if is_alike(first, seen) => {}
                    (Some(_), Some(_)) => return Ok(None),
                }
            }
            Ok(first)
        };
        let Some(warm) = last(Isolation::Fork)? else { return Ok(()) };
        let Some(new) = last(Isolation::Spawn)? else { return Ok(()) };
        if is_alike(warm, new) {
            return Ok(());
        }
        let modules = self.modules_of(order)?;
        self.trust_in(&modules, |trust| trust.disagree(test, words(warm), words(new)))
    }

    fn is_to_be_checked(&self, modules: &BTreeSet<usize>) -> Result<bool> {
        // What an order asks is what its last test does; others fail in it that nobody asks about.
        let last = self.ran.last().filter(|(_, outcome)| outcome.is_failure());
        let failing = last.map(|(test, _)| test);
        let mut is_due = false;
        self.trust_in(modules, |trust| is_due |= trust.is_to_be_checked(failing))?;
        Ok(is_due)
    }

    fn trust_in(
        &self,
        modules: &BTreeSet<usize>,
        mut change: impl FnMut(&mut Trust),
    ) -> Result<()> {
        for module in modules {
            let warmth = &self.session.module(*module)?.warmth;
            warmth.trust(&mut change);
            warmth.write_down();
        }
        Ok(())
    }
}

/// Where an environment with tests of these modules runs: as the least trusted of them.
fn place(session: &JvmSession, modules: &BTreeSet<usize>) -> Result<Place> {
    let mut all = Place::Warm;
    for module in modules {
        let module = session.module(*module)?;
        module.warmth.recall(module);
        all = match (all, module.warmth.trust(|trust| trust.place())) {
            (Place::New, _) | (_, Place::New) => Place::New,
            (Place::Both, _) | (_, Place::Both) => Place::Both,
            (Place::Warm, Place::Warm) => Place::Warm,
        };
    }
    Ok(all)
}

/// Run an order to its end, or as far as it comes.
fn replay(
    session: &Arc<JvmSession>,
    order: &[TestId],
    isolation: Isolation,
) -> Result<(Vec<Outcome>, Duration)> {
    let begin = Instant::now();
    let mut environment = Box::new(JvmEnvironment::new(session, isolation));
    environment.expect(order, Then::End)?;
    let mut seen = Vec::with_capacity(order.len());
    for test in order {
        let outcome = match environment.run(test, Probe::attempt(1)) {
            Ok(execution) => execution.outcome,
            Err(Error::EnvironmentLost { .. }) => return Ok((seen, begin.elapsed())),
            Err(error) => return Err(error),
        };
        seen.push(outcome);
        if outcome.ends_environment() {
            return Ok((seen, begin.elapsed()));
        }
    }
    let took = begin.elapsed();
    // How it ends is no test's outcome.
    let _ = environment.close();
    Ok((seen, took))
}

/// Whether two outcomes say the same: how a failure shows itself may differ.
fn is_alike(first: Outcome, second: Outcome) -> bool {
    first == second || first.is_failure() && second.is_failure()
}

fn words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passes",
        Outcome::Skipped => "is skipped",
        Outcome::Failed | Outcome::Errored | Outcome::Crashed | Outcome::TimedOut => "fails",
    }
}

impl Environment for NearlyFresh {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        let modules = self.modules_of(upcoming)?;
        self.is_one_order &= self.ran.is_empty();
        self.inner(&modules)?.expect(upcoming, then)
    }

    fn get_ready(&mut self) -> Result<()> {
        match &mut self.inner {
            Some((_, inner)) => inner.get_ready(),
            None => Ok(()),
        }
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let modules = self.modules_of(std::slice::from_ref(test))?;
        self.is_one_order &= !self.ran.iter().any(|(ran, _)| ran == test);
        let execution = self.inner(&modules)?.run(test, probe)?;
        self.ran.push((test.clone(), execution.outcome));
        self.took = self.begin.elapsed();
        if execution.outcome.ends_environment()
            && let Some((place, _)) = self.inner
        {
            // Nobody closes what is gone.
            self.compare(place)?;
        }
        Ok(execution)
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible { what: "a snapshot".into(), why: super::NO_COPIES.into() })
    }

    fn look(&mut self) -> Result<State> {
        self.is_looked_at = true;
        match &mut self.inner {
            Some((_, inner)) => inner.look(),
            // What was at the beginning comes with the next picture.
            None => Ok(State::default()),
        }
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let Some((place, inner)) = self.inner.take() else { return Ok(()) };
        Box::new(inner).close()?;
        self.compare(place)
    }
}
