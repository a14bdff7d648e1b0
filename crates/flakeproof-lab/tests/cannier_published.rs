//! The cost model against the figures that the paper prints (CANNIER, tables 3, 8, 9 and 10).
//!
//! What the paper gives enough to compute:
//! - original RERUN (Table 8): 2,500 runs of every test that is not NOD flaky. Of NOD flaky tests
//!   neither the failure rates nor the times are printed, so 2,500 runs are an upper bound there.
//! - original PAIRWISE (Table 10): every project.
//! - original iDFClass (Table 9) needs how often each test failed when shuffled, which is not
//!   printed; one failure each is a lower bound, and it is the very figure for tornado.
//! - CANNIER+ of all three needs the predicted probabilities, which are not printed; tornado's one
//!   test is classified once at `n_F` = 14, so its cost in Table 9 comes out too.
//!
//! All figures have three digits, so the bounds of their rounding are compared.

use flakeproof_core::{Seed, Tally, Thresholds};
use flakeproof_lab::given_tables::{GivenProbability, KnownPair, given_answers, given_suites};
use flakeproof_lab::pairwise::Pairwise;
use flakeproof_lab::trade::{DelegationPoint, ProjectTrade};
use flakeproof_learn::cannier::{
    Answers, Delegation, KnownTest, MaxReruns, Problem, Recheck, Suites, TestOutcomes,
};

/// A project of Table 3, and what the other tables say about it.
struct Published {
    name: &'static str,
    tests: u32,
    nod: u32,
    /// Seconds of one run (Table 3).
    cost: f64,
    /// Original RERUN (Table 8).
    rerun: f64,
    /// Original PAIRWISE (Table 10).
    pairwise: f64,
    /// Tests that are classified, and original iDFClass (Table 9).
    classified: u32,
    class: f64,
}

/// `N_B`, which is also `R_max`.
const RUNS: u32 = 2500;

const PAPER: [Published; 30] = [
    published("airflow", 3251, 66, 7.77e2, 1.69e6, 5.05e6, (331, 7.24e7)),
    published("celery", 2332, 0, 1.31e2, 3.28e5, 6.12e5, (15, 2.06e5)),
    published("Cirq", 12048, 0, 8.67e2, 2.17e6, 2.09e7, (17, 4.47e6)),
    published("conan", 3687, 0, 1.48e3, 3.70e6, 1.09e7, (13, 4.84e5)),
    published("dask", 8015, 1, 1.34e3, 3.34e6, 2.15e7, (1, 6.60e5)),
    published("django-rest-framework", 1402, 0, 2.63e3, 6.57e6, 7.37e6, (1, 9.66e5)),
    published("electrum", 542, 1, 5.99e1, 1.39e5, 6.49e4, (2, 3.95e2)),
    published("Flexget", 1330, 1, 1.73e3, 4.32e6, 4.60e6, (5, 1.75e6)),
    published("fonttools", 3448, 1, 1.19e2, 2.97e5, 8.19e5, (42, 2.48e6)),
    published("graphene", 346, 0, 1.73e1, 4.31e4, 1.19e4, (1, 4.27e3)),
    published("hydra", 1538, 0, 1.77e2, 4.42e5, 5.44e5, (19, 1.31e6)),
    published("hypothesis", 4348, 5, 3.92e3, 9.57e6, 3.41e7, (9, 9.55e5)),
    published("ipython", 807, 6, 1.10e2, 2.63e5, 1.78e5, (302, 7.84e5)),
    published("kombu", 1024, 2, 3.62e1, 9.05e4, 7.42e4, (24, 1.38e5)),
    published("libcloud", 9809, 3, 2.66e2, 6.66e5, 5.23e6, (136, 8.74e6)),
    published("loguru", 1255, 4, 6.23e1, 1.48e5, 1.56e5, (24, 2.35e5)),
    published("mitmproxy", 1232, 0, 3.12e1, 7.79e4, 7.68e4, (6, 3.70e4)),
    published("Pillow", 2567, 0, 9.38e1, 2.35e5, 4.82e5, (26, 1.51e4)),
    published("prefect", 7035, 25, 1.56e3, 3.80e6, 2.19e7, (37, 1.04e6)),
    published("PyGithub", 711, 0, 5.55e1, 1.39e5, 7.89e4, (4, 3.11e2)),
    published("pyramid", 2633, 0, 5.98e1, 1.49e5, 3.15e5, (4, 3.54e4)),
    published("requests", 535, 5, 1.40e2, 3.46e5, 1.50e5, (4, 1.61e4)),
    published("salt", 2672, 12, 2.52e2, 6.27e5, 1.34e6, (16, 1.33e6)),
    published("scikit-image", 6275, 0, 2.54e3, 6.36e6, 3.19e7, (12, 6.98e5)),
    published("seaborn", 1020, 0, 5.01e2, 1.25e6, 1.02e6, (8, 1.29e5)),
    published("setuptools", 694, 1, 2.08e2, 4.75e5, 2.89e5, (24, 1.95e5)),
    published("sunpy", 1857, 0, 4.31e2, 1.08e6, 1.60e6, (2, 1.94e5)),
    published("tornado", 1159, 1, 4.03e1, 1.01e5, 9.35e4, (1, 4.03e1)),
    published("urllib3", 1320, 15, 8.57e1, 2.13e5, 2.26e5, (16, 1.13e4)),
    published("xonsh", 4776, 9, 1.81e2, 4.50e5, 1.73e6, (28, 5.75e5)),
];

const fn published(
    name: &'static str,
    tests: u32,
    nod: u32,
    cost: f64,
    rerun: f64,
    pairwise: f64,
    (classified, class): (u32, f64),
) -> Published {
    Published { name, tests, nod, cost, rerun, pairwise, classified, class }
}

/// The paper's overall figures.
const RERUN_OVERALL: f64 = 4.91e7;
const PAIRWISE_OVERALL: f64 = 1.73e8;
const TESTS_OVERALL: u32 = 89_668;

/// What a figure of three digits may stand for.
fn bounds(figure: f64) -> (f64, f64) {
    let half = 0.005 * 10f64.powf(figure.log10().floor());
    (figure - half, figure + half)
}

/// Whether a figure times a number may be another figure, before both were rounded.
#[track_caller]
fn assert_is(name: &str, times: f64, cost: f64, printed: f64) {
    let ((low, high), (printed_low, printed_high)) = (bounds(cost), bounds(printed));
    assert!(
        times * low <= printed_high && printed_low <= times * high,
        "{name}: {times} · {cost} is {}, not {printed}",
        times * cost
    );
}

/// A project's tests, each with an equal part of the cost. The second is a victim of the first.
struct Table {
    given: Vec<GivenProbability>,
    known: Vec<KnownTest>,
    pairs: Vec<KnownPair>,
}

/// The subject set. Nothing is flaky in it but one test of requests: the models must have
/// something to tell.
fn subject_set() -> Table {
    let mut table = Table { given: Vec::new(), known: Vec::new(), pairs: Vec::new() };
    for project in &PAPER {
        for number in 0..project.tests {
            table.add(project, number);
        }
        table.pairs.push(KnownPair {
            project: project.name.into(),
            polluter: "0".into(),
            victim: "1".into(),
        });
    }
    table
}

impl Table {
    fn add(&mut self, project: &Published, number: u32) {
        let given = |problem| GivenProbability {
            project: project.name.into(),
            test: number.to_string(),
            problem,
            probability: 0.5,
            repeat: 1,
            runs: 1,
            seconds: Some(project.cost / f64::from(project.tests)),
        };
        self.given.extend([Problem::Nod, Problem::Victim, Problem::Polluter].map(given));
        let is_nod = project.name == "requests" && number == 2;
        let tally = |failures| Tally { runs: RUNS, failures };
        self.known.push(KnownTest {
            project: project.name.into(),
            test: number.to_string(),
            outcomes: TestOutcomes {
                baseline: tally(if is_nod { RUNS / 2 } else { 0 }),
                shuffled: Some(tally(u32::from(number == 1))),
                pollutes: Some(number == 0),
            },
        });
    }

    fn answers(&self, problem: Problem, suites: &Suites) -> Answers {
        given_answers(problem, &self.given, suites).expect("both kinds are there")
    }
}

fn line<'a>(lines: &'a [ProjectTrade], name: &str) -> &'a ProjectTrade {
    lines.iter().find(|line| line.project == name).expect("each project has a line")
}

#[test]
fn original_rerun_costs_what_table_8_says() {
    let table = subject_set();
    let suites = given_suites(&table.given, &table.known);
    let answers = table.answers(Problem::Nod, &suites);
    let most = MaxReruns::new(RUNS).expect("more than two");
    let delegation = Delegation::to_rerun(&suites, &answers, most);
    let without_model =
        DelegationPoint { delegation: &delegation, thresholds: Thresholds::RERUN_ALL, runs: 0 };
    let lines = without_model.by_project();
    let mut without_nod = 0;
    for project in PAPER.iter().filter(|it| it.nod == 0) {
        let times = line(&lines, project.name).original / project.cost;
        assert!((times - f64::from(RUNS)).abs() < 1e-6, "{}: {times}", project.name);
        assert_is(project.name, times, project.cost, project.rerun);
        without_nod += 1;
    }
    assert_eq!(without_nod, 13);
    for project in PAPER.iter().filter(|it| it.nod > 0) {
        let most = f64::from(RUNS) * bounds(project.cost).1;
        assert!(bounds(project.rerun).0 <= most, "{} costs more than {most}", project.name);
    }
    let upper: f64 = PAPER.iter().map(|it| f64::from(RUNS) * it.cost).sum();
    assert!(RERUN_OVERALL < upper && upper < 1.02 * RERUN_OVERALL, "{upper}");
}

#[test]
fn original_pairwise_costs_what_table_10_says() {
    let table = subject_set();
    let suites = given_suites(&table.given, &table.known);
    let victims = table.answers(Problem::Victim, &suites);
    let polluters = table.answers(Problem::Polluter, &suites);
    let pairwise = Pairwise::new(&suites, &victims, &polluters, &table.pairs, Seed(1))
        .expect("a pair in each project");
    let lines = pairwise.by_project(0.0, 0.0, 0);
    for project in &PAPER {
        let times = line(&lines, project.name).original / project.cost;
        assert!((times - 2.0 * f64::from(project.tests)).abs() < 1e-6, "{}", project.name);
        assert_is(project.name, times, project.cost, project.pairwise);
        let at_zero = line(&lines, project.name).cost / project.cost;
        assert!((at_zero - times).abs() < 1e-6, "all are candidates from 0 on: {}", project.name);
    }
    let overall = pairwise.original().cost;
    assert!((overall / PAIRWISE_OVERALL - 1.0).abs() < 0.01, "{overall}");
    assert_eq!(PAPER.iter().map(|it| it.tests).sum::<u32>(), TESTS_OVERALL);
}

#[test]
fn original_classification_costs_at_least_a_run_of_the_suite_for_each_test() {
    let once = Tally { runs: RUNS, failures: 1 };
    for project in &PAPER {
        let each = Recheck::RECOMMENDED.seconds(once, project.cost);
        let least = f64::from(project.classified) * each;
        assert!(least <= 1.01 * project.class, "{}: {least}", project.name);
    }
    let tornado = PAPER.iter().find(|it| it.name == "tornado").expect("it is there");
    let once = Recheck::RECOMMENDED.classifications(once);
    assert_is("tornado", once, tornado.cost, tornado.class);
    // CANNIER+ in Table 9: features of 14 runs, and one classification.
    assert_is("tornado", 14.0 + once, tornado.cost, 6.05e2);
}
