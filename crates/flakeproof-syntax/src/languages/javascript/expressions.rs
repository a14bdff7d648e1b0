//! The expressions of JavaScript and TypeScript in the flow form, and those that compare values:
//! `expect`, chai, `node:assert`, sinon, ava.

use tree_sitter::Node;

use super::flow::{Script, is_class, is_method};
use crate::flow::{Block, Expression, Operation, Role, Statement};
use crate::languages::shapes::{
    Link, behind, binary, call_of_value, choice, combine, first_part, gathered, inside, links_from,
    literal, member, name, parts, span, text_with_holes,
};
use crate::tree::{Fields, child_of_kind};

impl Script<'_, '_> {
    /// Where a value comes from. What happens on the way, such as `(line = read())`, is written as
    /// statements of its own.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" | "this" | "super" | "shorthand_property_identifier" => name(node),
            "string" | "number" | "regex" | "true" | "false" | "null" | "undefined" => {
                literal(node)
            }
            "template_string" => self.template(node),
            "parenthesized_expression" | "jsx_expression" => {
                inside(node, |inner| self.expression(inner))
            }
            "call_expression" => self.call(node, "function", false),
            "new_expression" => self.call(node, "constructor", true),
            "member_expression" => {
                member(node, ["object", "property"], |part| self.expression(part))
            }
            "subscript_expression" => self.gather(node, Operation::Index),
            "binary_expression" => binary(node, |part| self.expression(part)),
            "unary_expression" => self.unary(node),
            "update_expression" => self.update(node),
            "assignment_expression" | "augmented_assignment_expression" => self.assignment(node),
            "ternary_expression" => choice(node, |part| self.expression(part)),
            "await_expression" | "spread_element" => self.gather(node, Operation::Pass),
            "non_null_expression" | "as_expression" | "satisfies_expression" | "type_assertion" => {
                self.cast(node)
            }
            "yield_expression" => {
                let value = self.gather(node, Operation::Pass);
                self.form.emit(Statement::Return(Some(value.clone())));
                value
            }
            "array" | "object" => self.gather(node, Operation::Gather),
            "sequence_expression" => self.sequence(node),
            "arrow_function"
            | "function_expression"
            | "generator_function"
            | "method_definition" => self.lambda(node),
            kind if kind.starts_with("jsx_") => self.markup(node),
            kind if is_class(kind) => self.class_value(node),
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>, field: &str, creates: bool) -> Expression {
        let Some(called) = node.child_by_field_name(field) else { return gathered(node) };
        let list = node.field("arguments");
        match (called.kind(), called.field("property")) {
            ("identifier" | "import" | "super", _) => {
                let (name, arguments) = (span(called), self.arguments(list));
                Expression::Call { name, receiver: None, arguments, creates }
            }
            ("member_expression", Some(property)) => {
                let object = called.field("object");
                let receiver = object.map(|object| Box::new(self.expression(object)));
                let arguments = self.arguments(list);
                Expression::Call { name: span(property), receiver, arguments, creates }
            }
            _ => {
                let value = self.expression(called);
                let arguments = self.arguments(list);
                call_of_value(value, called, arguments, creates)
            }
        }
    }

    /// The values given to a call, or set into a tagged template.
    pub(super) fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expression> {
        match list {
            Some(list) if list.kind() == "template_string" => vec![self.template(list)],
            list => {
                let values = list.into_iter().flat_map(parts);
                values.map(|value| self.expression(value)).collect()
            }
        }
    }

    /// All parts of a node, named by its first sign; of an object's pairs, the values.
    fn gather(&mut self, node: Node<'_>, operation: Operation) -> Expression {
        let mut cursor = node.walk();
        let word = node.children(&mut cursor).find(|child| !child.is_named());
        let word = word.map_or_else(|| behind(node), span);
        let mut operands = Vec::new();
        for part in parts(node) {
            match part.kind() {
                "optional_chain" => {}
                "pair" => {
                    let value = part.field("value");
                    operands.extend(value.map(|value| self.expression(value)));
                }
                _ => operands.push(self.expression(part)),
            }
        }
        combine(operation, word, operands)
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        let (Some(sign), Some(argument)) = (node.field("operator"), node.field("argument")) else {
            return gathered(node);
        };
        if sign.kind() == "-" && argument.kind() == "number" {
            return literal(node);
        }
        let operation = if sign.kind() == "!" { Operation::Compare } else { Operation::Arithmetic };
        let argument = self.expression(argument);
        combine(operation, span(sign), vec![argument])
    }

    fn update(&mut self, node: Node<'_>) -> Expression {
        let (Some(target), Some(sign)) = (node.field("argument"), node.field("operator")) else {
            return gathered(node);
        };
        let target = self.expression(target);
        self.form.bind(target.clone(), span(sign), Some(target.clone()));
        target
    }

    fn assignment(&mut self, node: Node<'_>) -> Expression {
        let (Some(left), Some(right)) = (node.field("left"), node.field("right")) else {
            return gathered(node);
        };
        let value = Some(self.expression(right));
        let sign = node.field("operator").or_else(|| child_of_kind(node, &["="]));
        let operator = sign.map_or_else(|| behind(left), span);
        let targets = self.targets(left);
        let given = targets.first().cloned();
        self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        given.unwrap_or_else(|| gathered(left))
    }

    /// What a declaration or an assignment names: `{ a, b: [c, ...d], e = 1 }` are four.
    pub(super) fn targets(&mut self, left: Node<'_>) -> Vec<Expression> {
        let mut targets = Vec::new();
        let mut waiting = vec![left];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "object_pattern"
                | "array_pattern"
                | "rest_pattern"
                | "parenthesized_expression" => waiting.extend(parts(node).into_iter().rev()),
                "pair_pattern" => waiting.extend(node.field("value")),
                "assignment_pattern" | "object_assignment_pattern" => {
                    waiting.extend(node.field("left"));
                }
                "shorthand_property_identifier_pattern" => targets.push(name(node)),
                _ => targets.push(self.expression(node)),
            }
        }
        targets
    }

    /// `a!`, `a as T`, `<T>a`: the value itself.
    fn cast(&mut self, node: Node<'_>) -> Expression {
        let inner = parts(node);
        let value = match node.kind() {
            "type_assertion" => inner.last(),
            _ => inner.first(),
        };
        let kind = inner.iter().find(|part| Some(*part) != value);
        match value {
            Some(value) => {
                let word = kind.map_or_else(|| behind(*value), |kind| span(*kind));
                combine(Operation::Pass, word, vec![self.expression(*value)])
            }
            None => gathered(node),
        }
    }

    /// `a, b, c`: all happen, the last is the value.
    fn sequence(&mut self, node: Node<'_>) -> Expression {
        let mut last = None;
        for part in parts(node) {
            let value = self.expression(part);
            if let Some(dropped) = last.replace(value) {
                self.form.emit(Statement::Evaluate(dropped));
            }
        }
        last.unwrap_or_else(|| gathered(node))
    }

    fn lambda(&mut self, node: Node<'_>) -> Expression {
        let named = node.field("name").filter(|_| is_method(node));
        let name = named.map_or(String::new(), |name| self.form.text(name).to_owned());
        Expression::Lambda(Box::new(self.function(node, name, Role::Plain)))
    }

    /// `<Order id={x}>{y}</Order>`: an object made of what is set into it.
    fn markup(&mut self, node: Node<'_>) -> Expression {
        let tag = node.field("open_tag").unwrap_or(node);
        let Some(named) = tag.field("name") else { return gathered(node) };
        let mut arguments = Vec::new();
        for part in parts(tag).into_iter().chain(parts(node)) {
            match part.kind() {
                "jsx_attribute" => {
                    let value = parts(part).into_iter().nth(1);
                    arguments.extend(value.map(|value| self.expression(value)));
                }
                "jsx_expression" | "jsx_element" | "jsx_self_closing_element" => {
                    arguments.push(self.expression(part));
                }
                _ => {}
            }
        }
        Expression::Call { name: span(named), receiver: None, arguments, creates: true }
    }

    fn class_value(&mut self, node: Node<'_>) -> Expression {
        match node.field("name") {
            Some(named) => {
                self.class(node);
                name(named)
            }
            None => gathered(child_of_kind(node, &["class_heritage"]).unwrap_or(node)),
        }
    }

    /// A template, or what goes into it.
    fn template(&mut self, node: Node<'_>) -> Expression {
        let holes = parts(node).into_iter().filter(|part| part.kind() == "template_substitution");
        let holes = holes.filter(|hole| first_part(*hole).is_some()).collect();
        text_with_holes(node, holes, |value| self.expression(value))
    }
}

impl Script<'_, '_> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        let is_waited_for = node.kind() == "await_expression";
        let node = if is_waited_for { first_part(node).unwrap_or(node) } else { node };
        let is_assertion = |link: &Link<'_>, goes_on| self.is_assertion(link, goes_on);
        let Some(links) = links_from(node, link, is_assertion) else { return false };
        let subject = links.first().and_then(|link| self.subject(link));
        let mut operands: Vec<Expression> =
            subject.map(|subject| self.expression(subject)).into_iter().collect();
        let block = self.block_of(&links);
        for link in &links {
            for value in self.arguments(link.arguments) {
                operands.extend(self.form.run_or_keep(value, block));
            }
        }
        self.form.assert_by(&links, operands, node);
        true
    }

    fn is_assertion(&self, link: &Link<'_>, goes_on: bool) -> bool {
        let name = self.form.text(link.name);
        let on = link.object.map_or("", |object| self.form.text(object));
        let is_called = link.arguments.is_some();
        match name {
            // `expect(x)…`, and supertest's `request(app).get("/").expect(200)`
            "expect" if is_called => (goes_on && on.is_empty()) || is_call(link.object),
            "assert" => (is_called && on.is_empty()) || (!is_called && goes_on),
            "should" => !on.is_empty() && (is_called || goes_on),
            "fail" => is_called && matches!(on, "" | "t" | "assert"),
            _ if !is_called => false,
            "soft" | "poll" => on == "expect",
            _ if matches!(on, "assert" | "assert.strict") => true,
            _ if on == "t" => is_verb_of_ava(name),
            _ => {
                let rest = name.strip_prefix("assert");
                rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase))
            }
        }
    }

    /// What an assertion is called on, where that is looked at.
    fn subject<'n>(&self, link: &Link<'n>) -> Option<Node<'n>> {
        let object = link.object?;
        match (self.form.text(link.name), self.form.text(object)) {
            ("should" | "expect", _) => Some(object),
            ("assert", _)
            | (_, "assert" | "assert.strict" | "expect" | "this" | "t" | "chai" | "sinon") => None,
            (_, name) if object.kind() == "identifier" => {
                let mut imports = self.form.unit.imports.iter();
                let is_module = imports.any(|import| import.name == name)
                    || name.starts_with(char::is_uppercase);
                (!is_module).then_some(object)
            }
            _ => Some(object),
        }
    }

    /// What becomes of code that is handed to an assertion.
    fn block_of(&self, links: &[Link<'_>]) -> Block {
        let is =
            |words: &[&str]| links.iter().any(|link| words.contains(&self.form.text(link.name)));
        let must_raise = is(&[
            "toThrow",
            "toThrowError",
            "toThrowErrorMatchingSnapshot",
            "toThrowErrorMatchingInlineSnapshot",
            "throw",
            "throws",
            "Throw",
            "rejects",
            "rejectedWith",
            "throwsAsync",
            "assertThrows",
            "assertRejects",
        ]);
        if must_raise && !is(&["not"]) { Block::Raises } else { Block::Plain }
    }
}

fn is_call(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| node.kind() == "call_expression")
}

/// What ava, tap and tape call their assertions.
fn is_verb_of_ava(name: &str) -> bool {
    matches!(
        name,
        "is" | "not"
            | "equal"
            | "equals"
            | "notEqual"
            | "same"
            | "notSame"
            | "deepEqual"
            | "notDeepEqual"
            | "strictEqual"
            | "like"
            | "match"
            | "regex"
            | "ok"
            | "notOk"
            | "true"
            | "false"
            | "truthy"
            | "falsy"
            | "throws"
            | "notThrows"
            | "throwsAsync"
            | "error"
            | "snapshot"
    )
}

/// The call or the member that a node is.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let (named, arguments) = match node.kind() {
        "call_expression" => (node.field("function")?, node.field("arguments")),
        "member_expression" => (node, None),
        _ => return None,
    };
    match named.kind() {
        "identifier" => Some(Link { name: named, object: None, arguments }),
        "member_expression" => {
            let name = named.field("property")?;
            Some(Link { name, object: named.field("object"), arguments })
        }
        _ => None,
    }
}
