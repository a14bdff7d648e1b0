//! Reports that test runners write, read back: what ran, how it ended, and why it failed.
//!
//! [`read`] takes a whole report, [`read_each`] hands over one test after another in bounded
//! memory. The format is found by the content, or named by who knows it. A report is somebody
//! else's file: what can be understood is kept, what is odd becomes an [`Issue`], and nothing in it
//! makes the reader open another file, connect to anything, or grow without limit.

mod attempts;
mod ctrf;
mod declared;
mod format;
mod go;
mod identity;
mod issue;
mod jest;
mod json;
mod json_document;
mod json_skeleton;
mod json_strings;
mod junit;
mod junit_case;
mod likely;
mod limits;
mod places;
mod reading;
mod reported;
mod rspec;
mod started;
mod tap;
mod tap_line;
mod tap_yaml;
mod trx;
pub(crate) mod xml;
mod xml_tag;

pub use attempts::attempts;
pub use declared::{Counts, declared_otherwise};
pub use format::Format;
pub use identity::Identity;
pub use issue::{Issue, Severity};
pub use likely::may_be_report;
pub use places::Places;
pub use reading::{Reported, read, read_as, read_each};
pub use reported::{ReportedAttempt, ReportedFailure, ReportedTest};
pub use started::started;
