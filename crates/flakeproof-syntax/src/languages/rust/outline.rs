//! The modules, functions and tests of a Rust file.

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::outline::{Call, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Braces, Extent, Fields, children, text_of};

pub(super) fn may_hold_tests(_path: &str, text: &str) -> bool {
    text.contains("#[") && (text.contains("test") || text.contains("quickcheck"))
}

pub(super) fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut rust =
        Rust { reading: *reading, prefix: module_path(reading), outline: Outline::new() };
    rust.read();
    rust.outline
}

/// The crate and the modules that a file's path stands for.
pub(super) fn module_path(reading: &Reading<'_, '_>) -> String {
    let path = reading.path;
    let (package, inside) = match reading.layout.crate_of(path) {
        Some((package, inside)) => (package.to_owned(), inside),
        None => unnamed_crate(path),
    };
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut parts: Vec<&str> = inside.split('/').collect();
    let root = parts.first().copied().unwrap_or_default();
    if parts.len() > 1 && ["src", "tests", "examples", "benches"].contains(&root) {
        parts.remove(0);
    }
    let is_root = parts.len() == 1 && root == "src" && parts[0] == "lib";
    if is_root || matches!(parts.last(), Some(&("mod" | "main"))) {
        parts.pop();
    }
    std::iter::once(package.as_str()).chain(parts).collect::<Vec<_>>().join("::")
}

/// Without a `Cargo.toml`, the folder above `src` names the crate.
fn unnamed_crate(path: &str) -> (String, &str) {
    let at = ["src/", "tests/"]
        .iter()
        .filter_map(|root| {
            let found = path.rfind(root)?;
            (found == 0 || path[..found].ends_with('/')).then_some(found)
        })
        .max()
        .unwrap_or(0);
    let above = path[..at].trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = if above.is_empty() { "crate" } else { above };
    (name.replace('-', "_"), &path[at..])
}

struct Rust<'t, 'a> {
    reading: Reading<'t, 'a>,
    prefix: String,
    outline: Outline<'t>,
}

#[derive(Clone, Copy)]
struct Place {
    scope: ScopeId,
    /// Whether functions here belong to a type, and so are no tests.
    is_impl: bool,
}

impl<'t, 'a> Rust<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        let place = Place { scope: ScopeId::FILE, is_impl: false };
        agenda.push([(self.reading.root, place)]);
        while let Some((node, place)) = agenda.next() {
            // Whatever is on the agenda is a list of items; attributes stand before their item.
            self.read_items(node, place, &mut agenda);
        }
    }

    fn read_items(&mut self, list: Node<'t>, place: Place, agenda: &mut Agenda<'t, Place>) {
        let mut braces = Braces::new(place);
        let mut attributes = Attributes::default();
        let mut found = Vec::new();
        let mut unfinished = None;
        let items = children(list);
        for (index, &item) in items.iter().enumerate() {
            let previous = index.checked_sub(1).and_then(|at| items.get(at));
            let after = |kind: &str| previous.is_some_and(|node| node.kind() == kind);
            match item.kind() {
                "attribute_item" => attributes.add(item, self.is_test_attribute(item)),
                "line_comment"
                | "block_comment"
                | "visibility_modifier"
                | "function_modifiers"
                | "fn"
                | "mod" => continue,
                "function_item" => {
                    if let Some(name) = item.field("name") {
                        let extent = Extent::between(attributes.first.unwrap_or(item), item);
                        self.add(name, attributes.is_test, braces.here, extent, item);
                    }
                }
                "mod_item" | "impl_item" | "trait_item" => {
                    found.extend(self.read_block(item, braces.here));
                }
                "macro_invocation" => self.read_macro(item, braces.here),
                "ERROR" => found.push((item, braces.here)),
                "identifier" if after("mod") => {
                    let opened = self.outline.open(braces.here.scope, self.text(item), item);
                    let scope = opened.unwrap_or(braces.here.scope);
                    braces.name(Place { scope, is_impl: false });
                }
                "identifier" if after("fn") => {
                    let first = attributes.first.or(previous.copied()).unwrap_or(item);
                    unfinished = Some((item, first, attributes.is_test, braces.here));
                }
                "{" | "}" if list.is_error() => braces.see(item.kind()),
                _ => {}
            }
            if item.kind() != "attribute_item" {
                attributes = Attributes::default();
            }
        }
        if let (Some((name, first, is_test, place)), Some(&last)) = (unfinished, items.last()) {
            self.add(name, is_test, place, Extent::between(first, last), list);
        }
        agenda.push(found);
    }

    fn read_block(&mut self, item: Node<'t>, outer: Place) -> Option<(Node<'t>, Place)> {
        let body = item.field("body")?;
        let is_module = item.kind() == "mod_item";
        let name =
            item.child_by_field_name(if item.kind() == "impl_item" { "type" } else { "name" });
        let name = self.text(name?).split('<').next().unwrap_or_default();
        let scope = self.outline.open(outer.scope, name, item)?;
        Some((body, Place { scope, is_impl: !is_module }))
    }

    fn add(&mut self, name: Node<'t>, is_test: bool, place: Place, extent: Extent, node: Node<'t>) {
        let name = self.text(name);
        let scope = place.scope;
        let role =
            if is_test && !place.is_impl { Role::Test(self.id(scope, name)) } else { Role::Plain };
        self.outline.add(name, scope, role, extent, node);
    }

    fn id(&self, scope: ScopeId, name: &str) -> TestId {
        let mut id = self.prefix.clone();
        for part in self.outline.enclosing(scope).iter().map(String::as_str).chain([name]) {
            id.push_str("::");
            id.push_str(part.trim_start_matches("r#"));
        }
        TestId::from(id)
    }

    /// Whether an attribute makes a test: its last segment is `test`, or that of a known crate.
    fn is_test_attribute(&self, item: Node<'t>) -> bool {
        let text = self.text(item).trim_start_matches(['#', '[']).trim_start();
        let path = text.split(['(', ']', '=', ' ']).next().unwrap_or(text);
        let last = path.rsplit("::").next().unwrap_or(path);
        matches!(last, "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test")
    }

    /// The tests in the body of `proptest! { #[test] fn … }`, which is nothing but tokens.
    fn read_macro(&mut self, item: Node<'t>, place: Place) {
        let name = item.field("macro").map_or("", |name| self.text(name));
        if !name.ends_with("proptest") {
            return;
        }
        let tokens: Vec<Node<'t>> = children(item)
            .into_iter()
            .filter(|n| n.kind() == "token_tree")
            .flat_map(children)
            .collect();
        let mut attribute: Option<(Node<'t>, bool)> = None;
        for (index, token) in tokens.iter().enumerate() {
            let next = |steps: usize| tokens.get(index + steps).copied();
            match token.kind() {
                "#" => {
                    let is_test = next(1).is_some_and(|tree| self.text(tree) == "[test]");
                    let (first, known) = attribute.unwrap_or((*token, false));
                    attribute = Some((first, known || is_test));
                }
                "fn" => {
                    if let (Some((first, is_test)), Some(name), Some(body)) =
                        (attribute.take(), next(1), next(3).or(next(2)))
                    {
                        self.add(name, is_test, place, Extent::between(first, body), item);
                    }
                }
                _ => {}
            }
        }
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// The attributes before an item.
#[derive(Default)]
struct Attributes<'t> {
    first: Option<Node<'t>>,
    is_test: bool,
}

impl<'t> Attributes<'t> {
    fn add(&mut self, item: Node<'t>, is_test: bool) {
        self.first.get_or_insert(item);
        self.is_test |= is_test;
    }
}

pub(super) fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    match node.kind() {
        "call_expression" => {
            let Some(function) = node.field("function") else { return };
            let function = function.field("function").unwrap_or(function);
            read_path(function, text, calls);
        }
        // In a macro there are only tokens: a name before parentheses is taken for a call.
        "token_tree" => {
            let tokens = children(node);
            for (index, pair) in tokens.windows(2).enumerate() {
                let is_method = index
                    .checked_sub(1)
                    .and_then(|at| tokens.get(at))
                    .is_some_and(|n| n.kind() == ".");
                if pair[0].kind() == "identifier"
                    && pair[1].kind() == "token_tree"
                    && text_of(pair[1], text).starts_with('(')
                    && !is_method
                {
                    calls.push(Call { name: text_of(pair[0], text), through: Through::Name });
                }
            }
        }
        _ => {}
    }
}

fn read_path<'a>(function: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    match function.kind() {
        "identifier" => {
            calls.push(Call { name: text_of(function, text), through: Through::Name });
        }
        "scoped_identifier" => {
            let (Some(path), Some(name)) = (function.field("path"), function.field("name")) else {
                return;
            };
            let path = text_of(path, text);
            let last = path.rsplit("::").next().unwrap_or(path);
            let through = match last {
                "self" | "super" | "crate" => Through::Name,
                "Self" => Through::Itself,
                scope => Through::Scope(scope),
            };
            calls.push(Call { name: text_of(name, text), through });
        }
        _ => {}
    }
}
