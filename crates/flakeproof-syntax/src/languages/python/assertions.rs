//! What compares values in Python: `assert`, unittest, pytest, mocks, numpy and pandas.
//!
//! Beyond the statement, an assertion is told by its name, because own helpers follow the same
//! habit: whether `assert_paid(order)` is a function of the project is seen later.

use tree_sitter::Node;

use super::flow::Python;
use crate::flow::{Block, Expression, Statement};
use crate::languages::shapes::{Link, first_part, in_place, links_from, parts, span};

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
            let Some(inner) = root.child_by_field_name("object") else { return true };
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
        "call" => (node.child_by_field_name("function")?, node.child_by_field_name("arguments")),
        "attribute" => (node, None),
        _ => return None,
    };
    match named.kind() {
        "identifier" => Some(Link { name: named, object: None, arguments }),
        "attribute" => {
            let name = named.child_by_field_name("attribute")?;
            Some(Link { name, object: named.child_by_field_name("object"), arguments })
        }
        _ => None,
    }
}
