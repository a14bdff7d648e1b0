//! One source file of a project: its text, and what is parsed of it, anew or as it was kept.

use std::path::Path;

use flakeproof_core::TestId;
use flakeproof_syntax::flow::Unit;
use flakeproof_syntax::{Found, Language, Layout, SourceFile, TestSource, may_hold_tests};
use serde::{Deserialize, Serialize};

use super::files::{FinderWithDeadline, Skipped, relative, text_of};
use super::source_cache::{FileKey, SourceCache};
use super::source_tests::{SourceTest, class_of};

/// What a file is read for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uses {
    /// The tests in it.
    pub(super) tests: bool,
    /// The code in it.
    pub(super) project: bool,
}

/// A file with its text, or why it has none.
#[derive(Debug)]
pub(super) struct SourceText {
    /// As ids have it.
    pub(super) name: String,
    pub(super) text: Result<String, Skipped>,
    pub(super) uses: Uses,
    /// What is parsed of it is kept under this.
    pub(super) key: Option<FileKey>,
}

/// One file, as far as it was parsed.
#[derive(Debug)]
pub(super) struct ParsedFile {
    pub(super) unit: Option<Unit>,
    pub(super) tests: Vec<TestRecord>,
    pub(super) skipped: Option<Skipped>,
}

/// What is kept of a file that was parsed.
#[derive(Debug, Serialize, Deserialize)]
struct FileRecord {
    unit: Option<Unit>,
    tests: Option<Vec<TestRecord>>,
    is_too_deep: bool,
}

/// A test, without the text of its file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TestRecord {
    id: TestId,
    first_line: u32,
    last_line: u32,
    class: String,
    begin: usize,
    end: usize,
}

impl TestRecord {
    fn new(test: &TestSource<'_>, file: &str) -> Self {
        Self {
            id: test.id.clone(),
            first_line: *test.lines.start(),
            last_line: *test.lines.end(),
            class: class_of(test, file),
            begin: test.span.start,
            end: test.span.end,
        }
    }

    fn all(found: &Found<'_>, file: &str) -> Vec<Self> {
        found.tests.iter().map(|test| Self::new(test, file)).collect()
    }
}

impl SourceText {
    /// Read a file; with a key, if what is parsed of it is kept.
    pub(super) fn read(
        path: &Path,
        folder: &Path,
        uses: Uses,
        layout: &Layout,
        is_kept: bool,
    ) -> Self {
        let (name, text) = (relative(path, folder), text_of(path));
        let text_to_keep = text.as_ref().ok().filter(|_| is_kept);
        let key = text_to_keep.map(|text| FileKey::new(&name, text, layout));
        Self { name, text, uses, key }
    }

    /// Whether a search for tests says the same of a file that was not read whole.
    pub(super) fn is_told_with_tests(&self) -> bool {
        let Ok(text) = &self.text else { return true };
        let language = Language::of_path(&self.name);
        language.is_some_and(|language| may_hold_tests(language, &self.name, text))
    }

    /// Parse it for its uses, or take what was kept.
    pub(super) fn parse(
        &self,
        finder: &mut FinderWithDeadline,
        layout: &Layout,
        cache: Option<&SourceCache>,
    ) -> ParsedFile {
        let Ok(text) = &self.text else {
            return ParsedFile { unit: None, tests: Vec::new(), skipped: None };
        };
        let kept = cache.zip(self.key.as_ref());
        if let Some(record) = kept.and_then(|(cache, key)| cache.file(key))
            && let Some(parsed) = self.of_record(record, text)
        {
            return parsed;
        }
        let file = SourceFile { path: &self.name, text };
        let finder = finder.for_next_file();
        let holds_tests = self.uses.tests && self.is_told_with_tests();
        let (found, lowered) = match (holds_tests, self.uses.project) {
            (true, true) => {
                let (found, lowered) = finder.find_and_lower(&file, layout);
                (Some(found), Some(lowered))
            }
            (true, false) => (Some(finder.find(&file, layout)), None),
            (false, true) => (None, Some(finder.lower(&file, layout))),
            (false, false) => (None, None),
        };
        let issues = lowered.iter().flat_map(|it| &it.issues);
        let skipped = Skipped::why(issues.chain(found.iter().flat_map(|it| &it.issues)));
        let mut tests = found.map(|found| TestRecord::all(&found, &self.name));
        if self.uses.tests && !holds_tests {
            tests = Some(Vec::new());
        }
        let is_too_deep = skipped == Some(Skipped::TooDeep);
        let record = FileRecord { unit: lowered.map(|it| it.unit), tests, is_too_deep };
        // Whether a file takes too long depends on how busy the machine is.
        if let Some((cache, key)) = kept.filter(|_| skipped.is_none() || is_too_deep) {
            cache.keep_file(key, &record);
        }
        ParsedFile { unit: record.unit, tests: record.tests.unwrap_or_default(), skipped }
    }

    /// What was kept, if it is all that is asked for.
    fn of_record(&self, record: FileRecord, text: &str) -> Option<ParsedFile> {
        let unit = match (self.uses.project, record.unit) {
            (true, Some(unit)) => {
                Some(Unit { path: self.name.clone(), text: text.to_owned(), ..unit })
            }
            (true, None) => return None,
            (false, _) => None,
        };
        let tests = match (self.uses.tests, record.tests) {
            (true, tests) => tests?,
            (false, _) => Vec::new(),
        };
        Some(ParsedFile { unit, tests, skipped: record.is_too_deep.then_some(Skipped::TooDeep) })
    }

    /// A test in this file.
    pub(super) fn test(&self, record: &TestRecord) -> Option<SourceTest> {
        Some(SourceTest {
            id: record.id.clone(),
            file: self.name.clone(),
            first_line: record.first_line,
            last_line: record.last_line,
            language: Language::of_path(&self.name)?,
            class: record.class.clone(),
            source: self.text.as_ref().ok()?.get(record.begin..record.end)?.to_owned(),
            features: None,
        })
    }
}
