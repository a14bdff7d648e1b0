//! The expressions of Rust in the flow form.

use tree_sitter::Node;

use super::flow::Rust;
use super::statements::block_of;
use crate::flow::{Expression, Operation, Statement};
use crate::languages::lowering::Head;
use crate::languages::shapes::{
    behind, binary, call_of_value, cast, combine, first_part, gathered, inside, literal, member,
    name, parts, span,
};
use crate::tree::child_of_kind;

impl Rust<'_, '_> {
    /// Where a value comes from. What happens on the way is written as statements of its own.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" | "self" | "super" | "crate" | "metavariable" | "type_identifier" => {
                name(node)
            }
            "unit_expression" => literal(node),
            "parenthesized_expression" => inside(node, |inner| self.expression(inner)),
            "call_expression" => self.call(node),
            "macro_invocation" => self.macro_value(node),
            "field_expression" => member(node, ["value", "field"], |part| self.expression(part)),
            "scoped_identifier" => self.path(node),
            "struct_expression" => self.structure(node),
            "binary_expression" => binary(node, |part| self.expression(part)),
            "unary_expression" => self.unary(node),
            "index_expression" => self.gather(node, Operation::Index),
            "reference_expression" | "try_expression" | "await_expression" => {
                self.gather(node, Operation::Pass)
            }
            "type_cast_expression" => cast(node, ["value", "type"], |part| self.expression(part)),
            "tuple_expression" | "array_expression" | "range_expression" => {
                self.gather(node, Operation::Gather)
            }
            "let_chain" => self.gather(node, Operation::Compare),
            "let_condition" => self.let_condition(node).unwrap_or_else(|| gathered(node)),
            "assignment_expression" | "compound_assignment_expr" => self.assignment(node),
            "closure_expression" => self.closure(node),
            "if_expression" => self.if_value(node),
            "match_expression" => self.match_value(node),
            "block" | "unsafe_block" | "async_block" | "const_block" | "try_block"
            | "gen_block" => {
                let value = self.value_of_block(block_of(node));
                value.unwrap_or(Expression::Literal(behind(node)))
            }
            "for_expression"
            | "while_expression"
            | "loop_expression"
            | "return_expression"
            | "break_expression"
            | "continue_expression"
            | "yield_expression" => {
                self.evaluate(node);
                Expression::Literal(behind(node))
            }
            kind if kind.ends_with("_literal") => literal(node),
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>) -> Expression {
        let Some(called) = node.child_by_field_name("function") else { return gathered(node) };
        // `f::<T>(x)`: the type says nothing about values.
        let generic = called.kind() == "generic_function";
        let inner = called.child_by_field_name("function").filter(|_| generic);
        let called = inner.unwrap_or(called);
        let list = node.child_by_field_name("arguments");
        let (named, object) = match called.kind() {
            "identifier" => (Some(called), None),
            "scoped_identifier" => {
                (called.child_by_field_name("name"), called.child_by_field_name("path"))
            }
            "field_expression" => {
                (called.child_by_field_name("field"), called.child_by_field_name("value"))
            }
            _ => (None, None),
        };
        let Some(named) = named else {
            let value = self.expression(called);
            let arguments = self.arguments(list);
            return call_of_value(value, called, arguments, false);
        };
        let receiver = object.map(|object| Box::new(self.receiver(called, object)));
        let arguments = self.arguments(list);
        // `Some(x)` and `Order(x)` make values of their type.
        let creates = self.form.text(named).starts_with(char::is_uppercase);
        Expression::Call { name: span(named), receiver, arguments, creates }
    }

    /// What a call is made on: a value, or the type or module of a path, without type arguments.
    fn receiver(&mut self, called: Node<'_>, object: Node<'_>) -> Expression {
        if called.kind() != "scoped_identifier" {
            return self.expression(object);
        }
        let bare = object.child_by_field_name("type").filter(|_| object.kind() == "generic_type");
        Expression::Name(span(bare.unwrap_or(object)))
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expression> {
        let values = list.into_iter().flat_map(parts);
        let values = values.filter(|value| value.kind() != "attribute_item");
        values.map(|value| self.expression(value)).collect()
    }

    /// `Colour::Red`.
    fn path(&mut self, node: Node<'_>) -> Expression {
        match (node.child_by_field_name("path"), node.child_by_field_name("name")) {
            (Some(path), Some(member)) => {
                let object = Box::new(name(path));
                Expression::Member { object, name: span(member) }
            }
            _ => gathered(node),
        }
    }

    /// `Order { total, tax: 1, ..base }`.
    fn structure(&mut self, node: Node<'_>) -> Expression {
        let Some(kind) = node.child_by_field_name("name") else { return gathered(node) };
        let mut arguments = Vec::new();
        for part in node.child_by_field_name("body").into_iter().flat_map(parts) {
            let value = part.child_by_field_name("value").or_else(|| first_part(part));
            arguments.extend(value.map(|value| self.expression(value)));
        }
        let kind = kind.child_by_field_name("type").unwrap_or(kind);
        let named = kind.child_by_field_name("name").unwrap_or(kind);
        let receiver = kind.child_by_field_name("path").map(|path| Box::new(name(path)));
        Expression::Call { name: span(named), receiver, arguments, creates: true }
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        let sign = node.child(0).map_or("", |sign| sign.kind());
        let is_number = first_part(node).is_some_and(|value| value.kind().ends_with("_literal"));
        match sign {
            "-" if is_number => literal(node),
            "!" => self.gather(node, Operation::Compare),
            "*" => self.gather(node, Operation::Pass),
            _ => self.gather(node, Operation::Arithmetic),
        }
    }

    /// All parts of a node, named by its first sign.
    fn gather(&mut self, node: Node<'_>, operation: Operation) -> Expression {
        let mut cursor = node.walk();
        let word = node.children(&mut cursor).find(|child| !child.is_named());
        let word = word.map_or_else(|| behind(node), span);
        let values = parts(node).into_iter();
        let values = values.filter(|n| !matches!(n.kind(), "mutable_specifier" | "attribute_item"));
        let operands = values.map(|value| self.expression(value)).collect();
        combine(operation, word, operands)
    }

    fn assignment(&mut self, node: Node<'_>) -> Expression {
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return gathered(node);
        };
        let value = Some(self.expression(right));
        let sign = node.child_by_field_name("operator").or_else(|| child_of_kind(node, &["="]));
        let operator = sign.map_or_else(|| behind(left), span);
        let targets: Vec<Expression> = match left.kind() {
            "tuple_expression" => parts(left).into_iter().map(|n| self.expression(n)).collect(),
            _ => vec![self.expression(left)],
        };
        let given = targets.first().cloned();
        self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        given.unwrap_or_else(|| gathered(left))
    }

    fn closure(&mut self, node: Node<'_>) -> Expression {
        let outer = self.form.open();
        let parameters = self.parameters(node);
        if let Some(body) = node.child_by_field_name("body") {
            self.function_body(body, true);
        }
        let body = self.form.close(outer);
        let returns = node.child_by_field_name("return_type").map(span);
        let head = Head { returns, ..Head::lambda(parameters, node) };
        Expression::Lambda(Box::new(self.form.function(head, body)))
    }
}
