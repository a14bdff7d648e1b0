//! A history that lasts as long as the process.
//!
//! It stands in where nothing can be written, so that a run in a read-only project works like any
//! other. It keeps only what it can be asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flakeproof_core::{
    Attempt, CauseRecord, Execution, Failure, FeatureRecord, Features, Findings, FrontPoint,
    History, HistoryError, HuntFindings, HuntOverview, HuntRecord, HuntSummary, HuntedTest, Kind,
    KnownFlaky, Mark, Origin, Outcome, PassRecord, PastFailure, PastFinding, PastOutcome, PastRun,
    RunRecord, Signature, Stage, Surroundings, TestId, TestTimeline, Timeline, TrialRecord,
};

use crate::hunts::{decided, is_over, summary_of};
use crate::past::MOST_OF_A_TEST;

/// A history that lasts as long as the process.
#[derive(Debug, Default)]
pub struct MemoryHistory {
    runs: Vec<RunRecord>,
    open: Option<usize>,
    passes: BTreeMap<TestId, Passes>,
    /// What each run saw of a test, oldest first.
    marks: BTreeMap<TestId, Vec<Mark>>,
    /// How long runs took.
    took: BTreeMap<usize, Duration>,
    features: Vec<(usize, TestId, Features)>,
    hunts: MemoryHunts,
    /// Experiments with tests, oldest first.
    causes: Vec<CauseRecord>,
    /// Runs whose code changed while they ran.
    unsettled: BTreeSet<usize>,
    /// What first failures looked like, and how they were flaky.
    failures: BTreeMap<(u32, TestId), (Option<Failure>, Option<Kind>)>,
    /// What was said about failures, oldest first.
    findings: BTreeMap<TestId, Vec<PastFinding>>,
    /// How tests failed.
    ways: BTreeMap<TestId, Vec<FailureWay>>,
}

/// A way in which a test failed.
#[derive(Debug)]
struct FailureWay {
    message: String,
    signature: Signature,
    runs: BTreeSet<usize>,
}

impl MemoryHistory {
    /// An empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn open_run(&self) -> Result<usize, HistoryError> {
        self.open.ok_or_else(|| unwritable("no run is open"))
    }

    fn mark(&mut self, run: usize, attempt: &Attempt) {
        let Execution { test, outcome, duration, .. } = &attempt.execution;
        let marks = self.marks.entry(test.clone()).or_default();
        match marks.last_mut().filter(|mark| mark.run as usize == run) {
            Some(mark) if attempt.stage != Stage::First => mark.rerun(*outcome, *duration),
            _ => marks.push(Mark::first(index(run), *outcome, *duration)),
        }
    }

    /// Whether an earlier run says something about the code and the tests of the open one.
    fn counts(&self, run: usize) -> bool {
        let open = self.open.map(|open| &self.runs[open]);
        run < self.open.unwrap_or(self.runs.len())
            && self.runs[run].origin == Origin::Run
            && !self.unsettled.contains(&run)
            && open.is_none_or(|open| open.folder == self.runs[run].folder)
    }

    fn note_way(&mut self, run: usize, test: &TestId, failure: &Failure) {
        let ways = self.ways.entry(test.clone()).or_default();
        match ways.iter_mut().find(|way| way.message == failure.message) {
            Some(way) => {
                way.signature.clone_from(&failure.signature);
                way.runs.insert(run);
            }
            None => ways.push(FailureWay {
                message: failure.message.clone(),
                signature: failure.signature.clone(),
                runs: BTreeSet::from([run]),
            }),
        }
    }

    fn past_failure(&self, way: &FailureWay) -> PastFailure {
        let started = way.runs.iter().map(|run| &self.runs[*run].started).max();
        PastFailure {
            message: way.message.clone(),
            signature: Some(way.signature.clone()),
            times: u32::try_from(way.runs.len()).unwrap_or(u32::MAX),
            last: started.cloned().unwrap_or_default(),
        }
    }

    fn first_run_of_code(&self, run: usize) -> usize {
        let code = |run: &RunRecord| {
            let Surroundings { runtime, packages, .. } = &run.surroundings;
            (run.tree.clone(), runtime.clone(), packages.clone())
        };
        self.runs.iter().position(|it| code(it) == code(&self.runs[run])).unwrap_or(run)
    }
}

impl History for MemoryHistory {
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError> {
        if self.runs.iter().any(|known| known.id == run.id) {
            return Err(unwritable(&format!("it has a run {} already", run.id)));
        }
        self.open = Some(self.runs.len());
        self.runs.push(run.clone());
        Ok(())
    }

    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        for attempt in attempts {
            self.mark(run, attempt);
            if let Some(failure) = &attempt.execution.failure {
                self.note_way(run, &attempt.execution.test, failure);
            }
            if let (Stage::First, Some(failure)) = (attempt.stage, &attempt.execution.failure) {
                let key = (index(run), attempt.execution.test.clone());
                self.failures.insert(key, (Some(failure.clone()), None));
            }
        }
        let passed = |attempt: &&Attempt| attempt.execution.outcome == Outcome::Passed;
        for attempt in attempts.iter().filter(passed) {
            let passes = self.passes.entry(attempt.execution.test.clone()).or_default();
            passes.duration = attempt.execution.duration;
            if attempt.stage == Stage::First {
                passes.first.push(run);
            }
        }
        Ok(())
    }

    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        for test in findings.failures() {
            let mark = self.marks.get_mut(&test.id).and_then(|marks| marks.last_mut());
            if let Some(mark) = mark.filter(|mark| mark.run as usize == run) {
                mark.verdict = test.verdict;
            }
            if let Some(seen) = self.failures.get_mut(&(index(run), test.id.clone())) {
                seen.1 = test.kind;
            }
            if let Some(verdict) = test.verdict {
                self.findings.entry(test.id.clone()).or_default().push(PastFinding {
                    run: self.runs[run].id.clone(),
                    started: self.runs[run].started.clone(),
                    verdict,
                    kind: test.kind,
                    evidence: test.evidence.clone(),
                });
            }
        }
        self.close(findings.run.duration)
    }

    fn close(&mut self, took: Duration) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.took.insert(run, took);
        self.open = None;
        Ok(())
    }

    fn has_run(&self, id: &str) -> Result<bool, HistoryError> {
        Ok(self.runs.iter().any(|run| run.id == id))
    }

    fn timeline(&self) -> Result<Timeline, HistoryError> {
        let past = |(number, run): (usize, &RunRecord)| PastRun {
            id: run.id.clone(),
            started: run.started.clone(),
            duration: self.took.get(&number).copied().unwrap_or_default(),
            revision: run.tree.revision.clone(),
            branch: run.tree.branch.clone(),
            job: run.origin.job().map(ToOwned::to_owned),
            code: run.tree.is_complete.then(|| index(self.first_run_of_code(number))),
        };
        let test = |(test, marks): (&TestId, &Vec<Mark>)| TestTimeline {
            test: test.clone(),
            marks: marks.clone(),
        };
        Ok(Timeline {
            runs: self.runs.iter().enumerate().map(past).collect(),
            tests: self.marks.iter().map(test).collect(),
            others: Vec::new(),
        })
    }

    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError> {
        let pass = self
            .passes
            .get(test)
            .and_then(|passes| passes.first.iter().rev().find(|run| self.counts(**run)))
            .and_then(|run| self.runs.get(*run));
        Ok(pass.map(|run| PassRecord {
            run: run.id.clone(),
            started: run.started.clone(),
            tree: run.tree.clone(),
            surroundings: run.surroundings.clone(),
        }))
    }

    fn unsettle(&mut self) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.unsettled.insert(run);
        Ok(())
    }

    fn past_outcomes(&self, test: &TestId) -> Result<Vec<PastOutcome>, HistoryError> {
        let marks = self.marks.get(test).into_iter().flatten().rev();
        let earlier = marks.filter(|mark| self.counts(mark.run as usize));
        let outcome = |mark: &Mark| {
            let run = &self.runs[mark.run as usize];
            let seen = self.failures.get(&(mark.run, test.clone()));
            let failure = seen.and_then(|seen| seen.0.as_ref());
            PastOutcome {
                revision: run.tree.revision.clone(),
                is_clean: run.tree.is_complete && run.tree.edited.is_empty(),
                outcome: mark.outcome,
                signature: failure.map(|failure| failure.signature.clone()),
                message: failure.map(|failure| failure.message.clone()),
                verdict: mark.verdict,
                kind: seen.and_then(|seen| seen.1),
            }
        };
        Ok(earlier.map(outcome).collect())
    }

    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError> {
        let duration = |(test, passes): (&TestId, &Passes)| (test.clone(), passes.duration);
        Ok(self.passes.iter().map(duration).collect())
    }

    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError> {
        let run = self.open_run()?;
        self.features.extend(measured.iter().map(|(test, of_test)| (run, test.clone(), *of_test)));
        Ok(())
    }

    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError> {
        let Some((last, ..)) = self.features.last() else { return Ok(Vec::new()) };
        let code = self.first_run_of_code(*last);
        let of_code = self.features.iter().filter(|(run, ..)| self.first_run_of_code(*run) == code);
        let mut runs: Vec<usize> = of_code.clone().map(|(run, ..)| *run).collect();
        runs.dedup();
        Ok(of_code
            .map(|(run, test, features)| FeatureRecord {
                test: test.clone(),
                run: 1 + u32::try_from(runs.partition_point(|it| it < run)).unwrap_or(u32::MAX),
                features: *features,
            })
            .collect())
    }

    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError> {
        self.hunts.begin(hunt);
        Ok(())
    }

    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError> {
        Ok(self.hunts.unfinished(command))
    }

    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError> {
        self.hunts.put_trial(key, trial).ok_or_else(|| unwritable("no hunt is open"))
    }

    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        Ok(self.hunts.trial(key))
    }

    fn finish_hunt(&mut self, findings: &HuntFindings) -> Result<(), HistoryError> {
        self.hunts.finish(findings).ok_or_else(|| unwritable("no hunt is open"))
    }

    fn known_flaky(&self) -> Result<Vec<KnownFlaky>, HistoryError> {
        Ok(self.hunts.known_flaky())
    }

    fn keep_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError> {
        match self.causes.iter_mut().find(|it| it.id == cause.id) {
            Some(kept) => kept.clone_from(cause),
            None => self.causes.push(cause.clone()),
        }
        Ok(())
    }

    fn causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        let finished = self.causes.iter().filter(|it| it.found.is_some());
        let latest: BTreeMap<&TestId, &CauseRecord> = finished.map(|it| (&it.test, it)).collect();
        Ok(latest.into_values().cloned().collect())
    }

    fn unfinished_cause(
        &self,
        test: &TestId,
        command: &[String],
    ) -> Result<Option<CauseRecord>, HistoryError> {
        let is_it = |it: &&CauseRecord| it.test == *test && it.command == command;
        let latest = self.causes.iter().rev().find(is_it);
        Ok(latest.filter(|it| it.found.is_none()).cloned())
    }

    fn past_findings(&self) -> Result<BTreeMap<TestId, Vec<PastFinding>>, HistoryError> {
        let latest = |findings: &Vec<PastFinding>| {
            let mut findings: Vec<PastFinding> = findings.iter().rev().cloned().collect();
            findings.sort_by(|one, other| other.started.cmp(&one.started));
            findings.truncate(MOST_OF_A_TEST);
            findings
        };
        Ok(self.findings.iter().map(|(test, all)| (test.clone(), latest(all))).collect())
    }

    fn past_failures(
        &self,
        of: Option<&BTreeSet<TestId>>,
    ) -> Result<BTreeMap<TestId, Vec<PastFailure>>, HistoryError> {
        let latest = |ways: &Vec<FailureWay>| {
            let mut ways: Vec<PastFailure> = ways.iter().map(|it| self.past_failure(it)).collect();
            ways.sort_by(|one, other| other.last.cmp(&one.last));
            ways.truncate(MOST_OF_A_TEST);
            ways
        };
        let ways = self.ways.iter().filter(|(test, _)| of.is_none_or(|of| of.contains(*test)));
        Ok(ways.map(|(test, all)| (test.clone(), latest(all))).collect())
    }

    fn latest_hunt(&self) -> Result<Option<HuntOverview>, HistoryError> {
        Ok(self.hunts.hunts.last().map(MemoryHunt::overview))
    }
}

/// What is known of the passes of one test.
#[derive(Debug, Default)]
struct Passes {
    /// The runs in which it passed at its first attempt, as indices, oldest first.
    first: Vec<usize>,
    /// How long it took when it last passed.
    duration: Duration,
}

fn index(run: usize) -> u32 {
    u32::try_from(run).unwrap_or(u32::MAX)
}

fn unwritable(cause: &str) -> HistoryError {
    HistoryError::Unwritable { place: "in memory".into(), cause: cause.into() }
}

/// All hunts, and which of them is open.
#[derive(Debug, Default)]
struct MemoryHunts {
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
    summary: Option<HuntSummary>,
}

impl MemoryHunt {
    fn overview(&self) -> HuntOverview {
        let front = |it: &HuntSummary| FrontPoint::front(it.tests, &self.flaky);
        HuntOverview {
            started: self.record.started.clone(),
            flaky: self.flaky.len(),
            front: self.summary.as_ref().map(front).unwrap_or_default(),
            summary: self.summary.clone(),
        }
    }
}

impl MemoryHunts {
    fn begin(&mut self, record: &HuntRecord) {
        let known = self.hunts.iter().position(|hunt| hunt.record.id == record.id);
        self.open = Some(known.unwrap_or(self.hunts.len()));
        if known.is_none() {
            self.hunts.push(MemoryHunt {
                record: record.clone(),
                is_over: false,
                trials: BTreeMap::new(),
                looked_at: BTreeSet::new(),
                flaky: Vec::new(),
                summary: None,
            });
        }
    }

    fn unfinished(&self, command: &[String]) -> Option<HuntRecord> {
        let is_it = |hunt: &&MemoryHunt| !hunt.is_over && hunt.record.command == command;
        self.hunts.iter().rev().find(is_it).map(|hunt| hunt.record.clone())
    }

    /// Keep a trial; `None` if no hunt is open.
    fn put_trial(&mut self, key: &str, trial: &TrialRecord) -> Option<()> {
        let hunt = self.hunts.get_mut(self.open?)?;
        hunt.trials.insert(key.to_owned(), trial.clone());
        Some(())
    }

    fn trial(&self, key: &str) -> Option<TrialRecord> {
        self.hunts.get(self.open?)?.trials.get(key).cloned()
    }

    /// Keep what was found; `None` if no hunt is open.
    fn finish(&mut self, findings: &HuntFindings) -> Option<()> {
        let hunt = self.hunts.get_mut(self.open?)?;
        hunt.is_over = is_over(findings);
        hunt.looked_at = decided(findings).map(|test| test.id.clone()).collect();
        hunt.flaky = findings.flaky().cloned().collect();
        hunt.summary = Some(summary_of(findings));
        if hunt.is_over {
            self.open = None;
        }
        Some(())
    }

    fn known_flaky(&self) -> Vec<KnownFlaky> {
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
