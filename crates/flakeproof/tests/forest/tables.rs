//! Tables of features and outcomes, made from a fixed seed.
//!
//! Of each eight tests one is NOD flaky, one a victim and one a polluter. Each kind has a feature
//! that tells it most of the time: the run time, the threads, and the covered lines.

use std::fmt::Write as _;

/// Enough projects that one can be held out at a time.
pub(crate) const PROJECTS: [&str; 6] = ["alder", "birch", "cedar", "maple", "spruce", "willow"];

/// Tests with their features and outcomes.
pub(crate) struct Tables {
    tests: Vec<Test>,
    /// Columns besides those that every test has, and the cell of each test.
    more: Vec<(String, Vec<String>)>,
    runs: u32,
}

struct Test {
    project: String,
    id: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nod,
    Victim,
    Polluter,
    Stable,
}

impl Tables {
    /// Forty tests of each of [`PROJECTS`].
    pub(crate) fn usual() -> Self {
        Self::of(&PROJECTS, 40)
    }

    /// So many tests of each project.
    pub(crate) fn of(projects: &[&str], each: usize) -> Self {
        let kind = |number: usize| match number % 8 {
            0 => Kind::Nod,
            1 => Kind::Victim,
            2 => Kind::Polluter,
            _ => Kind::Stable,
        };
        let test = |project: &str, number| Test {
            project: project.to_owned(),
            id: format!("tests/test_{project}.py::test_{number}"),
            kind: kind(number),
        };
        let tests = projects.iter().flat_map(|project| (0..each).map(|it| test(project, it)));
        Self { tests: tests.collect(), more: Vec::new(), runs: 1 }
    }

    /// Only the tests at these places, counted from 0 over all projects, are NOD flaky.
    pub(crate) fn with_nod_at(mut self, places: &[usize]) -> Self {
        for (number, test) in self.tests.iter_mut().enumerate() {
            test.kind = if places.contains(&number) { Kind::Nod } else { Kind::Stable };
        }
        self
    }

    /// Another column, with a cell for each test, counted from 0.
    pub(crate) fn with_column(mut self, name: &str, cell: impl Fn(usize) -> String) -> Self {
        self.more.push((name.to_owned(), (0..self.tests.len()).map(cell).collect()));
        self
    }

    /// So many runs of each test.
    pub(crate) fn with_runs(mut self, runs: u32) -> Self {
        self.runs = runs;
        self
    }

    /// How many tests there are.
    pub(crate) fn len(&self) -> usize {
        self.tests.len()
    }

    /// The table of features.
    pub(crate) fn features(&self) -> String {
        let mut text =
            String::from("project,test,run,run_time,max_threads,covered_lines,maintainability");
        for (name, _) in &self.more {
            let _ = write!(text, ",{name}");
        }
        text.push('\n');
        let mut chance = Chance(7);
        for run in 1..=self.runs {
            for (number, test) in self.tests.iter().enumerate() {
                let cells = cells(test.kind, &mut chance);
                let _ = write!(text, "{},{},{run},{cells}", test.project, test.id);
                for (_, column) in &self.more {
                    let _ = write!(text, ",{}", column[number]);
                }
                text.push('\n');
            }
        }
        text
    }

    /// The table of outcomes.
    pub(crate) fn outcomes(&self) -> String {
        let mut text = String::from(
            "project,test,baseline_runs,baseline_failures,shuffled_runs,shuffled_failures,polluter\n",
        );
        for test in &self.tests {
            let fared = match test.kind {
                Kind::Nod => "10,3,10,4,0",
                Kind::Victim => "10,0,10,3,0",
                Kind::Polluter => "10,0,10,0,1",
                Kind::Stable => "10,0,10,0,0",
            };
            let _ = writeln!(text, "{},{},{fared}", test.project, test.id);
        }
        text
    }
}

impl Tables {
    /// The table of pairs: of each eight tests, the victim and the polluter right after it.
    pub(crate) fn pairs(&self) -> String {
        let mut text = String::from("project,polluter,victim\n");
        for both in self.tests.windows(2) {
            if both[0].kind == Kind::Victim && both[1].kind == Kind::Polluter {
                let _ = writeln!(text, "{},{},{}", both[0].project, both[1].id, both[0].id);
            }
        }
        text
    }

    /// A table of probabilities for a problem, which tell its positive tests with a few mistakes,
    /// and what each test costs.
    pub(crate) fn probabilities(&self, problem: &str) -> String {
        let mut text = String::from("project,test,problem,probability,runs,seconds\n");
        for (number, test) in self.tests.iter().enumerate() {
            let is_positive = match problem {
                "victim" => test.kind == Kind::Victim,
                "polluter" => test.kind == Kind::Polluter,
                _ => test.kind == Kind::Nod,
            };
            let probability = match (is_positive, number % 5) {
                (true, 0) => "0.3",
                (true, _) => "0.8",
                (false, 0) => "0.4",
                (false, _) => "0.05",
            };
            let (project, id) = (&test.project, &test.id);
            let _ = writeln!(text, "{project},{id},{problem},{probability},1,0.5");
        }
        text
    }
}

/// Run time, threads, covered lines and maintainability of a test.
fn cells(kind: Kind, chance: &mut Chance) -> String {
    let raised = |is_raised: bool| if is_raised { 0.6 } else { 0.0 };
    let time = chance.share() + raised(kind == Kind::Nod);
    let threads = (8.0 * (chance.share() + raised(kind == Kind::Victim))).round();
    let lines = (900.0 * (chance.share() + raised(kind == Kind::Polluter))).round();
    format!("{time:.4},{threads},{lines},{:.2}", 100.0 * chance.share())
}

/// A small generator with a promised stream (splitmix64).
struct Chance(u64);

impl Chance {
    /// A number from 0 up to 1, in steps of a thousandth.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let thousandth = u16::try_from((mixed ^ (mixed >> 31)) % 1000).unwrap_or_default();
        f64::from(thousandth) / 1000.0
    }
}
