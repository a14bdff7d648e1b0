//! What accuracy costs: the Pareto front over all thresholds, and its three pins (CANNIER,
//! sections 5.2.4 and 6.4, Figure 8), of CANNIER with one model (Figure 1a), where what the model is
//! not sure about is left to RERUN, or to iDFlakies' classification.
//!
//! The thresholds that are tried are those of the paper: 0 to 1 in hundredths, and 1.01. The knee is
//! the point of the front nearest to utopia: performance 1 for nothing. The paper does not say how
//! seconds compare with performance; here the cost of the original technique is 1, so that a tenth of
//! the time weighs as much as a tenth of the performance.
//!
//! Each test has a price that is paid when it is ambiguous (Equations 6 and 7); all else is the
//! same for both techniques. Tests are counted once by the step of their probability; every point
//! of the grid is then a difference of running sums (5,252 pairs of thresholds for each number of
//! runs, and no look at a test for any of them).
//!
//! Performance is the mean over the repetitions of the MCC over all tests, 0 where it is not
//! defined. Features are collected in every project that has a test to ask about.

use flakeproof_core::Thresholds;

use super::pipeline::Answers;
use super::prices::{CostedTest, MaxReruns, Recheck, Suites};
use crate::evaluate::Confusion;

/// Where a technique stops believing the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Between these, tests are rerun or classified.
    Between(Thresholds),
    /// From these on, tests are candidates of PAIRWISE.
    Candidates {
        /// The lowest probability of a candidate victim (`ω_V`).
        victim: f64,
        /// The lowest probability of a candidate polluter (`ω_P`).
        polluter: f64,
    },
}

/// One way to set a technique, and what comes out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridPoint {
    /// The thresholds.
    pub setting: Setting,
    /// Over how many runs features are averaged (`n_F`); 0 where no model is asked.
    pub runs: u32,
    /// MCC, or the share of pairs that are found.
    pub performance: f64,
    /// Seconds of one core, collecting the features included.
    pub cost: f64,
}

/// The points that cannot be beaten in both performance and cost, the cheapest first, and three of
/// all points that have names.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// The points.
    pub points: Vec<GridPoint>,
    /// Those with names.
    pub pins: Pins,
}

/// The three pins of Figure 8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pins {
    /// The technique without a model.
    pub original: GridPoint,
    /// The knee.
    pub balanced: GridPoint,
    /// The model without the technique; PAIRWISE has none.
    pub model: Option<GridPoint>,
}

impl Setting {
    /// How wide the ambiguous region is; 0 where the model decides alone. `None` for candidates.
    fn width(self) -> Option<f64> {
        match self {
            Self::Between(thresholds) => Some(thresholds.upper() - thresholds.lower()),
            Self::Candidates { .. } => None,
        }
    }

    /// A total order: the narrower region first, then by thresholds.
    fn rank(self) -> [f64; 3] {
        match self {
            Self::Between(it) => [it.upper() - it.lower(), it.lower(), it.upper()],
            Self::Candidates { victim, polluter } => [-victim - polluter, victim, polluter],
        }
    }
}

impl GridPoint {
    /// Whether another point is at least as good and as cheap, and better in one of both.
    #[must_use]
    pub fn is_dominated_by(&self, other: &Self) -> bool {
        let no_worse = other.performance >= self.performance && other.cost <= self.cost;
        no_worse && (other.performance > self.performance || other.cost < self.cost)
    }

    /// How far it is from performance 1 at no cost, where the original technique costs 1.
    fn distance_to_utopia(&self, original: &Self) -> f64 {
        let share = if original.cost > 0.0 { self.cost / original.cost } else { 0.0 };
        (1.0 - self.performance).hypot(share)
    }
}

impl Front {
    /// The front of all points: those of the grid, and the original technique.
    #[must_use]
    pub fn new(original: GridPoint, grid: &[GridPoint]) -> Self {
        let points = undominated(original, grid);
        let is_model = |point: &&GridPoint| point.setting.width() == Some(0.0);
        let best = |points: &[GridPoint]| {
            // Of equals the last is taken, and the cheapest is to win.
            points.iter().rev().filter(is_model).copied().max_by(|a, b| {
                a.performance.total_cmp(&b.performance).then(b.cost.total_cmp(&a.cost))
            })
        };
        let distance = |point: &GridPoint| point.distance_to_utopia(&original);
        let knee = points.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let pins = Pins {
            original,
            balanced: knee.unwrap_or(original),
            // Where rerunning costs less than collecting features, no model is on the front.
            model: best(&points).or_else(|| best(grid)),
        };
        Self { points, pins }
    }
}

/// The last step that a probability can reach.
pub const LAST_STEP: usize = 100;
/// The step that none reaches: an upper threshold of 1.01.
pub const UNREACHED_STEP: usize = 101;

/// The threshold of a step.
#[must_use]
pub fn threshold_of(step: usize) -> f64 {
    crate::real(step) / 100.0
}

/// The highest step whose threshold a probability reaches. It is below `threshold_of(k)` exactly when
/// its step is below `k`, so that counts by step answer for every threshold without another look.
#[must_use]
pub fn step_of(probability: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    let near = (probability * 100.0).clamp(0.0, 100.0) as usize;
    // The product may be rounded over or under a threshold.
    if near < LAST_STEP && threshold_of(near + 1) <= probability {
        near + 1
    } else if near > 0 && threshold_of(near) > probability {
        near - 1
    } else {
        near
    }
}

/// The points that no other dominates, one for each cost, the cheapest first.
fn undominated(original: GridPoint, grid: &[GridPoint]) -> Vec<GridPoint> {
    let mut sorted: Vec<&GridPoint> = grid.iter().chain([&original]).collect();
    sorted.sort_by(|a, b| {
        let rank = |point: &GridPoint| (point.setting.rank(), point.runs);
        let ((a_rank, a_runs), (b_rank, b_runs)) = (rank(a), rank(b));
        a.cost
            .total_cmp(&b.cost)
            .then(b.performance.total_cmp(&a.performance))
            .then(a_runs.cmp(&b_runs))
            .then_with(|| {
                let pairs = a_rank.iter().zip(&b_rank);
                pairs.fold(std::cmp::Ordering::Equal, |so_far, (a, b)| so_far.then(a.total_cmp(b)))
            })
    });
    let mut front: Vec<GridPoint> = Vec::new();
    for point in sorted {
        if front.last().is_none_or(|last| point.performance > last.performance) {
            front.push(*point);
        }
    }
    front
}

/// A technique to which tests are delegated, and what the model says about each test.
#[derive(Debug, Clone)]
pub struct Delegation<'a> {
    /// What the model says.
    pub answers: &'a Answers,
    /// What it costs to delegate each test that was asked about.
    pub prices: Vec<f64>,
    /// The number of the project of each of them, ascending.
    pub projects: Vec<usize>,
    /// The names of all projects.
    pub names: &'a [String],
    /// What one run of each suite costs, 0 where no test is asked about.
    pub suite_seconds: Vec<f64>,
}

impl<'a> Delegation<'a> {
    /// RERUN: an ambiguous test is run until its outcome changes, or so many times (Equation 6).
    #[must_use]
    pub fn to_rerun(suites: &'a Suites, answers: &'a Answers, most: MaxReruns) -> Self {
        let price = |test: &CostedTest| test.seconds * most.expected(test.outcomes.baseline);
        Self::with_prices(suites, answers, price)
    }

    /// iDFlakies: an ambiguous test is classified after its failures (Equation 7).
    #[must_use]
    pub fn to_classification(suites: &'a Suites, answers: &'a Answers, recheck: Recheck) -> Self {
        let suite_seconds = suites.seconds();
        let price = |test: &CostedTest| {
            let shuffled = test.outcomes.shuffled.unwrap_or_default();
            recheck.seconds(shuffled, suite_seconds[test.project])
        };
        Self::with_prices(suites, answers, price)
    }

    fn with_prices(
        suites: &'a Suites,
        answers: &'a Answers,
        price: impl Fn(&CostedTest) -> f64,
    ) -> Self {
        let tests = || answers.asked().iter().map(|it| &suites.tests[it.at]);
        let projects: Vec<usize> = tests().map(|test| test.project).collect();
        let mut suite_seconds = suites.seconds();
        for (project, seconds) in suite_seconds.iter_mut().enumerate() {
            if projects.binary_search(&project).is_err() {
                *seconds = 0.0;
            }
        }
        let prices = tests().map(price).collect();
        Self { answers, prices, projects, names: &suites.projects, suite_seconds }
    }

    /// The technique without a model: every test is delegated, and the truth comes out.
    #[must_use]
    pub fn original(&self) -> GridPoint {
        GridPoint {
            setting: Setting::Between(Thresholds::RERUN_ALL),
            runs: 0,
            performance: 1.0,
            cost: self.prices.iter().sum(),
        }
    }

    /// Every point of the grid but the original.
    #[must_use]
    pub fn grid(&self) -> Vec<GridPoint> {
        let suites: f64 = self.suite_seconds.iter().sum();
        let mut points = Vec::new();
        for runs in self.answers.runs() {
            let sums: Vec<Sums> =
                self.answers.repeats_of(runs).iter().map(|it| self.sums(it)).collect();
            let collecting = f64::from(runs) * suites;
            for (lower, upper) in steps() {
                let Ok(thresholds) = Thresholds::new(threshold_of(lower), threshold_of(upper))
                else {
                    continue;
                };
                let mean = |measure: &dyn Fn(&Sums) -> f64| {
                    sums.iter().map(measure).sum::<f64>() / crate::real(sums.len())
                };
                points.push(GridPoint {
                    setting: Setting::Between(thresholds),
                    runs,
                    performance: mean(&|it| it.confusion(lower, upper).mcc()),
                    cost: collecting + mean(&|it| it.price[upper] - it.price[lower]),
                });
            }
        }
        points
    }

    fn sums(&self, probabilities: &[f64]) -> Sums {
        let mut sums = Sums::default();
        let tests = self.answers.asked().iter().zip(&self.prices).zip(probabilities);
        for ((asked, price), probability) in tests {
            // What is counted above a step is summed up below the next one.
            let above = step_of(*probability) + 1;
            let kind = if asked.is_positive { &mut sums.positive } else { &mut sums.negative };
            kind[above] += 1;
            sums.price[above] += price;
        }
        for step in 1..=UNREACHED_STEP {
            sums.positive[step] += sums.positive[step - 1];
            sums.negative[step] += sums.negative[step - 1];
            sums.price[step] += sums.price[step - 1];
        }
        sums
    }
}

/// The pairs of steps of the grid: the lower from 0 to 1, the upper from there to 1.01, but for the
/// one at which the model is redundant.
fn steps() -> impl Iterator<Item = (usize, usize)> {
    let pairs =
        (0..=LAST_STEP).flat_map(|lower| (lower..=UNREACHED_STEP).map(move |upper| (lower, upper)));
    pairs.filter(|pair| *pair != (0, UNREACHED_STEP))
}

/// How many tests of each kind lie below each step, and what it costs to delegate them.
struct Sums {
    positive: [usize; UNREACHED_STEP + 1],
    negative: [usize; UNREACHED_STEP + 1],
    price: [f64; UNREACHED_STEP + 1],
}

impl Default for Sums {
    fn default() -> Self {
        let (none, nothing) = ([0; UNREACHED_STEP + 1], [0.0; UNREACHED_STEP + 1]);
        Self { positive: none, negative: none, price: nothing }
    }
}

impl Sums {
    /// What is said (Equation 4) and what is true (Equation 5).
    fn confusion(&self, lower: usize, upper: usize) -> Confusion {
        Confusion {
            true_positives: self.positive[UNREACHED_STEP] - self.positive[lower],
            false_negatives: self.positive[lower],
            true_negatives: self.negative[upper],
            false_positives: self.negative[UNREACHED_STEP] - self.negative[upper],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(lower: f64, upper: f64, performance: f64, cost: f64) -> GridPoint {
        let thresholds = Thresholds::new(lower, upper).expect("in order");
        GridPoint { setting: Setting::Between(thresholds), runs: 1, performance, cost }
    }

    fn original(cost: f64) -> GridPoint {
        let setting = Setting::Between(Thresholds::RERUN_ALL);
        GridPoint { setting, runs: 0, performance: 1.0, cost }
    }

    #[test]
    fn the_pins_are_the_original_the_knee_and_the_best_model() {
        let grid = [
            point(0.5, 0.5, 0.55, 2.0),
            point(0.4, 0.4, 0.50, 2.0),
            point(0.1, 1.01, 0.92, 11.0),
            point(0.05, 1.01, 0.95, 30.0),
            point(0.2, 0.9, 0.40, 50.0),
        ];
        let front = Front::new(original(100.0), &grid);
        assert_eq!(front.points, [grid[0], grid[2], grid[3], original(100.0)]);
        // √(0.08² + 0.11²) = 0.136 beats √(0.05² + 0.3²) = 0.304 and √(0.45² + 0.02²) = 0.450.
        assert_eq!(front.pins.balanced, grid[2]);
        assert_eq!(front.pins.model, Some(grid[0]));
        assert_eq!(front.pins.original, original(100.0));
    }

    #[test]
    fn where_rerunning_is_cheaper_than_features_the_original_is_the_whole_front() {
        let grid = [point(0.5, 0.5, 0.8, 9.0), point(0.6, 0.6, 0.8, 7.0)];
        let front = Front::new(original(5.0), &grid);
        assert_eq!(front.points, [original(5.0)]);
        assert_eq!(front.pins.balanced, original(5.0));
        assert_eq!(front.pins.model, Some(grid[1]));
    }

    #[test]
    fn of_equal_points_the_model_alone_stands_on_the_front() {
        let grid = [point(0.4, 0.5, 0.7, 2.0), point(0.5, 0.5, 0.7, 2.0)];
        assert_eq!(Front::new(original(9.0), &grid).points[0], grid[1]);
    }

    proptest! {
        #[test]
        fn the_front_beats_every_point_and_no_point_beats_the_front(
            drawn in proptest::collection::vec((0u32..20, 0u32..20), 0..60), cost in 0u32..20,
        ) {
            let grid: Vec<GridPoint> = drawn
                .iter()
                .map(|(performance, cost)| {
                    point(0.5, 0.5, f64::from(*performance) / 20.0, f64::from(*cost))
                })
                .collect();
            let original = original(f64::from(cost));
            let front = Front::new(original, &grid);
            for point in grid.iter().chain([&original]) {
                let reached = front
                    .points
                    .iter()
                    .any(|it| it.performance >= point.performance && it.cost <= point.cost);
                prop_assert!(reached, "{point:?}");
                prop_assert!(front.points.iter().all(|it| !it.is_dominated_by(point)));
            }
            let rises = |pair: &[GridPoint]| {
                pair[0].cost < pair[1].cost && pair[0].performance < pair[1].performance
            };
            prop_assert!(front.points.windows(2).all(rises));
        }
    }

    #[test]
    fn a_threshold_reaches_its_own_step() {
        for step in 0..=LAST_STEP {
            assert_eq!(step_of(threshold_of(step)), step);
            assert_eq!(step_of(threshold_of(step).next_down()), step.saturating_sub(1));
        }
    }

    proptest! {
        #[test]
        fn steps_compare_as_probabilities_do(probability in 0.0..=1.0f64, step in 0..=UNREACHED_STEP) {
            prop_assert_eq!(probability < threshold_of(step), step_of(probability) < step);
        }
    }
}
