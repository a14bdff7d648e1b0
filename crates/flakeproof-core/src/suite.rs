//! The tests that an adapter found.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{Location, TestId};

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

    /// The position of each id in the suite's order.
    #[must_use]
    pub fn positions(&self) -> HashMap<TestId, usize> {
        self.tests.iter().enumerate().map(|(at, test)| (test.id.clone(), at)).collect()
    }
}
