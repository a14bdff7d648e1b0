//! The name of a test, exactly as its framework writes it.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::foreign_text;

/// A framework's own id of a test, unchanged: `tests/test_a.py::test_x[1]`.
///
/// Parameters are part of it. Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct TestId(Arc<str>);

impl TestId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id for people: on one line, and without characters that are not shown as they are.
    #[must_use]
    pub fn shown(&self) -> Cow<'_, str> {
        foreign_text::on_one_line(&self.0)
    }
}

impl<T: Into<Arc<str>>> From<T> for TestId {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Borrow<str> for TestId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
