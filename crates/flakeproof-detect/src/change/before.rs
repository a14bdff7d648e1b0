//! The code from before the change: where it is, what is on record about it, and running it.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flakeproof_core::{Base, History, Signature, TestId, TreeState};
use flakeproof_runner::Cancel;
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::git::{NoBeginning, Repository};
use flakeproof_runner::levers::{InForce, Intervention};

use super::ChangeSince;
use super::foreign_code::{self, ForeignCode};
use crate::triage::{BaseProject, Record};

/// A base must be collected, and built where that is needed, within this time or twice the suite's.
const LONGEST_PREPARATION: Duration = Duration::from_secs(120);

/// Whether what reruns leave open is run on the code before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareBase {
    /// On what git says was there before the change.
    Auto,
    /// Not at all.
    Off,
    /// On this revision.
    Revision(String),
}

/// What is judged where that is not the whole suite.
#[derive(Debug, Clone, Copy)]
pub struct PartOfSuite<'a> {
    /// The tests of the part.
    pub part: &'a HashSet<TestId>,
    /// All tests of the suite.
    pub suite: &'a HashSet<TestId>,
}

impl PartOfSuite<'_> {
    /// The same part of another version of the suite, and why its order may not have been that one.
    fn of_base(&self, all: Vec<TestId>) -> (Vec<TestId>, Option<String>) {
        let doubt = all.iter().find(|test| !self.suite.contains(*test)).map(|gone| {
            format!("`{gone}` is there and not here, and may have run before it in this shard")
        });
        (all.into_iter().filter(|test| self.part.contains(test)).collect(), doubt)
    }
}

/// The code from before the change.
#[derive(Debug)]
pub struct BeforeTheChange<'a> {
    repository: Result<&'a Repository, String>,
    base: Result<Base, NoBeginning>,
    compare: &'a CompareBase,
    now: &'a TreeState,
}

impl<'a> BeforeTheChange<'a> {
    /// What `--compare-base` or `--base` names, or where the change began.
    pub fn new(
        repository: &'a Result<Repository, String>,
        named: Option<&str>,
        compare: &'a CompareBase,
        now: &'a TreeState,
        beginning: &Result<Base, NoBeginning>,
    ) -> Self {
        let repository = repository.as_ref().map_err(Clone::clone);
        let named = match compare {
            CompareBase::Revision(revision) => Some(revision.as_str()),
            CompareBase::Auto | CompareBase::Off => named,
        };
        let base = match named {
            Some(revision) => Ok(Base::Named { revision: revision.to_owned() }),
            None => beginning.clone(),
        };
        Self { repository, base, compare, now }
    }

    /// The revision before the change.
    ///
    /// # Errors
    /// Why there is none.
    pub fn base(&self) -> Result<(&'a Repository, Base), String> {
        let repository = self.repository.clone()?;
        let base = self.base.clone().map_err(|why| why.to_string())?;
        Ok((repository, base))
    }

    /// Why there is a change and nobody can see it, if that is so: its beginning is not known, or git does
    /// not tell what came after it.
    pub fn hidden(&self, since: &ChangeSince<'_>) -> Option<String> {
        match (&self.base, &self.repository) {
            (Err(why), _) if !why.hides_the_change() => None,
            (Err(_), Err(why)) => Some(why.clone()),
            (Err(why), Ok(_)) => Some(why.to_string()),
            (Ok(base), _) => since.facts_since(base.clone()).err(),
        }
    }

    /// How a test fared before the change, as far as it failed like this.
    pub fn record(
        &self,
        history: &dyn History,
        test: &TestId,
        signature: Option<&Signature>,
    ) -> Record {
        let (Ok((repository, base)), Ok(past)) = (self.base(), history.past_outcomes(test)) else {
            return Record::default();
        };
        let is_before = |revision: &Option<String>| {
            revision.as_ref().is_some_and(|it| repository.is_in(it, base.full_revision()))
        };
        let mut record = Record::default();
        for outcome in past.iter().filter(|it| it.is_clean && is_before(&it.revision)) {
            let fails_alike = outcome.signature.as_ref() == signature;
            match (outcome.outcome.is_failure(), outcome.verdict) {
                (false, _) => record.passes += 1,
                (true, Some(verdict)) if fails_alike && verdict.is_shown_flaky() => {
                    record.flaky.push(outcome.kind);
                    record.messages.extend(outcome.message.clone());
                }
                // The same failure was there before and was no chance: the record excuses nothing.
                (true, _) if fails_alike => return Record::default(),
                (true, _) => {}
            }
        }
        record
    }

    /// The base, checked out beside the project and collected.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn project(
        &self,
        request: &RunRequest,
        changed: Vec<String>,
        part: Option<PartOfSuite<'_>>,
    ) -> Result<BaseProject, String> {
        if *self.compare == CompareBase::Off {
            return Err(
                "running it on the code before the change would tell, and is switched off \
                        (`--compare-base auto`)"
                    .to_owned(),
            );
        }
        let (repository, base) = self.base()?;
        if self.now.revision.as_deref() == Some(base.full_revision()) && changed.is_empty() {
            return Err("nothing changed since the commit before".to_owned());
        }
        let checkout = (repository.check_out(base.full_revision(), &changed))
            .map_err(|error| error.to_string())?;
        let folder = request.folder.canonicalize().unwrap_or_else(|_| request.folder.clone());
        let below = folder.strip_prefix(repository.root()).unwrap_or(Path::new(""));
        if let Some(why) = foreign_code::from_elsewhere(&request.command, below, checkout.root()) {
            return Err(why);
        }
        let temporary = checkout.temporary_folder().map_err(|error| error.to_string())?;
        let (canceller, cancel) = Cancel::new();
        let limit = Deadline::start(canceller, request.cancel.clone(), LONGEST_PREPARATION);
        let adapter = adapters::open(RunRequest {
            folder: checkout.root().join(below),
            is_output_shown: false,
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::New,
            cancel,
            in_force: InForce::always(Intervention::variables([(
                "TMPDIR",
                &*temporary.to_string_lossy(),
            )])),
            ..request.clone()
        })
        .map_err(|error| format!("the base cannot be run: {error}"))?;
        let mut suite = adapter.discover();
        let is_whole = suite.as_ref().is_ok_and(|suite| suite.problems.is_empty());
        if !is_whole && checkout.bring_the_rest() {
            suite = adapter.discover();
        }
        let suite = suite.map_err(|error| format!("the base cannot be run: {error}"));
        limit.is_met();
        let (order, order_doubt) = match part {
            None => (suite?.ids(), None),
            Some(part) => {
                let (order, doubt) = part.of_base(suite?.ids());
                let narrowed = adapter.narrow(&order);
                narrowed.map_err(|error| format!("the base cannot be run: {error}"))?;
                (order, doubt)
            }
        };
        let checkout = Rc::new(checkout);
        let foreign = ForeignCode {
            head: repository.root().to_path_buf(),
            checkout: Rc::clone(&checkout),
            changed,
            command: request.command.clone(),
            examines_servers: adapter.can().examines_servers,
        };
        let complete = Rc::clone(&checkout);
        Ok(BaseProject {
            adapter,
            order,
            order_doubt,
            revision: base.revision().to_owned(),
            foreign_code: Box::new(move |used| foreign.of(used)),
            bring_the_rest: Box::new(move || complete.bring_the_rest()),
            checkout: Box::new((checkout, limit)),
        })
    }
}

/// Cancels work that takes too long, or that the user does not want any more.
struct Deadline {
    met: mpsc::Sender<()>,
}

impl Deadline {
    fn start(canceller: flakeproof_runner::Canceller, user: Cancel, limit: Duration) -> Self {
        let (met, is_met) = mpsc::channel();
        std::thread::spawn(move || {
            let step = Duration::from_millis(100);
            let mut left = limit;
            let mut has_deadline = true;
            loop {
                match is_met.recv_timeout(step) {
                    Ok(()) => has_deadline = false,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        left = left.saturating_sub(step);
                    }
                }
                if user.is_cancelled() || (has_deadline && left.is_zero()) {
                    canceller.cancel();
                    return;
                }
            }
        });
        Self { met }
    }

    /// What had to be done in time is done.
    fn is_met(&self) {
        let _ = self.met.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_gone_casts_doubt_on_the_order_of_a_shard() {
        let ids = |names: &[&str]| names.iter().map(|name| TestId::from(*name)).collect::<Vec<_>>();
        let set = |names: &[&str]| ids(names).into_iter().collect::<HashSet<_>>();
        let (part, suite) = (set(&["b", "c", "new"]), set(&["a", "b", "c", "new"]));
        let shard = PartOfSuite { part: &part, suite: &suite };
        assert_eq!(shard.of_base(ids(&["c", "b", "a"])), (ids(&["c", "b"]), None));
        let (order, doubt) = shard.of_base(ids(&["a", "cleaner", "b"]));
        assert_eq!(order, ids(&["b"]));
        assert!(doubt.is_some_and(|why| why.contains("`cleaner`")));
    }
}
