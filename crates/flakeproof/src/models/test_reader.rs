//! What is read of the tests of a project, once for all who ask: numbers for models and findings of rules.
//!
//! As long as no file changes, the next process need not read it again.

use std::collections::HashMap;
use std::sync::OnceLock;

use flakeproof_learn::ensemble::{ReadWords, Reading, SiblingPosition, SourceReader};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::rules::{self, Finding, RuleSet};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::source::project_source::ProjectSource;
use crate::source::source_tests::SourceTest;

/// The name under which readings are kept.
const READINGS: &str = "readings";

/// Reads some tests of a project.
pub(crate) struct TestReader<'p> {
    pub(crate) source: &'p ProjectSource,
    pub(crate) tests: &'p [SourceTest],
    readings: OnceLock<Vec<TestReading>>,
}

/// What is read of a test, its words left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestReading {
    pub(crate) reading: Reading,
    /// What all rules find in it.
    pub(crate) findings: Vec<Finding>,
}

/// What is kept of it.
#[derive(Serialize, Deserialize)]
struct ReadingRecord {
    id: String,
    file: String,
    first_line: u32,
    smells: Vec<f32>,
    text: Vec<f32>,
    standing: Option<SiblingPosition>,
    findings: Vec<Finding>,
}

impl<'p> TestReader<'p> {
    /// A reader of these tests, which were found in this project.
    pub(crate) fn new(source: &'p ProjectSource, tests: &'p [SourceTest]) -> Self {
        Self { source, tests, readings: OnceLock::new() }
    }

    /// What is read of each test, in their order.
    pub(crate) fn readings(&self) -> &[TestReading] {
        self.readings.get_or_init(|| {
            self.kept().unwrap_or_else(|| {
                let readings = self.read();
                if self.tests.len() == self.source.test_count() {
                    self.keep(&readings);
                }
                readings
            })
        })
    }

    /// What all rules find in each test, in their order; nothing else is read for it.
    pub(crate) fn findings(&self) -> Vec<Vec<Finding>> {
        if self.readings.get().is_none()
            && let Some(kept) = self.kept()
        {
            let _ = self.readings.set(kept);
        }
        if let Some(readings) = self.readings.get() {
            return readings.iter().map(|it| it.findings.clone()).collect();
        }
        let (index, all) = (self.source.index(), RuleSet::all());
        let find = |test: &SourceTest| Some(rules::check(index, self.find(test)?, None, &all));
        self.tests.par_iter().map(|test| find(test).unwrap_or_default()).collect()
    }

    /// The function behind a test.
    pub(crate) fn find(&self, test: &SourceTest) -> Option<Declared> {
        self.source.find(&test.id)
    }

    fn read(&self) -> Vec<TestReading> {
        let reader = SourceReader::new(self.source.index(), ReadWords::No);
        let read = |test: &SourceTest| {
            let comments = test.language.into();
            let (reading, findings) = match self.find(test) {
                Some(declared) => {
                    reader.read_and_check(declared, &test.class, &test.source, comments)
                }
                None => (Reading::of_text(&test.source, &test.class, comments), Vec::new()),
            };
            TestReading { reading, findings }
        };
        self.tests.par_iter().map(read).collect()
    }

    fn kept(&self) -> Option<Vec<TestReading>> {
        let records: Vec<ReadingRecord> = self.source.kept(READINGS)?;
        let place = |it: &ReadingRecord| (it.id.clone(), it.file.clone(), it.first_line);
        let mut by_place: HashMap<(String, String, u32), ReadingRecord> =
            records.into_iter().map(|it| (place(&it), it)).collect();
        let take = |test: &SourceTest| {
            let place = (test.id.to_string(), test.file.clone(), test.first_line);
            let record = by_place.remove(&place)?;
            let ReadingRecord { smells, text, standing, findings, .. } = record;
            let reading = Reading { smells, text, standing, ..Reading::default() };
            Some(TestReading { reading, findings })
        };
        self.tests.iter().map(take).collect()
    }

    fn keep(&self, readings: &[TestReading]) {
        let record = |(test, read): (&SourceTest, &TestReading)| ReadingRecord {
            id: test.id.to_string(),
            file: test.file.clone(),
            first_line: test.first_line,
            smells: read.reading.smells.clone(),
            text: read.reading.text.clone(),
            standing: read.reading.standing.clone(),
            findings: read.findings.clone(),
        };
        let records: Vec<ReadingRecord> = self.tests.iter().zip(readings).map(record).collect();
        self.source.keep(READINGS, &records);
    }
}
