//! A file of Java, and where a test stands in it.

use std::ops::Range;

use flakeproof_core::TestId;
use flakeproof_syntax::{Finder, SourceFile};
use tree_sitter::{Node, Tree};

use crate::NotEditable;
use crate::edit::indentation;

/// A file of Java.
#[derive(Debug, Clone)]
pub struct JavaFile {
    /// Its path, relative to the project's root.
    pub path: String,
    /// All of it.
    pub text: String,
    tree: Tree,
}

/// The framework in whose idiom a test is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framework {
    /// Methods that are named after what they are; a class that extends `TestCase`.
    Junit3,
    /// `org.junit`.
    Junit4,
    /// `org.junit.jupiter`.
    Jupiter,
    /// `org.testng`.
    Testng,
}

/// Where a test stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestMethod {
    /// The classes around it, outermost first, itself not among them.
    pub classes: Vec<String>,
    /// Its own name.
    pub name: String,
    /// The idiom it is written in.
    pub framework: Framework,
    /// The bytes of its class.
    pub(crate) class: Range<usize>,
    /// The bytes of the method; `None` where the class inherits it.
    pub(crate) method: Option<Range<usize>>,
}

impl Framework {
    /// The annotations of what runs before and after each test, and before and after all of a class, with
    /// their package.
    pub(crate) fn annotations(self) -> Option<(&'static str, [&'static str; 4])> {
        match self {
            Self::Junit3 => None,
            Self::Junit4 => Some(("org.junit", ["Before", "After", "BeforeClass", "AfterClass"])),
            Self::Jupiter => Some((
                "org.junit.jupiter.api",
                ["BeforeEach", "AfterEach", "BeforeAll", "AfterAll"],
            )),
            Self::Testng => Some((
                "org.testng.annotations",
                ["BeforeMethod", "AfterMethod", "BeforeClass", "AfterClass"],
            )),
        }
    }
}

impl JavaFile {
    /// Read a file.
    ///
    /// # Errors
    /// When it does not parse.
    pub fn parse(path: impl Into<String>, text: impl Into<String>) -> Result<Self, NotEditable> {
        let (path, text) = (path.into(), text.into());
        let tree = Finder::default().tree(&SourceFile { path: "Test.java", text: &text });
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

    /// The text of a field of a node; empty where there is none.
    pub(crate) fn part(&self, node: Node<'_>, field: &str) -> &str {
        node.child_by_field_name(field).map(|it| self.text_of(it)).unwrap_or_default()
    }

    /// Where a test stands, or the class that inherits it.
    ///
    /// # Errors
    /// When its class is not written in this file.
    pub fn test(&self, test: &TestId) -> Result<TestMethod, NotEditable> {
        let missing =
            || NotEditable::NotWrittenHere { test: test.to_string(), file: self.path.clone() };
        let (class, method) = test.as_str().split_once('#').ok_or_else(missing)?;
        // Where two modules have a class of one name, the module stands before it.
        let class = class.rsplit('/').next().unwrap_or(class);
        let names = class.rsplit('.').next().unwrap_or(class);
        let name = method.split(['(', '[', '{']).next().unwrap_or(method).trim();
        let classes: Vec<String> = names.split('$').map(str::to_owned).collect();
        let node = self.class(&classes).ok_or_else(missing)?;
        let method = self.methods(node).find(|it| self.part(*it, "name") == name);
        Ok(TestMethod {
            framework: self.framework(node),
            classes,
            name: name.to_owned(),
            class: node.byte_range(),
            method: method.map(|it| it.byte_range()),
        })
    }

    /// The class that this is, by the names of those around it and its own.
    pub(crate) fn class(&self, names: &[String]) -> Option<Node<'_>> {
        let mut scope = self.root();
        let mut found = None;
        for name in names {
            let mut cursor = scope.walk();
            let class = scope
                .named_children(&mut cursor)
                .find(|it| is_type(*it) && self.part(*it, "name") == name)?;
            scope = class.child_by_field_name("body")?;
            found = Some(class);
        }
        found
    }

    /// The class of a test.
    pub(crate) fn class_of(&self, test: &TestMethod) -> Option<Node<'_>> {
        self.class(&test.classes)
    }

    /// The method of a test, if it is written here.
    pub(crate) fn method_of(&self, test: &TestMethod) -> Option<Node<'_>> {
        let range = test.method.clone()?;
        self.methods(self.class_of(test)?).find(|it| it.byte_range() == range)
    }

    /// The members of a class, in order.
    pub(crate) fn members<'t>(&self, class: Node<'t>) -> Vec<Node<'t>> {
        let Some(body) = class.child_by_field_name("body") else { return Vec::new() };
        let mut cursor = body.walk();
        let is_comment = |it: &Node<'_>| it.kind().ends_with("comment");
        body.named_children(&mut cursor).filter(|it| !is_comment(it)).collect()
    }

    /// The methods of a class.
    pub(crate) fn methods<'t>(&self, class: Node<'t>) -> impl Iterator<Item = Node<'t>> {
        self.members(class).into_iter().filter(|it| it.kind() == "method_declaration")
    }

    /// The statements of a method.
    pub(crate) fn statements<'t>(&self, method: Node<'t>) -> Vec<Node<'t>> {
        let Some(body) = method.child_by_field_name("body") else { return Vec::new() };
        let mut cursor = body.walk();
        body.named_children(&mut cursor).filter(|it| !it.kind().ends_with("comment")).collect()
    }

    /// The words before a declaration: `public`, `static`, annotations.
    pub(crate) fn modifiers<'t>(&self, declaration: Node<'t>) -> Option<Node<'t>> {
        let mut cursor = declaration.walk();
        declaration.children(&mut cursor).find(|it| it.kind() == "modifiers")
    }

    /// Whether a declaration has a word before it.
    pub(crate) fn is(&self, declaration: Node<'_>, word: &str) -> bool {
        self.keyword(declaration, word).is_some()
    }

    /// The word before a declaration.
    pub(crate) fn keyword<'t>(&self, declaration: Node<'t>, word: &str) -> Option<Node<'t>> {
        let modifiers = self.modifiers(declaration)?;
        let mut cursor = modifiers.walk();
        modifiers.children(&mut cursor).find(|it| it.kind() == word)
    }

    /// The annotation of a declaration with this name, with its package or without.
    pub(crate) fn annotation<'t>(&self, declaration: Node<'t>, name: &str) -> Option<Node<'t>> {
        let modifiers = self.modifiers(declaration)?;
        let mut cursor = modifiers.walk();
        modifiers.children(&mut cursor).find(|it| {
            let written = self.part(*it, "name");
            it.kind().ends_with("annotation") && written.rsplit('.').next() == Some(name)
        })
    }

    /// The package of the file; empty without one.
    #[must_use]
    pub fn package(&self) -> &str {
        let root = self.root();
        let mut cursor = root.walk();
        let found = root.named_children(&mut cursor).find(|it| it.kind() == "package_declaration");
        let found = found.map(|it| self.text_of(it)).unwrap_or_default();
        found.trim_start_matches("package").trim().trim_end_matches(';').trim()
    }

    /// Whether the file speaks of a name anywhere, comments and texts included.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        mentions(&self.text, name)
    }

    /// The text of a test: of its method, or of its class where that is inherited.
    #[must_use]
    pub fn text_of_test(&self, test: &TestMethod) -> &str {
        let range = test.method.clone().unwrap_or_else(|| test.class.clone());
        self.text.get(range).unwrap_or_default()
    }

    /// The framework that a class is written for.
    fn framework(&self, class: Node<'_>) -> Framework {
        let imports = self.imported();
        let imports_from = |package: &str| imports.iter().any(|it| it.starts_with(package));
        let has_annotations = self.methods(class).any(|it| self.annotation(it, "Test").is_some());
        let base = self.part(class, "superclass");
        if imports_from("org.junit.jupiter.") {
            Framework::Jupiter
        } else if imports_from("org.testng.") {
            Framework::Testng
        } else if base.ends_with("TestCase") && !has_annotations {
            Framework::Junit3
        } else {
            Framework::Junit4
        }
    }

    /// What the members of a class are indented by.
    pub(crate) fn indentation_of_members(&self, class: Node<'_>) -> String {
        match self.members(class).first() {
            Some(first) if first.start_position().row > class.start_position().row => {
                indentation(&self.text, first.start_byte()).to_owned()
            }
            _ => format!("{}    ", indentation(&self.text, class.start_byte())),
        }
    }
}

/// Whether a text speaks of a name anywhere.
#[must_use]
pub fn mentions(text: &str, name: &str) -> bool {
    let is_of_name = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_of_name) && !text[at + name.len()..].starts_with(is_of_name)
    })
}

/// Whether a node declares a type.
pub(crate) fn is_type(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "package shop;\n\nimport org.junit.Test;\n\npublic class CartTest {\n  \
        @Test\n  public void adds() throws Exception {\n    Cart.add(1);\n  }\n\n  public static \
        class Inner extends Base {\n  }\n}\n";

    #[test]
    fn a_test_is_found_with_its_class_and_its_idiom() {
        let file = JavaFile::parse("CartTest.java", TEXT).unwrap();
        let test = file.test(&"core/shop.CartTest#adds(int)[1]".into()).unwrap();
        assert_eq!(test.framework, Framework::Junit4);
        assert!(file.text_of_test(&test).starts_with("@Test"));
        let inherited = file.test(&"shop.CartTest$Inner#adds".into()).unwrap();
        assert_eq!((inherited.method, inherited.classes.len()), (None, 2));
        assert_eq!(file.package(), "shop");
        assert!(file.mentions("Cart") && !file.mentions("Car"));
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let file = JavaFile::parse("CartTest.java", TEXT).unwrap();
        let refused = file.test(&"shop.OtherTest#adds".into()).unwrap_err();
        assert!(refused.to_string().contains("is not written in CartTest.java"), "{refused}");
        let broken = JavaFile::parse("A.java", "class A {\n  void a( {}\n}\n").unwrap_err();
        assert!(broken.to_string().contains("A.java does not parse: line 2"), "{broken}");
    }
}
