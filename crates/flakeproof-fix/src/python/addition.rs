//! What a patch adds to a test: decorators, fixtures, statements at its beginning, imports.

use std::ops::Range;

use super::file::{PythonFile, TestFunction};
use crate::NotEditable;
use crate::edit::{Edits, indented, join, next_line};

/// Lines are at most so long.
const LONGEST: usize = 88;

/// What a patch adds to a test, or to all tests of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addition {
    /// Decorators, with their `@`.
    pub(crate) decorators: Vec<String>,
    /// Fixtures of pytest that become parameters.
    pub(crate) fixtures: Vec<String>,
    /// Statements before its first one, each without indentation.
    pub(crate) statements: Vec<String>,
    /// Definitions of the file that it needs: fixtures.
    pub(crate) definitions: Vec<String>,
    /// Import lines that all this needs.
    pub(crate) imports: Vec<String>,
    /// Parts of the file that are written in another way.
    pub(crate) replaced: Vec<(Range<usize>, String)>,
    /// What it does, where that is not to put something back.
    pub(crate) idea: Option<String>,
}

impl Addition {
    /// Both together; what is the same in both counts once.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        join(&mut self.decorators, other.decorators);
        join(&mut self.fixtures, other.fixtures);
        join(&mut self.statements, other.statements);
        join(&mut self.definitions, other.definitions);
        join(&mut self.imports, other.imports);
        join(&mut self.replaced, other.replaced);
        self.idea = self.idea.or(other.idea);
        self
    }

    /// The same without what fixtures patched for it; `None` where none did.
    #[must_use]
    pub fn and_undone(mut self) -> Option<Self> {
        if self.fixtures.is_empty() {
            return None;
        }
        if !self.fixtures.iter().any(|it| it == "monkeypatch") {
            self.fixtures.push("monkeypatch".to_owned());
        }
        self.statements.push("monkeypatch.undo()".to_owned());
        Some(self)
    }

    /// Whether it can be had by a fixture for all tests of a file.
    pub(crate) fn is_for_any_test(&self) -> bool {
        self.decorators.is_empty()
            && self.definitions.is_empty()
            && self.replaced.is_empty()
            && !self.statements.is_empty()
    }
}

impl PythonFile {
    /// The file with additions to its tests.
    ///
    /// # Errors
    /// When two of them change the same lines.
    pub fn with(&self, additions: &[(TestFunction, Addition)]) -> Result<String, NotEditable> {
        let mut edits = Edits::default();
        let (mut imports, mut definitions) = (Vec::new(), Vec::new());
        for (test, addition) in additions {
            join(&mut definitions, addition.definitions.clone());
            imports.extend(addition.imports.iter().cloned());
            let def_indentation = crate::edit::indentation(&self.text, test.def_at);
            for decorator in &addition.decorators {
                edits.insert(test.def_at, format!("{def_indentation}{decorator}\n"));
            }
            let fixtures: Vec<&str> = addition
                .fixtures
                .iter()
                .filter(|it| !test.parameters.contains(*it))
                .map(String::as_str)
                .collect();
            if !fixtures.is_empty() {
                let (at, is_behind, is_before) = test.parameter_at;
                let (lead, trail) =
                    (if is_behind { ", " } else { "" }, if is_before { ", " } else { "" });
                edits.insert(at, format!("{lead}{}{trail}", fixtures.join(", ")));
            }
            for (range, text) in &addition.replaced {
                edits.replace(range.clone(), text.clone());
            }
            for statement in &addition.statements {
                let lines = indented(&wrapped(statement, &test.indentation), &test.indentation);
                edits.insert(test.body_at, lines);
            }
        }
        self.add_imports(&imports, &mut edits);
        if !definitions.is_empty() {
            let without = "it has no imports behind which a fixture could stand";
            let last = self.import_statements().pop();
            let last = last.ok_or_else(|| NotEditable::NoForm(without.to_owned()))?;
            let at = next_line(&self.text, last.end_byte());
            for definition in definitions {
                edits.insert(at, format!("\n\n{definition}"));
            }
        }
        edits.apply(&self.text)
    }

    /// The file with a fixture that does this around each of its tests; `None` where it must stand in the
    /// test itself.
    #[must_use]
    pub fn with_fixture(&self, name: &str, doc: &str, addition: &Addition) -> Option<String> {
        if !addition.is_for_any_test() || self.binds(name) {
            return None;
        }
        let mut edits = Edits::default();
        let mut imports = addition.imports.clone();
        imports.push("import pytest".to_owned());
        let statements: String =
            addition.statements.iter().map(|it| indented(&wrapped(it, "    "), "    ")).collect();
        let fixture = format!(
            "\n\n@pytest.fixture(autouse=True)\ndef {name}({}):\n    \"\"\"{doc}\"\"\"\n{statements}",
            addition.fixtures.join(", "),
        );
        // Behind the last import at the top, so that every name is known.
        let at = next_line(&self.text, self.import_statements().last()?.end_byte());
        self.add_imports(&imports, &mut edits);
        edits.insert(at, fixture);
        edits.apply(&self.text).ok()
    }
}

/// A call that is too long for a line, with its arguments on a line of their own.
fn wrapped(statement: &str, indentation: &str) -> String {
    let is_call = statement.ends_with(')') && !statement.contains('\n');
    match statement.split_once('(') {
        Some((called, arguments)) if is_call && statement.len() + indentation.len() > LONGEST => {
            let step = if indentation.contains('\t') { "\t" } else { "    " };
            let arguments = &arguments[..arguments.len() - 1];
            match step.len() + arguments.len() + indentation.len() > LONGEST {
                true => format!("{called}(\n{step}{},\n)", one_by_one(arguments, step)),
                false => format!("{called}(\n{step}{arguments}\n)"),
            }
        }
        _ => statement.to_owned(),
    }
}

/// Arguments below each other.
fn one_by_one(arguments: &str, step: &str) -> String {
    let (mut depth, mut all) = (0_i32, String::new());
    for character in arguments.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 && all.ends_with(',') => {
                all.push('\n');
                all.push_str(step);
                continue;
            }
            _ => {}
        }
        all.push(character);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addition() -> Addition {
        Addition {
            fixtures: vec!["monkeypatch".into()],
            statements: vec!["monkeypatch.chdir(\".\")".into()],
            ..Addition::default()
        }
    }

    fn patched(text: &str, test: &str) -> String {
        let file = PythonFile::parse("t.py", text).unwrap();
        let test = file.test(&test.into()).unwrap();
        file.with(&[(test, addition())]).unwrap()
    }

    #[test]
    fn a_statement_and_its_fixture_come_first() {
        assert_eq!(
            patched("def test_a():\n  x()\n", "t.py::test_a"),
            "def test_a(monkeypatch):\n  monkeypatch.chdir(\".\")\n  x()\n"
        );
        assert_eq!(
            patched("def test_a(b, c=1):\r\n\tx()", "t.py::test_a"),
            "def test_a(b, monkeypatch, c=1):\r\n\tmonkeypatch.chdir(\".\")\r\n\tx()"
        );
        let own = "def test_a(monkeypatch):\n    x()\n";
        assert_eq!(
            patched(own, "t.py::test_a"),
            "def test_a(monkeypatch):\n    monkeypatch.chdir(\".\")\n    x()\n"
        );
    }

    #[test]
    fn a_long_call_is_broken() {
        let (owner, value) = ("x".repeat(40), "y".repeat(40));
        let statement = format!("patch({owner}, \"a\", f({value}, 1))");
        let broken = format!("patch(\n    {owner},\n    \"a\",\n    f({value}, 1),\n)");
        assert_eq!(wrapped(&statement, "        "), broken);
        assert_eq!(wrapped("short(1, 2)", "    "), "short(1, 2)");
    }

    #[test]
    fn a_fixture_for_the_file_stands_behind_the_imports() {
        let file = PythonFile::parse("t.py", "import os\n\n\ndef test_a():\n    x()\n").unwrap();
        let text = file.with_fixture("back", "Go back.", &addition()).unwrap();
        assert_eq!(
            text,
            "import os\n\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef back(monkeypatch):\n    \
             \"\"\"Go back.\"\"\"\n    monkeypatch.chdir(\".\")\n\n\ndef test_a():\n    x()\n"
        );
    }
}
