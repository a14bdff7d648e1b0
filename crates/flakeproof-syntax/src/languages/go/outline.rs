//! The functions, methods and tests of a Go file.

use std::collections::HashMap;

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::outline::{Call, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Extent, Fields, child_of_kind, children, text_of};

pub(super) fn may_hold_tests(path: &str, text: &str) -> bool {
    path.ends_with("_test.go")
        && ["Test", "Fuzz", "Example"].iter().any(|prefix| text.contains(prefix))
}

pub(super) fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut go = Go {
        reading: *reading,
        package: import_path(reading),
        outline: Outline::new(),
        receivers: HashMap::new(),
    };
    if reading.path.ends_with("_test.go") {
        go.read();
    }
    go.outline
}

/// The import path of a file's package, or its folder where no `go.mod` says more.
pub(super) fn import_path(reading: &Reading<'_, '_>) -> String {
    let (module, inside) = reading.layout.go_module(reading.path).unwrap_or(("", reading.path));
    match (module, inside.rsplit_once('/')) {
        (module, None) => module.to_owned(),
        ("", Some((folder, _))) => folder.to_owned(),
        (module, Some((folder, _))) => format!("{module}/{folder}"),
    }
}

struct Go<'t, 'a> {
    reading: Reading<'t, 'a>,
    package: String,
    outline: Outline<'t>,
    receivers: HashMap<&'a str, ScopeId>,
}

impl<'t, 'a> Go<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        agenda.push([(self.reading.root, ())]);
        while let Some((node, ())) = agenda.next() {
            match node.kind() {
                "source_file" => agenda.descend(node, ()),
                "function_declaration" => {
                    let parameters = node.field("parameters");
                    if let Some(name) = node.field("name") {
                        self.add_function(name, parameters, Extent::new(node), node);
                    }
                }
                "method_declaration" => self.read_method(node),
                "ERROR" => {
                    self.read_broken(node);
                    agenda.descend(node, ());
                }
                _ => {}
            }
        }
    }

    fn add_function(
        &mut self,
        name: Node<'t>,
        parameters: Option<Node<'t>>,
        extent: Extent,
        node: Node<'t>,
    ) {
        let name = self.text(name);
        let parameters = parameters.map_or("", |node| self.text(node));
        let body = || self.text(node);
        let is_test = (is_exported(name, "Test") && parameters.contains("testing.T"))
            || (is_exported(name, "Fuzz") && parameters.contains("testing.F"))
            || (is_exported(name, "Example")
                && ["// Output:", "// Unordered output:"].iter().any(|said| body().contains(said)));
        let role = if is_test {
            Role::Test(TestId::from(self.qualified(name)))
        } else if name == "TestMain" {
            Role::Before
        } else {
            Role::Plain
        };
        self.outline.add(name, ScopeId::FILE, role, extent, node);
    }

    fn read_method(&mut self, node: Node<'t>) {
        let (Some(name), Some(receiver)) = (node.field("name"), node.field("receiver")) else {
            return;
        };
        let Some((star, class)) = self.receiver(receiver) else { return };
        let Some(scope) = self.scope_of(class, node) else { return };
        let name = self.text(name);
        let role = match name {
            "SetupTest" | "SetupSuite" | "SetUpTest" | "SetUpSuite" | "BeforeTest" => Role::Before,
            "TearDownTest" | "TearDownSuite" | "AfterTest" => Role::After,
            _ if is_exported(name, "Test") && self.parameter_count(node) <= 1 => {
                Role::Test(TestId::from(self.qualified(&format!("({star}{class}).{name}"))))
            }
            _ => Role::Plain,
        };
        self.outline.add(name, scope, role, Extent::new(node), node);
    }

    /// The star, if any, and the type of a method's receiver.
    fn receiver(&self, receiver: Node<'t>) -> Option<(&'static str, &'a str)> {
        let kind = child_of_kind(receiver, &["parameter_declaration"])?
            .field("type")
            .map(|kind| self.text(kind))?;
        let class = kind.trim_start_matches('*').split('[').next().unwrap_or(kind).trim();
        (!class.is_empty()).then_some((if kind.starts_with('*') { "*" } else { "" }, class))
    }

    fn scope_of(&mut self, class: &'a str, node: Node<'t>) -> Option<ScopeId> {
        if let Some(&scope) = self.receivers.get(class) {
            return Some(scope);
        }
        let scope = self.outline.open(ScopeId::FILE, class, node)?;
        self.outline.scope_mut(scope).shares_set_up = true;
        self.receivers.insert(class, scope);
        Some(scope)
    }

    fn parameter_count(&self, method: Node<'t>) -> usize {
        method.field("parameters").map_or(0, |node| node.named_child_count())
    }

    /// The function being written lies open behind the others.
    fn read_broken(&mut self, node: Node<'t>) {
        let pieces = children(node);
        let head = pieces
            .windows(2)
            .rposition(|pair| matches!([pair[0].kind(), pair[1].kind()], ["func", "identifier"]));
        let Some(at) = head else { return };
        if let (Some(&func), Some(&name), Some(&last)) =
            (pieces.get(at), pieces.get(at + 1), pieces.last())
        {
            let parameters = pieces.get(at + 2).copied();
            self.add_function(name, parameters, Extent::between(func, last), node);
        }
    }

    fn qualified(&self, name: &str) -> String {
        let dot = if self.package.is_empty() { "" } else { "." };
        format!("{}{dot}{name}", self.package)
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// Whether a name is a prefix alone or goes on with anything but a small letter, as `go test` asks.
fn is_exported(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| rest != "Main" && !rest.starts_with(char::is_lowercase))
}

pub(super) fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    if node.kind() != "call_expression" {
        return;
    }
    let Some(function) = node.field("function") else { return };
    match function.kind() {
        "identifier" => {
            calls.push(Call { name: text_of(function, text), through: Through::Name });
        }
        "selector_expression" => {
            let (Some(operand), Some(field)) = (function.field("operand"), function.field("field"))
            else {
                return;
            };
            if operand.kind() == "identifier" {
                calls.push(Call { name: text_of(field, text), through: Through::Itself });
            }
        }
        _ => {}
    }
}
