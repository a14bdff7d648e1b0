//! What is known of the tests around a test, and the member that knows a test by the company it
//! keeps: by its siblings and the tests that read like it, together with how it smells and what the
//! other members say.
//!
//! Failures come in bursts: while a machine is busy or a network is down, those tests fail that happen
//! to run then, one after the other, whatever they do. So a test is suspect whose neighbours in the
//! order of a run are flaky; and so is one among flaky tests that were written together.

use std::collections::BTreeMap;

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::base_model::odds;
use super::model::HeldOutWords;
use super::readings::{Reading, Readings};
use crate::evaluate::folds;
use crate::flast::{Corpus, Opinion};
use crate::forest::{FeaturesPerSplit, Forest, ForestKind, ForestParams, MOST_FEATURES, Table};
use crate::labelled::LabelledTest;
use crate::model_file::{Aligned, ModelFileError};

/// How many tests away one is still heard along an order.
const REACHES: [f64; 3] = [1.0, 3.0, 8.0];
/// Silence counts as much as this share of the nearest test.
const SILENCE: f64 = 0.2;

/// A test whose flakiness is known, by where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Sibling {
    pub(super) standing: SiblingPosition,
    /// Whether it is flaky.
    pub(super) flaky: bool,
    /// How often it failed when it was run again and again.
    failures: u32,
}

impl Sibling {
    /// A labelled test that begins in this line.
    pub(super) fn from_test(test: &LabelledTest, line: Option<u32>) -> Self {
        let LabelledTest { project, class, name, flaky, .. } = test.clone();
        let failures = test.runs.map_or(0, |runs| runs.failures);
        Self { standing: SiblingPosition { project, class, name, line }, flaky, failures }
    }
}

/// Where a test stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiblingPosition {
    /// Its project; nothing where nobody knows what others call it.
    pub project: String,
    /// Its class, module or file.
    pub class: String,
    /// Its name.
    pub name: String,
    /// The line it begins in.
    pub line: Option<u32>,
}

/// The orders in which the tests of a class are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// As JUnit runs them since 4.11: by the hash of their names.
    Hash,
    /// As they are written; most other frameworks run them so.
    Written,
    /// By name: what begins alike is often about the same.
    Name,
}

impl Order {
    const ALL: [Self; 3] = [Self::Hash, Self::Written, Self::Name];

    fn place(self, standing: &SiblingPosition) -> (i64, &str) {
        let number = match self {
            Self::Hash => i64::from(java_hash(&standing.name)),
            Self::Written => standing.line.map_or(i64::MAX, i64::from),
            Self::Name => 0,
        };
        (number, &standing.name)
    }
}

/// Tests whose flakiness is known, by class, package and project.
#[derive(Debug, Clone, Default)]
pub(super) struct Siblings {
    /// By class and then by project, because a class may be looked for without its project.
    classes: BTreeMap<String, BTreeMap<String, Vec<Sibling>>>,
    packages: BTreeMap<(String, String), Circle>,
    projects: BTreeMap<String, Circle>,
}

/// How many tests there are somewhere, and how many of them are flaky.
#[derive(Debug, Clone, Copy, Default)]
struct Circle {
    tests: u32,
    flaky: u32,
}

impl Siblings {
    /// These tests.
    pub(super) fn new<'s>(known: impl IntoIterator<Item = &'s Sibling>) -> Self {
        let mut siblings = Self::default();
        for sibling in known {
            let SiblingPosition { project, class, .. } = &sibling.standing;
            let classes = siblings.classes.entry(class.clone()).or_default();
            classes.entry(project.clone()).or_default().push(sibling.clone());
            let package = (project.clone(), package(class).to_owned());
            siblings.packages.entry(package).or_default().count(sibling);
            siblings.projects.entry(project.clone()).or_default().count(sibling);
        }
        siblings
    }

    /// Numbers that tell what is known around a test, which is not asked itself.
    pub(super) fn around(&self, test: &SiblingPosition) -> Vec<f32> {
        let (project, class) = self.class(test);
        let others: Vec<&Sibling> =
            class.iter().filter(|it| it.standing.name != test.name).collect();
        let mut numbers = Vec::new();
        for order in Order::ALL {
            numbers.extend(along(order, test, &others));
        }
        let mut own = Circle::default();
        others.iter().for_each(|other| own.count(other));
        let package = (project.to_owned(), package(&test.class).to_owned());
        let package = self.packages.get(&package);
        for circle in [Some(&own), package, self.projects.get(project)] {
            numbers.extend(circle.copied().unwrap_or_default().numbers());
        }
        numbers.extend(failures_of_flaky(&others));
        numbers.into_iter().map(short).collect()
    }

    /// The known tests of its class, and their project. Where its project has no name, another with a
    /// class of that name is taken for it, if there is only one.
    fn class<'s>(&'s self, test: &'s SiblingPosition) -> (&'s str, &'s [Sibling]) {
        let Some(classes) = self.classes.get(test.class.as_str()) else {
            return (&test.project, &[]);
        };
        let mut all = classes.iter();
        match (classes.get_key_value(test.project.as_str()), all.next(), all.next()) {
            (Some((project, class)), ..) => (project, class),
            (None, Some((project, class)), None) if test.project.is_empty() => (project, class),
            _ => (&test.project, &[]),
        }
    }
}

impl Circle {
    fn count(&mut self, test: &Sibling) {
        self.tests += 1;
        self.flaky += u32::from(test.flaky);
    }

    fn numbers(self) -> [f64; 3] {
        let (tests, flaky) = (f64::from(self.tests), f64::from(self.flaky));
        [flaky / tests, flaky, tests]
    }
}

/// What the other tests of a class say along an order: the flaky share among those near by, each with
/// less weight the farther away it is; the tests right before and after, and how often they failed; how
/// far away the next flaky and the next other test are. What cannot be told is no number.
fn along(order: Order, test: &SiblingPosition, others: &[&Sibling]) -> [f64; REACHES.len() + 7] {
    let mut numbers = [f64::NAN; REACHES.len() + 7];
    if others.is_empty() || order == Order::Written && test.line.is_none() {
        return numbers;
    }
    let mut others = others.to_vec();
    others.sort_by_key(|other| order.place(&other.standing));
    let here = others.partition_point(|other| order.place(&other.standing) < order.place(test));
    let steps = |at: usize| crate::real(if at < here { here - at } else { at + 1 - here });
    for (number, reach) in numbers.iter_mut().zip(REACHES) {
        let (mut all, mut flaky) = (SILENCE, 0.0);
        for (at, other) in others.iter().enumerate() {
            let weight = (-(steps(at) - 1.0) / reach).exp();
            all += weight;
            flaky += if other.flaky { weight } else { 0.0 };
        }
        *number = flaky / all;
    }
    let next_to = [here.checked_sub(1), Some(here)].map(|at| others.get(at?).copied());
    let [before, after] = next_to.map(|it| it.map_or(f64::NAN, |it| f64::from(u8::from(it.flaky))));
    let failures = next_to.map(|it| it.map_or(f64::NAN, |it| f64::from(it.failures).ln_1p()));
    let nearest = |flaky: bool| {
        let found = others.iter().enumerate().filter(|(_, other)| other.flaky == flaky);
        found.map(|(at, _)| steps(at)).fold(f64::NAN, f64::min)
    };
    let rest = [before, after, before + after, nearest(true), nearest(false)];
    numbers[REACHES.len()..].copy_from_slice(&[rest.as_slice(), &failures].concat());
    numbers
}

/// How often flaky tests failed: the mean, the least and the most. Who failed once in ten thousand runs
/// was struck by a burst; who fails often is flaky by itself.
fn failures_of_flaky(others: &[&Sibling]) -> [f64; 3] {
    let failures: Vec<f64> =
        others.iter().filter(|it| it.flaky).map(|it| f64::from(it.failures).ln_1p()).collect();
    let mean = failures.iter().sum::<f64>() / crate::real(failures.len());
    let least = failures.iter().copied().fold(f64::NAN, f64::min);
    [mean, least, failures.iter().copied().fold(f64::NAN, f64::max)]
}

/// The package of a class, or the folder of a file.
fn package(class: &str) -> &str {
    class.rsplit_once(['.', '/']).map_or("", |(package, _)| package)
}

/// The hash that Java gives to a text.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

#[expect(clippy::cast_possible_truncation, reason = "trees cut at short numbers")]
pub(super) fn short(number: f64) -> f32 {
    number as f32
}

/// How many neighbours the nearest shares are told of.
const NEAREST: [usize; 4] = [1, 3, 7, 15];
/// Each cut looks at one column in so many.
const COLUMNS_FOR_EACH_LOOKED_AT: usize = 5;
const TREES: usize = 300;

/// The member, and the tests that it knows.
#[derive(Debug, Clone)]
pub(super) struct SiblingModel {
    forest: Forest,
    /// By their rows.
    known: Vec<Sibling>,
    siblings: Siblings,
}

/// What a file keeps of it besides the forest.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    known: Vec<Sibling>,
}

impl SiblingModel {
    /// Learn from what others said of tests they had not seen and what was known around them then; and
    /// what is said of each of these tests by company that did not learn from it.
    pub(super) fn fit(
        readings: &Readings,
        heard: &HeldOutWords,
        known: &[u32],
        parts: usize,
        seed: Seed,
    ) -> Option<(Self, Vec<f64>)> {
        let rows: Vec<Vec<f32>> = heard
            .around
            .iter()
            .enumerate()
            .map(|(at, around)| {
                let said: Vec<f64> = heard.said.iter().map(|scores| scores[at]).collect();
                row(&readings.smells.row(heard.rows[at] as usize), around, &said)
            })
            .collect();
        let table = Table::from_rows(&rows).ok()?;
        let flaky: Vec<bool> = heard.rows.iter().map(|row| readings.is_flaky(*row)).collect();
        let looked_at = table.width().div_ceil(COLUMNS_FOR_EACH_LOOKED_AT);
        let params = ForestParams {
            trees: TREES,
            features_per_split: FeaturesPerSplit::Count(looked_at),
            ..ForestParams::new(ForestKind::ExtraTrees, seed)
        };
        let mut scores = vec![0.0; rows.len()];
        for part in folds::stratified(&flaky, parts, seed.split("company")) {
            let labels: Vec<bool> = part.train.iter().map(|row| flaky[*row as usize]).collect();
            let forest = params.fit(&table.select(&part.train), &labels).ok()?;
            let said = forest.predict(&table.select(&part.test)).ok()?;
            part.test.iter().zip(said).for_each(|(row, it)| scores[*row as usize] = odds(it));
        }
        let forest = params.fit(&table, &flaky).ok()?;
        let known = known.iter().map(|row| readings.sibling(*row).clone()).collect();
        Some((Self::new(forest, known), scores))
    }

    fn new(forest: Forest, known: Vec<Sibling>) -> Self {
        Self { forest, siblings: Siblings::new(&known), known }
    }

    /// What it says of some of the tests, given what the others say of them.
    pub(super) fn ask_rows(
        &self,
        readings: &Readings,
        opinions: &[Opinion],
        said: &[Vec<f64>],
        test: &[u32],
    ) -> Vec<f64> {
        let rows: Vec<Vec<f32>> = (0..test.len())
            .into_par_iter()
            .map(|at| {
                let around = around(&self.siblings, readings, &opinions[at], test[at]);
                let said: Vec<f64> = said.iter().map(|scores| scores[at]).collect();
                row(&readings.smells.row(test[at] as usize), &around, &said)
            })
            .collect();
        self.ask_table(&rows).unwrap_or_else(|| vec![0.0; test.len()])
    }

    fn ask_table(&self, rows: &[Vec<f32>]) -> Option<Vec<f64>> {
        let said = self.forest.predict(&Table::from_rows(rows).ok()?).ok()?;
        Some(said.into_iter().map(odds).collect())
    }

    /// What it says of a test that nobody knows yet; nothing where it cannot be told where it stands.
    pub(super) fn ask(
        &self,
        corpus: &Corpus<'_>,
        opinion: &Opinion,
        reading: &Reading,
        said: &[f64],
    ) -> Option<f64> {
        let standing = reading.standing.as_ref()?;
        let near = near(opinion, |row| {
            let sibling = &self.known[row as usize];
            (corpus.is_flaky(row), sibling.standing.class == standing.class)
        });
        let around = [self.siblings.around(standing), near].concat();
        Some(*self.ask_table(&[row(&reading.smells, &around, said)])?.first()?)
    }

    /// The bytes of a file.
    pub(super) fn to_file(&self) -> Result<Vec<u8>, ModelFileError> {
        self.forest.to_file(&Kept { known: self.known.clone() })
    }

    /// What is in the bytes of a file.
    pub(super) fn of_file(bytes: &[u8]) -> Result<Self, ModelFileError> {
        let (forest, Kept { known }) = Forest::of_file(Aligned::copy_of(bytes).bytes())?;
        Ok(Self::new(forest, known))
    }
}

/// What is known around one of the tests.
pub(super) fn around(
    siblings: &Siblings,
    readings: &Readings,
    opinion: &Opinion,
    test: u32,
) -> Vec<f32> {
    let standing = &readings.sibling(test).standing;
    let near = near(opinion, |row| {
        let other = readings.sibling(row);
        let is_own =
            other.standing.project == standing.project && other.standing.class == standing.class;
        (other.flaky, is_own)
    });
    [siblings.around(standing), near].concat()
}

/// What the nearest tests say: how near a flaky and another test are, anywhere and in the own class; the
/// flaky share of the nearest. `about` tells of a row whether it is flaky and of the own class.
fn near(opinion: &Opinion, about: impl Fn(u32) -> (bool, bool)) -> Vec<f32> {
    let near: Vec<(f32, bool, bool)> = opinion
        .neighbours
        .iter()
        .map(|it| {
            let (flaky, is_own) = about(it.row);
            (it.similarity, flaky, is_own)
        })
        .collect();
    let nearest = |wanted: bool, anywhere: bool| {
        let found = near.iter().filter(|(_, flaky, own)| *flaky == wanted && (anywhere || *own));
        found.map(|(similarity, ..)| *similarity).fold(f32::NAN, f32::max)
    };
    let share = |count: usize| {
        let some = &near[..count.min(near.len())];
        let all: f32 = some.iter().map(|(similarity, ..)| similarity).sum();
        let flaky = some.iter().filter(|(_, flaky, _)| *flaky);
        flaky.map(|(similarity, ..)| similarity).sum::<f32>() / all.max(f32::MIN_POSITIVE)
    };
    let nearest = [(true, true), (false, true), (true, false), (false, false)]
        .map(|(wanted, anywhere)| nearest(wanted, anywhere));
    nearest.into_iter().chain(NEAREST.map(share)).collect()
}

/// A row of the forest's table. It has no room for all smells; those closest to the test come first.
fn row(smells: &[f32], around: &[f32], said: &[f64]) -> Vec<f32> {
    let room = MOST_FEATURES.saturating_sub(around.len() + said.len()).min(smells.len());
    let said = said.iter().map(|score| short(*score));
    smells[..room].iter().copied().chain(around.iter().copied()).chain(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sibling(name: &str, line: u32, flaky: bool) -> Sibling {
        Sibling { standing: standing(name, line), flaky, failures: u32::from(flaky) }
    }

    fn standing(name: &str, line: u32) -> SiblingPosition {
        let (project, class) = ("p".to_owned(), "a.BTest".to_owned());
        SiblingPosition { project, class, name: name.to_owned(), line: Some(line) }
    }

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(java_hash("hello"), 99_162_322);
        assert_eq!(java_hash("polygenelubricants"), i32::MIN);
    }

    #[test]
    fn who_stands_between_flaky_tests_is_told_from_who_does_not() {
        let known: Vec<Sibling> =
            (0..20).map(|at| sibling(&format!("t{at}"), 10 * at, (5..9).contains(&at))).collect();
        let siblings = Siblings::new(&known);
        let written = Order::ALL.iter().position(|it| *it == Order::Written).unwrap_or(0);
        let look = |line| {
            let numbers = siblings.around(&standing("new", line));
            numbers[written * (REACHES.len() + 7)..][..REACHES.len() + 7].to_vec()
        };
        let (inside, outside) = (look(65), look(155));
        assert!(inside[0] > 0.7 && outside[0] < 0.05, "{inside:?} {outside:?}");
        assert_eq!(inside[3..6], [1.0, 1.0, 2.0]);
        assert_eq!((outside[6], outside[7]), (8.0, 1.0));
    }

    #[test]
    fn a_test_is_not_asked_about_itself() {
        let known = [sibling("a", 1, true), sibling("b", 2, false)];
        let others = [known[1].clone()];
        let [with, without] =
            [Siblings::new(&known), Siblings::new(&others)].map(|it| it.around(&known[0].standing));
        let of_class = Order::ALL.len() * (REACHES.len() + 7) + 3;
        assert_eq!(format!("{:?}", &with[..of_class]), format!("{:?}", &without[..of_class]));
    }

    #[test]
    fn a_class_is_found_without_its_project_if_only_one_has_it() {
        let known = [sibling("a", 1, true)];
        let nameless = SiblingPosition { project: String::new(), ..standing("b", 2) };
        assert!(Siblings::new(&known).around(&nameless)[0] > 0.5);
        let mut other = known[0].clone();
        other.standing.project = "q".to_owned();
        assert!(Siblings::new(&[known[0].clone(), other]).around(&nameless)[0].is_nan());
    }
}
