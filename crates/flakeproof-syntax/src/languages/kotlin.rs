//! Kotlin: JUnit, TestNG and kotlin.test.

use tree_sitter::Node;

use super::junit::{self, ClassScope, Mark, Style};
use crate::language::{Grammar, Rules};
use crate::outline::{Call, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Braces, Extent, Fields, child_of_kind, children, text_of};

pub(crate) const KOTLIN: Rules = Rules {
    grammars: &[
        ("kt", Grammar { name: "kotlin", load: || tree_sitter_kotlin_ng::LANGUAGE.into() }),
        ("kts", Grammar { name: "kotlin", load: || tree_sitter_kotlin_ng::LANGUAGE.into() }),
    ],
    may_hold_tests,
    outline,
    read_calls,
    lower: None,
};

fn may_hold_tests(path: &str, text: &str) -> bool {
    junit::may_hold_tests(path, text) || (text.contains("TestCase") && text.contains("fun test"))
}

fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut kotlin = Kotlin {
        reading: *reading,
        package: String::new(),
        file_class: None,
        outline: Outline::new(),
    };
    kotlin.read();
    kotlin.outline
}

struct Kotlin<'t, 'a> {
    reading: Reading<'t, 'a>,
    package: String,
    file_class: Option<ScopeId>,
    outline: Outline<'t>,
}

impl<'t, 'a> Kotlin<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        let place = ClassScope { scope: ScopeId::FILE, style: Style::Annotated };
        agenda.push([(self.reading.root, place)]);
        while let Some((node, place)) = agenda.next() {
            match node.kind() {
                // The members of a companion are called as if they were the class's own.
                "source_file" | "class_body" | "enum_class_body" | "companion_object" => {
                    agenda.descend(node, place);
                }
                "package_header" => {
                    if let Some(name) = child_of_kind(node, &["qualified_identifier"]) {
                        self.package = self.text(name).split_whitespace().collect();
                    }
                }
                "class_declaration" | "object_declaration" => {
                    self.read_class(node, place.scope, &mut agenda);
                }
                "function_declaration" => self.read_function(node, place),
                "ERROR" => self.read_broken(node, place, &mut agenda),
                _ => {}
            }
        }
    }

    fn read_class(&mut self, node: Node<'t>, outer: ScopeId, agenda: &mut Agenda<'t, ClassScope>) {
        let Some(name) = child_of_kind(node, &["identifier"]) else { return };
        let modifiers = child_of_kind(node, &["modifiers"]);
        let bases = child_of_kind(node, &["delegation_specifiers"]);
        let Some(place) = self.open(outer, name, modifiers, bases) else { return };
        if let Some(body) = child_of_kind(node, &["class_body", "enum_class_body"]) {
            agenda.descend(body, place);
        }
    }

    fn open(
        &mut self,
        outer: ScopeId,
        name: Node<'t>,
        modifiers: Option<Node<'t>>,
        bases: Option<Node<'t>>,
    ) -> Option<ClassScope> {
        let scope = self.outline.open(outer, bare(self.text(name)), name)?;
        let marks = self.marks(modifiers);
        let bases: Vec<String> = bases
            .into_iter()
            .flat_map(children)
            .map(|base| simple_base(self.text(base)).to_owned())
            .filter(|base| !base.is_empty())
            .collect();
        let style = if marks.contains(&Mark::Test) {
            Style::Public
        } else if bases.iter().any(|base| base.ends_with("TestCase")) {
            Style::Named
        } else {
            Style::Annotated
        };
        let opened = self.outline.scope_mut(scope);
        opened.bases = bases;
        opened.shares_set_up = marks.contains(&Mark::Nested);
        Some(ClassScope { scope, style })
    }

    fn read_function(&mut self, node: Node<'t>, place: ClassScope) {
        let Some(name) = node.field("name") else { return };
        // A function without a body is a promise of an interface.
        if child_of_kind(node, &["function_body"]).is_none() && !node.has_error() {
            return;
        }
        let modifiers = child_of_kind(node, &["modifiers"]);
        let parameters = child_of_kind(node, &["function_value_parameters"]);
        self.add(name, modifiers, parameters, place, Extent::new(node), node);
    }

    fn add(
        &mut self,
        name: Node<'t>,
        modifiers: Option<Node<'t>>,
        parameters: Option<Node<'t>>,
        place: ClassScope,
        extent: Extent,
        node: Node<'t>,
    ) {
        let name = bare(self.text(name));
        if name.is_empty() {
            return;
        }
        let takes_parameters = parameters.is_some_and(|node| node.named_child_count() > 0);
        let annotated = Mark::strongest(&self.marks(modifiers));
        let is_hidden = modifiers.is_some_and(|node| {
            let text = self.text(node);
            ["private", "protected", "internal"].iter().any(|word| text.contains(word))
        });
        let mark = match place.style {
            _ if annotated != Mark::None => annotated,
            Style::Public if !is_hidden => Mark::Test,
            Style::Named if !takes_parameters => junit::mark_of_name(name),
            Style::Public | Style::Named | Style::Annotated => Mark::None,
        };
        let mut scope = place.scope;
        let role = match mark {
            Mark::Test => {
                if scope == ScopeId::FILE {
                    let Some(class) = self.file_class(node) else { return };
                    scope = class;
                }
                Role::Test(junit::id(&self.package, &self.outline, scope, name))
            }
            Mark::Before => Role::Before,
            Mark::After => Role::After,
            Mark::Nested | Mark::None => Role::Plain,
        };
        self.outline.add(name, scope, role, extent, node);
    }

    /// The class into which the compiler puts functions outside of classes: `ATestKt`.
    fn file_class(&mut self, node: Node<'t>) -> Option<ScopeId> {
        if self.file_class.is_none() {
            let name = format!("{}Kt", junit::class_of_path(self.reading.path));
            self.file_class = self.outline.open(ScopeId::FILE, &name, node);
        }
        self.file_class
    }

    fn marks(&self, modifiers: Option<Node<'t>>) -> Vec<Mark> {
        let annotations = modifiers.into_iter().flat_map(children);
        annotations
            .filter(|node| node.kind() == "annotation")
            .map(|node| {
                let name = self.text(node).trim_start_matches('@');
                Mark::from_annotation(name.split(['(', '<']).next().unwrap_or(name).trim())
            })
            .collect()
    }

    /// Read what the parser could not join: a class whose end is missing lies open among its own
    /// members, and the function being written lies open behind them.
    fn read_broken(
        &mut self,
        node: Node<'t>,
        place: ClassScope,
        agenda: &mut Agenda<'t, ClassScope>,
    ) {
        let mut braces = Braces::new(place);
        let mut found = Vec::new();
        let mut unfinished = None;
        let pieces = children(node);
        for (index, &piece) in pieces.iter().enumerate() {
            let before = |steps: usize, kinds: &[&str]| {
                let piece = index.checked_sub(steps).and_then(|at| pieces.get(at)).copied();
                piece.filter(|node| kinds.contains(&node.kind()))
            };
            match piece.kind() {
                "identifier" if before(1, &["class", "interface", "object"]).is_some() => {
                    let bases = pieces.get(index + 2);
                    let bases = bases.filter(|node| node.kind() == "delegation_specifiers");
                    let modifiers = before(2, &["modifiers"]);
                    let opened = self.open(braces.here.scope, piece, modifiers, bases.copied());
                    braces.name(opened.unwrap_or(braces.here));
                }
                "identifier" => {
                    if let Some(fun) = before(1, &["fun"]) {
                        unfinished = Some((before(2, &["modifiers"]), fun, piece, braces.here));
                    }
                }
                "{" | "}" => braces.see(piece.kind()),
                _ => found.push((piece, braces.here)),
            }
        }
        if let (Some((modifiers, fun, name, place)), Some(&last)) = (unfinished, pieces.last()) {
            let extent = Extent::between(modifiers.unwrap_or(fun), last);
            self.add(name, modifiers, None, place, extent, node);
        }
        agenda.push(found);
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// `does a thing` of a name in backticks.
fn bare(name: &str) -> &str {
    name.trim_matches('`')
}

/// `TestCase` of `junit.framework.TestCase<X>()`.
fn simple_base(specifier: &str) -> &str {
    let name = specifier.split(['<', '(', '{', ' ']).next().unwrap_or_default();
    name.rsplit('.').next().unwrap_or(name).trim_matches(',')
}

fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    if node.kind() != "call_expression" {
        return;
    }
    let Some(callee) = node.child(0) else { return };
    match callee.kind() {
        "identifier" => {
            calls.push(Call { name: bare(text_of(callee, text)), through: Through::Name });
        }
        "navigation_expression" => {
            let (Some(object), Some(name)) =
                (callee.child(0), callee.child(callee.child_count().saturating_sub(1)))
            else {
                return;
            };
            let through = match object.kind() {
                "this_expression" | "super_expression" => Through::Itself,
                "identifier" => Through::Scope(text_of(object, text)),
                _ => return,
            };
            calls.push(Call { name: bare(text_of(name, text)), through });
        }
        _ => {}
    }
}
