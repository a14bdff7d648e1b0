//! What holds for the flow form of every file, however broken.

use flakeproof_syntax::flow::{Expression, Function, Role, Span, Statement};
use flakeproof_syntax::{Found, IssueKind, Lowered, SourceFile};

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
