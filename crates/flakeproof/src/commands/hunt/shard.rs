//! A hunt that several machines go through together: who runs which trial here, and what came of those that
//! others run.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{
    HistoryError, HuntEnd, HuntRecord, Notice, Shard, Surroundings, TestId, TrialRecord,
};
use flakeproof_detect::hunt::{Strategy, Trial, run_trial};
use flakeproof_runner::ci::CiFacts;
use flakeproof_runner::git::Repository;
use flakeproof_runner::{Adapter, Blame, Error};
use flakeproof_store::SharedHunt;

use super::fleet::FleetNeeds;
use super::kept_hunt::KeptHunt;
use crate::cli::{HuntSettings, ShardSettings};
use crate::problem::Problem;
use crate::session::history::cannot_open;
use crate::session::variables;

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
    let id = identity(settings)?;
    let own = HuntRecord { id: id.clone(), ..session.record.clone() };
    let joined = SharedHunt::join(&shard.address, &id, &own);
    let (shared, record) = joined.map_err(|error| cannot_open(&error))?;
    *session = KeptHunt::of_record(record)?;
    Ok(shared)
}

/// What tells a hunt apart from others: the job of a build of the CI system, on this kind of machine, else the
/// revision; the folder, and what was asked for. Whatever else differs between machines is refused.
fn identity(settings: &HuntSettings) -> Result<String, Problem> {
    let no_code = |why: String| {
        Problem::usage(
            format!("machines cannot tell that they have the same code: {why}"),
            "shards of a hunt need a git repository with a commit",
        )
    };
    let folder = &settings.folder;
    let repository = Repository::containing(folder).map_err(|error| no_code(error.to_string()))?;
    let revision = repository.tree_state().revision;
    let revision = revision.ok_or_else(|| no_code("there is no commit".to_owned()))?;
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let below = whole.strip_prefix(repository.root()).unwrap_or(Path::new("")).to_string_lossy();
    let of_ci = CiFacts::read(&variables()).and_then(|facts| {
        let job = facts.job.as_deref().map(without_its_number).map(str::to_owned);
        Some((facts.build?, job, facts.machine))
    });
    let of_code = of_ci.is_none().then_some(revision);
    let asked = (of_ci, of_code, &*below, &settings.command, &settings.asked, settings.seed);
    // What was typed is text and numbers, which can always be written.
    let asked = serde_json::to_string(&asked).unwrap_or_default();
    Ok(format!("shared-{}", &blake3::hash(asked.as_bytes()).to_hex()[..16]))
}

/// The name of a job without what tells it apart from those that run beside it: `hunt 1/4`, `hunt: [1, pg]`.
fn without_its_number(job: &str) -> &str {
    let job = job.split_once(": [").map_or(job, |(job, _)| job);
    let is_number = |word: &str| {
        let mut parts = word.split('/');
        parts.clone().count() == 2 && parts.all(|it| it.parse::<u32>().is_ok())
    };
    job.rsplit_once(' ').filter(|(_, last)| is_number(last)).map_or(job, |(job, _)| job)
}

/// Check that this machine has what the first had, or refuse it; say what is about it that may matter.
pub(super) fn agree(
    shared: &SharedHunt,
    needs: &FleetNeeds,
    surroundings: &Surroundings,
) -> Result<Option<Notice>, Problem> {
    let agreed = shared.agree_on("needs.json", needs.text()?.as_bytes());
    let agreed = agreed.map_err(|error| cannot_open(&error))?;
    let checked = FleetNeeds::read(&String::from_utf8_lossy(&agreed))?.check(needs);
    checked.map_err(|problem| Problem {
        next: format!("{}; or begin a hunt of your own with another `--seed`", problem.next),
        ..problem
    })?;
    let own: BTreeMap<&String, &String> =
        surroundings.variables.iter().filter(|(name, _)| may_matter(name)).collect();
    let text = serde_json::to_string(&own).unwrap_or_default();
    let first = shared.agree_on("variables.json", text.as_bytes());
    let first = first.map_err(|error| cannot_open(&error))?;
    let first: BTreeMap<String, String> = serde_json::from_slice(&first).unwrap_or_default();
    let names: BTreeSet<&String> = own.keys().copied().chain(first.keys()).collect();
    let differ = names.into_iter().filter(|name| own.get(*name).copied() != first.get(*name));
    let differ: Vec<String> = differ.map(|name| format!("`{name}`")).collect();
    Ok((!differ.is_empty()).then(|| Notice {
        what: format!(
            "the environment is not that of the shard which began the hunt: {}",
            differ[..differ.len().min(MOST_NAMES)].join(", ")
        ),
        next: "where tests depend on that, give those that belong together a `--seed` of their own"
            .to_owned(),
    }))
}

/// So many variables are named.
const MOST_NAMES: usize = 5;

/// Whether a variable may be what tests depend on, and not what differs between any two machines.
fn may_matter(name: &str) -> bool {
    const OF_SYSTEMS: [&str; 16] = [
        "ACTIONS_",
        "AGENT_",
        "AWS_",
        "BUILDKITE",
        "BUILD_",
        "CI_",
        "CIRCLE",
        "FLAKEPROOF_",
        "GITHUB_",
        "GITLAB_",
        "KUBERNETES_",
        "RUNNER_",
        "SLURM_",
        "SSH_",
        "SYSTEM_",
        "XDG_",
    ];
    const OF_MACHINES: [&str; 14] = [
        "HOME",
        "HOSTNAME",
        "INVOCATION_ID",
        "JOB_COMPLETION_INDEX",
        "JOURNAL_STREAM",
        "LOGNAME",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHLVL",
        "TERM",
        "TMPDIR",
        "USER",
        "_",
    ];
    !OF_MACHINES.contains(&name) && !OF_SYSTEMS.iter().any(|it| name.starts_with(it))
}

/// The strategy of the first machine, whose history and models it is from, for all.
pub(super) fn agree_on_strategy(shared: &SharedHunt, own: &Strategy) -> Result<Strategy, Problem> {
    let damaged = |error: postcard::Error| {
        let what = format!("what steers the hunt cannot be understood: {error}");
        Problem::usage(what, "begin another hunt, with another `--seed`")
    };
    let own = postcard::to_allocvec(own).map_err(damaged)?;
    let agreed = shared.agree_on("strategy", &own).map_err(|error| cannot_open(&error))?;
    postcard::from_bytes(&agreed).map_err(damaged)
}

/// One of the machines.
pub(super) struct HuntShard<'a> {
    shared: &'a SharedHunt,
    shard: Shard,
    adapter: &'a dyn Adapter,
    tests: Vec<TestId>,
    /// Trials that were asked for and did not come back, in the order in which they were.
    asked: RefCell<Vec<AskedTrial>>,
    look: Cell<Look>,
    /// How long the longest trial took, by the number of tests that ran.
    longest: RefCell<BTreeMap<u32, Duration>>,
    ran: Cell<usize>,
    has_heard_of_others: Cell<bool>,
}

/// A trial that was asked for.
struct AskedTrial {
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
            has_heard_of_others: Cell::default(),
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
        let asked = |trial: &Trial| AskedTrial {
            key: trial.key(),
            trial: trial.clone(),
            taken_since: None,
        };
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
                        self.has_heard_of_others.set(true);
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

    /// The place of the next trial to run here: one that nobody has, of many each machine from another place on,
    /// or else one whose machine is not heard of any more.
    fn next_to_run(&self) -> Result<Option<usize>, Error> {
        let mut asked = self.asked.borrow_mut();
        let count = asked.len();
        // Where few are asked for, the first makes the others needless.
        let is_many = count > 2 * self.size();
        let first =
            if is_many { count * (self.shard.number() as usize - 1) / self.size() } else { 0 };
        for at in (0..count).map(|at| (first + at) % count) {
            let it = &mut asked[at];
            if it.taken_since.is_some() {
                continue;
            }
            let who = self.shard.to_string();
            if self.shared.take(&it.key, &who).map_err(|error| trouble(&error))? {
                return Ok(Some(at));
            }
            self.has_heard_of_others.set(true);
            it.taken_since = Some(Instant::now());
        }
        let is_given_up = |it: &AskedTrial| {
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
        let AskedTrial { key, trial, .. } = self.asked.borrow_mut().remove(at);
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
        let is_alone = ran == all && ran > 0 && !self.has_heard_of_others.get();
        notices.push(match (is_alone, self.size()) {
            (true, 2..) => Notice {
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
                next: "they were run again here: where tests fail by chance, shards may differ"
                    .to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_run_beside_each_other_are_one() {
        for (job, name) in [
            ("hunt 1/4", "hunt"),
            ("hunt: [1, pg]", "hunt"),
            ("hunt the flaky", "hunt the flaky"),
            ("hunt and/or", "hunt and/or"),
            ("1/4", "1/4"),
        ] {
            assert_eq!(without_its_number(job), name, "{job}");
        }
    }
}
