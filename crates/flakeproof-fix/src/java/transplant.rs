//! Statements of a test that heals or sets up another one, as a set-up of the class of that other one.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::addition::Addition;
use super::file::{JavaFile, TestMethod};
use super::imports::Names;
use crate::NotEditable;

/// Statements of one test, to be run before another.
#[derive(Debug)]
pub struct Transplant<'f> {
    donor: &'f JavaFile,
    donor_test: TestMethod,
    recipient: &'f JavaFile,
}

impl<'f> Transplant<'f> {
    /// Statements of the donor for the recipient.
    #[must_use]
    pub fn new((donor, donor_test): (&'f JavaFile, TestMethod), recipient: &'f JavaFile) -> Self {
        Self { donor, donor_test, recipient }
    }

    /// What runs in the donor, its set-up first: each statement with the method that it stands in.
    fn parts(&self) -> Vec<(Node<'f>, Node<'f>)> {
        let donor = self.donor;
        let Some(class) = donor.class_of(&self.donor_test) else { return Vec::new() };
        let names = self.donor_test.framework.annotations();
        let is_set_up = |it: &Node<'_>| {
            names.is_some_and(|(_, names)| donor.annotation(*it, names[0]).is_some())
        };
        let test = donor.method_of(&self.donor_test);
        let methods = donor.methods(class).filter(is_set_up).chain(test);
        let of_one = |it: Node<'f>| donor.statements(it).into_iter().map(move |one| (one, it));
        methods.flat_map(of_one).collect()
    }

    /// The numbers of the donor's statements that do something besides checking.
    #[must_use]
    pub fn statements(&self) -> Vec<usize> {
        let is_check = |text: &str| {
            let text =
                text.strip_prefix("Assert.").or(text.strip_prefix("Assertions.")).unwrap_or(text);
            ["assert", "fail(", "verify(", "return"].iter().any(|it| text.starts_with(it))
        };
        let parts = self.parts();
        let does_something = |at: &usize| !is_check(self.donor.text_of(parts[*at].0));
        (0..parts.len()).filter(does_something).collect()
    }

    /// The recipient's class with these statements before each of its tests.
    ///
    /// # Errors
    /// When they need something that the recipient cannot have.
    pub fn with(&self, chosen: &[usize]) -> Result<Addition, NotEditable> {
        let parts = self.parts();
        let mut addition = Addition {
            before_name: format!("setUpAs{}", capital(&self.donor_test.name)),
            ..Addition::default()
        };
        let mut types = BTreeSet::new();
        for (statement, method) in chosen.iter().filter_map(|at| parts.get(*at)) {
            types.extend(self.types_in(*statement));
            let outer = crate::edit::indentation(&self.donor.text, statement.start_byte());
            addition.before.push(dedented(self.donor.text_of(*statement), outer));
            let mut cursor = method.walk();
            addition.throws |= method.children(&mut cursor).any(|it| it.kind() == "throws");
        }
        let mut names = Names::new(self.recipient);
        for written in types {
            let qualified = self.donor.qualified(&written, &self.donor_test.classes);
            let Some(qualified) = qualified else { continue };
            let there = names.of_type(&qualified);
            if there != written && !there.ends_with(&format!(".{written}")) {
                let (test, path) = (&self.donor_test.name, &self.recipient.path);
                return Err(NotEditable::NoForm(format!(
                    "`{written}`, which `{test}` uses, is something else in {path}"
                )));
            }
            if there != written {
                for statement in &mut addition.before {
                    *statement = replaced_word(statement, &written, &there);
                }
            }
        }
        addition.imports.extend(names.needed());
        Ok(addition)
    }

    /// The types that a part of the donor names; `Map` of `Map.Entry`.
    fn types_in(&self, node: Node<'_>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            let text = self.donor.text_of(node);
            let is_called_on = node.parent().is_some_and(|it| {
                matches!(it.kind(), "method_invocation" | "field_access" | "method_reference")
                    && it.child_by_field_name("object") == Some(node)
            });
            let is_type =
                node.kind() == "type_identifier" || (node.kind() == "identifier" && is_called_on);
            if is_type && text.starts_with(char::is_uppercase) {
                found.insert(text.to_owned());
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
        found
    }
}

/// A text in which a word became another.
fn replaced_word(text: &str, word: &str, other: &str) -> String {
    let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.');
    let (mut whole, mut at) = (String::new(), 0);
    for (found, _) in text.match_indices(word) {
        let end = found + word.len();
        let is_whole = !text[..found].ends_with(is_of_name)
            && !text[end..].starts_with(|it: char| it.is_alphanumeric() || it == '_');
        whole.push_str(&text[at..found]);
        whole.push_str(if is_whole { other } else { word });
        at = end;
    }
    whole.push_str(&text[at..]);
    whole
}

/// A statement without the indentation of the block it stands in.
fn dedented(statement: &str, indentation: &str) -> String {
    let lines = statement.split('\n').map(|line| {
        let line = line.trim_end_matches('\r');
        line.strip_prefix(indentation).unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_come_with_their_imports_and_what_they_throw() {
        let donor = "package a;\n\nimport lib.Shop;\nimport org.junit.*;\n\npublic class A {\n  @Before\n  \
                     public void open() throws Exception {\n    Shop.open();\n  }\n\n  @Test\n  public void \
                     cleans() {\n    if (Shop.isOpen()) {\n      Shop.clear();\n    }\n    \
                     Assert.assertTrue(Shop.isOpen());\n  }\n}\n";
        let donor = JavaFile::parse("A.java", donor).unwrap();
        let text = "package b;\n\nimport org.junit.Test;\n\npublic class B {\n    @Test\n    public void b() \
                    {\n    }\n}\n";
        let recipient = JavaFile::parse("B.java", text).unwrap();
        let donor_test = donor.test(&"a.A#cleans".into()).unwrap();
        let test = recipient.test(&"b.B#b".into()).unwrap();
        let transplant = Transplant::new((&donor, donor_test), &recipient);
        assert_eq!(transplant.statements(), [0, 1]);
        let with = recipient.with(&[(test, transplant.with(&[0, 1]).unwrap())]).unwrap();
        assert_eq!(
            with,
            "package b;\n\nimport lib.Shop;\n\nimport org.junit.Before;\nimport org.junit.Test;\n\npublic \
             class B {\n    @Before\n    public void setUpAsCleans() throws Exception {\n        \
             Shop.open();\n        if (Shop.isOpen()) {\n          Shop.clear();\n        }\n    }\n\n    \
             @Test\n    public void b() {\n    }\n}\n"
        );
    }
}
