//! Code that nobody wrote by hand: long chains and deep nests, on a small stack.

use flakeproof_syntax::flow::{Expression, Statement};

use crate::{body, unit};

/// The largest number of operands of one value, and how deep the values of a function lie.
fn largest(path: &str, text: &str) -> (usize, usize) {
    let unit = unit(path, text);
    let function = unit.functions.first().expect("there is a function");
    let (mut most, mut depth) = (0, 0);
    measure(&function.body, 1, &mut most, &mut depth);
    (most, depth)
}

fn measure(statements: &[Statement], level: usize, most: &mut usize, depth: &mut usize) {
    for statement in statements {
        match statement {
            Statement::Bind { value, .. } | Statement::Return(value) => {
                value.iter().for_each(|value| measure_value(value, level + 1, most, depth));
            }
            Statement::Evaluate(value) => measure_value(value, level + 1, most, depth),
            Statement::Assert { operands, .. } => {
                operands.iter().for_each(|value| measure_value(value, level + 1, most, depth));
            }
            Statement::Nested { heads, body, .. } => {
                heads.iter().for_each(|value| measure_value(value, level + 1, most, depth));
                measure(body, level + 1, most, depth);
            }
        }
    }
}

fn measure_value(value: &Expression, level: usize, most: &mut usize, depth: &mut usize) {
    *depth = level.max(*depth);
    match value {
        Expression::Name(_) | Expression::Literal(_) => {}
        Expression::Call { receiver, arguments, .. } => {
            receiver.iter().for_each(|value| measure_value(value, level + 1, most, depth));
            arguments.iter().for_each(|value| measure_value(value, level + 1, most, depth));
        }
        Expression::Member { object, .. } => measure_value(object, level + 1, most, depth),
        Expression::Combine { operands, .. } => {
            *most = operands.len().max(*most);
            operands.iter().for_each(|value| measure_value(value, level + 1, most, depth));
        }
        Expression::Lambda(function) => measure(&function.body, level + 1, most, depth),
    }
}

#[test]
fn a_sum_of_fifty_thousand_terms_is_one_value() {
    let sum = format!("x{}", " + x".repeat(49_999));
    for (path, text) in [
        ("A.java", format!("class A {{ void m() {{ f({sum}); }} }}")),
        ("a.py", format!("def m():\n    f({sum})\n")),
        ("a.ts", format!("function m() {{ f({sum}); }}")),
        ("a.go", format!("package a\nfunc m() {{ f({sum}) }}")),
        ("a.rs", format!("fn m() {{ f({sum}); }}")),
    ] {
        let (most, depth) = largest(path, &text);
        assert_eq!(most, 50_000, "{path}");
        assert!(depth < 10, "{path}: {depth}");
    }
}

#[test]
fn what_lies_too_deep_is_gathered_and_no_deeper() {
    let calls = format!("x{}", ".f(y)".repeat(5_000));
    let nest = format!("{}z{}", "f(".repeat(3_000), ")".repeat(3_000));
    for value in [&calls, &nest] {
        for (path, text) in [
            ("A.java", format!("class A {{ void m() {{ g({value}); }} }}")),
            ("a.py", format!("def m():\n    g({value})\n")),
            ("a.ts", format!("function m() {{ g({value}); }}")),
            ("a.go", format!("package a\nfunc m() {{ g({value}) }}")),
            ("a.rs", format!("fn m() {{ g({value}); }}")),
        ] {
            let (most, depth) = largest(path, &text);
            assert!(most <= 256 && depth < 250, "{path}: {most} {depth}");
        }
    }
}

#[test]
fn a_long_test_keeps_every_statement() {
    let java = "x = f(x);\n".repeat(5_000);
    let unit = unit("A.java", &format!("class A {{ @Test void m() {{\n{java}}} }}"));
    assert_eq!(body(&unit, "m").len(), 5_000);
}

#[test]
fn a_chain_of_five_thousand_branches_is_flat() {
    let java = format!("if (a) f(); {}", "else if (b) g(); ".repeat(4_999));
    let unit = unit("A.java", &format!("class A {{ void m() {{ {java} }} }}"));
    assert_eq!(body(&unit, "m").len(), 5_000);
}

#[test]
fn blocks_closures_and_macros_in_one_another_end_somewhere() {
    let around =
        |open: &str, close: &str| format!("{}x{}", open.repeat(2_000), close.repeat(2_000));
    for (path, text) in [
        (
            "A.java",
            format!("class A {{ void m() {{ {} }} }}", around("if (a) { f(() -> {", "}); }")),
        ),
        ("A.java", around("class A { void m() { new B() {", "}; } }")),
        ("a.ts", format!("function m() {{ {} }}", around("f(() => { if (a) {", "} });"))),
        ("a.test.ts", around("describe('a', () => { it('b', () => {", "}); });")),
        ("a.go", format!("package a\nfunc m() {{ {} }}", around("func() { if a {", "} }()"))),
        ("a.rs", format!("fn m() {{ {} }}", around("f(|y| match y { z => {", "} });"))),
        ("a.rs", format!("fn m() {{ {}; }}", around("assert!(f(", "))"))),
        ("a.rs", format!("fn m() {{ {}; }}", around("if a { 1 } else { ", "}"))),
        ("a.py", format!("def m():\n    return {}\n", around("f(lambda a: [", "])"))),
    ] {
        assert!(!unit(path, &text).text.is_empty(), "{path}");
    }
}
