//! Trials that other machines run.
//!
//! A trial says all there is to run, and its record all that came of it. So a hunt hands trials out and
//! takes records in, and neither knows nor cares how they travel. Records come out in the order in which
//! trials went in, so that a hunt finds the same with any number of machines.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::time::Duration;

use flakeproof_core::TrialRecord;
use flakeproof_runner::{Error, Result};

use super::trial::Trial;
use super::trial_scheduler::{Stop, TrialScheduler};

/// So many trials are handed out at most before the first of them is back.
pub(super) const AHEAD: usize = 512;

/// A wait for records is no longer than this: then somebody may have interrupted it.
const PATIENCE: Duration = Duration::from_millis(500);

/// Machines that run the trials of a hunt. Whoever runs a trial also keeps it.
#[derive(Clone, Copy)]
pub struct Crew<'a> {
    /// How many there are now.
    pub size: &'a dyn Fn() -> usize,
    /// Hand out these trials. One that is out already is not run twice.
    pub ask: &'a dyn Fn(&[Trial]) -> Result<()>,
    /// Wait at most so long for trials that are done, of those with these keys.
    pub collect: &'a CollectTrials<'a>,
    /// Take back those of these trials that nobody has begun.
    pub withdraw: &'a dyn Fn(&[String]) -> Result<()>,
}

/// Waits for trials.
pub type CollectTrials<'a> = dyn Fn(&[String], Duration) -> Result<Vec<(String, TrialRecord)>> + 'a;

/// Trials that are out, by their keys, with their numbers.
type Out = HashMap<String, Vec<(usize, Trial)>>;

impl TrialScheduler<'_, '_> {
    /// Have trials run by others, and give each with what happened, in order, until somebody has seen
    /// enough. At most so many as `ahead` says are out at the same time: machines come and go.
    pub(super) fn by_crew(
        &mut self,
        crew: &Crew<'_>,
        ahead: &dyn Fn() -> usize,
        mut trials: impl Iterator<Item = Trial>,
        take: &mut dyn FnMut(&Trial, &TrialRecord) -> ControlFlow<()>,
    ) -> Result<(), Stop> {
        let mut waiting: BTreeMap<usize, (Trial, TrialRecord, bool)> = BTreeMap::new();
        let (mut out, mut next, mut delivered) = (Out::new(), 0, 0);
        let mut is_closed = false;
        loop {
            // First what is there: it may make further trials needless.
            while let Some((trial, record, is_recalled)) = waiting.remove(&delivered) {
                delivered += 1;
                if self.take_in(&trial, &record, is_recalled, take).is_break() {
                    return withdraw(crew, &out);
                }
            }
            if let Err(stop) = self.may_go_on() {
                withdraw(crew, &out)?;
                return Err(stop);
            }
            let mut fresh = Vec::new();
            while !is_closed && out.len() < ahead() {
                let Some(trial) = trials.next() else {
                    is_closed = true;
                    break;
                };
                let key = trial.key();
                match (self.journal.recall)(&key) {
                    Some(record) => {
                        let is_next = next == delivered;
                        waiting.insert(next, (trial, record, true));
                        next += 1;
                        if is_next {
                            break;
                        }
                    }
                    None => {
                        fresh.push(trial.clone());
                        out.entry(key).or_default().push((next, trial));
                        next += 1;
                    }
                }
            }
            if !fresh.is_empty() {
                (crew.ask)(&fresh).map_err(Stop::Trouble)?;
            }
            if waiting.contains_key(&delivered) {
                continue;
            }
            if out.is_empty() {
                return Ok(());
            }
            let keys: Vec<String> = out.keys().cloned().collect();
            let collected = match (crew.collect)(&keys, PATIENCE) {
                // By the user, or by the budget.
                Err(Error::Cancelled) => {
                    withdraw(crew, &out)?;
                    return Err(self.may_go_on().err().unwrap_or(Stop::Interrupted));
                }
                collected => collected.map_err(Stop::Trouble)?,
            };
            for (key, record) in collected {
                for (number, trial) in out.remove(&key).unwrap_or_default() {
                    let record = self.with_news_only(&trial, record.clone());
                    waiting.insert(number, (trial, record, false));
                }
            }
        }
    }
}

fn withdraw(crew: &Crew<'_>, out: &Out) -> Result<(), Stop> {
    if out.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = out.keys().cloned().collect();
    (crew.withdraw)(&keys).map_err(Stop::Trouble)
}
