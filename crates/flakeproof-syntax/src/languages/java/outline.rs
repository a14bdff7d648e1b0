//! The classes, methods and tests of a Java file.

use tree_sitter::Node;

use crate::languages::junit::{self, ClassScope, Mark, Style};
use crate::outline::{Call, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Braces, Extent, Fields, child_of_kind, children, text_of};

pub(super) fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut java = Java {
        reading: *reading,
        package: String::new(),
        file_class: None,
        outline: Outline::new(),
    };
    java.read();
    java.outline
}

struct Java<'t, 'a> {
    reading: Reading<'t, 'a>,
    package: String,
    file_class: Option<ScopeId>,
    outline: Outline<'t>,
}

impl<'t, 'a> Java<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        let place = ClassScope { scope: ScopeId::FILE, style: Style::Annotated };
        agenda.push([(self.reading.root, place)]);
        while let Some((node, place)) = agenda.next() {
            match node.kind() {
                "program" | "enum_body_declarations" => agenda.descend(node, place),
                "package_declaration" => self.read_package(node),
                "class_declaration"
                | "interface_declaration"
                | "enum_declaration"
                | "record_declaration" => self.read_class(node, place.scope, &mut agenda),
                "method_declaration" => self.read_method(node, place),
                "ERROR" => self.read_broken(node, place, &mut agenda),
                _ => {}
            }
        }
    }

    fn read_package(&mut self, node: Node<'t>) {
        if let Some(name) = child_of_kind(node, &["scoped_identifier", "identifier"]) {
            self.package = self.text(name).split_whitespace().collect();
        }
    }

    fn read_class(&mut self, node: Node<'t>, outer: ScopeId, agenda: &mut Agenda<'t, ClassScope>) {
        let (Some(name), Some(body)) = (node.field("name"), node.field("body")) else {
            return;
        };
        let base = node.field("superclass");
        let marks = self.marks(child_of_kind(node, &["modifiers"]));
        if let Some(place) = self.open(outer, name, base, &marks, Some(body)) {
            agenda.descend(body, place);
        }
    }

    fn open(
        &mut self,
        outer: ScopeId,
        name: Node<'t>,
        base: Option<Node<'t>>,
        marks: &[Mark],
        body: Option<Node<'t>>,
    ) -> Option<ClassScope> {
        let base = base.map(|node| simple_base(self.text(node)));
        let class = self.text(name);
        let style = if marks.contains(&Mark::Test) {
            Style::Public
        } else if base.is_some_and(|base| self.is_junit3(class, base, body)) {
            Style::Named
        } else {
            Style::Annotated
        };
        let scope = self.outline.open(outer, class, name)?;
        let opened = self.outline.scope_mut(scope);
        opened.bases.extend(base.map(str::to_owned));
        opened.shares_set_up = marks.contains(&Mark::Nested);
        Some(ClassScope { scope, style })
    }

    /// Whether a class runs its `test…` methods by name: its own or its base's name says that it is
    /// about tests, and it does not annotate them. Where the base comes from stands in other files.
    fn is_junit3(&self, class: &str, base: &str, body: Option<Node<'t>>) -> bool {
        let is_about_tests = |name: &str| name.contains("Test") || name.contains("Case");
        if base.ends_with("TestCase") {
            return true;
        }
        (is_about_tests(class) || is_about_tests(base))
            && !body.is_some_and(|body| self.annotates_tests(body))
    }

    fn annotates_tests(&self, body: Node<'t>) -> bool {
        let mut cursor = body.walk();
        body.children(&mut cursor).any(|member| {
            member.kind() == "method_declaration"
                && self.marks(child_of_kind(member, &["modifiers"])).contains(&Mark::Test)
        })
    }

    fn read_method(&mut self, node: Node<'t>, place: ClassScope) {
        let (Some(name), Some(_)) = (node.field("name"), node.field("body")) else {
            return;
        };
        let head = Head {
            modifiers: child_of_kind(node, &["modifiers"]),
            kind: node.field("type"),
            name,
            parameters: node.field("parameters"),
        };
        self.add(&head, place, Extent::new(node), node);
    }

    fn add(&mut self, head: &Head<'t>, place: ClassScope, extent: Extent, node: Node<'t>) {
        let mut scope = place.scope;
        if scope == ScopeId::FILE {
            // Only in a broken file is a method outside of every class.
            let Some(class) = self.file_class(node) else { return };
            scope = class;
        }
        let name = self.text(head.name);
        let role = match self.mark(head, place.style) {
            Mark::Test => Role::Test(junit::id(&self.package, &self.outline, scope, name)),
            Mark::Before => Role::Before,
            Mark::After => Role::After,
            Mark::Nested | Mark::None => Role::Plain,
        };
        self.outline.add(name, scope, role, extent, node);
    }

    fn file_class(&mut self, node: Node<'t>) -> Option<ScopeId> {
        if self.file_class.is_none() {
            let name = junit::class_of_path(self.reading.path);
            self.file_class = self.outline.open(ScopeId::FILE, name, node);
        }
        self.file_class
    }

    fn mark(&self, head: &Head<'t>, style: Style) -> Mark {
        let annotated = Mark::strongest(&self.marks(head.modifiers));
        if annotated != Mark::None {
            return annotated;
        }
        let has = |word| head.modifiers.is_some_and(|node| child_of_kind(node, &[word]).is_some());
        let runs_by_itself =
            has("public") && !has("static") && head.kind.is_some_and(|t| t.kind() == "void_type");
        match style {
            Style::Annotated if self.overrides_test(head) && runs_by_itself => Mark::Test,
            Style::Annotated => Mark::None,
            Style::Public if runs_by_itself => Mark::Test,
            Style::Public => Mark::None,
            Style::Named => match junit::mark_of_name(self.text(head.name)) {
                Mark::Test if !runs_by_itself || head.takes_parameters() => Mark::None,
                mark => mark,
            },
        }
    }

    /// Whether a method replaces a test of a class in another file: the annotation then stands
    /// there, and JUnit 4 runs the method here.
    fn overrides_test(&self, head: &Head<'t>) -> bool {
        let is_override =
            |node: Node<'t>| node.field("name").is_some_and(|name| self.text(name) == "Override");
        self.text(head.name).starts_with("test")
            && !head.takes_parameters()
            && head.modifiers.into_iter().flat_map(children).any(is_override)
    }

    fn marks(&self, modifiers: Option<Node<'t>>) -> Vec<Mark> {
        let Some(modifiers) = modifiers else { return Vec::new() };
        let mut cursor = modifiers.walk();
        modifiers
            .children(&mut cursor)
            .filter_map(|node| node.field("name"))
            .map(|name| Mark::from_annotation(self.text(name)))
            .collect()
    }

    /// Read what the parser could not join: a class whose end is missing lies open among its own
    /// members, and the method being written lies open behind them.
    fn read_broken(
        &mut self,
        node: Node<'t>,
        place: ClassScope,
        agenda: &mut Agenda<'t, ClassScope>,
    ) {
        let mut braces = Braces::new(place);
        let mut found = Vec::new();
        let mut unfinished: Option<(Head<'t>, ClassScope)> = None;
        let pieces = children(node);
        for (index, &piece) in pieces.iter().enumerate() {
            let before = |steps: usize, kind: &str| {
                index
                    .checked_sub(steps)
                    .and_then(|index| pieces.get(index))
                    .copied()
                    .filter(|node| node.kind() == kind)
            };
            match piece.kind() {
                "identifier"
                    if ["class", "interface", "enum", "record"]
                        .iter()
                        .any(|word| before(1, word).is_some()) =>
                {
                    let base = pieces.get(index + 1).filter(|next| next.kind() == "superclass");
                    let marks = self.marks(before(2, "modifiers"));
                    let opened = self.open(braces.here.scope, piece, base.copied(), &marks, None);
                    braces.name(opened.unwrap_or(braces.here));
                }
                "formal_parameters" => {
                    if let Some(name) = before(1, "identifier") {
                        let head = Head {
                            modifiers: before(3, "modifiers"),
                            kind: index.checked_sub(2).and_then(|at| pieces.get(at)).copied(),
                            name,
                            parameters: Some(piece),
                        };
                        unfinished = Some((head, braces.here));
                    }
                }
                "{" | "}" => braces.see(piece.kind()),
                _ => found.push((piece, braces.here)),
            }
        }
        if let (Some((head, place)), Some(&last)) = (unfinished, pieces.last()) {
            let first = head.modifiers.or(head.kind).unwrap_or(head.name);
            self.add(&head, place, Extent::between(first, last), node);
        }
        agenda.push(found);
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// The parts of a method that decide whether it is a test.
#[derive(Clone, Copy)]
struct Head<'t> {
    modifiers: Option<Node<'t>>,
    kind: Option<Node<'t>>,
    name: Node<'t>,
    parameters: Option<Node<'t>>,
}

impl Head<'_> {
    fn takes_parameters(&self) -> bool {
        self.parameters.is_some_and(|node| node.named_child_count() > 0)
    }
}

/// `TestCase` of `extends junit.framework.TestCase<X>`.
pub(super) fn simple_base(superclass: &str) -> &str {
    let name = superclass.trim_start_matches("extends").split('<').next().unwrap_or_default();
    name.rsplit('.').next().unwrap_or(name).trim()
}

pub(super) fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    let (object, name) = match node.kind() {
        "method_invocation" => (node.field("object"), node.field("name")),
        "method_reference" => {
            let parts = children(node);
            (parts.first().copied(), parts.last().copied().filter(|n| n.kind() == "identifier"))
        }
        _ => return,
    };
    let Some(name) = name else { return };
    let through = match object.map(|object| (object.kind(), text_of(object, text))) {
        None => Through::Name,
        Some(("this" | "super", _)) => Through::Itself,
        Some(("identifier", class)) => Through::Scope(class),
        Some(_) => return,
    };
    calls.push(Call { name: text_of(name, text), through });
}
