//! What an ensemble reads of tests, and how it is read from source.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_syntax::cues;
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::rules::{self, Finding, Rule, RuleSet};
use flakeproof_syntax::smells::SmellReader;
use flakeproof_syntax::words::{self, Comments, parts};

use super::siblings::{Sibling, SiblingPosition, Siblings};
use crate::flast::HoldOut;
use crate::forest::{Table, TableError};
use crate::labelled::LabelledTest;
use crate::linear::{WordBag, WordSpace};
use crate::network::{Methods, PathCorpus};

/// What is read of one test.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Its words and those around it.
    pub words: WordBag,
    /// How much smells around it, what its text says, and what rules find in it ([`SourceReader::names`]).
    pub smells: Vec<f32>,
    /// What its own text says, whatever is known around it.
    pub text: Vec<f32>,
    /// Where it stands, if that is known.
    pub standing: Option<SiblingPosition>,
}

/// Labelled tests with what was read of them.
#[derive(Debug)]
pub struct Readings {
    pub(super) tests: Vec<LabelledTest>,
    pub(super) words: Vec<WordBag>,
    pub(super) smells: Table,
    pub(super) texts: Table,
    siblings: Vec<Sibling>,
    pub(super) paths: PathCorpus,
    /// The methods of each project, to learn from without labels.
    pub(super) methods: BTreeMap<String, Methods>,
}

impl Readings {
    /// These tests, each with its reading and its paths; smells that were not read are missing.
    ///
    /// # Errors
    /// When two readings have different numbers of smells, or one is infinite.
    pub fn new(
        tests: Vec<LabelledTest>,
        readings: Vec<Reading>,
        paths: PathCorpus,
        methods: BTreeMap<String, Methods>,
    ) -> Result<Self, TableError> {
        let width = readings.iter().map(|reading| reading.smells.len()).max().unwrap_or(0);
        let text_width = readings.iter().map(|reading| reading.text.len()).max().unwrap_or(0);
        let (mut words, mut rows, mut siblings) = (Vec::new(), Vec::new(), Vec::new());
        let mut texts = Vec::new();
        for (mut reading, test) in readings.into_iter().zip(&tests) {
            let line = reading.standing.and_then(|standing| standing.line);
            siblings.push(Sibling::from_test(test, line));
            if reading.smells.is_empty() {
                reading.smells = vec![f32::NAN; width];
            }
            if reading.text.is_empty() {
                reading.text = vec![f32::NAN; text_width];
            }
            words.push(reading.words);
            rows.push(reading.smells);
            texts.push(reading.text);
        }
        let (smells, texts) = (Table::from_rows(&rows)?, Table::from_rows(&texts)?);
        Ok(Self { tests, words, smells, texts, siblings, paths, methods })
    }

    /// The tests.
    #[must_use]
    pub fn tests(&self) -> &[LabelledTest] {
        &self.tests
    }

    pub(super) fn is_flaky(&self, row: u32) -> bool {
        self.tests[row as usize].flaky
    }

    /// Whether anything beyond the file of a test is known.
    pub(super) fn sees_a_project(&self, row: u32) -> bool {
        SmellReader::sees_a_project(&self.smells.row(row as usize))
    }

    /// What a test is to its siblings.
    pub(super) fn sibling(&self, row: u32) -> &Sibling {
        &self.siblings[row as usize]
    }

    /// Some of the tests, as their siblings know them.
    pub(super) fn siblings(&self, known: &[u32]) -> Siblings {
        Siblings::new(known.iter().map(|row| self.sibling(*row)))
    }

    /// Whether each test is flaky.
    #[must_use]
    pub fn labels(&self) -> Vec<bool> {
        self.tests.iter().map(|test| test.flaky).collect()
    }

    /// The tests among these whose project's source was read, if any was. Only they teach what lies
    /// around a test; the others are neighbours.
    pub(super) fn with_source(&self, rows: &[u32]) -> Vec<u32> {
        let last = self.smells.columns().last();
        let is_read = |row: &u32| last.is_some_and(|column| !column[*row as usize].is_nan());
        if self.tests.len() == last.map_or(0, |last| last.iter().filter(|it| it.is_nan()).count()) {
            return rows.to_vec();
        }
        rows.iter().copied().filter(is_read).collect()
    }

    /// The contextual paths of the tests, by their places.
    #[must_use]
    pub fn paths(&self) -> &PathCorpus {
        &self.paths
    }

    /// Read other paths of the same tests, for instance those of an ablation.
    #[must_use]
    pub fn with_paths(self, paths: PathCorpus) -> Self {
        Self { paths, ..self }
    }

    /// The number of the part each test is held out with.
    #[must_use]
    pub fn groups_of(&self, hold_out: HoldOut) -> Vec<u32> {
        match hold_out {
            HoldOut::Test => (0..).take(self.tests.len()).collect(),
            HoldOut::Class => self.groups().1,
            HoldOut::Project => self.groups().0,
        }
    }

    /// The methods of the projects that some tests belong to.
    #[must_use]
    pub fn methods_of(&self, rows: &[u32]) -> Methods {
        let projects: BTreeSet<&str> =
            rows.iter().map(|row| self.tests[*row as usize].project.as_str()).collect();
        let mut methods = Methods::default();
        for project in projects {
            self.methods.get(project).into_iter().for_each(|it| methods.append(it));
        }
        methods
    }

    /// The number of each test's project, and of its class.
    pub(super) fn groups(&self) -> (Vec<u32>, Vec<u32>) {
        let mut projects: BTreeMap<&str, u32> = BTreeMap::new();
        let mut classes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        self.tests
            .iter()
            .map(|test| {
                let next = u32::try_from(projects.len()).unwrap_or(u32::MAX);
                let project = *projects.entry(&test.project).or_insert(next);
                let next = u32::try_from(classes.len()).unwrap_or(u32::MAX);
                let class = *classes.entry((&test.project, &test.class)).or_insert(next);
                (project, class)
            })
            .unzip()
    }
}

/// Whether the words around tests are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadWords {
    /// They are.
    Yes,
    /// Nobody weighs them, and collecting them costs more than all else.
    No,
}

/// Reads the tests of a project. What it finds out about a file it keeps: make one for all tests.
#[derive(Debug)]
pub struct SourceReader<'p> {
    project: &'p ProjectIndex,
    smells: SmellReader<'p>,
    rules: RuleSet,
    words: ReadWords,
}

impl<'p> SourceReader<'p> {
    /// A reader of this project.
    #[must_use]
    pub fn new(project: &'p ProjectIndex, words: ReadWords) -> Self {
        Self { project, smells: SmellReader::new(project), rules: RuleSet::all(), words }
    }

    /// What the numbers of the smells of a test mean, in their order.
    #[must_use]
    pub fn names() -> Vec<String> {
        let cues = cues::names().map(|what| format!("{what} in the test"));
        let rules = Rule::ALL.iter().map(|rule| format!("what rule {rule} finds"));
        SmellReader::names().into_iter().chain(cues).chain(rules).collect()
    }

    /// What is read of a test, as it runs in a class: its own, or one that inherits it.
    #[must_use]
    pub fn read(&self, test: Declared, class: &str, source: &str, comments: Comments) -> Reading {
        let found = rules::check(self.project, test, Some(class), &self.rules);
        self.read_with(test, class, source, comments, &found)
    }

    /// The same, and what the rules find in the test as it stands in its own class: they look once where
    /// that is the class it runs in.
    #[must_use]
    pub fn read_and_check(
        &self,
        test: Declared,
        class: &str,
        source: &str,
        comments: Comments,
    ) -> (Reading, Vec<Finding>) {
        let own = rules::check(self.project, test, None, &self.rules);
        let runs_in = self.project.find_class(class).or_else(|| self.project.owner(test));
        if runs_in == self.project.owner(test) {
            (self.read_with(test, class, source, comments, &own), own)
        } else {
            (self.read(test, class, source, comments), own)
        }
    }

    fn read_with(
        &self,
        test: Declared,
        class: &str,
        source: &str,
        comments: Comments,
        found: &[Finding],
    ) -> Reading {
        let words = match self.words {
            ReadWords::Yes => self.words(test, class, source, comments),
            ReadWords::No => WordBag::default(),
        };
        let text = SmellReader::numbers_of_test(source, comments);
        let mut smells = self.smells.numbers(test, Some(class));
        smells.extend(SmellReader::cues_of_test(&text));
        smells.extend(counts(found));
        Reading { words, smells, text, standing: self.standing(test, class) }
    }

    /// The words of a test and those around it.
    fn words(&self, test: Declared, class: &str, source: &str, comments: Comments) -> WordBag {
        let project = self.project;
        let place = self.smells.words(test, Some(class));
        let mut bag = own_words(source, class, comments);
        let around = place.test.iter().filter(|function| **function != test);
        bag.add(WordSpace::Around, around.flat_map(|function| project.body_words(*function)));
        let spaces = [
            (WordSpace::File, place.file.as_slice()),
            (WordSpace::Bases, &place.bases),
            (WordSpace::Named, &place.named),
        ];
        for (space, files) in spaces {
            let units = files.iter().filter_map(|unit| project.units().get(*unit as usize));
            let texts = units.map(|unit| (unit.text.as_str(), Comments::from(unit.language)));
            bag.add(space, texts.flat_map(|(text, comments)| words::of_code(text, comments)));
        }
        bag
    }

    /// Where a test stands; what others call this project is not known here.
    fn standing(&self, test: Declared, class: &str) -> Option<SiblingPosition> {
        let function = self.project.function(test)?;
        Some(SiblingPosition {
            project: String::new(),
            class: class.to_owned(),
            name: function.name.clone(),
            line: Some(function.span.line),
        })
    }
}

impl Reading {
    /// Whether anything beyond the file of the test is known.
    #[must_use]
    pub fn sees_a_project(&self) -> bool {
        SmellReader::sees_a_project(&self.smells)
    }

    /// What can be read of a test when its project is not at hand.
    #[must_use]
    pub fn of_text(source: &str, class: &str, comments: Comments) -> Self {
        let text = SmellReader::numbers_of_test(source, comments);
        let mut smells = SmellReader::numbers_of_text(source, comments);
        smells.extend(SmellReader::cues_of_test(&text));
        // Rules follow data through a project.
        smells.resize(smells.len() + Rule::ALL.len(), f32::NAN);
        Self { words: own_words(source, class, comments), smells, text, standing: None }
    }
}

/// How often each rule found something.
fn counts(found: &[Finding]) -> [f32; Rule::ALL.len()] {
    let mut counts = [0.0; Rule::ALL.len()];
    for found in found {
        if let Some(count) = counts.get_mut(found.rule as usize) {
            *count += 1.0;
        }
    }
    counts
}

fn own_words(source: &str, class: &str, comments: Comments) -> WordBag {
    let mut bag = WordBag::default();
    bag.add(WordSpace::Test, words::of_code(source, comments));
    let simple = class.rsplit(['.', '/']).next().unwrap_or(class);
    bag.add(WordSpace::ClassName, parts(simple));
    bag
}
