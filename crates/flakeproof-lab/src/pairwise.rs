//! CANNIER with two models (Figure 1b): PAIRWISE tries candidate polluters before candidate victims
//! only (Equation 8).
//!
//! Performance is the share of pairs that are found. Candidates meet within their project, so costs
//! are products for each project; pairs are counted once by the steps of both probabilities, and
//! running sums in both directions answer for all 10,201 pairs of thresholds.

use std::collections::BTreeSet;

use flakeproof_core::Seed;
use flakeproof_learn::Chance;
use flakeproof_learn::cannier::{
    Answers, GridPoint, LAST_STEP, Setting, Suites, step_of, threshold_of,
};

use crate::given_tables::KnownPair;
use crate::real;
use crate::trade::{FoundCounts, ProjectTrade, mean};

/// PAIRWISE on suites, and what two models say about each test.
#[derive(Debug, Clone)]
pub struct Pairwise<'a> {
    victims: &'a Answers,
    polluters: &'a Answers,
    suites: &'a Suites,
    /// The tests that both models were asked about, ascending by project.
    tests: Vec<Candidate>,
    /// The pairs, as places in `tests`: polluter and victim.
    pairs: Vec<(usize, usize)>,
    /// What one run of each suite costs, 0 where no test is asked about.
    suite_seconds: Vec<f64>,
    /// Pairs of tests that were not both asked about, and that nobody could find.
    pub left_out: usize,
    seed: Seed,
}

/// A test that both models were asked about.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    project: usize,
    seconds: f64,
    /// Its rows in the answers about victims and about polluters.
    rows: (usize, usize),
}

/// No pair is left to find.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("none of the {listed} listed pairs has two tests that both models were asked about")]
pub struct NoPairs {
    /// How many pairs were listed.
    pub listed: usize,
}

impl<'a> Pairwise<'a> {
    /// PAIRWISE with these pairs to find. The seed draws which repetitions of the two models meet.
    ///
    /// # Errors
    /// When no pair could be found.
    pub fn new(
        suites: &'a Suites,
        victims: &'a Answers,
        polluters: &'a Answers,
        known: &[KnownPair],
        seed: Seed,
    ) -> Result<Self, NoPairs> {
        let mut place = vec![None; suites.tests.len()];
        let mut tests = Vec::new();
        for (row, asked) in victims.asked().iter().enumerate() {
            let other = polluters.asked().binary_search_by_key(&asked.at, |it| it.at);
            if let Ok(other) = other {
                let test = &suites.tests[asked.at];
                place[asked.at] = Some(tests.len());
                let rows = (row, other);
                tests.push(Candidate { project: test.project, seconds: test.seconds, rows });
            }
        }
        let at = |project: &str, test: &str| place[suites.find(project, test)?];
        let distinct: BTreeSet<&KnownPair> = known.iter().collect();
        let pairs: Vec<(usize, usize)> = distinct
            .iter()
            .filter_map(|it| Some((at(&it.project, &it.polluter)?, at(&it.project, &it.victim)?)))
            .collect();
        if pairs.is_empty() {
            return Err(NoPairs { listed: distinct.len() });
        }
        let mut suite_seconds = suites.seconds();
        for (project, seconds) in suite_seconds.iter_mut().enumerate() {
            if !tests.iter().any(|test| test.project == project) {
                *seconds = 0.0;
            }
        }
        let left_out = distinct.len() - pairs.len();
        Ok(Self { victims, polluters, suites, tests, pairs, suite_seconds, left_out, seed })
    }

    /// How many tests can be candidates.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.tests.len()
    }

    /// How many pairs there are to find.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// PAIRWISE without a model: every test before every other.
    #[must_use]
    pub fn original(&self) -> GridPoint {
        GridPoint {
            setting: Setting::Candidates { victim: 0.0, polluter: 0.0 },
            runs: 0,
            performance: 1.0,
            cost: (0..self.suites.projects.len()).map(|it| self.original_of(it)).sum(),
        }
    }

    fn original_of(&self, project: usize) -> f64 {
        let of_project = || self.tests.iter().filter(|test| test.project == project);
        let seconds: f64 = of_project().map(|test| test.seconds).sum();
        2.0 * real(of_project().count()) * seconds
    }

    /// Every point of the grid but the original.
    #[must_use]
    pub fn grid(&self) -> Vec<GridPoint> {
        let suites: f64 = self.suite_seconds.iter().sum();
        let mut points = Vec::new();
        for runs in self.shared_runs() {
            let (mut found, mut cost) = (Square::default(), Square::default());
            let meetings = self.meetings(runs);
            for said in &meetings {
                found.add(&self.found(said));
                cost.add(&self.costs(said));
            }
            let repeats = real(meetings.len());
            let collecting = f64::from(runs) * suites;
            for (victim, polluter) in steps() {
                points.push(GridPoint {
                    setting: Setting::Candidates {
                        victim: threshold_of(victim),
                        polluter: threshold_of(polluter),
                    },
                    runs,
                    performance: found.at(victim, polluter) / (repeats * real(self.pairs.len())),
                    cost: collecting + cost.at(victim, polluter) / repeats,
                });
            }
        }
        points
    }

    fn shared_runs(&self) -> Vec<u32> {
        let polluters: Vec<u32> = self.polluters.runs().collect();
        self.victims.runs().filter(|it| polluters.contains(it)).collect()
    }

    /// Random pairs of the repetitions of both models, each of the first in one.
    fn meetings(&self, runs: u32) -> Vec<(&'a [f64], &'a [f64])> {
        let (victims, polluters) = (self.victims.repeats_of(runs), self.polluters.repeats_of(runs));
        let mut drawn: Vec<usize> = (0..polluters.len()).collect();
        Chance::new(self.seed.split(&format!("meetings of {runs} runs"))).shuffle(&mut drawn);
        let others = drawn.iter().cycle().map(|it| polluters[*it].as_slice());
        victims.iter().map(Vec::as_slice).zip(others).collect()
    }

    /// How many pairs are among the candidates, for all thresholds.
    fn found(&self, said: &(&[f64], &[f64])) -> Square {
        let mut square = Square::default();
        for (polluter, victim) in &self.pairs {
            let victim = step_of(said.0[self.tests[*victim].rows.0]);
            let polluter = step_of(said.1[self.tests[*polluter].rows.1]);
            *square.cell(victim, polluter) += 1.0;
        }
        square.sum_from_above();
        square
    }

    /// What trying the candidates costs, for all thresholds.
    fn costs(&self, said: &(&[f64], &[f64])) -> Square {
        let mut square = Square::default();
        for of_project in self.tests.chunk_by(|a, b| a.project == b.project) {
            let (mut victims, mut polluters) = (Candidates::default(), Candidates::default());
            for test in of_project {
                victims.count(step_of(said.0[test.rows.0]), test.seconds);
                polluters.count(step_of(said.1[test.rows.1]), test.seconds);
            }
            victims.sum_from_above();
            polluters.sum_from_above();
            for victim in 0..=LAST_STEP {
                for polluter in 0..=LAST_STEP {
                    *square.cell(victim, polluter) += polluters.tests[polluter]
                        * victims.seconds[victim]
                        + victims.tests[victim] * polluters.seconds[polluter];
                }
            }
        }
        square
    }

    /// Each project with a test to ask about, then all of them as `all`, at a point.
    #[must_use]
    pub fn by_project(&self, victim: f64, polluter: f64, runs: u32) -> Vec<ProjectTrade> {
        let mut projects: Vec<usize> = self.tests.iter().map(|test| test.project).collect();
        projects.dedup();
        let mut lines: Vec<ProjectTrade> =
            projects.iter().map(|it| self.line(*it, (victim, polluter), runs)).collect();
        let sum = |of: fn(&ProjectTrade) -> f64| lines.iter().map(of).sum::<f64>();
        let found = sum(|line| match line.found {
            FoundCounts::Pairs { found, .. } => found,
            FoundCounts::Tests { .. } => 0.0,
        });
        let all = self.pairs.len();
        lines.push(ProjectTrade {
            project: "all".to_owned(),
            found: FoundCounts::Pairs { found, all },
            performance: Some(found / real(all)),
            cost: sum(|line| line.cost),
            original: sum(|line| line.original),
        });
        lines
    }

    fn line(&self, project: usize, at: (f64, f64), runs: u32) -> ProjectTrade {
        let pairs: Vec<(usize, usize)> =
            self.pairs.iter().filter(|it| self.tests[it.0].project == project).copied().collect();
        let certain = vec![1.0; self.victims.asked().len().max(self.polluters.asked().len())];
        let mut meetings = self.meetings(runs);
        if meetings.is_empty() {
            // Without a model, everything is a candidate.
            meetings.push((&certain, &certain));
        }
        let is_victim =
            |said: &(&[f64], &[f64]), test: usize| said.0[self.tests[test].rows.0] >= at.0;
        let pollutes =
            |said: &(&[f64], &[f64]), test: usize| said.1[self.tests[test].rows.1] >= at.1;
        let found: Vec<f64> = meetings
            .iter()
            .map(|said| pairs.iter().filter(|(p, v)| pollutes(said, *p) && is_victim(said, *v)))
            .map(|found| real(found.count()))
            .collect();
        let of_project = || (0..self.tests.len()).filter(|it| self.tests[*it].project == project);
        let costs: Vec<f64> = meetings
            .iter()
            .map(|said| {
                let victims = self.sizes(of_project().filter(|it| is_victim(said, *it)));
                let polluters = self.sizes(of_project().filter(|it| pollutes(said, *it)));
                polluters.0 * victims.1 + victims.0 * polluters.1
            })
            .collect();
        let all = pairs.len();
        ProjectTrade {
            project: self.suites.projects[project].clone(),
            found: FoundCounts::Pairs { found: mean(&found), all },
            performance: (all > 0).then(|| mean(&found) / real(all)),
            cost: f64::from(runs) * self.suite_seconds[project] + mean(&costs),
            original: self.original_of(project),
        }
    }

    /// How many tests, and what a run of each costs together.
    fn sizes(&self, tests: impl Iterator<Item = usize>) -> (f64, f64) {
        tests.fold((0.0, 0.0), |(count, seconds), it| {
            (count + 1.0, seconds + self.tests[it].seconds)
        })
    }
}

/// The pairs of steps of the grid, but for the one at which the models are redundant.
fn steps() -> impl Iterator<Item = (usize, usize)> {
    let pairs =
        (0..=LAST_STEP).flat_map(|victim| (0..=LAST_STEP).map(move |polluter| (victim, polluter)));
    pairs.filter(|pair| *pair != (0, 0))
}

/// How many tests reach each step, and what a run of each costs together.
struct Candidates {
    tests: [f64; LAST_STEP + 1],
    seconds: [f64; LAST_STEP + 1],
}

impl Default for Candidates {
    fn default() -> Self {
        Self { tests: [0.0; LAST_STEP + 1], seconds: [0.0; LAST_STEP + 1] }
    }
}

impl Candidates {
    fn count(&mut self, step: usize, seconds: f64) {
        self.tests[step] += 1.0;
        self.seconds[step] += seconds;
    }

    fn sum_from_above(&mut self) {
        for step in (0..LAST_STEP).rev() {
            self.tests[step] += self.tests[step + 1];
            self.seconds[step] += self.seconds[step + 1];
        }
    }
}

/// A number for each pair of steps, of victims and of polluters.
struct Square(Vec<f64>);

impl Default for Square {
    fn default() -> Self {
        Self(vec![0.0; (LAST_STEP + 1) * (LAST_STEP + 1)])
    }
}

impl Square {
    fn at(&self, victim: usize, polluter: usize) -> f64 {
        self.0[victim * (LAST_STEP + 1) + polluter]
    }

    fn cell(&mut self, victim: usize, polluter: usize) -> &mut f64 {
        &mut self.0[victim * (LAST_STEP + 1) + polluter]
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }

    fn sum_from_above(&mut self) {
        for victim in (0..=LAST_STEP).rev() {
            for polluter in (0..LAST_STEP).rev() {
                *self.cell(victim, polluter) += self.at(victim, polluter + 1);
            }
        }
        for victim in (0..LAST_STEP).rev() {
            for polluter in 0..=LAST_STEP {
                *self.cell(victim, polluter) += self.at(victim + 1, polluter);
            }
        }
    }
}
