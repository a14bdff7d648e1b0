//! A failure to show again.

use std::path::Path;

use flakeproof_core::{Failure, FlakyKind, KnownFlaky, Seed, TestId};

use crate::problem::Problem;
use crate::session::{history, naming};

/// A failure to show again.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) test: TestId,
    pub(super) kind: Option<FlakyKind>,
    /// The tests, the failing one last.
    pub(super) order: Vec<TestId>,
    /// The command that runs the suite.
    pub(super) command: Vec<String>,
    /// The command that shows the failure without flakeproof.
    pub(super) shell_command: Option<String>,
    pub(super) seed: Seed,
    /// The failure as it was first seen.
    pub(super) failure: Option<Failure>,
    /// The code that it was seen on, if that is known.
    pub(super) revision: Option<String>,
}

impl Case {
    /// What the last hunt found about this test.
    pub(super) fn of_history(
        typed: &str,
        store: Option<&Path>,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let known = history::flaky_tests(store, folder)?;
        if known.is_empty() {
            let next = "`flakeproof hunt -- pytest` looks for them";
            return Err(Problem::usage("no flaky test is known in this project", next));
        }
        let ids: Vec<&TestId> = known.iter().map(|it| &it.test.id).collect();
        let list = "`flakeproof list` shows the flaky tests that are known";
        let at = naming::the_one(typed, &ids, list)?;
        Self::of_known(&known[at])
    }

    fn of_known(known: &KnownFlaky) -> Result<Self, Problem> {
        let test = &known.test;
        let Some(reproduction) = &test.reproduction else {
            return Err(Problem::usage(
                format!("no order in which `{}` fails is on record", test.id),
                format!("`flakeproof hunt --victim {}` looks for one", test.id),
            ));
        };
        let seed =
            known.hunt.seed.parse().map_err(|_| {
                Problem::broken("the record of the hunt cannot be read", "hunt again")
            })?;
        Ok(Self {
            test: test.id.clone(),
            kind: test.kind,
            order: reproduction.order.clone(),
            command: known.hunt.command.clone(),
            shell_command: Some(reproduction.command.clone()),
            seed,
            failure: test.failure.clone(),
            revision: None,
        })
    }
}
