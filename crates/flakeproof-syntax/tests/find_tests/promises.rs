//! What holds for every file, however broken. The fuzz target asserts the same.

use flakeproof_syntax::flow::{Expression, Function, Role, Span, Statement};
use flakeproof_syntax::{Found, Helper, IssueKind, Lowered, SourceFile};

/// Panics unless everything found lies in the file and says where.
pub(crate) fn assert_promises(file: &SourceFile<'_>, found: &Found<'_>) {
    let lines = u32::try_from(file.text.split('\n').count()).expect("fewer than 2^32 lines");
    for test in &found.tests {
        assert!(!test.id.as_str().is_empty(), "a test without an id");
        assert_eq!(file.text.get(test.span.clone()), Some(test.text), "{}", test.id);
        assert!(is_slice(file.text, test.text), "{}: its text is a copy", test.id);
        assert!(test.lines.start() <= test.lines.end(), "{}: {:?}", test.id, test.lines);
        assert!(*test.lines.start() >= 1 && *test.lines.end() <= lines, "{}", test.id);
        assert_eq!(line_of(file.text, test.span.start), *test.lines.start(), "{}", test.id);
        for Helper { name, lines: covered, text } in &test.helpers {
            assert!(is_slice(file.text, text), "{name}: its text is a copy");
            assert!(covered.start() <= covered.end() && *covered.end() <= lines, "{name}");
        }
    }
    let starts: Vec<usize> = found.tests.iter().map(|test| test.span.start).collect();
    assert!(starts.is_sorted(), "tests are not in the order of the file: {starts:?}");
    for issue in &found.issues {
        assert!(issue.line >= 1 && issue.line <= lines, "{issue}");
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

fn is_slice(whole: &str, part: &str) -> bool {
    let (whole, part) = (whole.as_bytes().as_ptr_range(), part.as_bytes().as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

fn line_of(text: &str, offset: usize) -> u32 {
    let before = text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(before).expect("fewer than 2^32 lines") + 1
}
