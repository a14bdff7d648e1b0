//! Ruby: RSpec, minitest and Rails' `test "…" do`.

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::language::{Grammar, Rules};
use crate::outline::{Call, Function, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Extent, Fields, children, text_of};

pub(crate) const RUBY: Rules = Rules {
    grammars: &[("rb", Grammar { name: "ruby", load: || tree_sitter_ruby::LANGUAGE.into() })],
    may_hold_tests,
    outline,
    read_calls,
    lower: None,
};

fn may_hold_tests(path: &str, text: &str) -> bool {
    path.ends_with("_spec.rb")
        || (text.contains("test") && text.contains("class"))
        || text.contains("describe")
}

fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut ruby = Ruby { reading: *reading, outline: Outline::new() };
    ruby.read();
    ruby.outline
}

struct Ruby<'t, 'a> {
    reading: Reading<'t, 'a>,
    outline: Outline<'t>,
}

/// The kinds of scope a test can stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A class derived from a test case: `def test_x`.
    Case,
    /// A block of RSpec or of minitest's spec style: `it "x" do`.
    Spec,
    /// Anything else.
    Other,
}

#[derive(Clone, Copy)]
struct Place {
    scope: ScopeId,
    style: Style,
}

impl<'t, 'a> Ruby<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        let place = Place { scope: ScopeId::FILE, style: Style::Other };
        agenda.push([(self.reading.root, place)]);
        while let Some((node, place)) = agenda.next() {
            match node.kind() {
                "program" | "body_statement" | "block_body" | "begin" | "if" | "unless"
                | "then" | "else" | "ERROR" => agenda.descend(node, place),
                "class" | "module" => self.read_class(node, place, &mut agenda),
                "method" | "singleton_method" => self.read_method(node, place),
                "call" => self.read_call(node, place, &mut agenda),
                _ => {}
            }
        }
    }

    fn read_class(&mut self, node: Node<'t>, place: Place, agenda: &mut Agenda<'t, Place>) {
        let Some(name) = node.field("name") else { return };
        let base = node.field("superclass");
        let base = base.map(|base| self.text(base).trim_start_matches('<').trim());
        let is_case = base.is_some_and(|base| {
            let last = base.rsplit("::").next().unwrap_or(base);
            last.ends_with("Test") || last.ends_with("TestCase")
        });
        let style = if is_case { Style::Case } else { Style::Other };
        let Some(scope) = self.outline.open(place.scope, self.text(name), node) else { return };
        self.outline.scope_mut(scope).bases.extend(base.map(str::to_owned));
        if let Some(body) = node.field("body") {
            agenda.descend(body, Place { scope, style });
        }
    }

    fn read_method(&mut self, node: Node<'t>, place: Place) {
        let Some(name) = node.field("name") else { return };
        let name = self.text(name);
        let role = match name {
            "setup" if place.style == Style::Case => Role::Before,
            "teardown" if place.style == Style::Case => Role::After,
            _ if place.style == Style::Case && name.starts_with("test_") => {
                Role::Test(self.case_id(place.scope, name))
            }
            _ => Role::Plain,
        };
        self.add(name, place.scope, role, node);
    }

    fn read_call(&mut self, node: Node<'t>, place: Place, agenda: &mut Agenda<'t, Place>) {
        let (Some(method), Some(block)) = (node.field("method"), node.field("block")) else {
            return;
        };
        let has_receiver =
            node.field("receiver").is_some_and(|receiver| self.text(receiver) != "RSpec");
        let arguments: Vec<Node<'t>> =
            node.field("arguments").into_iter().flat_map(children).filter(Node::is_named).collect();
        let title = arguments.first().map(|first| self.title(*first));
        let body = block.field("body");
        match self.text(method) {
            _ if has_receiver => {
                // `[1, 2].each do |n| it "…" do`
                if let Some(body) = body {
                    agenda.descend(body, place);
                }
            }
            "describe" | "context" | "feature" | "fdescribe" | "xdescribe" | "fcontext"
            | "xcontext" | "shared_examples" | "shared_context" => {
                let title = title.unwrap_or_default();
                if let Some(scope) = self.outline.open(place.scope, title, node) {
                    self.outline.scope_mut(scope).shares_set_up = true;
                    if let Some(body) = body {
                        agenda.descend(body, Place { scope, style: Style::Spec });
                    }
                }
            }
            "it" | "specify" | "example" | "scenario" | "fit" | "xit"
                if place.style == Style::Spec =>
            {
                let title = title.unwrap_or_else(|| body.map_or("", |body| self.text(body)));
                self.add(title, place.scope, Role::Test(self.spec_id(place.scope, title)), node);
            }
            "test" if place.style == Style::Case => {
                let name = format!("test_{}", title.unwrap_or_default().replace(' ', "_"));
                let role = Role::Test(self.case_id(place.scope, &name));
                self.add(&name, place.scope, role, node);
            }
            "before" | "around" | "setup" => self.add("before", place.scope, Role::Before, node),
            "after" | "teardown" => self.add("after", place.scope, Role::After, node),
            "let" | "let!" | "subject" => {
                let name = title.map_or("subject", |title| title.trim_start_matches(':'));
                self.add(name, place.scope, Role::Plain, node);
            }
            _ => {}
        }
    }

    fn title(&self, node: Node<'t>) -> &'a str {
        let text = self.text(node);
        match node.kind() {
            "string" => text.get(1..text.len().saturating_sub(1)).unwrap_or(text),
            _ => text,
        }
    }

    /// `spec/user_spec.rb > User > #name > works`.
    fn spec_id(&self, scope: ScopeId, title: &str) -> TestId {
        self.outline.id(self.reading.path, " > ", scope, title)
    }

    /// `Module::FooTest#test_a`.
    fn case_id(&self, scope: ScopeId, method: &str) -> TestId {
        TestId::from(format!("{}#{method}", self.outline.enclosing(scope).join("::")))
    }

    fn add(&mut self, name: &str, scope: ScopeId, role: Role, node: Node<'t>) {
        let (name, extent) = (name.to_owned(), Extent::new(node));
        self.outline.functions.push(Function { name, scope, role, extent, node });
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// A bare name may be a variable or a call; only those that name a function are followed.
fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    match node.kind() {
        "identifier" => calls.push(Call { name: text_of(node, text), through: Through::Name }),
        "call" => {
            let receiver = node.field("receiver").map(|node| text_of(node, text));
            if let (Some("self"), Some(method)) = (receiver, node.field("method")) {
                calls.push(Call { name: text_of(method, text), through: Through::Itself });
            }
        }
        _ => {}
    }
}
