//! Files that nobody wrote by hand: deep, long, empty, and samples that were cut, doubled and filled
//! with brackets at random. None may overflow the stack, take long, panic, or break a promise of the
//! finder or of the flow form. Tests run on small stacks, so recursion would show.
//!
//! The same seed gives the same files; a failure prints the file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use flakeproof_syntax::flow::{Expression, Function, Role, Span, Statement};
use flakeproof_syntax::{Finder, Found, IssueKind, Layout, Lowered, SourceFile};

use crate::promises::assert_promises;
use crate::{find, promises};

const PATHS: [&str; 10] = [
    "ATest.java",
    "ATest.kt",
    "test_a.py",
    "a.test.js",
    "a.test.ts",
    "a.test.tsx",
    "a_test.go",
    "src/lib.rs",
    "ATest.cs",
    "a_spec.rb",
];

#[test]
fn a_million_brackets_are_too_deep() {
    for path in PATHS {
        for bracket in ["(", "[", "{", "a<", "([{<"] {
            for count in [100_000, 1_000_000] {
                let text = bracket.repeat(count);
                let found = find(path, &text);
                assert_eq!(found.issues[0].kind, IssueKind::TooDeep, "{path}: {bracket}");
            }
        }
    }
}

#[test]
fn brackets_just_below_the_bound_are_no_trouble() {
    for path in PATHS {
        find(path, &"(".repeat(10_000));
        find(path, &"{[".repeat(5_000));
        find(path, &"a<".repeat(1_000));
        find(path, &format!("x = {}{}", "(".repeat(10_000), ")".repeat(10_000)));
    }
}

#[test]
fn ten_thousand_closing_brackets_are_no_trouble() {
    for path in PATHS {
        for text in [")", "}", "]"] {
            find(path, &text.repeat(10_000));
        }
    }
}

#[test]
fn deep_code_of_each_language_is_no_trouble() {
    let depth = 4_000;
    let around = |open: &str, close: &str| format!("{}{}", open.repeat(depth), close.repeat(depth));
    find("A.java", &around("class A { @Test void a() {} ", "}"));
    find("A.java", &format!("class A {{ @Test void a() {{ {} }} }}", around("if (x) {", "}")));
    find("A.kt", &around("class A {\n@Test fun a() {}\n", "}\n"));
    find("a.test.ts", &around("describe('a', () => { it('b', () => {}); ", "});"));
    find("a.test.ts", &format!("it('b', () => {{ {} }})", "f(".repeat(depth)));
    find("a.test.ts", &format!("it('b', () => {{ x{} }})", ".f()".repeat(depth)));
    find("a_test.go", &format!("func TestA(t *testing.T) {{ {} }}", around("{", "}")));
    find("src/lib.rs", &around("mod a { #[test] fn b() {} ", "}"));
    find("A.cs", &around("class A { [Fact] void a() {} ", "}"));
    find("a_spec.rb", &around("describe 'a' do\nit('b') { c }\n", "end\n"));
    find("test_a.py", &format!("def test_a(): return {}", "not ".repeat(depth)));
    find("test_a.py", &format!("def test_a(): return 1{}", " + 1".repeat(depth)));
}

#[test]
fn scopes_that_lie_too_deep_are_an_issue_and_the_others_are_read() {
    let text = format!("{}{}", "class A { @Test void a() {} ".repeat(500), "}".repeat(500));
    let found = find("A.java", &text);
    assert_eq!(found.tests.len(), 64);
    assert_eq!(found.issues[0].kind, IssueKind::TooDeep);
}

#[test]
fn a_file_that_asks_for_more_than_the_effort_is_given_up() {
    let text = "class A { @Test void a() {} }\n".repeat(1000);
    let file = SourceFile { path: "A.java", text: &text };
    let mut finder = Finder::new(flakeproof_syntax::Effort::new(5, 0));
    let found = finder.find(&file, &Layout::default());
    assert_eq!(found.issues[0].kind, IssueKind::GaveUp);
    assert!(found.tests.is_empty());

    let small = SourceFile { path: "A.java", text: "class A { @Test void a() {} }" };
    assert_eq!(finder.find(&small, &Layout::default()).tests.len(), 1, "the parser starts afresh");
}

#[test]
fn a_caller_who_will_not_wait_ends_the_reading_of_garbage() {
    let garbage = "->".repeat(4_000);
    let file = SourceFile { path: "a.test.ts", text: &garbage };
    let mut asked = 0;
    let mut finder = Finder::default().stopping_when(move || {
        asked += 1;
        asked > 10
    });
    let found = finder.find(&file, &Layout::default());
    assert_eq!(found.issues[0].kind, IssueKind::GaveUp);
    let again = finder.find(&file, &Layout::default());
    assert_eq!(again.issues[0].kind, IssueKind::GaveUp, "the question is kept for the next file");
}

#[test]
fn empty_strange_and_unknown_files_are_no_trouble() {
    for path in PATHS {
        for text in ["", "\n", "\u{feff}", "\0\0\0", "é\u{301}\u{1F600}", "\r\r\n", "@", "\\"] {
            let file = SourceFile { path, text };
            let found = Finder::default().find(&file, &Layout::default());
            promises::assert_promises(&file, &found);
            assert!(found.tests.is_empty());
        }
    }
    assert_eq!(find("README.md", "# test").issues[0].kind, IssueKind::UnknownLanguage);
}

const CASES: usize = 2_000;
const SEED: u64 = 20_261_115;

const SAMPLES: [(&str, &str); 9] = [
    ("FooTest.java", include_str!("../samples/FooTest.java")),
    ("ATest.kt", include_str!("../samples/ATest.kt")),
    ("test_fixtures.py", include_str!("../samples/test_fixtures.py")),
    ("cases.test.jsx", include_str!("../samples/cases.test.jsx")),
    ("sums.test.ts", include_str!("../samples/sums.test.ts")),
    ("suite_test.go", include_str!("../samples/suite_test.go")),
    ("src/modules.rs", include_str!("../samples/modules.rs")),
    ("Fixture.cs", include_str!("../samples/Fixture.cs")),
    ("user_spec.rb", include_str!("../samples/user_spec.rb")),
];

#[test]
fn mutated_files_keep_every_promise() {
    let layout = Layout::default();
    let mut finder = Finder::default();
    let mut chance = Chance(SEED);
    for case in 0..CASES {
        let (path, sample) = SAMPLES[case % SAMPLES.len()];
        let text = mutated(sample, &mut chance);
        let file = SourceFile { path, text: &text };
        let check = AssertUnwindSafe(|| {
            let found = finder.find(&file, &layout);
            assert_promises(&file, &found);
            assert_same_tests(&file, &found, &finder.lower(&file, &layout));
        });
        let kept = catch_unwind(check);
        assert!(kept.is_ok(), "case {case} of seed {SEED}, {path}:\n{text}");
    }
}

fn mutated(sample: &str, chance: &mut Chance) -> String {
    let mut text = sample.to_owned();
    for _ in 0..=chance.below(4) {
        let (from, to) = (chance.boundary(&text), chance.boundary(&text));
        let range = from.min(to)..from.max(to);
        match chance.below(6) {
            0 => text.truncate(range.end),
            1 => drop(text.drain(range)),
            2 => drop(text.drain(..range.start)),
            3 => {
                let doubled = text[range].to_owned();
                text.insert_str(to, &doubled);
            }
            4 => {
                const PIECES: [&str; 12] =
                    ["(", ")", "{", "}", "[", "]", "\"", "'", "`", "\n", "é", "/*"];
                let piece = PIECES[chance.below(PIECES.len())];
                text.insert_str(from, &piece.repeat(1 + chance.below(50)));
            }
            _ => text.insert_str(from, "class X {"),
        }
    }
    text
}

/// A small generator (`SplitMix64`), the same on every machine.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("smaller than the bound")
    }

    fn boundary(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }
}

/// Panics unless the tests of the flow form are those that were found, and all that is said of the
/// text is in it.
pub(crate) fn assert_same_tests(file: &SourceFile<'_>, found: &Found<'_>, lowered: &Lowered) {
    let unit = &lowered.unit;
    assert_eq!(unit.text, file.text);
    let is_drawn = !matches!(unit.language.name(), "kotlin" | "csharp" | "ruby");
    if is_drawn && found.issues.iter().all(|issue| issue.kind != IssueKind::GaveUp) {
        let ids = unit.functions.iter().filter_map(|function| match &function.role {
            Role::Test(id) => Some(id.as_str()),
            _ => None,
        });
        let mut ids: Vec<&str> = ids.collect();
        let mut expected: Vec<&str> = found.tests.iter().map(|test| test.id.as_str()).collect();
        ids.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ids, expected, "the tests of the flow form");
    }
    for function in &unit.functions {
        assert_function(file.text, function, 0);
        let owner = function.owner.map_or(0, |owner| owner as usize);
        assert!(function.owner.is_none() || owner < unit.types.len(), "{}", function.name);
    }
}

fn assert_function(text: &str, function: &Function, depth: usize) {
    assert_span(text, function.span);
    for parameter in &function.parameters {
        assert_span(text, parameter.name);
    }
    for statement in &function.body {
        assert_statement(text, statement, depth + 1);
    }
}

fn assert_statement(text: &str, statement: &Statement, depth: usize) {
    let values = |values: &[Expression]| {
        for value in values {
            assert_value(text, value, depth + 1);
        }
    };
    match statement {
        Statement::Bind { targets, operator, value, .. } => {
            values(targets);
            assert_span(text, *operator);
            values(value.as_slice());
        }
        Statement::Evaluate(value) => values(std::slice::from_ref(value)),
        Statement::Return(value) => values(value.as_slice()),
        Statement::Assert { words, operands, .. } => {
            assert!(!words.is_empty(), "an assertion without a word");
            words.iter().for_each(|word| assert_span(text, *word));
            values(operands);
        }
        Statement::Nested { heads, body, .. } => {
            values(heads);
            for statement in body {
                assert_statement(text, statement, depth + 1);
            }
        }
    }
}

fn assert_value(text: &str, value: &Expression, depth: usize) {
    assert!(depth < 1_000, "the form is deeper than anyone can follow");
    assert_span(text, value.span());
    match value {
        Expression::Name(_) | Expression::Literal(_) => {}
        Expression::Call { receiver, arguments, .. } => {
            for value in receiver.as_deref().into_iter().chain(arguments) {
                assert_value(text, value, depth + 1);
            }
        }
        Expression::Member { object, .. } => assert_value(text, object, depth + 1),
        Expression::Combine { operands, .. } => {
            for value in operands {
                assert_value(text, value, depth + 1);
            }
        }
        Expression::Lambda(function) => assert_function(text, function, depth + 1),
    }
}

fn assert_span(text: &str, span: Span) {
    let covered = text.get(span.start as usize..span.end as usize);
    assert!(covered.is_some(), "{span:?} lies outside of the text");
    assert!(span.line >= 1, "{span:?}");
}
