//! The expressions of Go in the flow form.

use tree_sitter::Node;

use super::flow::Go;
use crate::flow::{Expression, Operation};
use crate::languages::shapes::{
    binary, call_of_value, cast, combine, first_part, gathered, inside, literal, member, name,
    parts, span,
};
use crate::tree::child_of_kind;

impl Go<'_, '_> {
    /// Where a value comes from.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" | "type_identifier" | "iota" => name(node),
            "true" | "false" | "nil" => literal(node),
            "parenthesized_expression" | "variadic_argument" | "literal_element" => {
                inside(node, |inner| self.expression(inner))
            }
            "call_expression" => self.call(node),
            "selector_expression" => {
                member(node, ["operand", "field"], |part| self.expression(part))
            }
            "index_expression" | "slice_expression" => self.index(node),
            "binary_expression" => binary(node, |part| self.expression(part)),
            "unary_expression" => self.unary(node),
            "composite_literal" => self.composite(node),
            "literal_value" => {
                let operands = self.elements(node);
                combine(Operation::Gather, span(node.child(0).unwrap_or(node)), operands)
            }
            "type_assertion_expression" | "type_conversion_expression" => {
                cast(node, ["operand", "type"], |part| self.expression(part))
            }
            "func_literal" => self.lambda(node),
            "expression_list" => self.list(node),
            kind if kind.ends_with("_literal") => literal(node),
            kind if kind.ends_with("_type") => Expression::Name(span(node)),
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>) -> Expression {
        let Some(mut called) = node.child_by_field_name("function") else { return gathered(node) };
        // `f[T](x)`: the type says nothing about values.
        if called.kind() == "type_instantiation_expression" {
            called = called.child_by_field_name("type").unwrap_or(called);
        }
        let list = node.child_by_field_name("arguments");
        match (called.kind(), called.child_by_field_name("field")) {
            ("identifier" | "type_identifier", _) => {
                let (name, arguments) = (span(called), self.arguments(list));
                Expression::Call { name, receiver: None, arguments, creates: false }
            }
            ("selector_expression", Some(field)) => {
                let operand = called.child_by_field_name("operand");
                let receiver = operand.map(|operand| Box::new(self.expression(operand)));
                let arguments = self.arguments(list);
                Expression::Call { name: span(field), receiver, arguments, creates: false }
            }
            _ => {
                let value = self.expression(called);
                let arguments = self.arguments(list);
                call_of_value(value, called, arguments, false)
            }
        }
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expression> {
        let values = list.into_iter().flat_map(parts);
        values.map(|value| self.expression(value)).collect()
    }

    fn index(&mut self, node: Node<'_>) -> Expression {
        let word = child_of_kind(node, &["["]).unwrap_or(node);
        let operands = parts(node).into_iter().map(|part| self.expression(part)).collect();
        combine(Operation::Index, span(word), operands)
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        let (Some(sign), Some(operand)) =
            (node.child_by_field_name("operator"), node.child_by_field_name("operand"))
        else {
            return gathered(node);
        };
        if sign.kind() == "-" && operand.kind().ends_with("_literal") {
            return literal(node);
        }
        let operation = match sign.kind() {
            "!" => Operation::Compare,
            "&" | "*" | "<-" => Operation::Pass,
            _ => Operation::Arithmetic,
        };
        let operand = self.expression(operand);
        combine(operation, span(sign), vec![operand])
    }

    /// `Order{Total: x}` creates an object, `[]int{1, x}` gathers values.
    fn composite(&mut self, node: Node<'_>) -> Expression {
        let (Some(kind), Some(body)) =
            (node.child_by_field_name("type"), node.child_by_field_name("body"))
        else {
            return gathered(node);
        };
        let arguments = self.elements(body);
        let bare = kind.child_by_field_name("type").filter(|_| kind.kind() == "generic_type");
        let kind = bare.unwrap_or(kind);
        match (kind.kind(), kind.child_by_field_name("name")) {
            ("type_identifier", _) => {
                Expression::Call { name: span(kind), receiver: None, arguments, creates: true }
            }
            ("qualified_type", Some(class)) => {
                let package = kind.child_by_field_name("package");
                let receiver = package.map(|package| Box::new(name(package)));
                Expression::Call { name: span(class), receiver, arguments, creates: true }
            }
            _ => combine(Operation::Gather, span(kind), arguments),
        }
    }

    /// The values in `{a: 1, 2}`; a key that is a field's name is none.
    fn elements(&mut self, body: Node<'_>) -> Vec<Expression> {
        let mut values = Vec::new();
        for element in parts(body) {
            if element.kind() != "keyed_element" {
                values.push(self.expression(element));
                continue;
            }
            let key = element.child_by_field_name("key").and_then(first_part);
            let key = key.filter(|key| key.kind() != "identifier");
            values.extend(key.map(|key| self.expression(key)));
            let value = element.child_by_field_name("value");
            values.extend(value.map(|value| self.expression(value)));
        }
        values
    }

    /// One value, or several that are given together.
    fn list(&mut self, node: Node<'_>) -> Expression {
        let values = parts(node);
        if let [only] = values.as_slice() {
            return self.expression(*only);
        }
        let word = child_of_kind(node, &[","]).unwrap_or(node);
        let operands = values.into_iter().map(|value| self.expression(value)).collect();
        combine(Operation::Gather, span(word), operands)
    }
}
