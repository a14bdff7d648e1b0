//! The classes, functions, fixtures and tests of a Python file.

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::outline::{Call, Function, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Extent, Fields, child_of_kind, children, for_each_below, text_of};

/// Class names lead to one another over at most this many bases.
const LONGEST_LINEAGE: usize = 32;

pub(super) fn may_hold_tests(path: &str, text: &str) -> bool {
    text.contains("test") && (is_pytest_file(path) || text.contains("Test"))
}

/// Whether pytest collects a file of this name.
fn is_pytest_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("test_") || name.ends_with("_test.py")
}

pub(super) fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut python = Python { reading: *reading, outline: Outline::new(), classes: Vec::new() };
    python.read();
    python.name_tests();
    python.outline
}

struct Python<'t, 'a> {
    reading: Reading<'t, 'a>,
    outline: Outline<'t>,
    classes: Vec<Class>,
}

struct Class {
    scope: ScopeId,
    is_constructed: bool,
}

impl<'t, 'a> Python<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        agenda.push([(self.reading.root, ScopeId::FILE)]);
        while let Some((node, scope)) = agenda.next() {
            match node.kind() {
                // What stands under a condition at the outermost level is still collected.
                "module" | "block" | "if_statement" | "elif_clause" | "else_clause"
                | "try_statement" | "except_clause" | "finally_clause" | "with_statement"
                | "for_statement" => agenda.descend(node, scope),
                "decorated_definition" => {
                    if let Some(definition) = node.field("definition") {
                        self.read_definition(definition, node, scope, &mut agenda);
                    }
                }
                "class_definition" | "function_definition" => {
                    self.read_definition(node, node, scope, &mut agenda);
                }
                "ERROR" => self.read_broken(node, scope, &mut agenda),
                _ => {}
            }
        }
    }

    fn read_definition(
        &mut self,
        node: Node<'t>,
        decorated: Node<'t>,
        outer: ScopeId,
        agenda: &mut Agenda<'t, ScopeId>,
    ) {
        let Some(name) = node.field("name") else { return };
        if node.kind() == "function_definition" {
            self.add(name, Extent::new(decorated), decorated, outer);
            return;
        }
        let bases = node.field("superclasses");
        if let Some(scope) = self.open(outer, name, bases)
            && let Some(body) = node.field("body")
        {
            agenda.descend(body, scope);
        }
    }

    fn open(&mut self, outer: ScopeId, name: Node<'t>, bases: Option<Node<'t>>) -> Option<ScopeId> {
        let scope = self.outline.open(outer, text_of(name, self.reading.text), name)?;
        let bases = bases.into_iter().flat_map(children).filter(Node::is_named);
        let opened = self.outline.scope_mut(scope);
        for base in bases.filter(|base| base.kind() != "keyword_argument") {
            let base = text_of(base, self.reading.text);
            let base = base.split(['[', '(']).next().unwrap_or(base);
            opened.bases.push(base.rsplit('.').next().unwrap_or(base).to_owned());
        }
        opened.shares_set_up = true;
        self.classes.push(Class { scope, is_constructed: false });
        Some(scope)
    }

    fn add(&mut self, name: Node<'t>, extent: Extent, node: Node<'t>, scope: ScopeId) {
        let name = text_of(name, self.reading.text);
        if name == "__init__"
            && let Some(class) = self.classes.iter_mut().rev().find(|class| class.scope == scope)
        {
            class.is_constructed = true;
        }
        let role = self.fixture_role(node).unwrap_or_else(|| role_of_name(name));
        self.outline.add(name, scope, role, extent, node);
    }

    /// What a decorator `@pytest.fixture` makes of a function.
    fn fixture_role(&self, decorated: Node<'t>) -> Option<Role> {
        let mut cursor = decorated.walk();
        let mut decorators =
            decorated.children(&mut cursor).filter(|node| node.kind() == "decorator");
        decorators.find_map(|decorator| {
            let text = text_of(decorator, self.reading.text);
            let name = text.trim_start_matches('@').split('(').next().unwrap_or_default().trim();
            let is_fixture = name.rsplit('.').next().is_some_and(|last| last.ends_with("fixture"));
            let autouse = text.contains("autouse=True") || text.contains("autouse = True");
            is_fixture.then_some(if autouse { Role::Before } else { Role::Fixture })
        })
    }

    /// Read what the parser could not join: an open class, and the function being written.
    fn read_broken(&mut self, node: Node<'t>, scope: ScopeId, agenda: &mut Agenda<'t, ScopeId>) {
        let mut scope = scope;
        let mut found = Vec::new();
        let mut unfinished = None;
        let pieces = children(node);
        for (index, &piece) in pieces.iter().enumerate() {
            let previous = index.checked_sub(1).and_then(|index| pieces.get(index)).copied();
            match (previous.map_or("", |node| node.kind()), piece.kind()) {
                ("class", "identifier") => {
                    let bases = pieces.get(index + 1).filter(|n| n.kind() == "argument_list");
                    scope = self.open(scope, piece, bases.copied()).unwrap_or(scope);
                }
                ("def", "identifier") => {
                    unfinished = previous.map(|def| (def, piece, scope));
                }
                _ => found.push((piece, scope)),
            }
        }
        if let (Some((def, name, scope)), Some(&last)) = (unfinished, pieces.last()) {
            self.add(name, Extent::between(def, last), node, scope);
        }
        agenda.push(found);
    }

    /// Make tests of the functions that pytest or unittest would run: only now are all classes
    /// known, and with them what each is derived from.
    fn name_tests(&mut self) {
        let is_pytest_file = is_pytest_file(self.reading.path);
        let holds: Vec<bool> =
            self.classes.iter().map(|class| self.holds_tests(class, is_pytest_file)).collect();
        let holds_tests = |scope: ScopeId| match scope {
            ScopeId::FILE => is_pytest_file,
            // Classes are opened in the order of their scopes, one each.
            _ => self
                .classes
                .binary_search_by_key(&scope, |class| class.scope)
                .is_ok_and(|index| holds[index]),
        };
        let mut ids = Vec::new();
        for (index, function) in self.outline.functions.iter().enumerate() {
            if function.name.starts_with("test")
                && function.role == Role::Plain
                && self
                    .outline
                    .outwards(function.scope)
                    .all(|scope| scope == ScopeId::FILE || holds_tests(scope))
                && holds_tests(function.scope)
            {
                ids.push((index, self.id(function)));
            }
        }
        for (index, id) in ids {
            self.outline.functions[index].role = Role::Test(id);
        }
    }

    fn holds_tests(&self, class: &Class, is_pytest_file: bool) -> bool {
        let name = &self.outline.scope(class.scope).name;
        (is_pytest_file && name.starts_with("Test") && !class.is_constructed)
            || self.is_unittest(class.scope, is_pytest_file)
    }

    /// Whether a class is derived from unittest's `TestCase`, as far as names tell.
    fn is_unittest(&self, scope: ScopeId, is_pytest_file: bool) -> bool {
        let mut lineage = vec![scope];
        let mut next = 0;
        while let Some(&scope) = lineage.get(next) {
            for base in &self.outline.scope(scope).bases {
                let says_so = base.contains("TestCase")
                    || (is_pytest_file
                        && ["Test", "Tests", "TestBase"].iter().any(|end| base.ends_with(end)));
                if says_so {
                    return true;
                }
                let known = self.outline.scopes().find(|(_, scope)| scope.name == *base);
                if let Some((id, _)) = known
                    && !lineage.contains(&id)
                    && lineage.len() < LONGEST_LINEAGE
                {
                    lineage.push(id);
                }
            }
            next += 1;
        }
        false
    }

    fn id(&self, function: &Function<'_>) -> TestId {
        self.outline.id(self.reading.path, "::", function.scope, &function.name)
    }
}

fn role_of_name(name: &str) -> Role {
    match name {
        "setUp" | "asyncSetUp" | "setUpClass" | "setUpModule" | "setup" | "setup_method"
        | "setup_class" | "setup_function" | "setup_module" => Role::Before,
        "tearDown" | "asyncTearDown" | "tearDownClass" | "tearDownModule" | "teardown"
        | "teardown_method" | "teardown_class" | "teardown_function" | "teardown_module" => {
            Role::After
        }
        _ => Role::Plain,
    }
}

pub(super) fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    match node.kind() {
        "parameters" => {
            let mut cursor = node.walk();
            calls.extend(node.children(&mut cursor).filter_map(|parameter| {
                let name = match parameter.kind() {
                    "identifier" => parameter,
                    _ => child_of_kind(parameter, &["identifier"])?,
                };
                Some(Call { name: text_of(name, text), through: Through::Parameter })
            }));
        }
        "call" => {
            let Some(function) = node.field("function") else { return };
            match function.kind() {
                "identifier" => {
                    calls.push(Call { name: text_of(function, text), through: Through::Name });
                }
                "attribute" => read_attribute(node, function, text, calls),
                _ => {}
            }
        }
        _ => {}
    }
}

fn read_attribute<'a>(
    call: Node<'_>,
    function: Node<'_>,
    text: &'a str,
    calls: &mut Vec<Call<'a>>,
) {
    let (Some(object), Some(name)) = (function.field("object"), function.field("attribute")) else {
        return;
    };
    let name = text_of(name, text);
    if name == "usefixtures" {
        for_each_below(call, |node| {
            if node.kind() == "string_content" {
                calls.push(Call { name: text_of(node, text), through: Through::Parameter });
            }
        });
        return;
    }
    let through = match (object.kind(), text_of(object, text)) {
        ("identifier", "self" | "cls") => Through::Itself,
        ("identifier", class) => Through::Scope(class),
        ("call", superclass) if superclass.starts_with("super(") => Through::Itself,
        _ => return,
    };
    calls.push(Call { name, through });
}
