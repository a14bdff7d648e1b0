//! One walk through an order of tests, from the start of new processes.

use flakeproof_core::{Execution, TestId};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Orders, Probe, Result, Then};

/// How the processes of a walk are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    /// As the suite itself starts.
    AsTheSuite,
    /// So that what tests touch can be measured, where the runner takes an order.
    Measured,
}

impl Walk {
    /// Run an order up to its `last` test. A test that ends its process takes nothing else with it: as in
    /// the suite, the rest runs in another one. What is not there, or not any more, is passed over; what
    /// passes after that is not told, because what is missing may be what makes it fail. The test
    /// after the last is named, though not run: what the last one shares with it stays, and everything else
    /// is torn down, whose failures are the last one's.
    ///
    /// `probe` says how closely to look at a test, `each` hears its place in the order and what it came
    /// to.
    ///
    /// # Errors
    /// When no process can be made, when the user interrupts, and when the runner breaks.
    pub(super) fn through(
        self,
        adapter: &dyn Adapter,
        order: &[TestId],
        last: usize,
        cancel: &Cancel,
        probe: &dyn Fn(&TestId) -> Probe,
        each: &mut dyn FnMut(usize, Execution),
    ) -> Result<()> {
        let mut environment: Option<Box<dyn Environment>> = None;
        let mut is_whole = true;
        let announced = &order[..order.len().min(last + 1)];
        let next = order.get(last + 1).cloned();
        let then = next.map_or(Then::End, Then::Next);
        for (at, test) in announced.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let live = match &mut environment {
                Some(live) => live,
                None => environment.insert(self.open(adapter, &announced[at..], then.clone())?),
            };
            let execution = match live.run(test, probe(test)) {
                Ok(execution) => execution,
                // This one is not there in another process, which the others may not need.
                Err(Error::UnknownTest { .. }) => {
                    is_whole = false;
                    continue;
                }
                Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            if execution.outcome.ends_environment() {
                environment = None;
            }
            if is_whole || execution.outcome.is_failure() {
                each(at, execution);
            }
        }
        if let Some(environment) = environment {
            // Its teardown says nothing about the tests.
            let _ = environment.close();
        }
        Ok(())
    }

    /// Whether what tests touch is measured on the way.
    pub(super) fn is_measured(self, adapter: &dyn Adapter) -> bool {
        self == Self::Measured && adapter.can().orders != Orders::Apart
    }

    fn open(
        self,
        adapter: &dyn Adapter,
        order: &[TestId],
        then: Then,
    ) -> Result<Box<dyn Environment>> {
        if !self.is_measured(adapter) {
            return adapter.reopen(order, then);
        }
        let mut opened = adapter.open(flakeproof_core::Isolation::Spawn)?;
        opened.expect(order, then)?;
        Ok(opened)
    }
}
