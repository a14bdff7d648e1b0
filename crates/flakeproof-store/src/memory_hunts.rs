//! Hunts that last as long as the process.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_core::{HuntFindings, HuntRecord, HuntedTest, KnownFlaky, TestId, TrialRecord};

use crate::hunts::{decided, is_over};

/// All hunts, and which of them is open.
#[derive(Debug, Default)]
pub(crate) struct MemoryHunts {
    hunts: Vec<MemoryHunt>,
    open: Option<usize>,
}

#[derive(Debug)]
struct MemoryHunt {
    record: HuntRecord,
    is_over: bool,
    trials: BTreeMap<String, TrialRecord>,
    looked_at: BTreeSet<TestId>,
    flaky: Vec<HuntedTest>,
}

impl MemoryHunts {
    pub(crate) fn begin(&mut self, record: &HuntRecord) {
        let known = self.hunts.iter().position(|hunt| hunt.record.id == record.id);
        self.open = Some(known.unwrap_or(self.hunts.len()));
        if known.is_none() {
            self.hunts.push(MemoryHunt {
                record: record.clone(),
                is_over: false,
                trials: BTreeMap::new(),
                looked_at: BTreeSet::new(),
                flaky: Vec::new(),
            });
        }
    }

    pub(crate) fn unfinished(&self, command: &[String]) -> Option<HuntRecord> {
        let is_it = |hunt: &&MemoryHunt| !hunt.is_over && hunt.record.command == command;
        self.hunts.iter().rev().find(is_it).map(|hunt| hunt.record.clone())
    }

    /// Keep a trial; `None` if no hunt is open.
    pub(crate) fn put_trial(&mut self, key: &str, trial: &TrialRecord) -> Option<()> {
        let hunt = self.hunts.get_mut(self.open?)?;
        hunt.trials.insert(key.to_owned(), trial.clone());
        Some(())
    }

    pub(crate) fn trial(&self, key: &str) -> Option<TrialRecord> {
        self.hunts.get(self.open?)?.trials.get(key).cloned()
    }

    /// Keep what was found; `None` if no hunt is open.
    pub(crate) fn finish(&mut self, findings: &HuntFindings) -> Option<()> {
        let hunt = self.hunts.get_mut(self.open?)?;
        hunt.is_over = is_over(findings);
        hunt.looked_at = decided(findings).map(|test| test.id.clone()).collect();
        hunt.flaky = findings.flaky().cloned().collect();
        if hunt.is_over {
            self.open = None;
        }
        Some(())
    }

    pub(crate) fn known_flaky(&self) -> Vec<KnownFlaky> {
        let mut known: BTreeMap<&TestId, KnownFlaky> = BTreeMap::new();
        for hunt in &self.hunts {
            known.retain(|test, _| !hunt.looked_at.contains(*test));
            for test in &hunt.flaky {
                let flaky = KnownFlaky { hunt: hunt.record.clone(), test: test.clone() };
                known.insert(&test.id, flaky);
            }
        }
        known.into_values().collect()
    }
}
