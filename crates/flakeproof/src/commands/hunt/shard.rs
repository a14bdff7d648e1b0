//! A hunt that several machines go through together: who runs which trial here, and what came of those that
//! others run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use flakeproof_core::{HistoryError, HuntEnd, HuntRecord, Notice, Shard, TestId, TrialRecord};
use flakeproof_detect::hunt::{Trial, run_trial};
use flakeproof_runner::ci::CiFacts;
use flakeproof_runner::git::Repository;
use flakeproof_runner::{Adapter, Blame, Error};
use flakeproof_store::SharedHunt;

use super::fleet::FleetNeeds;
use super::kept_hunt::KeptHunt;
use crate::cli::{HuntSettings, ShardSettings};
use crate::problem::Problem;
use crate::session::history::cannot_open;

/// How long to wait between two looks at what others did: at first, at most, and so many times what the last
/// look itself took.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const LOOKS: u32 = 4;

/// A machine that took a trial is given up after so many times what the longest of its size took, and no sooner
/// than this; after this where none is known. It may come back: then what was said first counts.
const TIMES_THE_LONGEST: u32 = 4;
const LEAST_PATIENCE: Duration = Duration::from_secs(3);
const FIRST_PATIENCE: Duration = Duration::from_secs(30);

/// Join the hunt that all shards go through, as the first of them began it.
pub(super) fn join(
    shard: &ShardSettings,
    settings: &HuntSettings,
    session: &mut KeptHunt,
) -> Result<SharedHunt, Problem> {
    let id = identity(settings);
    let own = HuntRecord { id: id.clone(), ..session.record.clone() };
    let joined = SharedHunt::join(&shard.address, &id, &own);
    let (shared, record) = joined.map_err(|error| cannot_open(&error))?;
    *session = KeptHunt::of_record(record)?;
    Ok(shared)
}

/// What tells a hunt apart from others: the build of the CI system, else the revision; and what was asked for.
/// Whatever else differs between machines is refused.
fn identity(settings: &HuntSettings) -> String {
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let build = CiFacts::read(&variables).and_then(|facts| facts.build);
    let revision = || {
        let repository = Repository::containing(&settings.folder).ok()?;
        repository.tree_state().revision
    };
    let asked = serde_json::to_string(&(
        build.or_else(revision),
        &settings.command,
        &settings.asked,
        settings.seed,
    ));
    // What was typed is text and numbers, which can always be written.
    let digest = blake3::hash(asked.unwrap_or_default().as_bytes());
    format!("shared-{}", &digest.to_hex()[..16])
}

/// Check that this machine has what the first had, or refuse it.
pub(super) fn agree(shared: &SharedHunt, needs: &FleetNeeds) -> Result<(), Problem> {
    let agreed = shared.agree_on("needs.json", needs.text()?.as_bytes());
    let agreed = agreed.map_err(|error| cannot_open(&error))?;
    FleetNeeds::read(&String::from_utf8_lossy(&agreed))?.check(needs)
}

/// One of the machines.
pub(super) struct HuntShard<'a> {
    shared: &'a SharedHunt,
    shard: Shard,
    adapter: &'a dyn Adapter,
    tests: Vec<TestId>,
    /// Trials that were asked for and did not come back, in the order in which they were.
    asked: RefCell<Vec<Asked>>,
    look: Cell<Look>,
    /// How long the longest trial took, by the number of tests that ran.
    longest: RefCell<BTreeMap<u32, Duration>>,
    ran: Cell<usize>,
}

/// A trial that was asked for.
struct Asked {
    key: String,
    trial: Trial,
    /// Since when another machine is known to have it.
    taken_since: Option<Instant>,
}

/// When the next look is due, and how long to wait after it if it shows nothing.
#[derive(Clone, Copy)]
struct Look {
    due: Instant,
    pause: Duration,
}

impl<'a> HuntShard<'a> {
    pub(super) fn new(
        shared: &'a SharedHunt,
        shard: Shard,
        adapter: &'a dyn Adapter,
        tests: Vec<TestId>,
    ) -> Self {
        Self {
            shared,
            shard,
            adapter,
            tests,
            asked: RefCell::default(),
            look: Cell::new(Look { due: Instant::now(), pause: FIRST_PAUSE }),
            longest: RefCell::default(),
            ran: Cell::default(),
        }
    }

    /// How many machines there are to be.
    pub(super) fn size(&self) -> usize {
        self.shard.of() as usize
    }

    /// What came of a trial, if that is known by now.
    pub(super) fn recall(&self, key: &str) -> Option<TrialRecord> {
        // Trouble shows itself when the trial is asked for.
        let record = self.shared.trial(key).ok().flatten()?;
        self.learn(&record);
        Some(record)
    }

    /// Learn how long trials take.
    fn learn(&self, record: &TrialRecord) {
        let mut longest = self.longest.borrow_mut();
        let known = longest.entry(record.executions.max(1)).or_default();
        *known = record.duration.max(*known);
    }

    pub(super) fn ask(&self, trials: &[Trial]) {
        let asked =
            |trial: &Trial| Asked { key: trial.key(), trial: trial.clone(), taken_since: None };
        self.asked.borrow_mut().extend(trials.iter().map(asked));
    }

    pub(super) fn withdraw(&self, keys: &[String]) {
        self.asked.borrow_mut().retain(|it| !keys.contains(&it.key));
    }

    /// Run a trial that nobody has, or wait for those that others have.
    pub(super) fn collect(&self, wait: Duration) -> Result<Vec<(String, TrialRecord)>, Error> {
        let begin = Instant::now();
        loop {
            let done = self.of_others()?;
            if !done.is_empty() {
                return Ok(done);
            }
            if let Some(at) = self.next_to_run()? {
                return self.run(at).map(|done| vec![done]);
            }
            let left = wait.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(Vec::new());
            }
            let look = self.look.get().due.saturating_duration_since(Instant::now());
            std::thread::sleep(look.min(left));
        }
    }

    /// What others brought, as far as it is new.
    fn of_others(&self) -> Result<Vec<(String, TrialRecord)>, Error> {
        let now = Instant::now();
        let Look { due, pause } = self.look.get();
        if now < due {
            return Ok(Vec::new());
        }
        self.shared.look().map_err(|error| trouble(&error))?;
        let (mut done, mut waiting) = (Vec::new(), Vec::new());
        for mut it in self.asked.take() {
            match self.shared.trial(&it.key).map_err(|error| trouble(&error))? {
                Some(record) => {
                    self.learn(&record);
                    done.push((it.key, record));
                }
                None => {
                    if self.shared.is_taken(&it.key) {
                        it.taken_since.get_or_insert(now);
                    }
                    waiting.push(it);
                }
            }
        }
        self.asked.replace(waiting);
        let is_quiet = done.is_empty();
        let pause = if is_quiet { (pause * 2).min(LONGEST_PAUSE) } else { FIRST_PAUSE };
        let due = Instant::now() + pause.max(now.elapsed() * LOOKS);
        self.look.set(Look { due, pause });
        Ok(done)
    }

    /// The place of the next trial to run here: one that nobody has, each machine from another place on, or
    /// else one whose machine is not heard of any more.
    fn next_to_run(&self) -> Result<Option<usize>, Error> {
        let mut asked = self.asked.borrow_mut();
        let count = asked.len();
        let first = count * (self.shard.number() as usize - 1) / self.size();
        for at in (0..count).map(|at| (first + at) % count) {
            let it = &mut asked[at];
            if it.taken_since.is_some() {
                continue;
            }
            let who = self.shard.to_string();
            if self.shared.take(&it.key, &who).map_err(|error| trouble(&error))? {
                return Ok(Some(at));
            }
            it.taken_since = Some(Instant::now());
        }
        let is_given_up = |it: &Asked| {
            it.taken_since.is_some_and(|since| since.elapsed() >= self.patience_with(&it.trial))
        };
        Ok(asked.iter().position(is_given_up))
    }

    /// How long to wait for a trial that another machine runs.
    fn patience_with(&self, trial: &Trial) -> Duration {
        let longest = self.longest.borrow();
        let tests = u32::try_from(trial.len()).unwrap_or(u32::MAX).max(1);
        let of_its_size = longest.range(tests / 2..=tests.saturating_mul(2)).map(|(_, took)| *took);
        let by_pace =
            longest.iter().map(|(ran, took)| took.mul_f64(f64::from(tests) / f64::from(*ran)));
        match of_its_size.chain(by_pace).max() {
            Some(longest) => (longest * TIMES_THE_LONGEST).max(LEAST_PATIENCE),
            None => FIRST_PATIENCE,
        }
    }

    fn run(&self, at: usize) -> Result<(String, TrialRecord), Error> {
        let Asked { key, trial, .. } = self.asked.borrow_mut().remove(at);
        let begin = Instant::now();
        let record = run_trial(self.adapter, &self.tests, &|| begin.elapsed(), &trial)?;
        let record = self.shared.keep(&key, record).map_err(|error| trouble(&error))?;
        self.ran.set(self.ran.get() + 1);
        self.learn(&record);
        Ok((key, record))
    }

    /// Say that the hunt is over, if it is, and how it was shared.
    pub(super) fn end(&self, end: HuntEnd) -> Vec<Notice> {
        let mut notices = Vec::new();
        // What others ran to the end counts, too; if they cannot be seen any more, as far as is known.
        let _ = self.shared.look();
        let (ran, all, shard) = (self.ran.get(), self.shared.trials(), self.shard);
        let again = match end {
            HuntEnd::Finished => "every shard finds the same; another `--seed` is another hunt",
            HuntEnd::Interrupted | HuntEnd::BudgetSpent => "the same command goes on with it",
        };
        notices.push(match (ran == all, self.size()) {
            (true, 2..) if ran > 0 => Notice {
                what: format!(
                    "shard {shard} ran all {all} trials of this hunt: no other was heard of"
                ),
                next: "see that all have the same store, command, options and revision".to_owned(),
            },
            _ => Notice {
                what: format!("shard {shard} ran {ran} of the {all} trials of this hunt"),
                next: again.to_owned(),
            },
        });
        let damaged = self.shared.damaged();
        if damaged > 0 {
            notices.push(Notice {
                what: format!(
                    "what came of {damaged} trials was damaged in the store, and counts for nothing"
                ),
                next: "they were run again here; other shards may find something else".to_owned(),
            });
        }
        if end == HuntEnd::Finished
            && let Err(error) = self.shared.end()
        {
            notices.push(Notice {
                what: format!("that the hunt is over could not be told: {error}"),
                next: "nothing is lost: a shard that starts late finds it out".to_owned(),
            });
        }
        notices
    }
}

/// Without the store machines know nothing of each other; what was kept stays.
fn trouble(error: &HistoryError) -> Error {
    Error::Explained {
        blame: Blame::Runner,
        what: error.to_string(),
        next: "check that the store answers, and start the same command again: it goes on"
            .to_owned(),
        details: String::new(),
    }
}

/// What the user should know before it begins.
pub(super) fn invitation(shared: &SharedHunt, shard: Shard, started: &str) -> Notice {
    if shared.is_over() {
        return Notice {
            what: format!("the hunt of {started} is over: what follows is what it found"),
            next: "another `--seed` is another hunt".to_owned(),
        };
    }
    Notice {
        what: format!("shard {shard} of the hunt of {started}: each runs what no other has taken"),
        next: "start the others with the same store, command and options".to_owned(),
    }
}
