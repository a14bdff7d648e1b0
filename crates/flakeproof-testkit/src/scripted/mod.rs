//! A suite without processes: every test does what its script says.
//!
//! [`suite`] gives a [`Scripted`] adapter in which all tests pass; its methods say which do not,
//! and when. It keeps the contract of a real adapter: tests of one environment share state, a
//! crash or a timeout ends the environment, the announced order is kept, and dependencies are
//! given only when they are probed. Every call is recorded, so that a test can look at what was
//! asked for and not only at what came of it.
//!
//! ```
//! use flakeproof_core::{Isolation, Outcome};
//! use flakeproof_runner::{Adapter, Probe};
//! use flakeproof_testkit::scripted::suite;
//!
//! let scripted = suite(["polluter", "victim"]).with_polluter("victim", "polluter");
//! let mut environment = scripted.open(Isolation::Spawn)?;
//! let alone = environment.run(&"victim".into(), Probe::attempt(1))?;
//! assert_eq!(alone.outcome, Outcome::Passed);
//! # Ok::<(), flakeproof_runner::Error>(())
//! ```

mod environment;
mod script;

pub use script::{Call, Moment, Scripted, ScriptedRun, suite};
