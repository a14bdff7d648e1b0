//! The sources of a project's classes, in which the state that tests share is declared.

use flakeproof_core::LeftBehind;
use tree_sitter::Node;

use super::expression::carried;
use super::file::{JavaFile, is_type};
use super::imports::Names;

/// The sources of a project's classes.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Paths, relative to the project's root, and texts.
    files: Vec<(String, String)>,
}

impl Sources {
    /// These files, by their paths relative to the project's root.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { files: files.into_iter().collect() }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether what was left behind is declared in them: a static field, `shop.Cart$Item.count`.
    #[must_use]
    pub fn declare(&self, thing: &LeftBehind) -> bool {
        let class = thing.name.rsplit_once('.').map(|(class, _)| class);
        class.is_some_and(|it| self.of_class(it).is_some())
    }

    fn of_class(&self, class: &str) -> Option<&(String, String)> {
        let top = class.split('$').next().unwrap_or(class);
        let end = format!("{}.java", top.replace('.', "/"));
        let is_it = |path: &str| path == end || path.ends_with(&format!("/{end}"));
        self.files.iter().find(|(path, _)| is_it(path))
    }

    /// The file in which a class is written.
    pub(crate) fn file_of(&self, class: &str) -> Option<JavaFile> {
        let (path, text) = self.of_class(class)?;
        JavaFile::parse(path, text.as_str()).ok()
    }
}

/// A class in its file, as seen from tests.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) file: JavaFile,
    /// The names of the classes around it and its own.
    pub(crate) names: Vec<String>,
    /// `shop.Cart$Item`.
    pub(crate) qualified: String,
}

impl Type {
    /// A class, given as `shop.Cart$Item`.
    pub(crate) fn find(sources: &Sources, qualified: &str) -> Option<Self> {
        let file = sources.file_of(qualified)?;
        let names = qualified.rsplit('.').next().unwrap_or(qualified);
        let names: Vec<String> = names.split('$').map(str::to_owned).collect();
        file.class(&names)?;
        Some(Self { file, names, qualified: qualified.to_owned() })
    }

    /// Its declaration.
    pub(crate) fn node(&self) -> Option<Node<'_>> {
        self.file.class(&self.names)
    }

    /// Its own name.
    pub(crate) fn simple(&self) -> &str {
        self.names.last().map(String::as_str).unwrap_or_default()
    }

    pub(crate) fn methods(&self) -> Vec<Method<'_>> {
        let Some(node) = self.node() else { return Vec::new() };
        self.file.methods(node).map(|node| Method { of: self, node }).collect()
    }

    /// The field of a name.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable<'_>> {
        let members = self.file.members(self.node()?);
        let fields = members.into_iter().filter(|it| it.kind() == "field_declaration");
        fields.into_iter().find_map(|node| {
            let mut cursor = node.walk();
            let declarator = node
                .children_by_field_name("declarator", &mut cursor)
                .find(|it| self.file.part(*it, "name") == name)?;
            Some(Variable { of: self, node, declarator })
        })
    }

    /// Whether a declaration in it can be used from a file.
    pub(crate) fn shows(&self, declaration: Node<'_>, to: &JavaFile) -> bool {
        let is_same_file = self.file.path == to.path;
        let is_same_package = self.file.package() == to.package();
        let is_shown = |node: Node<'_>| {
            let is_of_interface = node.parent().is_some_and(|it| it.kind() == "interface_body");
            match self.file.is(node, "private") {
                true => is_same_file,
                false => is_same_package || is_of_interface || self.file.is(node, "public"),
            }
        };
        let mut around = declaration.parent();
        let mut all = is_shown(declaration);
        while let Some(node) = around {
            all &= !is_type(node) || is_shown(node);
            around = node.parent();
        }
        all
    }
}

/// A method of a class.
#[derive(Clone, Copy)]
pub(crate) struct Method<'t> {
    pub(crate) of: &'t Type,
    pub(crate) node: Node<'t>,
}

impl<'t> Method<'t> {
    pub(crate) fn name(&self) -> &'t str {
        self.of.file.part(self.node, "name")
    }

    pub(crate) fn is_static(&self) -> bool {
        self.of.file.is(self.node, "static")
    }

    /// What it gives back, as it is written.
    pub(crate) fn gives(&self) -> &'t str {
        self.of.file.part(self.node, "type")
    }

    /// The names of its parameters.
    pub(crate) fn parameters(&self) -> Vec<&'t str> {
        let Some(all) = self.node.child_by_field_name("parameters") else { return Vec::new() };
        let mut cursor = all.walk();
        let all: Vec<_> = all.named_children(&mut cursor).collect();
        all.into_iter().map(|it| self.of.file.part(it, "name")).collect()
    }

    /// Whether it says that it throws something.
    pub(crate) fn throws(&self) -> bool {
        let mut cursor = self.node.walk();
        self.node.children(&mut cursor).any(|it| it.kind() == "throws")
    }

    /// Whether it assigns a field somewhere.
    pub(crate) fn assigns(&self, field: &str) -> bool {
        self.any(&|node| {
            node.kind() == "assignment_expression" && self.is_field(node, "left", field)
        })
    }

    /// Whether it empties a field somewhere.
    pub(crate) fn clears(&self, field: &str) -> bool {
        self.any(&|node| {
            node.kind() == "method_invocation"
                && matches!(self.of.file.part(node, "name"), "clear" | "reset" | "removeAll")
                && self.is_field(node, "object", field)
        })
    }

    /// Whether all it does is to give back a field.
    pub(crate) fn only_gives(&self, field: &str) -> bool {
        let statements = self.of.file.statements(self.node);
        let [one] = statements.as_slice() else { return false };
        let value = one.named_child(0).map(|it| self.of.file.text_of(it));
        one.kind() == "return_statement" && value.is_some_and(|it| last_of(it) == field)
    }

    fn is_field(&self, node: Node<'_>, part: &str, field: &str) -> bool {
        let text = self.of.file.part(node, part);
        last_of(text) == field && !self.parameters().contains(&text)
    }

    fn any(&self, is_it: &dyn Fn(Node<'_>) -> bool) -> bool {
        let mut waiting = vec![self.node];
        while let Some(node) = waiting.pop() {
            if is_it(node) {
                return true;
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
        false
    }
}

/// The last part of `this.items` or `Cart.items`; empty for other expressions.
fn last_of(text: &str) -> &str {
    let is_plain = text.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | '$'));
    match is_plain {
        true => text.rsplit('.').next().unwrap_or(text),
        false => "",
    }
}

/// A field of a class.
#[derive(Clone, Copy)]
pub(crate) struct Variable<'t> {
    pub(crate) of: &'t Type,
    pub(crate) node: Node<'t>,
    pub(crate) declarator: Node<'t>,
}

impl<'t> Variable<'t> {
    /// Its type as it is written.
    pub(crate) fn written_type(&self) -> &'t str {
        self.of.file.part(self.node, "type")
    }

    /// Its type without parameters, as it is written.
    pub(crate) fn bare_type(&self) -> &'t str {
        self.written_type().split(['<', '[']).next().unwrap_or_default().trim()
    }

    pub(crate) fn is_final(&self) -> bool {
        self.of.file.is(self.node, "final")
            || self.node.parent().is_some_and(|it| it.kind() == "interface_body")
    }

    /// Its type as another file writes it.
    pub(crate) fn type_for(&self, names: &mut Names<'_>) -> Option<String> {
        let node = self.node.child_by_field_name("type")?;
        carried(node, self.of, None, names)
    }

    /// What it begins with, as another file writes it.
    pub(crate) fn value_for(&self, to: &JavaFile, names: &mut Names<'_>) -> Option<String> {
        let Some(value) = self.declarator.child_by_field_name("value") else {
            return Some(default_of(self.written_type()).to_owned());
        };
        carried(value, self.of, Some(to), names)
    }
}

/// What a field without a value of its own begins with.
pub(crate) fn default_of(written_type: &str) -> &'static str {
    match written_type {
        "boolean" => "false",
        "byte" | "short" | "int" | "long" | "float" | "double" | "char" => "0",
        _ => "null",
    }
}
