//! The cost model worked by hand (CANNIER, Equations 4 to 8), and against a look at every test.

use flakeproof_core::{Region, Seed, Tally, Thresholds};
use flakeproof_lab::given_tables::{
    GivenProbability, KnownPair, given_answers, given_suites, read_pairs, read_probabilities,
};
use flakeproof_lab::pairwise::Pairwise;
use flakeproof_lab::trade::{DelegationPoint, FoundCounts, ProjectTrade};
use flakeproof_learn::cannier::{
    AnswersError, Delegation, Front, GridPoint, KnownTest, MaxReruns, Problem, Recheck, Setting,
    Suites, read_outcomes,
};
use proptest::prelude::*;

/// Four tests of 1, 2, 3 and 4 seconds in one project, two of another. `a` fails half the time,
/// `e` always in one order; `b` fails six times when shuffled, `c` once, and `a` pollutes both.
const OUTCOMES: &str = "\
project,test,baseline_runs,baseline_failures,shuffled_runs,shuffled_failures,polluter
p,a,10,5,10,4,1
p,b,10,0,10,6,0
p,c,10,0,10,1,0
p,d,10,0,10,0,0
q,e,10,0,10,10,0
q,f,10,0,10,0,1
";

const SECONDS: [(&str, &str, f64); 6] = [
    ("p", "a", 1.0),
    ("p", "b", 2.0),
    ("p", "c", 3.0),
    ("p", "d", 4.0),
    ("q", "e", 5.0),
    ("q", "f", 6.0),
];

/// The tests' probabilities for a problem, as lines of a table.
fn said(problem: &str, probabilities: [f64; 6]) -> String {
    let line = |((project, test, seconds), probability): (&(&str, &str, f64), f64)| {
        format!("{project},{test},{problem},{probability},2,{seconds}\n")
    };
    SECONDS.iter().zip(probabilities).map(line).collect()
}

fn suites(lines: &str) -> (Suites, Vec<GivenProbability>) {
    let text = format!("project,test,problem,probability,runs,seconds\n{lines}");
    let given = read_probabilities(&text).expect("a good table");
    let known: Vec<KnownTest> = read_outcomes(OUTCOMES).expect("a good table");
    (given_suites(&given, &known), given)
}

fn between(lower: f64, upper: f64) -> Thresholds {
    Thresholds::new(lower, upper).expect("in order")
}

fn at(grid: &[GridPoint], wanted: Setting) -> GridPoint {
    *grid.iter().find(|point| point.setting == wanted).expect("it is on the grid")
}

fn by_project(delegation: &Delegation<'_>, thresholds: Thresholds, runs: u32) -> Vec<ProjectTrade> {
    DelegationPoint { delegation, thresholds, runs }.by_project()
}

#[track_caller]
fn assert_near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
}

#[test]
fn rerun_by_hand() {
    let (suites, given) = suites(&said("nod", [0.6, 0.2, 0.8, 0.1, 0.3, 0.0]));
    let answers = given_answers(Problem::Nod, &given, &suites).expect("both kinds");
    let most = MaxReruns::new(10).expect("ten");
    let rerun = Delegation::to_rerun(&suites, &answers, most);
    // `a` ends after 1 + 2 · (1 − 1/2⁹) runs, all others after ten.
    let of_a = 1.0 + 2.0 * (1.0 - 1.0 / 512.0);
    assert_near(rerun.original().cost, of_a + 10.0 * 20.0);
    let grid = rerun.grid();
    assert_eq!(grid.len(), 5251);
    // From 0.2 up to 0.7 are `a`, `b` and `e`; `c` above is wrongly accused. Two runs of 21 s.
    let point = at(&grid, Setting::Between(between(0.2, 0.7)));
    assert_near(point.cost, 2.0 * 21.0 + of_a + 10.0 * 2.0 + 10.0 * 5.0);
    // TP 1, FP 1, TN 4, FN 0.
    assert_near(point.performance, 4.0 / (2.0f64 * 1.0 * 5.0 * 4.0).sqrt());
    // The model alone at 0.5: `a` and `c` are accused, and nothing is rerun.
    let alone = at(&grid, Setting::Between(between(0.5, 0.5)));
    assert_near(alone.cost, 42.0);
    let lines = by_project(&rerun, between(0.2, 0.7), 2);
    assert_eq!(lines.iter().map(|it| it.project.as_str()).collect::<Vec<_>>(), ["p", "q", "all"]);
    assert_near(lines[0].cost, 2.0 * 10.0 + of_a + 20.0);
    assert_near(lines[1].original, 110.0);
    assert_eq!((lines[1].performance, lines[2].performance), (None, Some(point.performance)));
    let FoundCounts::Tests { true_negatives, false_positives, .. } = lines[2].found else {
        panic!("these are tests");
    };
    assert_eq!((true_negatives, false_positives), (4.0, 1.0));
}

#[test]
fn classification_by_hand() {
    let (suites, given) = suites(&said("nod-vs-victim", [0.9, 0.5, 0.2, 0.7, 0.4, 0.7]));
    let answers = given_answers(Problem::NodVsVictim, &given, &suites).expect("both kinds");
    // Only what failed when shuffled and not always in order is asked about: a, b, c and e.
    assert_eq!((answers.tests(), answers.positive()), (4, 1));
    let classification = Delegation::to_classification(&suites, &answers, Recheck::RECOMMENDED);
    // Suites of 10 s and 11 s: a 1.6, b 2.0 and c 1.0 times; e 2.8 times.
    assert_near(classification.original().cost, 4.6 * 10.0 + 2.8 * 11.0);
    let point = at(&classification.grid(), Setting::Between(between(0.4, 0.9)));
    assert_near(point.cost, 2.0 * 21.0 + 2.0 * 10.0 + 2.8 * 11.0);
    assert_near(point.performance, 1.0);
}

#[test]
fn pairwise_by_hand() {
    let lines = said("victim", [0.1, 0.9, 0.3, 0.4, 0.8, 0.0])
        + &said("polluter", [0.7, 0.2, 0.1, 0.6, 0.0, 0.1]);
    let (suites, given) = suites(&lines);
    let answers = |problem| given_answers(problem, &given, &suites).expect("both kinds");
    let (victims, polluters) = (answers(Problem::Victim), answers(Problem::Polluter));
    let pairs = "project,polluter,victim\np,a,b\np,a,c\nq,f,e\np,a,b\nr,x,y\n";
    let pairs: Vec<KnownPair> = read_pairs(pairs).expect("five lines");
    let pairwise = Pairwise::new(&suites, &victims, &polluters, &pairs, Seed(1)).expect("three");
    assert_eq!((pairwise.pairs(), pairwise.left_out), (3, 1));
    assert_near(pairwise.original().cost, 2.0 * 4.0 * 10.0 + 2.0 * 2.0 * 11.0);
    let grid = pairwise.grid();
    assert_eq!(grid.len(), 10_200);
    // Victims from 0.4: b and d, and e. Polluters from 0.5: a and d, and none in q.
    let point = at(&grid, Setting::Candidates { victim: 0.4, polluter: 0.5 });
    assert_near(point.cost, 2.0 * 21.0 + 2.0 * (2.0 + 4.0) + 2.0 * (1.0 + 4.0));
    assert_near(point.performance, 1.0 / 3.0);
    let lines = pairwise.by_project(0.4, 0.5, 2);
    assert_near(lines[0].cost, 2.0 * 10.0 + 22.0);
    assert_eq!(lines[0].found, FoundCounts::Pairs { found: 1.0, all: 2 });
    assert_near(lines[1].cost, 2.0 * 11.0);
    assert_eq!(lines[2].performance, Some(1.0 / 3.0));
}

#[test]
fn what_cannot_be_traded_is_named() {
    let (suites, mut given) = suites(&said("nod", [0.6, 0.2, 0.8, 0.1, 0.3, 0.0]));
    let error = |given: &[GivenProbability], problem| {
        given_answers(problem, given, &suites).expect_err("no")
    };
    assert_eq!(error(&given, Problem::Victim), AnswersError::None { problem: "victim" }.into());
    let rest = &given[1..];
    let one_class = error(rest, Problem::Nod).to_string();
    assert_eq!(one_class, "0 of 5 tests are NOD flaky, and a trade needs both kinds");
    let mut more = given[0].clone();
    more.repeat = 2;
    given.push(more);
    let uneven = error(&given, Problem::Nod).to_string();
    assert_eq!(uneven, "`b` has no probability for `nod` in repeat 2 of 2 runs");
}

proptest! {
    /// Sums by step say the same as Equation 4 for every test, and the table as the grid.
    #[test]
    fn the_grid_says_what_a_look_at_every_test_says(
        drawn in proptest::array::uniform6(0u32..=1000), lower in 0u32..=100, gap in 0u32..=101,
    ) {
        let probabilities = drawn.map(|it| f64::from(it) / 1000.0);
        let (suites, given) = suites(&said("nod", probabilities));
        let answers = given_answers(Problem::Nod, &given, &suites).expect("both kinds");
        let most = MaxReruns::new(10).expect("ten");
        let rerun = Delegation::to_rerun(&suites, &answers, most);
        let upper = (lower + gap).min(101);
        prop_assume!((lower, upper) != (0, 101));
        let thresholds = between(f64::from(lower) / 100.0, f64::from(upper) / 100.0);
        let point = at(&rerun.grid(), Setting::Between(thresholds));
        let mut cost = 2.0 * 21.0;
        for ((_, _, seconds), (probability, failures)) in
            SECONDS.iter().zip(probabilities.iter().zip([5, 0, 0, 0, 0, 0]))
        {
            if thresholds.region(*probability) == Region::Ambiguous {
                cost += seconds * most.expected(Tally { runs: 10, failures });
            }
        }
        prop_assert!((point.cost - cost).abs() < 1e-9);
        let lines = by_project(&rerun, thresholds, 2);
        let all = lines.last().expect("there is one");
        prop_assert!((all.cost - cost).abs() < 1e-9);
        prop_assert!(all.performance.is_some_and(|it| (it - point.performance).abs() < 1e-9));
        let front = Front::new(rerun.original(), &rerun.grid());
        prop_assert!(front.pins.model.is_some());
        prop_assert!(front.pins.balanced.cost <= front.pins.original.cost);
    }
}
