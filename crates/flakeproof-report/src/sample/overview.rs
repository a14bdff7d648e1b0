//! A small project with one test of each standing, and one about which everything is known; and a
//! project of any size, the same every time: what pages must stay fluid with.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{
    Again, Cluster, DataPath, DataStep, Evidence, Failure, FlakyKind, FrontPoint, HuntCost,
    HuntEnd, HuntOverview, HuntRecord, HuntSummary, HuntedTest, Isolation, Kind, KnownFlaky,
    LeftBehind, LeftKind, Location, Mark, Notice, Outcome, Overview, PastFailure, PastFinding,
    PastRun, Phase, Prediction, QuarantineEntry, Reason, Reproduction, Scores, Shared, Signature,
    SimilarTest, Stage, StageCost, Tally, TestDetail, TestId, TestTimeline, Timeline, Verdict,
};

/// The test that costs most, about which everything is known.
pub(crate) const WORST: &str = "tests/test_checkout.py::test_total[EUR]";
/// A brittle test that no run in the history has seen.
pub(crate) const ONLY_HUNTED: &str = "tests/test_session.py::test_logged_out";
/// A suspect that no run in the history has seen.
pub(crate) const ONLY_PREDICTED: &str = "tests/test_poll.py::test_waits";

/// Two tests that are broken since the same change, and fail alike.
pub(crate) const BROKEN: [&str; 2] =
    ["tests/test_search.py::test_ranking", "tests/test_search.py::test_facets"];

/// A few tests in two dozen runs, an outage among them, and two tests that no run has seen.
pub(crate) fn overview() -> Overview {
    let timeline = Timeline {
        runs: (0..24).map(|number| run(number, 24)).collect(),
        tests: tests(),
        others: Vec::new(),
    };
    let details = details();
    let scores = Scores::new(&timeline, &known(&details));
    Overview {
        project: "shop".into(),
        made: "2026-11-16T02:00:00Z".into(),
        version: "0.1.0".into(),
        timeline,
        scores,
        owners: owners(),
        formerly: BTreeMap::from([(
            BROKEN[0].into(),
            vec!["tests/test_find.py::test_ranking".into()],
        )]),
        clusters: vec![cluster()],
        details,
        hunt: Some(hunt()),
        notices: vec![Notice {
            what: "2 runs have no revision".into(),
            next: "set `GIT_COMMIT` where the reports are ingested".into(),
        }],
    }
}

fn owners() -> BTreeMap<TestId, Vec<String>> {
    let of = |id: &str, owners: &[&str]| {
        (TestId::from(id), owners.iter().map(|owner| (*owner).to_owned()).collect())
    };
    BTreeMap::from([of(WORST, &["@shop/payments"]), of(BROKEN[0], &["@shop/search", "@ana"])])
}

/// Two tests of one file that fail together.
fn cluster() -> Cluster {
    Cluster {
        tests: vec![WORST.into(), "tests/test_checkout.py::test_receipt".into()],
        together: 2,
        any: 6,
        coincidences: 2,
        expected: 0.4783,
        chance: 0.0312,
        runs: vec![1, 16],
        shared: Shared {
            owners: vec!["@shop/payments".into()],
            place: Some("tests/test_checkout.py".into()),
            failure: Some("AssertionError: assert 'EUR' == 'USD'".into()),
            job: None,
        },
    }
}

/// One test after the other, each as one letter for a run: `.` passed, `F` failed, `r` failed and
/// passed when run again, `k` failed and was found flaky, `X` failed for real, `E` errored, `C`
/// crashed, `T` timed out, `s` skipped, blank: not there.
fn tests() -> Vec<TestTimeline> {
    let mut tests: Vec<TestTimeline> = [
        (WORST, ".r..k....F.O..r.....r..."),
        ("tests/test_checkout.py::test_receipt", ".......r...O....T......."),
        (BROKEN[0], "...........O.....X..XXXX"),
        (BROKEN[1], "...........O.........XXX"),
        ("tests/test_search.py::test_empty", "......Ess..O............"),
        ("tests/test_search.py::test_paging", "......EEE..O............"),
        ("tests/test_api.py::test_new_endpoint", "                  .k...."),
        ("tests/test_api.py::test_windows_only", "ssssssssssssssssssssssss"),
    ]
    .into_iter()
    .map(|(id, letters)| TestTimeline { test: id.into(), marks: marks(letters) })
    .collect();
    let steady = |number| TestTimeline {
        test: format!("tests/test_model.py::test_field_{number:02}").into(),
        marks: marks("...........O............"),
    };
    tests.extend((0..8).map(steady));
    tests
}

/// What one test's runs saw of it.
fn marks(letters: &str) -> Vec<Mark> {
    (0..).zip(letters.chars()).filter_map(|(run, letter)| mark(run, letter)).collect()
}

fn mark(run: u32, letter: char) -> Option<Mark> {
    let outcome = match letter {
        '.' => Outcome::Passed,
        's' => Outcome::Skipped,
        'F' | 'O' | 'r' | 'k' | 'X' => Outcome::Failed,
        'E' => Outcome::Errored,
        'C' => Outcome::Crashed,
        'T' => Outcome::TimedOut,
        _ => return None,
    };
    let (again, verdict) = match letter {
        'r' => (Again::Passed, None),
        'k' => (Again::Passed, Some(Verdict::Flaky)),
        'X' => (Again::Failed, Some(Verdict::Real)),
        _ => (Again::Never, None),
    };
    let again_milliseconds = if again == Again::Never { 0 } else { 900 };
    Some(Mark { run, outcome, again, verdict, milliseconds: 340, again_milliseconds })
}

/// One of so many runs, four a day up to the day before the overview was made, of code that changes
/// with every third one.
fn run(number: u32, of: u32) -> PastRun {
    PastRun {
        id: format!("run-{number}"),
        started: format!("{}T{:02}:30:00Z", days_ago((of - 1 - number) / 4), number % 4 * 6 + 3),
        duration: Duration::from_secs(420 + u64::from(number % 7) * 11),
        revision: Some(format!("{:010x}", u64::from(number / 3 + 1) * 0x9e37_79b9)),
        branch: Some(if number % 5 == 4 { "fix/totals" } else { "main" }.into()),
        job: Some(format!("unit / linux #{}", 4000 + number)),
        code: Some(number / 3),
    }
}

/// A day of 2026, counted back from the fifteenth of November.
fn days_ago(mut days: u32) -> String {
    for (month, last) in [(11, 15), (10, 31), (9, 30), (8, 31), (7, 31), (6, 30), (5, 31)] {
        if days < last {
            return format!("2026-{month:02}-{:02}", last - days);
        }
        days -= last;
    }
    "2026-04-30".to_owned()
}

fn details() -> BTreeMap<TestId, TestDetail> {
    let mut hunted = HuntedTest { kind: Some(FlakyKind::Brittle), ..victim(ONLY_HUNTED) };
    hunted.setters = std::mem::take(&mut hunted.polluters);
    (hunted.cleaners, hunted.location) = (Vec::new(), None);
    let suspect = Prediction { neighbours: Vec::new(), ..prediction(ONLY_PREDICTED) };
    let refused = || TestDetail {
        failures: vec![failure("ConnectionError: search:9200 refused", 5, "2026-11-15T21:30:00Z")],
        ..TestDetail::default()
    };
    BTreeMap::from([
        (BROKEN[0].into(), refused()),
        (BROKEN[1].into(), refused()),
        (WORST.into(), everything()),
        (ONLY_HUNTED.into(), TestDetail { hunted: Some(hunted), ..TestDetail::default() }),
        (ONLY_PREDICTED.into(), TestDetail { prediction: Some(suspect), ..TestDetail::default() }),
    ])
}

fn failure(message: &str, times: u32, last: &str) -> PastFailure {
    let signature = Some(Signature::compute(message, None));
    PastFailure { message: message.into(), signature, times, last: last.into() }
}

/// What the latest hunt found, by what is known about each test.
fn known(details: &BTreeMap<TestId, TestDetail>) -> Vec<KnownFlaky> {
    let hunt = HuntRecord {
        id: "hunt-1".into(),
        started: "2026-11-15T22:00:00Z".into(),
        command: vec!["pytest".into()],
        fingerprint: String::new(),
        seed: "7".into(),
        settings: String::new(),
        version: "0.1.0".into(),
    };
    let hunted = details.values().filter_map(|detail| detail.hunted.clone());
    hunted.map(|test| KnownFlaky { hunt: hunt.clone(), test }).collect()
}

/// A test about which everything is known.
fn everything() -> TestDetail {
    TestDetail {
        hunted: Some(victim(WORST)),
        findings: vec![PastFinding {
            run: "run-4".into(),
            started: "2026-11-11T03:30:00Z".into(),
            verdict: Verdict::Flaky,
            kind: Some(Kind::StateDependent),
            evidence: evidence(),
        }],
        failures: vec![
            failure("AssertionError: assert 'EUR' == 'USD'", 5, "2026-11-15T03:30:00Z"),
            failure("TimeoutError: <cart> & \"queue\" not drained", 1, "2026-11-12T09:30:00Z"),
        ],
        prediction: Some(prediction(WORST)),
        features: features(),
        quarantine: Some(QuarantineEntry {
            id: "tests/test_checkout.py::test_total[*]".into(),
            owner: "@payments".into(),
            reason: "currency leaks from the cart".into(),
            issue: Some("https://tracker.example/SHOP-812".into()),
            branch: None,
            added: "2026-11-01".into(),
            expires: "2026-12-01".into(),
        }),
        reproduce: Some(format!("flakeproof repro {WORST}")),
        cause: None,
    }
}

fn evidence() -> Vec<Evidence> {
    vec![
        Evidence::Passed { stage: Stage::Fresh, isolation: Isolation::Spawn },
        Evidence::Disjoint {
            changed: vec!["shop/search.py".into()],
            dependencies: 14,
            base: "9e3779b9".into(),
            passed_at_base: true,
        },
    ]
}

fn features() -> Vec<Reason> {
    let reason = |what: &str, weight| Reason { what: what.into(), weight };
    vec![
        reason("context switches: 41 (most tests: 3)", 0.92),
        reason("read time: 0.31 s (most tests: 0.01 s)", 0.41),
        reason("assertions: 1 (most tests: 4)", -0.17),
    ]
}

fn victim(id: &str) -> HuntedTest {
    let polluter = TestId::from("tests/test_cart.py::test_currency");
    let message = "AssertionError: assert 'EUR' == 'USD'";
    let mut test = HuntedTest::new(
        id.into(),
        Some(Location { file: "tests/test_checkout.py".into(), line: Some(42) }),
    );
    test.kind = Some(FlakyKind::Victim);
    test.baseline = Tally { runs: 10, failures: 0 };
    test.shuffled = Tally { runs: 20, failures: 9 };
    test.alone = Tally { runs: 3, failures: 0 };
    test.polluters = vec![vec![polluter.clone()]];
    test.cleaners = vec!["tests/test_cart.py::test_reset".into()];
    test.left_behind = vec![LeftBehind {
        kind: LeftKind::Attribute,
        name: "shop.cart.CURRENCY".into(),
        before: Some("'USD'".into()),
        after: Some("'EUR'".into()),
    }];
    test.failure = Some(Failure {
        phase: Phase::Call,
        message: message.into(),
        text: message.into(),
        location: None,
        signature: Signature::compute(message, None),
    });
    test.reproduction = Some(Reproduction {
        command: format!("pytest {polluter} '{id}'"),
        order: vec![polluter, id.into()],
        isolation: Isolation::Spawn,
    });
    test
}

fn prediction(id: &str) -> Prediction {
    let step = |line, code: &str, value: &str, operation: Option<&str>| DataStep {
        file: "tests/test_checkout.py".into(),
        line,
        code: code.into(),
        value: value.into(),
        operation: operation.map(Into::into),
        declared: operation.map(|_| "shop/cart.py:7".into()),
    };
    Prediction {
        id: id.into(),
        file: "tests/test_checkout.py".into(),
        line: 42,
        end_line: 58,
        language: "python".into(),
        probability: 0.81,
        flaky: true,
        category: Some("async_wait".into()),
        neighbours: vec![SimilarTest {
            id: "com.example.CartTest#totalsInEuro".into(),
            project: "example/shop".into(),
            similarity: 0.87,
            flaky: true,
            category: Some("async_wait".into()),
            shared: vec!["currency".into(), "sleep".into()],
        }],
        rules: Vec::new(),
        known: None,
        reasons: vec![Reason { what: "sleeps in the test".into(), weight: 1.04 }],
        paths: vec![DataPath {
            attention: 0.64,
            steps: vec![
                step(44, "cart = Cart.shared()", "cart", Some("Cart.shared")),
                step(51, "assert cart.total() == 12", "cart.total()", None),
            ],
        }],
    }
}

fn hunt() -> HuntOverview {
    let stage = |stage: &str, trials, executions, seconds| StageCost {
        stage: stage.into(),
        trials,
        executions,
        time: Duration::from_secs(seconds),
    };
    let stages = vec![
        stage("the suite's own order", 10, 400, 92),
        stage("each test alone", 40, 40, 31),
        stage("other orders", 20, 800, 188),
        stage("who pollutes whom", 33, 214, 54),
    ];
    let point = |(executions, flaky)| FrontPoint { executions, flaky };
    HuntOverview {
        started: "2026-11-15T22:00:00Z".into(),
        flaky: 4,
        summary: Some(HuntSummary {
            tests: 40,
            cost: HuntCost { executions: 1_454, time: Duration::from_secs(365), stages },
            end: HuntEnd::Finished,
        }),
        front: [(80, 1.2), (400, 2.5), (800, 3.6), (1_200, 4.0)].map(point).to_vec(),
    }
}

/// A project with so many tests in so many runs, one test in fifty of them flaky.
pub(crate) fn large_overview(tests: u32, runs: u32) -> Overview {
    let timeline = Timeline {
        runs: (0..runs).map(|number| run(number, runs)).collect(),
        tests: (0..tests).map(|number| test(number, runs)).collect(),
        others: Vec::new(),
    };
    let mut overview = overview();
    overview.project = "warehouse".into();
    let mut everything = overview.details.remove(WORST).unwrap_or_default();
    let id = timeline.tests[0].test.clone();
    everything.reproduce = Some(format!("flakeproof repro {id}"));
    everything
        .hunted
        .iter_mut()
        .for_each(|hunted| (hunted.id, hunted.location) = (id.clone(), None));
    everything
        .prediction
        .iter_mut()
        .for_each(|it| it.file = "tests/orders/test_orders_0.py".into());
    overview.details.insert(id, everything);
    overview.details.retain(|id, _| !BROKEN.contains(&id.as_str()));
    for test in &timeline.tests[1..] {
        overview.details.extend(last_message(test).map(|detail| (test.test.clone(), detail)));
    }
    let scores = Scores::new(&timeline, &known(&overview.details));
    let clusters = Cluster::all(&timeline, &scores);
    Overview {
        timeline,
        scores,
        clusters,
        owners: BTreeMap::new(),
        formerly: BTreeMap::new(),
        ..overview
    }
}

fn test(number: u32, runs: u32) -> TestTimeline {
    const AREAS: [&str; 6] = ["orders", "billing", "search", "stock", "accounts", "mail"];
    const VERBS: [&str; 5] = ["creates", "rejects", "retries", "lists", "expires"];
    let area = AREAS[number as usize % AREAS.len()];
    let verb = VERBS[number as usize / AREAS.len() % VERBS.len()];
    let id = format!("tests/{area}/test_{area}_{}.py::test_{verb}_{number}", number % 40);
    let letters: String = (0..runs).map(|run| letter(number, run, runs)).collect();
    TestTimeline { test: id.into(), marks: marks(&letters) }
}

/// How a test that failed did so last: most alike, as the tests of one area do.
fn last_message(test: &TestTimeline) -> Option<TestDetail> {
    const MESSAGES: [&str; 4] = [
        "TimeoutError: the queue `outbox` was not drained within 5 s",
        "AssertionError: assert 3 == 4",
        "ConnectionError: postgres:5432 refused",
        "KeyError: 'currency'",
    ];
    let failed = test.marks.iter().filter(|mark| mark.has_failed() && mark.again != Again::Never);
    let times = u32::try_from(failed.clone().count()).unwrap_or_default();
    let real = failed.clone().next_back()?.verdict == Some(Verdict::Real);
    let at = if real { 2 } else { test.test.as_str().len() % MESSAGES.len() };
    let failures = vec![failure(MESSAGES[at], times, "2026-11-15T03:30:00Z")];
    Some(TestDetail { failures, ..TestDetail::default() })
}

/// Tests are told apart by their number: some are flaky, few are broken, some appeared lately.
fn letter(test: u32, run: u32, runs: u32) -> char {
    let chance = mixed(test, run) % 1000;
    match test % 50 {
        0 if chance < 15 + test % 90 + u32::from(test == 0) * 60 => {
            ['r', 'k', 'F'][chance as usize % 3]
        }
        1 if test % 300 == 1 && run + 6 > runs => 'X',
        2 if test % 100 == 2 && run == runs / 2 + test % 20 => 'E',
        3 if test % 150 == 3 && run + 8 < runs => ' ',
        4 if chance < 300 => 's',
        _ if run == runs / 3 && test.is_multiple_of(3) => 'F',
        _ => '.',
    }
}

/// A number that looks like chance and is the same every time.
fn mixed(one: u32, other: u32) -> u32 {
    let mut bits = one.wrapping_mul(0x9e37_79b9) ^ other.wrapping_mul(0x85eb_ca6b);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x2c1b_3c6d);
    bits ^ (bits >> 13)
}
