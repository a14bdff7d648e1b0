//! Statements of a test that heals or sets up another one, as the beginning of that other one.
//!
//! A cleaner undoes what a polluter did, and a state-setter does what a brittle test relies on. Which of its
//! statements matter is found by delta debugging, by whoever runs the tests: here is only what a choice of
//! them looks like in the other test.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::addition::Addition;
use super::file::{PythonFile, Style, TestFunction};
use crate::NotEditable;

/// Statements of one test, to be put at the beginning of another.
#[derive(Debug)]
pub struct Transplant<'f> {
    donor: &'f PythonFile,
    donor_test: TestFunction,
    recipient: &'f PythonFile,
    recipient_test: TestFunction,
}

impl<'f> Transplant<'f> {
    /// Statements of the donor for the recipient.
    #[must_use]
    pub fn new(
        (donor, donor_test): (&'f PythonFile, TestFunction),
        (recipient, recipient_test): (&'f PythonFile, TestFunction),
    ) -> Self {
        Self { donor, donor_test, recipient, recipient_test }
    }

    /// The numbers of the donor's statements that do something besides checking.
    #[must_use]
    pub fn statements(&self) -> Vec<usize> {
        let does_something = |at: &usize| {
            let text = self.text(*at);
            let is_check = text.starts_with("assert ")
                || text.starts_with("assert(")
                || text.starts_with("self.assert")
                || matches!(text, "pass" | "return");
            !is_check
        };
        (0..self.donor_test.statements.len()).filter(does_something).collect()
    }

    fn text(&self, at: usize) -> &str {
        let range = self.donor_test.statements.get(at).cloned().unwrap_or_default();
        self.donor.text.get(range).unwrap_or_default()
    }

    /// The recipient with these statements at its beginning.
    ///
    /// # Errors
    /// When they need something that the recipient cannot have.
    pub fn with(&self, chosen: &[usize]) -> Result<Addition, NotEditable> {
        let refuse = |why: String| Err(NotEditable::NoForm(why));
        let mut addition = Addition::default();
        let mut used = BTreeSet::new();
        for at in chosen {
            let range = self.donor_test.statements.get(*at).cloned().unwrap_or_default();
            used.extend(self.names_in(range));
            addition.statements.push(dedented(self.text(*at), &self.donor_test.indentation));
        }
        let is_same_file = self.donor.path == self.recipient.path;
        for name in used {
            if name == "self" {
                let is_same_class =
                    is_same_file && self.donor_test.classes == self.recipient_test.classes;
                if !is_same_class {
                    return refuse(format!("`{}` uses its own `self`", self.donor_test.name));
                }
            } else if self.donor_test.parameters.contains(&name) {
                if self.recipient_test.style == Style::Unittest {
                    return refuse(format!("a method of unittest gets no fixture `{name}`"));
                }
                addition.fixtures.push(name);
            } else if is_same_file || !self.donor.binds(&name) {
                // It is known there, too; or it is a local name, an attribute or a builtin.
            } else if let Some(line) = self.donor.import_of(&name) {
                let line = self.recipient.adapted(&line, self.donor);
                let known = self.recipient.import_of(&name);
                if known.as_ref().is_some_and(|it| *it != line)
                    || known.is_none() && self.recipient.binds(&name)
                {
                    return refuse(format!(
                        "`{name}` is something else in {}",
                        self.recipient.path
                    ));
                }
                addition.imports.push(line);
            } else {
                return refuse(format!("`{name}` is defined in {}", self.donor.path));
            }
        }
        Ok(addition)
    }

    /// The names that a part of the donor uses.
    fn names_in(&self, range: std::ops::Range<usize>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let node = self.donor.root().descendant_for_byte_range(range.start, range.end);
        let mut waiting: Vec<Node<'_>> = node.into_iter().collect();
        while let Some(node) = waiting.pop() {
            if node.kind() == "identifier" {
                found.insert(self.donor.text_of(node).to_owned());
            }
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                let is_attribute = node.kind() == "attribute"
                    && node.child_by_field_name("attribute") == Some(child);
                let is_keyword = node.kind() == "keyword_argument"
                    && node.child_by_field_name("name") == Some(child);
                if !is_attribute && !is_keyword {
                    waiting.push(child);
                }
            }
        }
        found
    }
}

/// A statement without the indentation of the block it stands in.
fn dedented(statement: &str, indentation: &str) -> String {
    let lines = statement.split('\n').map(|line| {
        let line = line.trim_end_matches('\r');
        line.strip_prefix(indentation).unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_come_with_their_imports_and_fixtures() {
        let donor = "import shop\nfrom app import login\n\n\ndef test_clean(client):\n    \
                     with client:\n        shop.reset(login)\n    assert shop.ITEMS == []\n";
        let donor = PythonFile::parse("test_a.py", donor).unwrap();
        let recipient =
            PythonFile::parse("test_b.py", "import shop\n\n\ndef test_b():\n  shop.x()\n").unwrap();
        let donor_test = donor.test(&"test_a.py::test_clean".into()).unwrap();
        let recipient_test = recipient.test(&"test_b.py::test_b".into()).unwrap();
        let transplant =
            Transplant::new((&donor, donor_test), (&recipient, recipient_test.clone()));
        assert_eq!(transplant.statements(), [0]);
        let addition = transplant.with(&[0]).unwrap();
        assert_eq!(
            recipient.with(&[(recipient_test, addition)]).unwrap(),
            "import shop\nfrom app import login\n\n\ndef test_b(client):\n  with client:\n      \
             shop.reset(login)\n  shop.x()\n"
        );
    }
}
