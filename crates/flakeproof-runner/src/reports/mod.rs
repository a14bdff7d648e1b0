//! Reports that test runners write, read back: what ran, how it ended, and why it failed.
//!
//! [`read`] takes a whole report, [`read_each`] hands over one test after another in bounded
//! memory. The format is found by the content, or named by who knows it. A report is somebody
//! else's file: what can be understood is kept, what is odd becomes an [`ReportIssue`], and nothing in it
//! makes the reader open another file, connect to anything, or grow without limit.

mod go;
mod identity;
mod json;
mod json_skeleton;
mod json_tests;
mod junit;
mod reading;
mod reported;
mod tap;
pub(crate) mod xml;

pub(crate) use go::of_go_test;
pub use identity::Identity;
pub use identity::Places;
pub use reading::Format;
pub use reading::may_be_report;
pub use reading::started;
pub use reading::{Counts, declared_otherwise};
pub use reading::{Reported, read, read_as, read_each};
pub use reported::attempts;
pub use reported::{ReportIssue, Severity};
pub use reported::{ReportedAttempt, ReportedFailure, ReportedTest};
