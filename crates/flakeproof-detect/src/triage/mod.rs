//! Is this failure flaky? The technique of the rerun thesis, Figures 3.1 and 3.2.
//!
//! ```text
//! run the suite, rerun each failure at once             RERUN      (suite_run)
//! stop if too many tests fail                           THRESHOLD  (technique)
//! rerun the failures at the end, same environment       POSTPONE   (postponed)
//! rerun each failure in a fresh environment             FORK       (fresh)
//! run the suite's order once more, in new processes                (in_order)
//! run it on the code before the change                             (base)
//! compare what it touches with what changed             INTERSECT  (crate::intersect)
//! ```
//!
//! Where this differs from the thesis, it is stricter (DESIGN §4). A pass counts only against a
//! failure under the same conditions: in the environment that saw the failure it proves nothing,
//! because the failure may have left a cached state behind, and alone it does not excuse a failure in
//! the suite. A pass in a forked environment is confirmed by a new process. An untouched change proves
//! that a failure has nothing to do with it, not that it is flaky, and only if the test is known to
//! have passed before, and only about the failure that was measured. And failures that look alike are
//! tried on one of them first (thesis, chapter 8).

mod base;
mod base_order;
mod base_trials;
mod case;
mod failing_path;
mod fresh;
mod in_order;
mod postponed;
mod rates;
mod settings;
mod suite_run;
mod technique;
mod verdict;

pub use self::settings::{EvidenceBudget, RerunRules, RetryLimit, TriageSettings};
pub use self::technique::{Event, Triaged, exit_code, triage};
pub use settings::{BaseProject, ChangeLookup, Experiments, ForeignCode, Record};
