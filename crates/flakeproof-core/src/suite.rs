//! The tests that an adapter found, and their ids, exactly as their framework writes them.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Location, foreign_text};

/// The tests of a project in the order in which its own runner would run them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suite {
    /// The tests, in order.
    pub tests: Vec<SuiteTest>,
    /// Files that could not be collected although the rest goes on.
    pub problems: Vec<CollectionProblem>,
}

/// One test of a suite and where it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteTest {
    /// Its id.
    pub id: TestId,
    /// Where it is defined, relative to the project's root where that is possible.
    pub location: Option<Location>,
}

/// A file that its runner could not turn into tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionProblem {
    /// The file or node that failed.
    pub place: String,
    /// What the runner said, as it said it.
    pub text: String,
}

impl Suite {
    /// The ids alone, in order.
    #[must_use]
    pub fn ids(&self) -> Vec<TestId> {
        self.tests.iter().map(|test| test.id.clone()).collect()
    }

    /// Whether an order is a beginning of the suite's own.
    #[must_use]
    pub fn begins_with(&self, order: &[TestId]) -> bool {
        order.len() <= self.tests.len()
            && self.tests.iter().zip(order).all(|(test, id)| test.id == *id)
    }

    /// The position of each id in the suite's order.
    #[must_use]
    pub fn positions(&self) -> HashMap<TestId, usize> {
        self.tests.iter().enumerate().map(|(at, test)| (test.id.clone(), at)).collect()
    }
}

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
