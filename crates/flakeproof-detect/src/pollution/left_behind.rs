//! What polluters leave behind: two pictures of one environment, and what differs.

use flakeproof_core::{LeftBehind, State, TestId};
use flakeproof_runner::{Error, Probe, Result, Then};

use crate::hunt::lab::{Lab, Stop};

/// So many differences are kept; a polluter that changes more changes everything.
const MOST_DIFFERENCES: usize = 40;

/// What is not as it was after these tests; nothing if the adapter cannot tell.
///
/// Not a trial: it decides nothing, and it costs one run of the polluters.
pub(crate) fn left_behind(lab: &Lab<'_, '_>, tests: &[TestId]) -> Result<Vec<LeftBehind>, Stop> {
    if !lab.adapter.can().state {
        return Ok(Vec::new());
    }
    match pictures(lab, tests) {
        Ok((before, after)) => {
            let mut left = State::left_behind(&before, &after);
            left.truncate(MOST_DIFFERENCES);
            Ok(left)
        }
        Err(Error::Cancelled) => Err(Stop::Interrupted),
        // The polluters are known without it.
        Err(_) => Ok(Vec::new()),
    }
}

fn pictures(lab: &Lab<'_, '_>, tests: &[TestId]) -> Result<(State, State)> {
    let mut environment = lab.adapter.open(lab.isolation())?;
    let before = environment.look()?;
    environment.expect(tests, Then::Open)?;
    for test in tests {
        environment.run(test, Probe::attempt(1))?;
    }
    let after = environment.look()?;
    // Its teardown is nobody's outcome.
    let _ = environment.close();
    Ok((before, after))
}
