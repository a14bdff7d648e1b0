//! A suite shared among machines that do not know of each other.
//!
//! Each works out the division by itself, so all must see the same history. What changes it between the
//! first machine and the last is left out: runs of shards of the same code, above all those of this very
//! suite, whatever else ended after the first of them began, and in a CI job whatever ended after the commit
//! was made. A retry of a job comes to the same tests, too.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use flakeproof_core::{
    ExitCode, Findings, History, HistoryError, Notice, Part, PastRun, Piece, Shard, Shards, Suite,
    TestId, Timeline,
};
use flakeproof_report::words;
use flakeproof_runner::Adapter;
use flakeproof_runner::ci::CiFacts;
use jiff::{SignedDuration, Timestamp};

use super::Code;
use crate::problem::Problem;

/// So many victims are named in a note each.
const MOST_VICTIMS: usize = 5;

/// A suite, shared.
pub(crate) struct Sharing {
    pub(crate) shard: Shard,
    pub(crate) shards: Shards,
    /// The whole suite.
    suite: HashSet<TestId>,
    /// The tests of this shard.
    part: HashSet<TestId>,
    piece: Piece,
}

/// How long tests take, as far as all machines can know.
pub(crate) fn known_times(
    history: &dyn History,
    code: &Code,
    variables: &BTreeMap<String, String>,
) -> Result<BTreeMap<TestId, Duration>, Problem> {
    let timeline = history.timeline().map_err(|error| cannot_share(&error))?;
    let commit = CiFacts::read(variables).and_then(|_| {
        let time = code.repository.as_ref().ok()?.time_of_commit()?;
        time.parse::<Timestamp>().ok()
    });
    Ok(times_before(&timeline, code.tree.revision.as_deref(), commit))
}

/// Without its history a machine would have other tests than the others think.
pub(crate) fn cannot_share(error: &HistoryError) -> Problem {
    let next = "mend it, or name another with `--store`: all shards need the same history, or tests \
                would be in none of them";
    Problem::new(ExitCode::Broken, format!("the suite cannot be shared: {error}"), next)
}

fn times_before(
    timeline: &Timeline,
    revision: Option<&str>,
    commit: Option<Timestamp>,
) -> BTreeMap<TestId, Duration> {
    let is_shard_of_this =
        |run: &PastRun| run.revision.as_deref() == revision && Shard::in_run_id(&run.id).is_some();
    let started = |run: &PastRun| run.started.parse::<Timestamp>().ok();
    let first = timeline.runs.iter().filter(|run| is_shard_of_this(run)).filter_map(started).min();
    let latest = [first, commit].into_iter().flatten().min();
    timeline.usual_times(|run| {
        let took = SignedDuration::try_from(run.duration).unwrap_or_default();
        let ended = started(run).and_then(|start| start.checked_add(took).ok());
        !is_shard_of_this(run)
            && latest.is_none_or(|latest| ended.is_some_and(|ended| ended <= latest))
    })
}

impl Sharing {
    /// Share a suite by these times.
    pub(crate) fn new(
        suite: &Suite,
        times: &BTreeMap<TestId, Duration>,
        piece: Piece,
        shard: Shard,
    ) -> Self {
        let shards = Shards::divide(suite, times, piece, shard.of());
        let ids = |suite: &Suite| suite.ids().into_iter().collect();
        let mut sharing = Self { shard, shards, suite: ids(suite), part: HashSet::new(), piece };
        sharing.part = sharing.own().tests.iter().map(|test| test.id.clone()).collect();
        sharing
    }

    /// What this machine runs.
    pub(crate) fn own(&self) -> &Part {
        // Shards are counted from 1 to their number, for each of which there is a part.
        &self.shards.parts[self.shard.number() as usize - 1]
    }

    /// The whole suite and the part of it.
    pub(crate) fn part_of_suite(&self) -> flakeproof_detect::change::PartOfSuite<'_> {
        flakeproof_detect::change::PartOfSuite { part: &self.part, suite: &self.suite }
    }

    /// A word that is the same on all machines if they share the suite in the same way. Some runners list
    /// their files in another order each time, which matters nothing here.
    pub(crate) fn plan(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in &self.shards.parts {
            hasher.update(b"shard\n");
            let mut ids: Vec<&str> = part.tests.iter().map(|test| test.id.as_str()).collect();
            ids.sort_unstable();
            for id in ids {
                hasher.update(id.as_bytes());
                hasher.update(b"\n");
            }
        }
        hasher.finalize().to_hex()[..8].to_owned()
    }

    /// Take the adapter's suite down to this shard's part.
    pub(crate) fn narrow(
        &self,
        suite: Suite,
        adapter: &dyn Adapter,
    ) -> Result<(Suite, Vec<Notice>), flakeproof_runner::Error> {
        let mut notices = vec![self.notice()];
        let tests = self.own().tests.clone();
        let part = Suite { tests, problems: suite.problems };
        if !part.tests.is_empty() && part.tests.len() < suite.tests.len() {
            notices.extend(adapter.narrow(&part.ids())?);
        }
        Ok((part, notices))
    }

    /// What the reader should know about the division.
    pub(crate) fn notice(&self) -> Notice {
        let own = self.own();
        let all: usize = self.shards.parts.iter().map(|part| part.tests.len()).sum();
        let whole: Duration = self.shards.parts.iter().map(|part| part.time).sum();
        let (shard, plan) = (self.shard, self.plan());
        if own.tests.is_empty() {
            let pieces = match self.piece {
                Piece::Test => "tests",
                Piece::File => "files",
            };
            return Notice {
                what: format!("shard {shard} is empty: there are fewer {pieces} than shards"),
                next: "nothing is left to run here; use fewer shards".into(),
            };
        }
        let what = format!("shard {shard} has {} of {all} tests", own.tests.len());
        match self.shards.known {
            0 => Notice {
                what: format!("{what}, by their number: no times are known (plan {plan})"),
                next: "bring the history of an earlier run to every shard to share by time".into(),
            },
            known => Notice {
                what: format!(
                    "{what}, about {:.1} s of {:.1} s by the times of {known} (plan {plan})",
                    own.time.as_secs_f64(),
                    whole.as_secs_f64()
                ),
                next: "every shard must name the same plan; where one does not, it has another history"
                    .into(),
            },
        }
    }

    /// Say of each test that fails only after others of this shard what to look for, and how to see it. No
    /// verdict rests on that.
    pub(crate) fn tell_victims(
        &self,
        findings: &mut Findings,
        adapter: &dyn Adapter,
        command: &[String],
    ) {
        let order: Vec<TestId> = self.own().tests.iter().map(|test| test.id.clone()).collect();
        let shard = self.shard;
        let all = words::command(command);
        let mut victims = Vec::new();
        for test in findings.tests.iter_mut().filter(|test| test.fails_only_among_others()) {
            let end = order.iter().position(|id| *id == test.id).map_or(0, |at| at + 1);
            let again = adapter.command_for_order(&order[..end]);
            let again = again.or_else(|| Some(format!("flakeproof run --shard {shard} -- {all}")));
            test.reproduce = test.reproduce.take().and(again);
            victims.push(test.id.clone());
        }
        let more = victims.len().saturating_sub(MOST_VICTIMS);
        for victim in victims.iter().take(MOST_VICTIMS) {
            let id = words::command(&[victim.to_string()]);
            findings.notices.push(Notice {
                what: format!(
                    "`{}` passes alone and fails after others of shard {shard}: it is a victim of one \
                     of them, which may run elsewhere or be cleaned up after in the whole suite",
                    victim.shown()
                ),
                next: format!("`flakeproof hunt --victim {id} -- {all}` looks for the polluter"),
            });
        }
        if more > 0 {
            findings.notices.push(Notice {
                what: format!("so do {more} more"),
                next: format!("`flakeproof hunt -- {all}` looks for all polluters"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Mark, Outcome, TestTimeline};

    use super::*;

    fn run(id: &str, started: &str, seconds: u64, revision: &str) -> PastRun {
        PastRun {
            id: id.to_owned(),
            started: started.to_owned(),
            duration: Duration::from_secs(seconds),
            revision: Some(revision.to_owned()),
            ..PastRun::default()
        }
    }

    /// What each run says about a test, and which of them count for a shard of revision `b`.
    fn seen(runs: Vec<PastRun>, commit: Option<&str>) -> Option<u128> {
        let marks = (0..).zip(&runs).map(|(at, _)| {
            Mark::first(at, Outcome::Passed, Duration::from_millis(10 * u64::from(at + 1)))
        });
        let tests = vec![TestTimeline { test: "t".into(), marks: marks.collect() }];
        let commit = commit.map(|time| time.parse().expect("a time"));
        let times =
            times_before(&Timeline { runs, tests, ..Timeline::default() }, Some("b"), commit);
        times.get("t").map(Duration::as_millis)
    }

    #[test]
    fn shards_of_the_same_code_and_what_ended_after_the_first_of_them_do_not_count() {
        let before = run("1", "2026-11-18T10:00:00Z", 60, "a");
        let shard = run("2-1of2", "2026-11-18T12:00:00Z", 60, "b");
        let meanwhile = run("3", "2026-11-18T11:59:30Z", 60, "a");
        let after = run("4", "2026-11-18T12:05:00Z", 60, "b");
        assert_eq!(seen(vec![before.clone()], None), Some(10));
        assert_eq!(seen(vec![before, shard, meanwhile, after], None), Some(10));
    }

    #[test]
    fn shards_of_other_code_count() {
        let shards = vec![run("1-1of2", "2026-11-18T10:00:00Z", 60, "a")];
        assert_eq!(seen(shards, None), Some(10));
    }

    #[test]
    fn in_a_job_only_what_had_ended_when_the_commit_was_made_counts() {
        let runs = || {
            vec![
                run("1", "2026-11-18T10:00:00Z", 60, "a"),
                run("2", "2026-11-18T10:59:30Z", 60, "a"),
                run("3", "2026-11-18T11:10:00Z", 60, "a"),
            ]
        };
        assert_eq!(seen(runs(), Some("2026-11-18T12:00:00+01:00")), Some(10));
        assert_eq!(seen(runs(), None), Some(20));
    }

    #[test]
    fn the_plan_is_the_same_for_all_shards_and_another_for_other_times() {
        let test = |id: &str| flakeproof_core::SuiteTest { id: id.into(), location: None };
        let suite = Suite { tests: ["a", "b", "c"].map(test).to_vec(), problems: Vec::new() };
        let plan = |times: &[(&str, u64)], number| {
            let times = times.iter().map(|(id, time)| ((*id).into(), Duration::from_secs(*time)));
            let shard = Shard::new(number, 2).expect("a shard");
            Sharing::new(&suite, &times.collect(), Piece::Test, shard).plan()
        };
        assert_eq!(plan(&[], 1), plan(&[], 2));
        assert_ne!(plan(&[], 1), plan(&[("a", 1), ("b", 9), ("c", 2)], 1));
    }
}
