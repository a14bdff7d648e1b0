//! The expressions of Go in the flow form, and those that compare values: conditions that report
//! with `t.Errorf`, testify, gomega, gocheck.

use tree_sitter::Node;

use super::flow::Go;
use crate::flow::{Block, Expression, Operation, Statement};
use crate::languages::shapes::{
    Link, binary, call_of_value, cast, combine, first_part, gathered, inside, links_from, literal,
    member, name, parts, span,
};
use crate::tree::{Fields, child_of_kind};

impl Go<'_, '_> {
    /// Where a value comes from.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" | "type_identifier" | "iota" => name(node),
            "true" | "false" | "nil" => literal(node),
            "parenthesized_expression" | "variadic_argument" | "literal_element" => {
                inside(node, |inner| self.expression(inner))
            }
            "call_expression" => self.call(node),
            "selector_expression" => {
                member(node, ["operand", "field"], |part| self.expression(part))
            }
            "index_expression" | "slice_expression" => self.index(node),
            "binary_expression" => binary(node, |part| self.expression(part)),
            "unary_expression" => self.unary(node),
            "composite_literal" => self.composite(node),
            "literal_value" => {
                let operands = self.elements(node);
                combine(Operation::Gather, span(node.child(0).unwrap_or(node)), operands)
            }
            "type_assertion_expression" | "type_conversion_expression" => {
                cast(node, ["operand", "type"], |part| self.expression(part))
            }
            "func_literal" => self.lambda(node),
            "expression_list" => self.list(node),
            kind if kind.ends_with("_literal") => literal(node),
            kind if kind.ends_with("_type") => Expression::Name(span(node)),
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>) -> Expression {
        let Some(mut called) = node.field("function") else { return gathered(node) };
        // `f[T](x)`: the type says nothing about values.
        if called.kind() == "type_instantiation_expression" {
            called = called.field("type").unwrap_or(called);
        }
        let list = node.field("arguments");
        match (called.kind(), called.field("field")) {
            ("identifier" | "type_identifier", _) => {
                let (name, arguments) = (span(called), self.arguments(list));
                Expression::Call { name, receiver: None, arguments, creates: false }
            }
            ("selector_expression", Some(field)) => {
                let operand = called.field("operand");
                let receiver = operand.map(|operand| Box::new(self.expression(operand)));
                let arguments = self.arguments(list);
                Expression::Call { name: span(field), receiver, arguments, creates: false }
            }
            _ => {
                let value = self.expression(called);
                let arguments = self.arguments(list);
                call_of_value(value, called, arguments, false)
            }
        }
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expression> {
        let values = list.into_iter().flat_map(parts);
        values.map(|value| self.expression(value)).collect()
    }

    fn index(&mut self, node: Node<'_>) -> Expression {
        let word = child_of_kind(node, &["["]).unwrap_or(node);
        let operands = parts(node).into_iter().map(|part| self.expression(part)).collect();
        combine(Operation::Index, span(word), operands)
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        let (Some(sign), Some(operand)) = (node.field("operator"), node.field("operand")) else {
            return gathered(node);
        };
        if sign.kind() == "-" && operand.kind().ends_with("_literal") {
            return literal(node);
        }
        let operation = match sign.kind() {
            "!" => Operation::Compare,
            "&" | "*" | "<-" => Operation::Pass,
            _ => Operation::Arithmetic,
        };
        let operand = self.expression(operand);
        combine(operation, span(sign), vec![operand])
    }

    /// `Order{Total: x}` creates an object, `[]int{1, x}` gathers values.
    fn composite(&mut self, node: Node<'_>) -> Expression {
        let (Some(kind), Some(body)) = (node.field("type"), node.field("body")) else {
            return gathered(node);
        };
        let arguments = self.elements(body);
        let bare = kind.field("type").filter(|_| kind.kind() == "generic_type");
        let kind = bare.unwrap_or(kind);
        match (kind.kind(), kind.field("name")) {
            ("type_identifier", _) => {
                Expression::Call { name: span(kind), receiver: None, arguments, creates: true }
            }
            ("qualified_type", Some(class)) => {
                let package = kind.field("package");
                let receiver = package.map(|package| Box::new(name(package)));
                Expression::Call { name: span(class), receiver, arguments, creates: true }
            }
            _ => combine(Operation::Gather, span(kind), arguments),
        }
    }

    /// The values in `{a: 1, 2}`; a key that is a field's name is none.
    fn elements(&mut self, body: Node<'_>) -> Vec<Expression> {
        let mut values = Vec::new();
        for element in parts(body) {
            if element.kind() != "keyed_element" {
                values.push(self.expression(element));
                continue;
            }
            let key = element.field("key").and_then(first_part);
            let key = key.filter(|key| key.kind() != "identifier");
            values.extend(key.map(|key| self.expression(key)));
            let value = element.field("value");
            values.extend(value.map(|value| self.expression(value)));
        }
        values
    }

    /// One value, or several that are given together.
    fn list(&mut self, node: Node<'_>) -> Expression {
        let values = parts(node);
        if let [only] = values.as_slice() {
            return self.expression(*only);
        }
        let word = child_of_kind(node, &[","]).unwrap_or(node);
        let operands = values.into_iter().map(|value| self.expression(value)).collect();
        combine(Operation::Gather, span(word), operands)
    }
}

impl Go<'_, '_> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        let is_assertion = |link: &Link<'_>, goes_on| self.is_assertion(link, goes_on);
        let Some(links) = links_from(node, link, is_assertion) else { return false };
        let subject = links.first().and_then(|link| self.subject(link));
        let mut operands: Vec<Expression> =
            subject.map(|subject| self.expression(subject)).into_iter().collect();
        for link in &links {
            let block = block_of(self.form.text(link.name));
            let arguments = link.arguments.into_iter().flat_map(parts).enumerate();
            for (at, argument) in arguments {
                if at == 0 && is_given_state(self.form.text(argument)) {
                    continue;
                }
                let value = self.expression(argument);
                operands.extend(self.form.run_or_keep(value, block));
            }
        }
        self.form.assert_by(&links, operands, node);
        true
    }

    fn is_assertion(&self, link: &Link<'_>, goes_on: bool) -> bool {
        let name = self.form.text(link.name);
        let on = link.object.map_or("", |object| self.form.text(object));
        match name {
            "Expect" | "Ω" | "Eventually" | "Consistently" if goes_on => true,
            "Assert" | "Check" => on == "c",
            _ if matches!(on, "assert" | "require" | "is" | "must") => name != "New",
            _ if on.ends_with(".Require()") || on.ends_with(".Assert()") => true,
            _ if link.object.is_some_and(|object| self.is_test_state(object)) => {
                is_report(name) && !self.is_reported
            }
            _ if matches!(on, "s" | "suite" | "ts") => is_verb_of_testify(name),
            _ => ["assert", "Assert", "require", "Require"].iter().any(|word| {
                let rest = name.strip_prefix(word);
                rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
            }),
        }
    }

    /// What an assertion is called on, where that is looked at: a mock, a recorder.
    fn subject<'n>(&self, link: &Link<'n>) -> Option<Node<'n>> {
        let object = link.object.filter(|object| object.kind() == "identifier")?;
        let on = self.form.text(object);
        let is_library = matches!(on, "assert" | "require" | "is" | "must" | "s" | "suite" | "ts");
        let mut imports = self.form.unit.imports.iter();
        let is_looked_at = !is_library
            && !matches!(self.form.text(link.name), "Expect" | "Assert" | "Check" | "Eventually")
            && !self.is_test_state(object)
            && !imports.any(|import| import.name == on);
        is_looked_at.then_some(object)
    }

    /// Whether a value is the `t` that every test is given, or what benchmarks and fuzz tests are.
    fn is_test_state(&self, node: Node<'_>) -> bool {
        let text = self.form.text(node);
        is_given_state(text) || matches!(text, "b" | "f")
    }

    /// The call in a branch that reports a failure of the test.
    pub(super) fn report_in<'n>(&self, branch: Node<'n>) -> Option<Node<'n>> {
        let blocks = [
            branch.field("consequence"),
            branch.field("alternative").filter(|other| other.kind() == "block"),
        ];
        let lists = blocks.into_iter().flatten().flat_map(parts);
        let statements = lists.flat_map(parts).filter(|n| n.kind() == "expression_statement");
        statements.flat_map(parts).find_map(|call| {
            let link = link(call)?;
            let on_state = link.object.is_some_and(|object| self.is_test_state(object));
            (on_state && is_report(self.form.text(link.name))).then_some(link.name)
        })
    }

    /// Write `t.Run("name", func(t *testing.T) { … })` as what it runs; `false` for other calls.
    pub(super) fn subtest(&mut self, node: Node<'_>) -> bool {
        let Some(link) = link(node).filter(|link| self.form.text(link.name) == "Run") else {
            return false;
        };
        let arguments: Vec<_> = link.arguments.into_iter().flat_map(parts).collect();
        let [title, body] = arguments.as_slice() else { return false };
        if body.kind() != "func_literal" {
            return false;
        }
        let heads = vec![self.expression(*title)];
        let Expression::Lambda(function) = self.lambda(*body) else { return false };
        let body = function.body;
        self.form.emit(Statement::Nested { block: Block::Plain, heads, body });
        true
    }
}

fn is_given_state(text: &str) -> bool {
    matches!(text, "t" | "tb" | "tt" | "s.T()" | "suite.T()")
}

fn is_report(name: &str) -> bool {
    matches!(name, "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow")
}

fn is_verb_of_testify(name: &str) -> bool {
    const STEMS: [&str; 22] = [
        "Equal",
        "NotEqual",
        "Error",
        "NoError",
        "True",
        "False",
        "Nil",
        "NotNil",
        "Len",
        "Contains",
        "NotContains",
        "Empty",
        "NotEmpty",
        "Zero",
        "NotZero",
        "Greater",
        "Less",
        "Panics",
        "NotPanics",
        "Same",
        "ElementsMatch",
        "Fail",
    ];
    STEMS.iter().any(|stem| name.starts_with(stem)) || name == "Exactly"
}

fn block_of(name: &str) -> Block {
    if name.starts_with("Panics") { Block::Raises } else { Block::Plain }
}

/// The function or method that a node calls.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let named = node.field("function").filter(|_| node.kind() == "call_expression")?;
    let arguments = node.field("arguments");
    match named.kind() {
        "identifier" => Some(Link { name: named, object: None, arguments }),
        "selector_expression" => {
            let name = named.field("field")?;
            Some(Link { name, object: named.field("operand"), arguments })
        }
        _ => None,
    }
}
