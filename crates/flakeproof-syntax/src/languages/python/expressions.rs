//! The expressions of Python in the flow form.

use tree_sitter::Node;

use super::flow::Python;
use crate::flow::{Expression, Operation, Statement};
use crate::languages::lowering::Head;
use crate::languages::shapes::{
    behind, binary, call_of_value, combine, first_part, gathered, inside, literal, member, name,
    parts, span, text_with_holes,
};
use crate::tree::child_of_kind;

impl Python<'_, '_> {
    /// Where a value comes from. What happens on the way, such as `(line := read())`, is written
    /// as statements of its own.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" => name(node),
            "integer" | "float" | "true" | "false" | "none" | "ellipsis" => literal(node),
            "string" | "concatenated_string" => self.text_literal(node),
            "parenthesized_expression" | "type" | "if_clause" => {
                inside(node, |inner| self.expression(inner))
            }
            "call" => self.call(node),
            "attribute" => member(node, ["object", "attribute"], |part| self.expression(part)),
            "subscript" => self.gather(node, Operation::Index),
            "binary_operator" | "boolean_operator" => binary(node, |part| self.expression(part)),
            "comparison_operator" => self.gather(node, Operation::Compare),
            "not_operator" => self.gather(node, Operation::Compare),
            "unary_operator" => self.unary(node),
            "conditional_expression" => self.choice(node),
            "lambda" => self.lambda(node),
            "assignment" | "augmented_assignment" => self.assignment(node),
            "named_expression" => self.named(node),
            "await" | "list_splat" | "dictionary_splat" => self.gather(node, Operation::Pass),
            "yield" => {
                let value = self.gather(node, Operation::Pass);
                self.form.emit(Statement::Return(Some(value.clone())));
                value
            }
            "list" | "tuple" | "set" | "dictionary" | "expression_list" | "pattern_list"
            | "slice" => self.gather(node, Operation::Gather),
            kind if kind.ends_with("_comprehension") || kind == "generator_expression" => {
                self.comprehension(node)
            }
            "as_pattern" => self.as_pattern(node),
            "keyword_argument" => match node.child_by_field_name("value") {
                Some(value) => self.expression(value),
                None => gathered(node),
            },
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>) -> Expression {
        let Some(function) = node.child_by_field_name("function") else { return gathered(node) };
        let arguments = node.child_by_field_name("arguments");
        match (function.kind(), function.child_by_field_name("attribute")) {
            ("identifier", _) => {
                let arguments = self.arguments(arguments);
                self.call_of(function, None, arguments)
            }
            ("attribute", Some(attribute)) => {
                let object = function.child_by_field_name("object");
                let receiver = object.map(|object| self.expression(object));
                let arguments = self.arguments(arguments);
                self.call_of(attribute, receiver, arguments)
            }
            _ => {
                let value = self.expression(function);
                let arguments = self.arguments(arguments);
                call_of_value(value, function, arguments, false)
            }
        }
    }

    /// A call; a name that begins with a capital letter is taken for a class.
    fn call_of(
        &self,
        called: Node<'_>,
        receiver: Option<Expression>,
        arguments: Vec<Expression>,
    ) -> Expression {
        let creates = self.form.text(called).starts_with(char::is_uppercase);
        Expression::Call {
            name: span(called),
            receiver: receiver.map(Box::new),
            arguments,
            creates,
        }
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expression> {
        match list {
            Some(list) if list.kind() == "generator_expression" => vec![self.expression(list)],
            list => {
                let values = list.into_iter().flat_map(parts);
                values.map(|value| self.expression(value)).collect()
            }
        }
    }

    /// All parts of a node, named by its first sign.
    fn gather(&mut self, node: Node<'_>, operation: Operation) -> Expression {
        let mut cursor = node.walk();
        let word = node.children(&mut cursor).find(|child| !child.is_named());
        let word = word.map_or_else(|| behind(node), span);
        let mut operands = Vec::new();
        for part in parts(node) {
            if part.kind() == "pair" {
                operands.extend(parts(part).into_iter().map(|part| self.expression(part)));
            } else {
                operands.push(self.expression(part));
            }
        }
        combine(operation, word, operands)
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        match node.child_by_field_name("argument").map(|argument| argument.kind()) {
            Some("integer" | "float") => literal(node),
            _ => self.gather(node, Operation::Arithmetic),
        }
    }

    /// `a if b else c`, what decides first.
    fn choice(&mut self, node: Node<'_>) -> Expression {
        let mut operands: Vec<_> =
            parts(node).into_iter().map(|part| self.expression(part)).collect();
        if operands.len() > 1 {
            operands.swap(0, 1);
        }
        let word = child_of_kind(node, &["if"]).unwrap_or(node);
        combine(Operation::Choose, span(word), operands)
    }

    fn lambda(&mut self, node: Node<'_>) -> Expression {
        let parameters = self.parameters(node.child_by_field_name("parameters"));
        let outer = self.form.open();
        if let Some(body) = node.child_by_field_name("body")
            && !self.assertion(body)
        {
            let value = self.expression(body);
            self.form.emit(Statement::Return(Some(value)));
        }
        let body = self.form.close(outer);
        let function = self.form.function(Head::lambda(parameters, node), body);
        Expression::Lambda(Box::new(function))
    }

    /// `a = b = c` and `a += b`; the value of the first is the name it gives.
    fn assignment(&mut self, node: Node<'_>) -> Expression {
        let Some(left) = node.child_by_field_name("left") else { return gathered(node) };
        let value = node.child_by_field_name("right").map(|value| self.expression(value));
        let sign = node.child_by_field_name("operator").or_else(|| child_of_kind(node, &["="]));
        let operator = sign.map_or_else(|| behind(left), span);
        let targets = self.targets(left);
        let given = targets.first().cloned();
        let declared = node.child_by_field_name("type").map(span);
        self.form.emit(Statement::Bind { targets, declared, operator, value });
        given.unwrap_or_else(|| gathered(left))
    }

    /// What an assignment names: `a, (b, *c.d)` are three.
    pub(super) fn targets(&mut self, left: Node<'_>) -> Vec<Expression> {
        let mut targets = Vec::new();
        let mut waiting = vec![left];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "pattern_list"
                | "tuple_pattern"
                | "list_pattern"
                | "list_splat_pattern"
                | "tuple"
                | "list"
                | "parenthesized_expression"
                | "expression_list"
                | "list_splat" => waiting.extend(parts(node).into_iter().rev()),
                _ => targets.push(self.expression(node)),
            }
        }
        targets
    }

    fn named(&mut self, node: Node<'_>) -> Expression {
        match (node.child_by_field_name("name"), node.child_by_field_name("value")) {
            (Some(target), Some(value)) => {
                let value = self.expression(value);
                let operator = child_of_kind(node, &[":="]).map_or_else(|| behind(target), span);
                self.form.bind(name(target), operator, Some(value));
                name(target)
            }
            _ => gathered(node),
        }
    }

    /// `[f(x) for x in xs if g(x)]`: names are bound, then values gathered.
    fn comprehension(&mut self, node: Node<'_>) -> Expression {
        for clause in parts(node).into_iter().filter(|part| part.kind() == "for_in_clause") {
            let (Some(left), Some(right)) =
                (clause.child_by_field_name("left"), clause.child_by_field_name("right"))
            else {
                continue;
            };
            let value = Some(self.expression(right));
            let targets = self.targets(left);
            let operator = child_of_kind(clause, &["for"]).map_or_else(|| behind(left), span);
            self.form.emit(Statement::Bind { targets, declared: None, operator, value });
        }
        let mut operands = Vec::new();
        for part in parts(node) {
            match part.kind() {
                "for_in_clause" => {}
                "pair" => operands.extend(parts(part).into_iter().map(|n| self.expression(n))),
                _ => operands.push(self.expression(part)),
            }
        }
        combine(Operation::Gather, span(node.child(0).unwrap_or(node)), operands)
    }

    fn as_pattern(&mut self, node: Node<'_>) -> Expression {
        let value = first_part(node).map(|value| self.expression(value));
        if let (Some(alias), Some(word)) =
            (node.child_by_field_name("alias"), child_of_kind(node, &["as"]))
        {
            self.form.bind(name(alias), span(word), value.clone());
        }
        value.unwrap_or_else(|| gathered(node))
    }

    /// A text, or what goes into it.
    fn text_literal(&mut self, node: Node<'_>) -> Expression {
        let strings = if node.kind() == "string" { vec![node] } else { parts(node) };
        let holes: Vec<_> = strings
            .into_iter()
            .flat_map(parts)
            .filter(|part| part.kind() == "interpolation")
            .collect();
        text_with_holes(node, holes, |value| self.expression(value))
    }
}
