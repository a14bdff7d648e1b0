//! Answers from the history: what is known of failures and of tests.

use flakeproof_core::{
    HuntedTest, Overview, PastFinding, Prediction, Signature, Standing, TestDetail, TestId,
    TestScore, Verdict,
};
use flakeproof_report::words;

use crate::UntrustedText;
use crate::answer::{
    FailedLikeThis, Hunted, KnownTest, PastVerdict, RunOfFailures, SeenFailure, Suspicion,
    TriagedFailure,
};

/// Things of a kind that are named.
const MOST: usize = 5;
/// Ways to fail that are named.
const MOST_WAYS: usize = 3;

/// What is known of the tests of an overview.
pub(crate) struct Known<'o> {
    overview: &'o Overview,
}

impl<'o> Known<'o> {
    pub(crate) fn new(overview: &'o Overview) -> Self {
        Self { overview }
    }

    fn score(&self, test: &TestId) -> Option<&'o TestScore> {
        self.overview.scores.tests.iter().find(|score| score.test == *test)
    }

    fn detail(&self, test: &TestId) -> Option<&'o TestDetail> {
        self.overview.details.get(test)
    }

    /// The latest run, and the tests that failed in it, those first that must be looked at first.
    pub(crate) fn latest_run(&self) -> Option<(RunOfFailures, Vec<TestId>)> {
        let runs = &self.overview.timeline.runs;
        let run = runs.last()?;
        let at = u32::try_from(runs.len() - 1).ok()?;
        let mut failed: Vec<(usize, &TestId)> = Vec::new();
        for test in &self.overview.timeline.tests {
            let mark = test.marks.iter().find(|mark| mark.run == at);
            if let Some(mark) = mark.filter(|mark| mark.outcome.is_failure()) {
                let rank = Verdict::ALL.iter().position(|it| Some(*it) == mark.verdict);
                failed.push((rank.unwrap_or_default(), &test.test));
            }
        }
        failed.sort_unstable();
        let of = RunOfFailures {
            id: run.id.clone(),
            started: run.started.clone(),
            revision: run.revision.clone(),
        };
        Some((of, failed.into_iter().map(|(_, test)| test.clone()).collect()))
    }

    /// What is known of a failure; `of_run` if it is that of a run, whose verdict then settles it.
    pub(crate) fn failure(
        &self,
        test: &TestId,
        message: Option<&str>,
        of_run: Option<&str>,
    ) -> TriagedFailure {
        let (score, detail) = (self.score(test), self.detail(test));
        let finding = detail.and_then(|detail| detail.findings.first());
        let settled = finding.filter(|finding| of_run == Some(finding.run.as_str()));
        TriagedFailure {
            test: UntrustedText::id(test),
            standing: score.map(|score| score.standing),
            in_words: score.map(words::score),
            latest_verdict: finding.map(past_verdict),
            failed_like_this: message.and_then(|it| failed_like(detail?, it)),
            cause: detail.and_then(|it| it.cause.as_ref()).map(words::cause),
            next: next_step(settled, score.map(|score| score.standing)),
        }
    }

    /// All that is known of a test.
    pub(crate) fn test(&self, test: &TestId) -> KnownTest {
        let (score, detail) = (self.score(test), self.detail(test));
        let failures = detail.map_or(&[][..], |detail| &detail.failures);
        let failures = failures.iter().take(MOST_WAYS).map(|failure| SeenFailure {
            message: UntrustedText::line(&failure.message),
            runs: failure.times,
            last: failure.last.clone(),
        });
        KnownTest {
            test: UntrustedText::id(test),
            standing: score.map(|score| score.standing),
            in_words: score.map(words::score),
            hunted: detail.and_then(|it| it.hunted.as_ref()).map(hunted),
            failures: failures.collect(),
            latest_verdict: detail.and_then(|it| it.findings.first()).map(past_verdict),
            cause: detail.and_then(|it| it.cause.as_ref()).map(words::cause),
            reproduce: detail.and_then(|it| it.reproduce.clone()).map(UntrustedText::whole),
        }
    }
}

/// Whether the test failed with this message before, apart from what varies in it.
fn failed_like(detail: &TestDetail, message: &str) -> Option<FailedLikeThis> {
    let wanted = Signature::compute(message.trim(), None);
    let alike = |it: &str| Signature::compute(it.trim(), None) == wanted;
    let seen = detail.failures.iter().find(|failure| alike(&failure.message))?;
    Some(FailedLikeThis { runs: seen.times, last: seen.last.clone() })
}

fn past_verdict(finding: &PastFinding) -> PastVerdict {
    let evidence = finding.evidence.iter().map(|it| UntrustedText::line(&words::evidence(it)));
    PastVerdict {
        verdict: finding.verdict,
        started: finding.started.clone(),
        evidence: evidence.collect(),
    }
}

/// What to do about a failure. Only evidence about this very failure excuses it.
fn next_step(settled: Option<&PastFinding>, standing: Option<Standing>) -> String {
    match (settled.map(|finding| finding.verdict), standing) {
        (Some(Verdict::Flaky), _) => {
            "not yours: the test passed and failed on the same code; `cause` finds out why"
        }
        (Some(Verdict::NewlyFlaky), _) => {
            "yours: the test became flaky with this change; `cause` finds out why"
        }
        (Some(Verdict::Real), _) => "yours: the change makes it fail; mend the code or the test",
        (Some(Verdict::Unrelated), _) => {
            "not yours: it fails every time, also without the change; look at the machine, the date \
             or a service"
        }
        (Some(Verdict::Unknown), _) => {
            "not settled; the evidence says what is missing, and `run_tests` tries again"
        }
        (None, Some(Standing::Flaky)) => {
            "known to be flaky, which does not excuse this failure: `run_tests` settles it"
        }
        (None, Some(Standing::Broken)) => "it failed before, every time: `explain_test` says since when",
        (None, Some(Standing::Unexplained | Standing::Mended | Standing::Steady) | None) => {
            "history does not settle it: `run_tests` reruns it, also on the code before the change"
        }
    }
    .to_owned()
}

/// What a hunt found about a test.
pub(crate) fn hunted(test: &HuntedTest) -> Hunted {
    let sets = |sets: &[Vec<TestId>]| -> Vec<UntrustedText> {
        sets.iter().take(MOST).map(|set| UntrustedText::whole(words::together(set))).collect()
    };
    Hunted {
        test: UntrustedText::id(&test.id),
        kind: test.kind,
        fared: words::fared(test),
        polluters: sets(&test.polluters),
        setters: sets(&test.setters),
        cleaners: test.cleaners.iter().take(MOST).map(UntrustedText::id).collect(),
        left_behind: test
            .left_behind
            .iter()
            .take(MOST)
            .map(|it| UntrustedText::line(&it.to_string()))
            .collect(),
        failure: test.failure.as_ref().map(|it| UntrustedText::line(&it.message)),
        reproduce: test.reproduction.as_ref().map(|it| UntrustedText::whole(it.command.clone())),
    }
}

/// What a model says about a test.
pub(crate) fn suspicion(prediction: &Prediction) -> Suspicion {
    let reasons = prediction.reasons.iter().take(MOST).map(|reason| reason.what.clone());
    let alike = words::nearest_flaky(prediction);
    Suspicion {
        test: UntrustedText::id(&prediction.id),
        file: UntrustedText::whole(prediction.file.clone()),
        line: prediction.line,
        probability: (prediction.probability * 1000.0).round() / 1000.0,
        is_suspect: prediction.flaky,
        known: prediction.known.clone(),
        category: prediction.category.as_deref().map(words::category),
        reasons: reasons.chain(alike).collect(),
        advice: words::advice(prediction.category.as_deref()).to_owned(),
    }
}
