//! C#: xUnit, NUnit and MSTest.

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::language::{Grammar, Rules};
use crate::outline::{Call, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Braces, Extent, Fields, child_of_kind, children, text_of};

pub(crate) const CSHARP: Rules = Rules {
    grammars: &[("cs", Grammar { name: "c-sharp", load: || tree_sitter_c_sharp::LANGUAGE.into() })],
    may_hold_tests,
    outline,
    read_calls,
    lower: None,
};

fn may_hold_tests(_path: &str, text: &str) -> bool {
    ["Test", "Fact", "Theory"].iter().any(|word| text.contains(word))
}

fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut sharp = CSharp { reading: *reading, outline: Outline::new() };
    sharp.read();
    sharp.outline
}

struct CSharp<'t, 'a> {
    reading: Reading<'t, 'a>,
    outline: Outline<'t>,
}

#[derive(Clone, Copy)]
struct Place<'a> {
    scope: ScopeId,
    /// The namespace, which is not repeated among the classes around a test.
    namespace: &'a str,
}

/// What an attribute makes of a method.
fn role_of(attribute: &str) -> Option<Mark> {
    let simple = attribute.rsplit('.').next().unwrap_or(attribute);
    Some(match simple.strip_suffix("Attribute").unwrap_or(simple) {
        "SetUp" | "OneTimeSetUp" | "TestInitialize" | "ClassInitialize" => Mark::Before,
        "TearDown" | "OneTimeTearDown" | "TestCleanup" | "ClassCleanup" => Mark::After,
        "TestCaseSource" | "TestMethod" | "DataTestMethod" | "TestCase" => Mark::Test,
        name if ["Test", "Fact", "Theory"].iter().any(|end| name.ends_with(end)) => Mark::Test,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Test,
    Before,
    After,
}

impl<'t, 'a> CSharp<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        agenda.push([(self.reading.root, Place { scope: ScopeId::FILE, namespace: "" })]);
        let mut file_namespace = "";
        while let Some((node, mut place)) = agenda.next() {
            if place.namespace.is_empty() {
                place.namespace = file_namespace;
            }
            match node.kind() {
                "compilation_unit" | "declaration_list" => agenda.descend(node, place),
                "file_scoped_namespace_declaration" => {
                    file_namespace = self.named(node, "name");
                    agenda.descend(node, Place { namespace: file_namespace, ..place });
                }
                "namespace_declaration" => self.read_namespace(node, place, &mut agenda),
                "class_declaration"
                | "struct_declaration"
                | "record_declaration"
                | "interface_declaration" => self.read_class(node, place, &mut agenda),
                "method_declaration" | "constructor_declaration" => self.read_method(node, place),
                "ERROR" => self.read_broken(node, place, &mut agenda),
                _ => {}
            }
        }
    }

    fn read_namespace(
        &mut self,
        node: Node<'t>,
        place: Place<'a>,
        agenda: &mut Agenda<'t, Place<'a>>,
    ) {
        let Some(body) = node.field("body") else { return };
        let namespace = self.named(node, "name");
        if place.namespace.is_empty() {
            agenda.descend(body, Place { namespace, ..place });
        } else if let Some(scope) = self.outline.open(place.scope, namespace, node) {
            // A namespace in a namespace counts as one more scope.
            agenda.descend(body, Place { scope, ..place });
        }
    }

    fn read_class(&mut self, node: Node<'t>, place: Place<'a>, agenda: &mut Agenda<'t, Place<'a>>) {
        let Some(name) = node.field("name") else { return };
        let bases = child_of_kind(node, &["base_list"]);
        if let Some(place) = self.open(name, bases, place)
            && let Some(body) = node.field("body")
        {
            agenda.descend(body, place);
        }
    }

    fn open(
        &mut self,
        name: Node<'t>,
        bases: Option<Node<'t>>,
        place: Place<'a>,
    ) -> Option<Place<'a>> {
        let scope = self.outline.open(place.scope, self.text(name), name)?;
        let bases = bases.into_iter().flat_map(children).filter(Node::is_named);
        let bases: Vec<String> = bases
            .map(|base| {
                let name = self.text(base).split('<').next().unwrap_or_default();
                name.rsplit('.').next().unwrap_or(name).to_owned()
            })
            .collect();
        self.outline.scope_mut(scope).bases = bases;
        Some(Place { scope, ..place })
    }

    fn read_method(&mut self, node: Node<'t>, place: Place<'a>) {
        let Some(name) = node.field("name") else { return };
        let attributes: Vec<Node<'t>> =
            children(node).into_iter().filter(|n| n.kind() == "attribute_list").collect();
        let mark = match node.kind() {
            // xUnit makes a new object for each test.
            "constructor_declaration" => Some(Mark::Before),
            _ => self.mark(&attributes),
        };
        self.add(name, mark, place, Extent::new(node), node);
    }

    fn add(
        &mut self,
        name: Node<'t>,
        mark: Option<Mark>,
        place: Place<'a>,
        extent: Extent,
        node: Node<'t>,
    ) {
        let name = self.text(name);
        let role = match mark {
            Some(Mark::Test) => Role::Test(self.id(place, name)),
            Some(Mark::Before) => Role::Before,
            Some(Mark::After) => Role::After,
            None if matches!(name, "Dispose" | "DisposeAsync") => Role::After,
            None if name == "InitializeAsync" => Role::Before,
            None => Role::Plain,
        };
        self.outline.add(name, place.scope, role, extent, node);
    }

    /// `Namespace.Class.Method`, with `+` before a class in a class, as .NET writes it.
    fn id(&self, place: Place<'a>, method: &str) -> TestId {
        let classes = self.outline.enclosing(place.scope).join("+");
        let parts = [place.namespace, &classes, method];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        TestId::from(parts.join("."))
    }

    fn mark(&self, lists: &[Node<'t>]) -> Option<Mark> {
        let attributes = lists.iter().flat_map(|list| children(*list));
        let marks: Vec<Mark> = attributes
            .filter_map(|attribute| attribute.field("name"))
            .filter_map(|name| role_of(self.text(name)))
            .collect();
        [Mark::Before, Mark::After, Mark::Test].into_iter().find(|mark| marks.contains(mark))
    }

    /// Read what the parser could not join: a class whose end is missing lies open among its own
    /// members, and the method being written lies open behind them.
    fn read_broken(
        &mut self,
        node: Node<'t>,
        place: Place<'a>,
        agenda: &mut Agenda<'t, Place<'a>>,
    ) {
        let mut braces = Braces::new(place);
        let mut found = Vec::new();
        let mut unfinished = None;
        let mut attributes: Vec<Node<'t>> = Vec::new();
        let pieces = children(node);
        for (index, &piece) in pieces.iter().enumerate() {
            let previous = index.checked_sub(1).and_then(|at| pieces.get(at)).copied();
            match (previous.map_or("", |node| node.kind()), piece.kind()) {
                ("class" | "struct" | "record" | "interface", "identifier") => {
                    let bases = pieces.get(index + 1).filter(|node| node.kind() == "base_list");
                    let opened = self.open(piece, bases.copied(), braces.here);
                    braces.name(opened.unwrap_or(braces.here));
                }
                ("namespace", "identifier" | "qualified_name") => {
                    braces.name(Place { namespace: self.text(piece), ..braces.here });
                }
                ("identifier", "parameter_list") => {
                    let first = attributes.first().copied().or(previous);
                    let mark = self.mark(&attributes);
                    unfinished = previous.zip(first).map(|(n, f)| (n, f, mark, braces.here));
                }
                (_, "attribute_list") => attributes.push(piece),
                (_, "{" | "}") => {
                    braces.see(piece.kind());
                    attributes.clear();
                }
                _ => found.push((piece, braces.here)),
            }
        }
        if let (Some((name, first, mark, place)), Some(&last)) = (unfinished, pieces.last()) {
            self.add(name, mark, place, Extent::between(first, last), node);
        }
        agenda.push(found);
    }

    fn named(&self, node: Node<'t>, field: &str) -> &'a str {
        node.child_by_field_name(field).map_or("", |name| self.text(name))
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    if node.kind() != "invocation_expression" {
        return;
    }
    let Some(function) = node.field("function") else { return };
    let (object, name) = match function.kind() {
        "identifier" => (None, Some(function)),
        "generic_name" => (None, child_of_kind(function, &["identifier"])),
        "member_access_expression" => (function.field("expression"), function.field("name")),
        _ => return,
    };
    let Some(name) = name else { return };
    let through = match object.map(|object| (object.kind(), text_of(object, text))) {
        None => Through::Name,
        Some(("this" | "base", _)) => Through::Itself,
        Some(("identifier", class)) => Through::Scope(class),
        Some(_) => return,
    };
    calls.push(Call { name: text_of(name, text), through });
}
