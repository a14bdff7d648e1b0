//! One replay of an order in an environment of its own.

use flakeproof_core::{Execution, Isolation, TestId};
use flakeproof_runner::{Adapter, Probe, Result, Then};

/// One replay of an order.
#[derive(Debug, Clone)]
pub struct Replay {
    /// Tests that ran.
    pub executions: u32,
    /// How the last test of the order ended, if it ran.
    pub last: Option<Execution>,
    /// The test that took the environment with it before the last one could run.
    pub ended_by: Option<TestId>,
}

/// Run the order once; what matters is how its last test ends.
///
/// # Errors
/// When the runner itself breaks.
pub fn replay(adapter: &dyn Adapter, order: &[TestId], isolation: Isolation) -> Result<Replay> {
    let mut environment = adapter.open(isolation)?;
    environment.expect(order, Then::End)?;
    let mut executions = 0;
    let mut last = None;
    for (at, test) in order.iter().enumerate() {
        let execution = environment.run(test, Probe::attempt(1))?;
        executions += 1;
        let is_gone = execution.outcome.ends_environment();
        if at + 1 == order.len() {
            last = Some(execution);
        }
        if is_gone {
            let ended_by = last.is_none().then(|| test.clone());
            return Ok(Replay { executions, last, ended_by });
        }
    }
    // Its teardown may fail or hang; the test's outcome stands, and it is killed.
    let _ = environment.close();
    Ok(Replay { executions, last, ended_by: None })
}
