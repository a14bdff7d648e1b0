//! Calls that define tests: `describe(…)`, `it(…)`, `beforeEach(…)`.

use tree_sitter::Node;

use super::flow::{Script, is_call, is_method};
use super::outline::{is_function, title, unescaped};
use super::verb::Verb;
use crate::flow::{Expression, Parameter, Statement};
use crate::languages::lowering::{Head, Outlined, first_part, parts, span};
use crate::tree::Extent;

impl Script<'_, '_> {
    /// `describe(…)`, `it(…)`, `beforeEach(…)`, or a call whose callbacks may hold those.
    pub(super) fn call_of_runner(&mut self, node: Node<'_>) {
        if let Some(outlined) = self.form.outlined(Extent::of(node)) {
            self.test_call(node, outlined);
            return;
        }
        let (Some(callee), Some(list)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return;
        };
        let arguments = parts(list);
        let outer = self.form.owner;
        if Verb::of(callee, self.form.reading.text) == Some(Verb::Suite) {
            let first = arguments.first();
            let title = first.map_or("", |first| title(*first, self.form.reading.text));
            self.form.owner = Some(self.form.declare_type(&unescaped(title), Vec::new(), node));
        }
        for body in arguments.into_iter().filter(|argument| is_function(*argument)) {
            if let Some(body) = body.child_by_field_name("body") {
                self.declare(body);
            }
        }
        self.form.owner = outer;
    }

    /// A test or a hook: what is handed to the call is its body.
    pub(super) fn test_call(&mut self, node: Node<'_>, outlined: Outlined) {
        let extent = Extent::of(node);
        let owner = self.form.owner;
        if owner.is_none() {
            self.form.owner = self.form.owner_of(outlined.scope, extent);
        }
        let outer = self.form.open();
        let mut parameters = Vec::new();
        for argument in node.child_by_field_name("arguments").into_iter().flat_map(parts) {
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
        let Some(each) = call.child_by_field_name("function").filter(|callee| is_call(*callee))
        else {
            return;
        };
        let table = each.child_by_field_name("arguments");
        let table = table.map(|table| first_part(table).unwrap_or(table));
        let called = each.child_by_field_name("function");
        let called = called.map(|called| called.child_by_field_name("property").unwrap_or(called));
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
            let value = part.child_by_field_name("value").unwrap_or(part);
            if is_function(value) || is_method(value) {
                self.function_body(value);
            }
        }
    }
}
