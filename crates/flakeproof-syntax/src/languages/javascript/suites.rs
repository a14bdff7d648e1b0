//! Calls that define tests: `describe(…)`, `it(…)`, `beforeEach(…)`, and the longer
//! `it.only.each(table)(…)`.

use tree_sitter::Node;

use super::flow::{Script, is_call, is_method};
use super::outline::{is_function, title, unescaped};
use crate::flow::{Expression, Parameter, Statement};
use crate::languages::lowering::{Head, Outlined};
use crate::languages::shapes::{first_part, parts, span};
use crate::tree::{Extent, Fields, text_of};

/// Members chained to `it` or `describe`; nobody chains more.
const LONGEST_CHAIN: usize = 8;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// `describe`: holds tests.
    Suite,
    /// `it`: is a test.
    Test,
    /// `beforeEach`: runs before each test of its suite.
    Before,
    /// `afterEach`: runs after each test of its suite.
    After,
}

impl Verb {
    /// What calling `callee` does, if it is one of the words that runners define.
    pub(super) fn from_callee<'a>(callee: Node<'_>, text: &'a str) -> Option<Self> {
        let mut members: Vec<&'a str> = Vec::new();
        let mut node = callee;
        while members.len() < LONGEST_CHAIN {
            match node.kind() {
                "identifier" => return Self::of_words(text_of(node, text), &members),
                "member_expression" => {
                    members.push(text_of(node.field("property")?, text));
                    node = node.field("object")?;
                }
                // `it.each(table)` gives a function that is called in turn.
                "call_expression" => {
                    node = node.field("function")?;
                    if node.kind() == "identifier" {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// The verb of a word and the members behind it, the last one first.
    fn of_words(word: &str, members: &[&str]) -> Option<Self> {
        let verb = Self::of_word(word);
        match (verb, members) {
            (None, ["test"]) if word == "Deno" => Some(Self::Test),
            (None, [modifier, "test"]) if word == "Deno" => {
                is_modifier(modifier).then_some(Self::Test)
            }
            (Some(Self::Test), [rest @ .., "describe" | "suite"]) => {
                rest.iter().all(|member| is_modifier(member)).then_some(Self::Suite)
            }
            (Some(Self::Test), [hook]) if !is_modifier(hook) => match Self::of_word(hook) {
                Some(Self::Before) => Some(Self::Before),
                Some(Self::After) => Some(Self::After),
                _ => None,
            },
            (verb, members) => verb.filter(|_| members.iter().all(|member| is_modifier(member))),
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "describe" | "context" | "suite" | "fdescribe" | "xdescribe" | "fcontext"
            | "xcontext" => Self::Suite,
            "it" | "test" | "specify" | "fit" | "xit" | "ftest" | "xtest" | "xspecify" => {
                Self::Test
            }
            "before" | "beforeEach" | "beforeAll" | "setup" | "suiteSetup" => Self::Before,
            "after" | "afterEach" | "afterAll" | "teardown" | "suiteTeardown" => Self::After,
            _ => return None,
        })
    }
}

fn is_modifier(member: &str) -> bool {
    matches!(
        member,
        "only"
            | "skip"
            | "each"
            | "for"
            | "concurrent"
            | "sequential"
            | "serial"
            | "parallel"
            | "shuffle"
            | "failing"
            | "fails"
            | "fail"
            | "fixme"
            | "ignore"
            | "skipIf"
            | "runIf"
            | "if"
    )
}

impl Script<'_, '_> {
    /// `describe(…)`, `it(…)`, `beforeEach(…)`, or a call whose callbacks may hold those.
    pub(super) fn call_of_runner(&mut self, node: Node<'_>) {
        if let Some(outlined) = self.form.outlined(Extent::new(node)) {
            self.test_call(node, outlined);
            return;
        }
        let (Some(callee), Some(list)) = (node.field("function"), node.field("arguments")) else {
            return;
        };
        let arguments = parts(list);
        let outer = self.form.owner;
        if Verb::from_callee(callee, self.form.reading.text) == Some(Verb::Suite) {
            let first = arguments.first();
            let title = first.map_or("", |first| title(*first, self.form.reading.text));
            self.form.owner = Some(self.form.declare_type(&unescaped(title), Vec::new(), node));
        }
        for body in arguments.into_iter().filter(|argument| is_function(*argument)) {
            if let Some(body) = body.field("body") {
                self.declare(body);
            }
        }
        self.form.owner = outer;
    }

    /// A test or a hook: what is handed to the call is its body.
    pub(super) fn test_call(&mut self, node: Node<'_>, outlined: Outlined) {
        let extent = Extent::new(node);
        let owner = self.form.owner;
        if owner.is_none() {
            self.form.owner = self.form.owner_of(outlined.scope, extent);
        }
        let outer = self.form.open();
        let mut parameters = Vec::new();
        for argument in node.field("arguments").into_iter().flat_map(parts) {
            match argument.kind() {
                _ if is_function(argument) => {
                    parameters = self.parameters(argument);
                    self.table(node, &parameters);
                    self.function_body(argument);
                }
                "object" => self.methods_of_test(argument),
                "identifier" => {
                    let name = span(argument);
                    let (receiver, arguments) = (None, Vec::new());
                    let call = Expression::Call { name, receiver, arguments, creates: false };
                    self.form.emit(Statement::Evaluate(call));
                }
                "call_expression" => {
                    let value = self.expression(argument);
                    self.form.emit(Statement::Evaluate(value));
                }
                _ => {}
            }
        }
        let body = self.form.close(outer);
        let lambda = Head::lambda(parameters, node);
        let head = Head { name: outlined.name, role: outlined.role, ..lambda };
        let function = self.form.function(head, body);
        self.form.unit.functions.push(function);
        self.form.owner = owner;
    }

    /// `it.each(table)(…)`: the parameters come from the table.
    fn table(&mut self, call: Node<'_>, parameters: &[Parameter]) {
        let Some(each) = call.field("function").filter(|callee| is_call(*callee)) else {
            return;
        };
        let table = each.field("arguments");
        let table = table.map(|table| first_part(table).unwrap_or(table));
        let called = each.field("function");
        let called = called.map(|called| called.field("property").unwrap_or(called));
        if let (Some(table), Some(word), false) = (table, called, parameters.is_empty()) {
            let value = Some(self.expression(table));
            let targets = parameters.iter().map(|p| Expression::Name(p.name)).collect();
            let operator = span(word);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
    }

    /// `Deno.test({ name: "a", fn: () => … })`.
    fn methods_of_test(&mut self, object: Node<'_>) {
        for part in parts(object) {
            let value = part.field("value").unwrap_or(part);
            if is_function(value) || is_method(value) {
                self.function_body(value);
            }
        }
    }
}
