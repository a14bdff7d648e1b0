//! The expressions of Python in the flow form, and those that compare values: `assert`, unittest,
//! pytest, mocks, numpy and pandas.
//!
//! Beyond the statement, an assertion is told by its name, because own helpers follow the same
//! habit: whether `assert_paid(order)` is a function of the project is seen later.

use tree_sitter::Node;

use super::flow::Python;
use crate::flow::{Block, Expression, Operation, Statement};
use crate::languages::lowering::Head;
use crate::languages::shapes::{
    Link, behind, binary, call_of_value, combine, first_part, gathered, in_place, inside,
    links_from, literal, member, name, parts, span, text_with_holes,
};
use crate::tree::{Fields, child_of_kind};

impl Python<'_, '_> {
    /// Where a value comes from. What happens on the way, such as `(line := read())`, is written
    /// as statements of its own.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" => name(node),
            "integer" | "float" | "true" | "false" | "none" | "ellipsis" => literal(node),
            "string" | "concatenated_string" => self.text_literal(node),
            "parenthesized_expression" | "type" | "if_clause" => {
                inside(node, |inner| self.expression(inner))
            }
            "call" => self.call(node),
            "attribute" => member(node, ["object", "attribute"], |part| self.expression(part)),
            "subscript" => self.gather(node, Operation::Index),
            "binary_operator" | "boolean_operator" => binary(node, |part| self.expression(part)),
            "comparison_operator" => self.gather(node, Operation::Compare),
            "not_operator" => self.gather(node, Operation::Compare),
            "unary_operator" => self.unary(node),
            "conditional_expression" => self.choice(node),
            "lambda" => self.lambda(node),
            "assignment" | "augmented_assignment" => self.assignment(node),
            "named_expression" => self.named(node),
            "await" | "list_splat" | "dictionary_splat" => self.gather(node, Operation::Pass),
            "yield" => {
                let value = self.gather(node, Operation::Pass);
                self.form.emit(Statement::Return(Some(value.clone())));
                value
            }
            "list" | "tuple" | "set" | "dictionary" | "expression_list" | "pattern_list"
            | "slice" => self.gather(node, Operation::Gather),
            kind if kind.ends_with("_comprehension") || kind == "generator_expression" => {
                self.comprehension(node)
            }
            "as_pattern" => self.as_pattern(node),
            "keyword_argument" => match node.field("value") {
                Some(value) => self.expression(value),
                None => gathered(node),
            },
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>) -> Expression {
        let Some(function) = node.field("function") else { return gathered(node) };
        let arguments = node.field("arguments");
        match (function.kind(), function.field("attribute")) {
            ("identifier", _) => {
                let arguments = self.arguments(arguments);
                self.call_of(function, None, arguments)
            }
            ("attribute", Some(attribute)) => {
                let object = function.field("object");
                let receiver = object.map(|object| self.expression(object));
                let arguments = self.arguments(arguments);
                self.call_of(attribute, receiver, arguments)
            }
            _ => {
                let value = self.expression(function);
                let arguments = self.arguments(arguments);
                call_of_value(value, function, arguments, false)
            }
        }
    }

    /// A call; a name that begins with a capital letter is taken for a class.
    fn call_of(
        &self,
        called: Node<'_>,
        receiver: Option<Expression>,
        arguments: Vec<Expression>,
    ) -> Expression {
        let creates = self.form.text(called).starts_with(char::is_uppercase);
        Expression::Call {
            name: span(called),
            receiver: receiver.map(Box::new),
            arguments,
            creates,
        }
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expression> {
        match list {
            Some(list) if list.kind() == "generator_expression" => vec![self.expression(list)],
            list => {
                let values = list.into_iter().flat_map(parts);
                values.map(|value| self.expression(value)).collect()
            }
        }
    }

    /// All parts of a node, named by its first sign.
    fn gather(&mut self, node: Node<'_>, operation: Operation) -> Expression {
        let mut cursor = node.walk();
        let word = node.children(&mut cursor).find(|child| !child.is_named());
        let word = word.map_or_else(|| behind(node), span);
        let mut operands = Vec::new();
        for part in parts(node) {
            if part.kind() == "pair" {
                operands.extend(parts(part).into_iter().map(|part| self.expression(part)));
            } else {
                operands.push(self.expression(part));
            }
        }
        combine(operation, word, operands)
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        match node.field("argument").map(|argument| argument.kind()) {
            Some("integer" | "float") => literal(node),
            _ => self.gather(node, Operation::Arithmetic),
        }
    }

    /// `a if b else c`, what decides first.
    fn choice(&mut self, node: Node<'_>) -> Expression {
        let mut operands: Vec<_> =
            parts(node).into_iter().map(|part| self.expression(part)).collect();
        if operands.len() > 1 {
            operands.swap(0, 1);
        }
        let word = child_of_kind(node, &["if"]).unwrap_or(node);
        combine(Operation::Choose, span(word), operands)
    }

    fn lambda(&mut self, node: Node<'_>) -> Expression {
        let parameters = self.parameters(node.field("parameters"));
        let outer = self.form.open();
        if let Some(body) = node.field("body")
            && !self.assertion(body)
        {
            let value = self.expression(body);
            self.form.emit(Statement::Return(Some(value)));
        }
        let body = self.form.close(outer);
        let function = self.form.function(Head::lambda(parameters, node), body);
        Expression::Lambda(Box::new(function))
    }

    /// `a = b = c` and `a += b`; the value of the first is the name it gives.
    fn assignment(&mut self, node: Node<'_>) -> Expression {
        let Some(left) = node.field("left") else { return gathered(node) };
        let value = node.field("right").map(|value| self.expression(value));
        let sign = node.field("operator").or_else(|| child_of_kind(node, &["="]));
        let operator = sign.map_or_else(|| behind(left), span);
        let targets = self.targets(left);
        let given = targets.first().cloned();
        let declared = node.field("type").map(span);
        self.form.emit(Statement::Bind { targets, declared, operator, value });
        given.unwrap_or_else(|| gathered(left))
    }

    /// What an assignment names: `a, (b, *c.d)` are three.
    pub(super) fn targets(&mut self, left: Node<'_>) -> Vec<Expression> {
        let mut targets = Vec::new();
        let mut waiting = vec![left];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "pattern_list"
                | "tuple_pattern"
                | "list_pattern"
                | "list_splat_pattern"
                | "tuple"
                | "list"
                | "parenthesized_expression"
                | "expression_list"
                | "list_splat" => waiting.extend(parts(node).into_iter().rev()),
                _ => targets.push(self.expression(node)),
            }
        }
        targets
    }

    fn named(&mut self, node: Node<'_>) -> Expression {
        match (node.field("name"), node.field("value")) {
            (Some(target), Some(value)) => {
                let value = self.expression(value);
                let operator = child_of_kind(node, &[":="]).map_or_else(|| behind(target), span);
                self.form.bind(name(target), operator, Some(value));
                name(target)
            }
            _ => gathered(node),
        }
    }

    /// `[f(x) for x in xs if g(x)]`: names are bound, then values gathered.
    fn comprehension(&mut self, node: Node<'_>) -> Expression {
        for clause in parts(node).into_iter().filter(|part| part.kind() == "for_in_clause") {
            let (Some(left), Some(right)) = (clause.field("left"), clause.field("right")) else {
                continue;
            };
            let value = Some(self.expression(right));
            let targets = self.targets(left);
            let operator = child_of_kind(clause, &["for"]).map_or_else(|| behind(left), span);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
        let mut operands = Vec::new();
        for part in parts(node) {
            match part.kind() {
                "for_in_clause" => {}
                "pair" => operands.extend(parts(part).into_iter().map(|n| self.expression(n))),
                _ => operands.push(self.expression(part)),
            }
        }
        combine(Operation::Gather, span(node.child(0).unwrap_or(node)), operands)
    }

    fn as_pattern(&mut self, node: Node<'_>) -> Expression {
        let value = first_part(node).map(|value| self.expression(value));
        if let (Some(alias), Some(word)) = (node.field("alias"), child_of_kind(node, &["as"])) {
            self.form.bind(name(alias), span(word), value.clone());
        }
        value.unwrap_or_else(|| gathered(node))
    }

    /// A text, or what goes into it.
    fn text_literal(&mut self, node: Node<'_>) -> Expression {
        let strings = if node.kind() == "string" { vec![node] } else { parts(node) };
        let holes: Vec<_> = strings
            .into_iter()
            .flat_map(parts)
            .filter(|part| part.kind() == "interpolation")
            .collect();
        text_with_holes(node, holes, |value| self.expression(value))
    }
}

impl Python<'_, '_> {
    pub(super) fn assert_statement(&mut self, node: Node<'_>) {
        let Some(word) = node.child(0).map(span) else { return };
        let operands = parts(node).into_iter().map(|part| self.expression(part)).collect();
        self.form.emit(Statement::Assert { words: vec![word], operands, line: word.line });
    }

    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        let node = if node.kind() == "await" { first_part(node).unwrap_or(node) } else { node };
        let is_assertion =
            |link: &Link<'_>, goes_on| link.arguments.is_some() && self.is_assertion(link, goes_on);
        let Some(links) = links_from(node, link, is_assertion) else { return false };
        let Some(&first) = links.first() else { return false };
        if must_raise(self.form.text(first.name)) {
            self.raising_call(first);
            return true;
        }
        let subject = first.object.filter(|object| self.is_subject(*object));
        let mut operands: Vec<_> =
            subject.map(|subject| self.expression(subject)).into_iter().collect();
        for link in &links {
            operands.extend(self.arguments(link.arguments));
        }
        self.form.assert_by(&links, operands, node);
        true
    }

    fn is_assertion(&self, link: &Link<'_>, goes_on: bool) -> bool {
        let name = self.form.text(link.name);
        let on = link.object.map_or("", |object| self.form.text(object));
        match name {
            "fail" => matches!(on, "self" | "pytest"),
            "expect" => goes_on && link.object.is_none(),
            "raises" | "warns" => on == "pytest" || link.object.is_none(),
            _ => {
                let rest = name.strip_prefix("assert");
                rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase))
            }
        }
    }

    /// Whether what an assertion is called on is looked at: a mock or a page, and neither the test
    /// itself nor a module of assertions.
    fn is_subject(&self, object: Node<'_>) -> bool {
        let mut root = object;
        while root.kind() == "attribute" {
            let Some(inner) = root.field("object") else { return true };
            root = inner;
        }
        let name = self.form.text(root);
        if matches!(name, "self" | "cls" | "pytest") || name.starts_with("super(") {
            return root != object;
        }
        let mut imports = self.form.unit.imports.iter();
        root.kind() != "identifier" || !imports.any(|import| import.name == name)
    }

    /// `pytest.raises(E, f, a)`: the call of `f` must raise.
    fn raising_call(&mut self, link: Link<'_>) {
        let mut values = self.arguments(link.arguments);
        if values.len() > 1 {
            let rest = values.split_off(2);
            let body = match values.pop().map(in_place) {
                Some(Ok(body)) => body,
                Some(Err(called)) => vec![Statement::Evaluate(call_of(called, rest))],
                None => Vec::new(),
            };
            self.form.emit(Statement::Nested { block: Block::Raises, heads: Vec::new(), body });
        }
        let word = span(link.name);
        let (words, operands) = (vec![word], values);
        self.form.emit(Statement::Assert { words, operands, line: word.line });
    }

    /// What `with pytest.raises(E):` says of the error, and nothing for any other `with`.
    pub(super) fn expected(&mut self, item: Node<'_>) -> Option<Statement> {
        let link = link(item).filter(|link| must_raise(self.form.text(link.name)))?;
        let operands = self.arguments(link.arguments);
        let word = span(link.name);
        Some(Statement::Assert { words: vec![word], operands, line: word.line })
    }
}

fn must_raise(name: &str) -> bool {
    matches!(
        name,
        "raises"
            | "warns"
            | "deprecated_call"
            | "assertRaises"
            | "assertRaisesRegex"
            | "assertRaisesRegexp"
            | "assertRaisesMessage"
            | "assertWarns"
            | "assertWarnsRegex"
            | "assert_raises"
            | "assert_raises_regex"
            | "assert_warns"
    )
}

/// The call of a function that is given as a value.
fn call_of(called: Expression, arguments: Vec<Expression>) -> Expression {
    match called {
        Expression::Member { object, name } => {
            Expression::Call { name, receiver: Some(object), arguments, creates: false }
        }
        called => {
            Expression::Call { name: called.span(), receiver: None, arguments, creates: false }
        }
    }
}

/// The call or the attribute that a node is.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let (named, arguments) = match node.kind() {
        "call" => (node.field("function")?, node.field("arguments")),
        "attribute" => (node, None),
        _ => return None,
    };
    match named.kind() {
        "identifier" => Some(Link { name: named, object: None, arguments }),
        "attribute" => {
            let name = named.field("attribute")?;
            Some(Link { name, object: named.field("object"), arguments })
        }
        _ => None,
    }
}
