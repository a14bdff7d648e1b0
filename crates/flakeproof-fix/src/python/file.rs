//! A file of Python tests, and where a test stands in it.

use std::ops::Range;

use flakeproof_core::TestId;
use flakeproof_syntax::{Finder, SourceFile};
use tree_sitter::{Node, Tree};

use crate::NotEditable;
use crate::edit::{indentation, line_start, next_line};

/// A file of Python tests.
#[derive(Debug, Clone)]
pub struct PythonFile {
    /// Its path, relative to the project's root.
    pub path: String,
    /// All of it.
    pub text: String,
    tree: Tree,
}

/// The framework in whose idiom a test is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A function, or a method of a class without a base: fixtures come as parameters.
    Pytest,
    /// A method of a `TestCase`.
    Unittest,
    /// A method of a class whose base is defined elsewhere.
    Unknown,
}

/// Where a test stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFunction {
    /// Its own name.
    pub name: String,
    /// The classes around it, outermost first.
    pub classes: Vec<String>,
    /// The idiom it is written in.
    pub style: Style,
    /// The bytes it covers, decorators included.
    pub span: Range<usize>,
    /// Names of its parameters.
    pub parameters: Vec<String>,
    /// Where a further parameter goes, and whether something stands before and behind it.
    pub(crate) parameter_at: (usize, bool, bool),
    /// The beginning of the line of its `def`.
    pub(crate) def_at: usize,
    /// The beginning of the line that its first statement may be put before.
    pub(crate) body_at: usize,
    /// What its statements are indented by.
    pub(crate) indentation: String,
    /// The bytes of its statements, a docstring left out.
    pub(crate) statements: Vec<Range<usize>>,
}

impl PythonFile {
    /// Read a file.
    ///
    /// # Errors
    /// When it does not parse.
    pub fn parse(path: impl Into<String>, text: impl Into<String>) -> Result<Self, NotEditable> {
        let (path, text) = (path.into(), text.into());
        // Whatever it is called: the caller says that it is Python.
        let tree = Finder::default().tree(&SourceFile { path: "test.py", text: &text });
        match tree {
            Ok(tree) => Ok(Self { path, text, tree }),
            Err(issue) => Err(NotEditable::DoesNotParse { file: path, issue: issue.to_string() }),
        }
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn text_of(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Where a test stands.
    ///
    /// # Errors
    /// When it is not written in this file, or not in a form that can be edited.
    pub fn test(&self, test: &TestId) -> Result<TestFunction, NotEditable> {
        let missing =
            || NotEditable::NotWrittenHere { test: test.to_string(), file: self.path.clone() };
        let (_, names) = test.as_str().split_once("::").ok_or_else(missing)?;
        let names = names.split_once('[').map_or(names, |(names, _)| names);
        let mut parts: Vec<&str> = names.split("::").collect();
        let name = parts.pop().ok_or_else(missing)?;
        let mut scope = self.root();
        let mut class = None;
        for part in &parts {
            let (_, inner) =
                self.definition(scope, "class_definition", part).ok_or_else(missing)?;
            class = Some(inner);
            scope = inner.child_by_field_name("body").ok_or_else(missing)?;
        }
        let (outer, function) =
            self.definition(scope, "function_definition", name).ok_or_else(missing)?;
        let style = class.map_or(Style::Pytest, |class| self.style_of(class, 0));
        self.function(outer, function, style, &parts)
            .ok_or_else(|| NotEditable::OnOneLine { test: test.to_string() })
    }

    /// The definition of a name in a block, with its decorators and without; the last one counts.
    pub(crate) fn definition<'t>(
        &self,
        scope: Node<'t>,
        kind: &str,
        name: &str,
    ) -> Option<(Node<'t>, Node<'t>)> {
        let mut cursor = scope.walk();
        let found = scope.named_children(&mut cursor).filter_map(|outer| {
            let inner = match outer.kind() {
                "decorated_definition" => outer.child_by_field_name("definition")?,
                _ => outer,
            };
            let is_it = inner.kind() == kind
                && inner.child_by_field_name("name").map(|it| self.text_of(it)) == Some(name);
            is_it.then_some((outer, inner))
        });
        found.last()
    }

    /// The class of a test.
    pub(crate) fn class_of(&self, test: &TestFunction) -> Option<Node<'_>> {
        let mut scope = self.root();
        let mut class = None;
        for name in &test.classes {
            let (_, inner) = self.definition(scope, "class_definition", name)?;
            scope = inner.child_by_field_name("body")?;
            class = Some(inner);
        }
        class
    }

    fn style_of(&self, class: Node<'_>, depth: u8) -> Style {
        let Some(bases) = class.child_by_field_name("superclasses") else { return Style::Pytest };
        let mut style = Style::Pytest;
        let mut cursor = bases.walk();
        for base in bases.named_children(&mut cursor) {
            let name = self.text_of(base);
            if base.kind() == "keyword_argument" || name == "object" {
                continue;
            }
            if name.ends_with("TestCase") {
                return Style::Unittest;
            }
            let own = self.definition(self.root(), "class_definition", name);
            match own {
                Some((_, own)) if depth < 8 => match self.style_of(own, depth + 1) {
                    Style::Unittest => return Style::Unittest,
                    Style::Unknown => style = Style::Unknown,
                    Style::Pytest => {}
                },
                _ => style = Style::Unknown,
            }
        }
        style
    }

    fn function(
        &self,
        outer: Node<'_>,
        function: Node<'_>,
        style: Style,
        classes: &[&str],
    ) -> Option<TestFunction> {
        let body = function.child_by_field_name("body")?;
        let parameters = function.child_by_field_name("parameters")?;
        let mut cursor = body.walk();
        let mut statements: Vec<Node<'_>> =
            body.named_children(&mut cursor).filter(|it| it.kind() != "comment").collect();
        let first = *statements.first()?;
        if first.start_position().row == function.start_position().row
            || self.header_end(function).is_none_or(|row| row == first.start_position().row)
        {
            return None;
        }
        let is_docstring = first.kind() == "expression_statement"
            && first.named_child(0).is_some_and(|it| it.kind() == "string");
        let before_body = match is_docstring {
            true => {
                statements.remove(0);
                first.end_byte()
            }
            false => self.colon(function)?,
        };
        let (names, parameter_at) = self.parameters(parameters);
        Some(TestFunction {
            name: self.text_of(function.child_by_field_name("name")?).to_owned(),
            classes: classes.iter().map(|it| (*it).to_owned()).collect(),
            style,
            span: outer.byte_range(),
            parameters: names,
            parameter_at,
            def_at: line_start(&self.text, function.start_byte()),
            body_at: next_line(&self.text, before_body),
            indentation: indentation(&self.text, first.start_byte()).to_owned(),
            statements: statements.iter().map(Node::byte_range).collect(),
        })
    }

    /// The colon that ends the head of a function.
    fn colon(&self, function: Node<'_>) -> Option<usize> {
        let mut cursor = function.walk();
        let colon = function.children(&mut cursor).find(|it| it.kind() == ":");
        colon.map(|it| it.end_byte())
    }

    fn header_end(&self, function: Node<'_>) -> Option<usize> {
        let mut cursor = function.walk();
        let colon = function.children(&mut cursor).find(|it| it.kind() == ":");
        colon.map(|it| it.end_position().row)
    }

    /// The names of parameters, and where a further one goes: before the first that has a default or a star.
    fn parameters(&self, parameters: Node<'_>) -> (Vec<String>, (usize, bool, bool)) {
        let mut names = Vec::new();
        let mut place = None;
        let mut end = parameters.start_byte() + 1;
        let mut cursor = parameters.walk();
        for parameter in parameters.named_children(&mut cursor) {
            let name = match parameter.kind() {
                "identifier" => Some(parameter),
                "typed_parameter" => parameter.named_child(0),
                "default_parameter" | "typed_default_parameter" => {
                    parameter.child_by_field_name("name")
                }
                _ => None,
            };
            let is_plain = matches!(parameter.kind(), "identifier" | "typed_parameter")
                && name.is_some_and(|it| it.kind() == "identifier");
            if !is_plain && parameter.kind() != "comment" && place.is_none() {
                place = Some((parameter.start_byte(), !names.is_empty()));
            }
            if let Some(name) = name {
                names.push(self.text_of(name).to_owned());
            }
            if place.is_none() && parameter.kind() != "comment" {
                end = parameter.end_byte();
            }
        }
        match place {
            Some((at, _)) => (names, (at, false, true)),
            None => {
                let has_one = !names.is_empty();
                (names, (end, has_one, false))
            }
        }
    }

    /// The text of a test, decorators included.
    #[must_use]
    pub fn text_of_test(&self, test: &TestFunction) -> &str {
        self.text.get(test.span.clone()).unwrap_or_default()
    }

    /// The modules that the file imports anywhere, as it names them; relative ones with their dots.
    #[must_use]
    pub fn imported_modules(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![self.root()];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "import_statement" => {
                    let mut cursor = node.walk();
                    for name in node.children_by_field_name("name", &mut cursor) {
                        let name = name.child_by_field_name("name").unwrap_or(name);
                        found.push(self.text_of(name).to_owned());
                    }
                }
                "import_from_statement" => {
                    let module = node.child_by_field_name("module_name");
                    let module = module.map(|it| self.text_of(it)).unwrap_or_default();
                    found.push(module.to_owned());
                    let mut cursor = node.walk();
                    for name in node.children_by_field_name("name", &mut cursor) {
                        let name = name.child_by_field_name("name").unwrap_or(name);
                        let dot = if module.ends_with('.') { "" } else { "." };
                        found.push(format!("{module}{dot}{}", self.text_of(name)));
                    }
                }
                _ => {
                    let mut cursor = node.walk();
                    waiting.extend(node.named_children(&mut cursor));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import unittest\n\n\nclass Base(unittest.TestCase):\n    pass\n\n\n\
        class TestA(Base):\n    def test_x(self):\n        '''Says.'''\n        a = 1\n\n        \
        assert a\n\n\ndef test_y(one, two=2): assert one\n\n\n\
        def test_z(\n    one,\n):  # why\n    # because\n    assert one\n";

    fn file() -> PythonFile {
        PythonFile::parse("t.py", TEXT).unwrap()
    }

    #[test]
    fn a_test_is_found_with_its_idiom() {
        let file = file();
        let test = file.test(&"t.py::TestA::test_x".into()).unwrap();
        assert_eq!(test.style, Style::Unittest);
        assert!(TEXT[test.body_at..].starts_with("        a = 1"));
        assert_eq!((test.statements.len(), test.indentation.as_str()), (2, "        "));
        let test = file.test(&"t.py::test_z[1-::]".into()).unwrap();
        assert_eq!((test.style, test.parameters.as_slice()), (Style::Pytest, &["one".into()][..]));
        assert!(TEXT[test.body_at..].starts_with("    # because"));
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let file = file();
        let refused = |id: &str| file.test(&id.into()).unwrap_err().to_string();
        assert!(refused("t.py::test_y").contains("on one line"));
        assert!(refused("t.py::TestA::test_inherited").contains("inherited"));
        let broken = PythonFile::parse("t.py", "def test(:\n").unwrap_err();
        assert!(broken.to_string().contains("t.py does not parse: line 1"), "{broken}");
    }
}
