//! What compares values in Java: JUnit, TestNG, AssertJ, Truth, Hamcrest and Mockito's `verify`.
//!
//! An assertion is told by its name, because own helpers follow the same habit: whether
//! `assertPaid(order)` is a method of the project is seen later, by the first of its words.

use tree_sitter::Node;

use super::flow::Java;
use crate::flow::{Block, Expression};
use crate::languages::shapes::{Link, links_from, parts, span};

impl<'a> Java<'_, 'a> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        let Some(chain) = self.chain(node) else { return false };
        let mut operands: Vec<Expression> = Vec::new();
        let mut runs = 0;
        operands.extend(chain.subject.map(|subject| self.expression(subject)));
        for link in &chain.links {
            let block = block_of(self.form.text(link.name));
            for argument in link.arguments.into_iter().flat_map(parts) {
                let value = self.expression(argument);
                match self.form.run_or_keep(value, block) {
                    Some(value) => operands.push(value),
                    None => runs += 1,
                }
            }
        }
        // `assertAll(() -> …, () -> …)` says nothing beyond its parts.
        let only_groups = runs > 0 && chain.name == "assertAll";
        if !only_groups {
            self.form.assert_by(&chain.links, operands, node);
        }
        true
    }

    /// `assertThrows(…)` where its value is used: the error that was raised.
    pub(super) fn raised(&mut self, node: Node<'_>) -> Option<Expression> {
        let called = node.child_by_field_name("name")?;
        if !matches!(self.form.text(called), "assertThrows" | "expectThrows") {
            return None;
        }
        let kinds = node.child_by_field_name("arguments").into_iter().flat_map(parts);
        let kinds: Vec<_> = kinds.filter(|n| n.kind() == "class_literal").collect();
        if !self.assertion(node) {
            return None;
        }
        let arguments = kinds.into_iter().map(|kind| self.expression(kind)).collect();
        Some(Expression::Call { name: span(called), receiver: None, arguments, creates: false })
    }

    /// The calls of a chain, from the one that makes it an assertion to the last.
    fn chain<'n>(&self, node: Node<'n>) -> Option<Chain<'n, 'a>> {
        let links = links_from(node, link, |link, goes_on| {
            is_assertion(self.form.text(link.name), self.receiver(link.object), goes_on)
        })?;
        let first = links.first()?;
        let (name, object) = (self.form.text(first.name), first.object);
        let receiver = self.receiver(object);
        let is_subject = match receiver {
            Receiver::None | Receiver::Class | Receiver::Library => false,
            // `inOrder.verify(mock).pay()` looks at the mock alone.
            Receiver::Variable if name == "verify" => links.len() == 1,
            Receiver::Variable => !is_library_verb(name),
            Receiver::Value => true,
        };
        Some(Chain { links, name, subject: object.filter(|_| is_subject) })
    }

    fn receiver(&self, object: Option<Node<'_>>) -> Receiver {
        let Some(object) = object else { return Receiver::None };
        let last = match object.kind() {
            "this" | "super" => return Receiver::None,
            "field_access" => object.child_by_field_name("field").unwrap_or(object),
            "identifier" => object,
            _ => return Receiver::Value,
        };
        match self.form.text(last) {
            "Assert" | "Assertions" | "MatcherAssert" | "Truth" => Receiver::Library,
            name if name.starts_with(char::is_uppercase) => Receiver::Class,
            _ => Receiver::Variable,
        }
    }
}

/// An assertion, however long.
struct Chain<'n, 'a> {
    /// Its calls, in the order in which they run.
    links: Vec<Link<'n>>,
    /// The name of the first.
    name: &'a str,
    /// The value that the first is called on, where that is looked at.
    subject: Option<Node<'n>>,
}

/// The method that is called by a node.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let name = node.child_by_field_name("name").filter(|_| node.kind() == "method_invocation")?;
    let object = node.child_by_field_name("object");
    Some(Link { name, object, arguments: node.child_by_field_name("arguments") })
}

/// What a call is made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    None,
    Class,
    /// A class that holds nothing but assertions.
    Library,
    Variable,
    /// Anything longer: `client.get("/").expectStatus()`.
    Value,
}

fn is_assertion(name: &str, receiver: Receiver, goes_on: bool) -> bool {
    let is_static = matches!(receiver, Receiver::None | Receiver::Class | Receiver::Library);
    if receiver == Receiver::Library || continues(name, "assert") || continues(name, "verify") {
        return true;
    }
    match name {
        "fail"
        | "failNotEquals"
        | "failSame"
        | "failNotSame"
        | "failWithMessage"
        | "failBecauseExceptionWasNotThrown" => is_static,
        "checkThat" | "andExpect" | "andExpectAll" | "expectThat" | "expectThrows" => true,
        // JUnit's rule for errors; EasyMock's `expect` has no receiver and sets a mock up.
        "expect" | "expectMessage" | "expectCause" => receiver == Receiver::Variable,
        "then" => receiver == Receiver::None && goes_on,
        "expectLastCall" => false,
        // `expectAndReturn` sets a mock up.
        _ => continues(name, "expect") && receiver != Receiver::Class && !name.contains("And"),
    }
}

/// Whether a name is a word or goes on with another one: `assert`, `assertPaid`, not `assertion`.
fn continues(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

/// Whether a library has an assertion of this name, so that the variable it is called on (a
/// `SoftAssertions`, an `InOrder`, a rule) is no value of the test.
fn is_library_verb(name: &str) -> bool {
    matches!(
        name,
        "assertThat"
            | "assertEquals"
            | "assertNotEquals"
            | "assertTrue"
            | "assertFalse"
            | "assertNull"
            | "assertNotNull"
            | "assertSame"
            | "assertNotSame"
            | "assertArrayEquals"
            | "assertAll"
            | "checkThat"
            | "expect"
            | "expectMessage"
            | "expectCause"
    )
}

fn block_of(name: &str) -> Block {
    let is_about_errors = name.contains("Throw") && !name.contains("NotThrow");
    if is_about_errors { Block::Raises } else { Block::Plain }
}
