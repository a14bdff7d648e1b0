//! Is this failure flaky? The technique of the rerun thesis, Figures 3.1 and 3.2.
//!
//! ```text
//! run the suite, rerun each failure at once             RERUN      (suite_run)
//! stop if too many tests fail                           THRESHOLD  (technique)
//! rerun the failures at the end, same environment       POSTPONE   (postponed)
//! rerun each failure in a fresh environment             FORK       (fresh)
//! compare what it touches with what changed             INTERSECT  (crate::intersect)
//! ```
//!
//! Where this differs from the thesis, it is stricter (DESIGN §4). A pass in the environment that
//! saw the failure proves nothing, because the failure may have left a cached state behind: a
//! fresh environment must pass too. A pass in a forked environment is confirmed by a new process.
//! An untouched change proves something only if the test is known to have passed before it, and
//! only about the failure that was measured: a test that fails in another way in a fresh
//! environment than in the suite proves nothing. And failures that look alike are tried on one of
//! them first (thesis, chapter 8).

mod case;
mod fresh;
mod groups;
mod postponed;
mod settings;
mod suite_run;
mod technique;
mod verdict;

pub use self::settings::{RerunRules, RetryLimit, TriageSettings};
pub use self::technique::{ChangeSince, Event, Triaged, exit_code, triage};
