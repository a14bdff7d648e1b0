//! Reads a file: parses it within a bound, lets its language outline it, and follows calls.
//!
//! Text that nests so deeply that parsing it would cost too much is turned away first. The parser
//! tries the readings of an open bracket side by side; thousands of open `<` cost it the square of
//! their number in memory, in a single step that cannot be interrupted. Counting bytes is cheap.
//! Brackets in strings and comments are counted too, so the bounds are far above anything in real
//! code.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::flow::Unit;
use crate::language::Grammar;
use crate::languages::{Lowering, Pieces};
use crate::metrics::{MeasuredTests, of_tests};
use crate::outline::{Function, Outline, Reach, Reading, Role};
use crate::tree::{first_error, line};
use crate::{Found, Helper, IssueKind, Language, Layout, SourceFile, SourceIssue, TestSource};

/// Round, square and curly brackets open at the same time.
const MOST_BRACKETS: usize = 10_000;
/// Angle brackets open at the same time within one statement.
const MOST_ANGLES: usize = 1_000;

/// How much work a file may cost before the finder gives up on it.
///
/// Counted in hundreds of parser steps, not in seconds, so that the same file gives the same
/// answer on a slow machine. Real source takes 5 such units for 1,024 bytes, and 20 at most; only
/// the repair of broken text takes more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    base: usize,
    per_kilobyte: usize,
}

impl Effort {
    /// An effort of `base` hundreds of parser steps, and `per_kilobyte` more for each 1,024 bytes
    /// of text.
    #[must_use]
    pub fn new(base: usize, per_kilobyte: usize) -> Self {
        Self { base, per_kilobyte }
    }

    fn of_length(self, bytes: usize) -> usize {
        self.base.saturating_add((bytes / 1024).saturating_mul(self.per_kilobyte))
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::new(2_000, 60)
    }
}

/// A file in the form that data flow is followed in.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// What was understood of the file.
    pub unit: Unit,
    /// What could not be read.
    pub issues: Vec<SourceIssue>,
}

/// Says whether to give up on the file being parsed.
type Stop = Box<dyn FnMut() -> bool + Send>;

/// Finds tests in source files. Keeps its parsers: make one per thread and use it for many files.
///
/// ```
/// use flakeproof_syntax::{Finder, Layout, SourceFile};
///
/// let text = "def test_adds():\n    assert 1 + 1 == 2\n";
/// let file = SourceFile { path: "tests/test_sums.py", text };
/// let found = Finder::default().find(&file, &Layout::default());
/// assert_eq!(found.tests[0].id.as_str(), "tests/test_sums.py::test_adds");
/// ```
#[derive(Default)]
pub struct Finder {
    effort: Effort,
    stop: Option<Stop>,
    parsers: Vec<(&'static str, Parser)>,
}

impl Finder {
    /// A finder that spends at most this effort on a file.
    #[must_use]
    pub fn new(effort: Effort) -> Self {
        Self { effort, ..Self::default() }
    }

    /// Also give up on a file when `stop` says so; it is asked after every hundred parser steps.
    ///
    /// The effort counts steps, and in garbage a single step can take long: a few kilobytes of
    /// `->->->` cost seconds. This crate reads no clock, so a caller who must not wait passes a
    /// question that looks at one, and sets it anew before each file.
    #[must_use]
    pub fn stopping_when(self, stop: impl FnMut() -> bool + Send + 'static) -> Self {
        Self { stop: Some(Box::new(stop)), ..self }
    }

    /// The tests of a file, and what kept others from being found.
    #[must_use]
    pub fn find<'a>(&mut self, file: &SourceFile<'a>, layout: &Layout) -> Found<'a> {
        self.read(file, layout, |_, _, _| ()).0
    }

    /// The tests of a file with their static features; the file is parsed once.
    ///
    /// ```
    /// use flakeproof_syntax::{Finder, Layout, SourceFile};
    ///
    /// let text = "def test_adds():\n    assert 1 + 1 == 2\n";
    /// let file = SourceFile { path: "tests/test_sums.py", text };
    /// let measured = Finder::default().measure(&file, &Layout::default());
    /// assert_eq!(measured.features[0].map(|features| features.assertions), Some(1));
    /// ```
    #[must_use]
    pub fn measure<'a>(&mut self, file: &SourceFile<'a>, layout: &Layout) -> MeasuredTests<'a> {
        let (found, features) = self.read(file, layout, of_tests);
        MeasuredTests { found, features }
    }

    /// A file in the form that data flow is followed in; it need not hold tests.
    ///
    /// What cannot be read is left out and named by an issue: at worst the unit has a text and
    /// nothing else. Kotlin, C# and Ruby give such a unit without an issue, because no graphs are
    /// drawn for them, and so does a file of no known language, which counts as Java, with one.
    ///
    /// ```
    /// use flakeproof_syntax::{Finder, Layout, SourceFile};
    ///
    /// let text = "class Sums { int twice(int n) { return n + n; } }";
    /// let file = SourceFile { path: "Sums.java", text };
    /// let lowered = Finder::default().lower(&file, &Layout::default());
    /// assert_eq!(lowered.unit.functions[0].name, "twice");
    /// ```
    #[must_use]
    pub fn lower(&mut self, file: &SourceFile<'_>, layout: &Layout) -> Lowered {
        self.lower_and(file, layout, |_, _, _| ()).1
    }

    /// The tests of a file, without their helpers, and its form that data flow is followed in; the file
    /// is parsed once.
    ///
    /// What cannot be read is left out of both, as [`find`](Self::find) and [`lower`](Self::lower) say.
    /// Who follows data meets the helpers there.
    ///
    /// ```
    /// use flakeproof_syntax::{Finder, Layout, SourceFile};
    ///
    /// let text = "def test_adds():\n    assert 1 + 1 == 2\n";
    /// let file = SourceFile { path: "tests/test_sums.py", text };
    /// let (found, lowered) = Finder::default().find_and_lower(&file, &Layout::default());
    /// assert_eq!(found.tests[0].id.as_str(), "tests/test_sums.py::test_adds");
    /// assert_eq!(lowered.unit.functions[0].name, "test_adds");
    /// ```
    #[must_use]
    pub fn find_and_lower<'a>(
        &mut self,
        file: &SourceFile<'a>,
        layout: &Layout,
    ) -> (Found<'a>, Lowered) {
        let language = Language::of_path(file.path);
        if let Some(language) = language.filter(|language| language.rules().lower.is_none()) {
            let unit = Unit::empty(file.path, language, file.text);
            return (self.find(file, layout), Lowered { unit, issues: Vec::new() });
        }
        let (found, lowered) = self.lower_and(file, layout, |language, outline, issues| {
            let mut functions: Vec<&Function<'_>> = outline.functions.iter().collect();
            functions.sort_by_key(|function| function.extent.start);
            let test = |it: &&Function<'_>| test_source(it, outline, language, file.text);
            let tests = functions.iter().filter_map(test).collect();
            Found { tests, issues: issues.to_vec() }
        });
        let nothing = || Found { tests: Vec::new(), issues: lowered.issues.clone() };
        (found.unwrap_or_else(nothing), lowered)
    }

    /// Lower a file, and look at its outline while it is there, if it is there.
    fn lower_and<Seen>(
        &mut self,
        file: &SourceFile<'_>,
        layout: &Layout,
        look: impl FnOnce(Language, &Outline<'_>, &[SourceIssue]) -> Seen,
    ) -> (Option<Seen>, Lowered) {
        let known = Language::of_path(file.path);
        let language = known.unwrap_or(Language::Java);
        let unit = Unit::empty(file.path, language, file.text);
        let unread =
            |unit, kind, line| (None, Lowered { unit, issues: vec![SourceIssue { kind, line }] });
        if known.is_none() {
            return unread(unit, IssueKind::UnknownLanguage, 1);
        }
        let rules = language.rules();
        let Some(lower) = rules.lower else {
            return (None, Lowered { unit, issues: Vec::new() });
        };
        if let Some(line) = too_deep(file.text) {
            return unread(unit, IssueKind::TooDeep, line);
        }
        let grammar = rules.grammar(file.path);
        let Some(tree) = self.parse(grammar, file.text) else {
            return unread(unit, IssueKind::GaveUp, 1);
        };
        let reading = Reading { root: tree.root_node(), text: file.text, path: file.path, layout };
        let outline = (rules.outline)(&reading);
        let issues = issues(&tree, &outline);
        let seen = look(language, &outline, &issues);
        let pieces = Pieces::new(self.parser(grammar));
        let unit = lower(Lowering::new(reading, outline, unit, pieces));
        (Some(seen), Lowered { unit, issues })
    }

    /// The syntax tree of a file, for those who edit it; the file must follow its grammar throughout.
    ///
    /// # Errors
    /// The first thing that keeps the file from being read as a whole.
    pub fn tree(&mut self, file: &SourceFile<'_>) -> Result<Tree, SourceIssue> {
        let issue = |kind, line| SourceIssue { kind, line };
        let language = Language::of_path(file.path).ok_or(issue(IssueKind::UnknownLanguage, 1))?;
        if let Some(line) = too_deep(file.text) {
            return Err(issue(IssueKind::TooDeep, line));
        }
        let tree = self.parse(language.rules().grammar(file.path), file.text);
        let tree = tree.ok_or(issue(IssueKind::GaveUp, 1))?;
        match first_error(tree.root_node()) {
            Some(node) => Err(issue(IssueKind::SyntaxError, line(node.start_position().row))),
            None => Ok(tree),
        }
    }

    /// Find the tests of a file, and look at them once more while their tree is there.
    fn read<'a, Seen: Default>(
        &mut self,
        file: &SourceFile<'a>,
        layout: &Layout,
        look: impl FnOnce(Language, &Reading<'_, '_>, &[&Function<'_>]) -> Seen,
    ) -> (Found<'a>, Seen) {
        let Some(language) = Language::of_path(file.path) else {
            return nothing(IssueKind::UnknownLanguage, 1);
        };
        if let Some(line) = too_deep(file.text) {
            return nothing(IssueKind::TooDeep, line);
        }
        let rules = language.rules();
        let Some(tree) = self.parse(rules.grammar(file.path), file.text) else {
            return nothing(IssueKind::GaveUp, 1);
        };
        let reading = Reading { root: tree.root_node(), text: file.text, path: file.path, layout };
        find_in(language, &tree, &reading, file.text, look)
    }

    /// A syntax tree, unless the text asks for more than the effort.
    fn parse(&mut self, grammar: &Grammar, text: &str) -> Option<Tree> {
        let mut left = self.effort.of_length(text.len());
        let mut stop = self.stop.take();
        let mut progress = |_: &_| match left.checked_sub(1) {
            Some(rest) if !stop.as_mut().is_some_and(|stop| stop()) => {
                left = rest;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = text.as_bytes();
        let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let tree = self.parser(grammar).and_then(|parser| {
            let tree = parser.parse_with_options(&mut read, None, Some(options));
            if tree.is_none() {
                parser.reset();
            }
            tree
        });
        self.stop = stop;
        tree
    }

    fn parser(&mut self, grammar: &Grammar) -> Option<&mut Parser> {
        let known = self.parsers.iter().position(|(name, _)| *name == grammar.name);
        let index = if let Some(index) = known {
            index
        } else {
            let mut parser = Parser::new();
            parser.set_language(&(grammar.load)()).ok()?;
            self.parsers.push((grammar.name, parser));
            self.parsers.len() - 1
        };
        self.parsers.get_mut(index).map(|(_, parser)| parser)
    }
}

/// The tests in a tree, and what a look at them sees.
fn find_in<'a, Seen>(
    language: Language,
    tree: &Tree,
    reading: &Reading<'_, '_>,
    text: &'a str,
    look: impl FnOnce(Language, &Reading<'_, '_>, &[&Function<'_>]) -> Seen,
) -> (Found<'a>, Seen) {
    let rules = language.rules();
    let mut outline = (rules.outline)(reading);
    outline.functions.sort_by_key(|function| function.extent.start);
    let mut reach = Reach::new(&outline, text, rules.read_calls);
    let (functions, tests): (Vec<&Function<'_>>, Vec<TestSource<'a>>) = outline
        .functions
        .iter()
        .enumerate()
        .filter_map(|(index, function)| {
            let test = test_source(function, &outline, language, text)?;
            let helpers = helpers(index, &outline, &mut reach, text);
            Some((function, TestSource { helpers, ..test }))
        })
        .unzip();
    let seen = look(language, reading, &functions);
    (Found { tests, issues: issues(tree, &outline) }, seen)
}

fn nothing<'a, Seen: Default>(kind: IssueKind, line: u32) -> (Found<'a>, Seen) {
    (Found { tests: Vec::new(), issues: vec![SourceIssue { kind, line }] }, Seen::default())
}

/// A test as it stands in its file, without its helpers; nothing for a function that is none.
fn test_source<'a>(
    function: &Function<'_>,
    outline: &Outline<'_>,
    language: Language,
    text: &'a str,
) -> Option<TestSource<'a>> {
    let Role::Test(id) = &function.role else { return None };
    let extent = function.extent;
    Some(TestSource {
        id: id.clone(),
        language,
        lines: extent.first_line..=extent.last_line,
        span: extent.start..extent.end,
        text: text.get(extent.start..extent.end)?,
        enclosing: outline.enclosing(function.scope),
        name: function.name.clone(),
        helpers: Vec::new(),
    })
}

/// The functions of the file that a test runs.
fn helpers<'a>(
    test: usize,
    outline: &Outline<'_>,
    reach: &mut Reach<'_, '_, 'a>,
    text: &'a str,
) -> Vec<Helper<'a>> {
    let helper = |helper: usize| {
        let helper = outline.functions.get(helper)?;
        let extent = helper.extent;
        Some(Helper {
            name: helper.name.clone(),
            lines: extent.first_line..=extent.last_line,
            text: text.get(extent.start..extent.end)?,
        })
    };
    reach.helpers(test).into_iter().filter_map(helper).collect()
}

fn issues(tree: &Tree, outline: &Outline<'_>) -> Vec<SourceIssue> {
    let error = first_error(tree.root_node())
        .map(|node| (IssueKind::SyntaxError, line(node.start_position().row)));
    error
        .into_iter()
        .chain(outline.issue())
        .map(|(kind, line)| SourceIssue { kind, line })
        .collect()
}

/// The line on which a text first nests too deeply to be parsed.
fn too_deep(text: &str) -> Option<u32> {
    let mut brackets = 0_usize;
    let mut angles = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b'{' => {
                brackets += 1;
                angles = 0;
            }
            b'}' => {
                brackets = brackets.saturating_sub(1);
                angles = 0;
            }
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            b';' => angles = 0,
            _ => continue,
        }
        if brackets > MOST_BRACKETS || angles > MOST_ANGLES {
            return Some(line(text[..at].matches('\n').count()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_code_is_never_too_deep() {
        assert_eq!(too_deep(&"for (int i = 0; i < n; i++) { f(a[i] << 2); }\n".repeat(5000)), None);
    }

    #[test]
    fn the_line_that_goes_too_far_is_named() {
        assert_eq!(too_deep(&"(\n".repeat(10_001)), Some(10_001));
        assert_eq!(too_deep(&"a<".repeat(1_001)), Some(1));
    }
}
