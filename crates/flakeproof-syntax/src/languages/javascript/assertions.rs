//! What compares values in JavaScript and TypeScript: `expect`, chai, `node:assert`, sinon, ava.

use tree_sitter::Node;

use super::flow::Script;
use crate::flow::{Block, Expression};
use crate::languages::shapes::{Link, first_part, links_from};

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
        "call_expression" => {
            (node.child_by_field_name("function")?, node.child_by_field_name("arguments"))
        }
        "member_expression" => (node, None),
        _ => return None,
    };
    match named.kind() {
        "identifier" => Some(Link { name: named, object: None, arguments }),
        "member_expression" => {
            let name = named.child_by_field_name("property")?;
            Some(Link { name, object: named.child_by_field_name("object"), arguments })
        }
        _ => None,
    }
}
