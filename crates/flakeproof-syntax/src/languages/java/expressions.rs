//! The expressions of Java in the flow form.

use tree_sitter::Node;

use super::flow::Java;
use crate::flow::{Expression, Operation, Parameter, Span, Statement};
use crate::languages::lowering::Head;
use crate::languages::shapes::{
    binary, cast, choice, combine, first_part, gathered, inside, literal, member, name, parts,
    span, text_with_holes,
};
use crate::tree::{child_of_kind, children};

impl Java<'_, '_> {
    /// Where a value comes from. What happens on the way, such as `(line = read())`, is written as
    /// statements of its own.
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        if !self.form.enter() {
            return gathered(node);
        }
        let value = match node.kind() {
            "identifier" | "this" | "super" | "type_identifier" => name(node),
            "parenthesized_expression" | "guard" => inside(node, |inner| self.expression(inner)),
            "method_invocation" => self.call(node),
            "object_creation_expression" => self.creation(node),
            "field_access" => member(node, ["object", "field"], |part| self.expression(part)),
            "binary_expression" => binary(node, |part| self.expression(part)),
            "unary_expression" => self.unary(node),
            "update_expression" => self.update(node),
            "assignment_expression" => self.assignment(node),
            "ternary_expression" => choice(node, |part| self.expression(part)),
            "cast_expression" => cast(node, ["value", "type"], |part| self.expression(part)),
            "instanceof_expression" => self.instance_test(node),
            "array_access" => self.gather_fields(node, Operation::Index, "[", &["array", "index"]),
            "array_creation_expression" | "array_initializer" => self.array(node),
            "lambda_expression" => self.lambda(node),
            "method_reference" => self.method_reference(node),
            "class_literal" => self.class_literal(node),
            "switch_expression" => self.switch_value(node),
            "template_expression" => {
                let fields = ["template_processor", "template_argument"];
                self.gather_fields(node, Operation::Gather, ".", &fields)
            }
            "string_literal" => self.text_literal(node),
            kind if kind.ends_with("_literal") || matches!(kind, "true" | "false") => literal(node),
            _ => gathered(node),
        };
        self.form.leave();
        value
    }

    fn call(&mut self, node: Node<'_>) -> Expression {
        if let Some(error) = self.raised(node) {
            return error;
        }
        let Some(called) = node.child_by_field_name("name") else { return gathered(node) };
        let receiver = node.child_by_field_name("object");
        let receiver = receiver.map(|receiver| Box::new(self.expression(receiver)));
        let arguments = self.arguments(node);
        Expression::Call { name: span(called), receiver, arguments, creates: false }
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, call: Node<'_>) -> Vec<Expression> {
        let list = call.child_by_field_name("arguments");
        let arguments = list.into_iter().flat_map(parts);
        arguments.map(|argument| self.expression(argument)).collect()
    }

    fn creation(&mut self, node: Node<'_>) -> Expression {
        let Some(kind) = node.child_by_field_name("type") else { return gathered(node) };
        let (outer, class) = split_type(kind);
        let around = first_part(node).filter(|part| *part != kind && is_value(part.kind()));
        let receiver = match around {
            Some(around) => Some(Box::new(self.expression(around))),
            None => outer.map(|outer| Box::new(Expression::Name(outer))),
        };
        let mut arguments = self.arguments(node);
        if let Some(body) = child_of_kind(node, &["class_body"]) {
            arguments.extend(self.callbacks(body));
        }
        Expression::Call { name: class, receiver, arguments, creates: true }
    }

    fn unary(&mut self, node: Node<'_>) -> Expression {
        let (Some(sign), Some(operand)) =
            (node.child_by_field_name("operator"), node.child_by_field_name("operand"))
        else {
            return gathered(node);
        };
        let operation = if sign.kind() == "!" { Operation::Compare } else { Operation::Arithmetic };
        // A negative number is one literal.
        if sign.kind() == "-" && operand.kind().ends_with("_literal") {
            return literal(node);
        }
        let operand = self.expression(operand);
        combine(operation, span(sign), vec![operand])
    }

    fn update(&mut self, node: Node<'_>) -> Expression {
        let (Some(target), Some(sign)) = (first_part(node), child_of_kind(node, &["++", "--"]))
        else {
            return gathered(node);
        };
        let target = self.expression(target);
        self.form.bind(target.clone(), span(sign), Some(target.clone()));
        target
    }

    fn assignment(&mut self, node: Node<'_>) -> Expression {
        let fields = ["left", "operator", "right"].map(|field| node.child_by_field_name(field));
        let [Some(target), Some(operator), Some(value)] = fields else { return gathered(node) };
        let value = self.expression(value);
        let target = self.expression(target);
        self.form.bind(target.clone(), span(operator), Some(value));
        target
    }

    fn instance_test(&mut self, node: Node<'_>) -> Expression {
        let (Some(value), Some(word)) =
            (node.child_by_field_name("left"), child_of_kind(node, &["instanceof"]))
        else {
            return gathered(node);
        };
        let value = self.expression(value);
        let kind = node.child_by_field_name("right");
        let pattern = node.child_by_field_name("pattern");
        let variables = node
            .child_by_field_name("name")
            .into_iter()
            .chain(pattern.into_iter().flat_map(|pattern| pattern_names(pattern)));
        let targets: Vec<Expression> = variables.map(name).collect();
        if !targets.is_empty() {
            let (declared, operator, value) = (kind.map(span), span(word), Some(value.clone()));
            self.form.emit(Statement::Bind { targets, declared, operator, value });
        }
        let kind = kind.map(|kind| Expression::Name(span(kind)));
        combine(Operation::Compare, span(word), std::iter::once(value).chain(kind).collect())
    }

    fn gather_fields(
        &mut self,
        node: Node<'_>,
        operation: Operation,
        word: &str,
        fields: &[&str],
    ) -> Expression {
        let word = child_of_kind(node, &[word]).unwrap_or(node);
        let nodes = fields.iter().filter_map(|field| node.child_by_field_name(field));
        let operands = nodes.map(|part| self.expression(part)).collect();
        combine(operation, span(word), operands)
    }

    fn array(&mut self, node: Node<'_>) -> Expression {
        let mut operands = Vec::new();
        for part in parts(node) {
            match part.kind() {
                "dimensions_expr" => {
                    operands.extend(first_part(part).map(|size| self.expression(size)));
                }
                "array_initializer" if node.kind() == "array_creation_expression" => {
                    operands.extend(parts(part).into_iter().map(|part| self.expression(part)));
                }
                _ if node.kind() == "array_initializer" => operands.push(self.expression(part)),
                _ => {}
            }
        }
        let word = node.child_by_field_name("type").or_else(|| node.child(0)).unwrap_or(node);
        combine(Operation::Gather, span(word), operands)
    }

    fn lambda(&mut self, node: Node<'_>) -> Expression {
        let parameters = self.parameters(node);
        let outer = self.form.open();
        match node.child_by_field_name("body") {
            Some(body) if body.kind() == "block" => self.block(body),
            Some(body) if self.assertion(body) => {}
            body => self.leave_with(body),
        }
        let body = self.form.close(outer);
        let function = self.form.function(Head::lambda(parameters, node), body);
        Expression::Lambda(Box::new(function))
    }

    /// `Foo::bar` is a lambda that calls it.
    fn method_reference(&mut self, node: Node<'_>) -> Expression {
        let pieces = children(node);
        let (Some(&object), Some(&called)) = (pieces.first(), pieces.last()) else {
            return gathered(node);
        };
        let call = if called.kind() == "new" {
            let (_, class) = split_type(object);
            Expression::Call { name: class, receiver: None, arguments: vec![], creates: true }
        } else {
            let receiver = Some(Box::new(self.expression(object)));
            let name = span(called);
            Expression::Call { name, receiver, arguments: Vec::new(), creates: false }
        };
        let head = Head::lambda(Vec::<Parameter>::new(), node);
        let function = self.form.function(head, vec![Statement::Return(Some(call))]);
        Expression::Lambda(Box::new(function))
    }

    /// `Order.class`.
    fn class_literal(&mut self, node: Node<'_>) -> Expression {
        match (first_part(node), child_of_kind(node, &["class"])) {
            (Some(kind), Some(word)) => {
                let object = Box::new(Expression::Name(span(kind)));
                Expression::Member { object, name: span(word) }
            }
            _ => gathered(node),
        }
    }

    /// A `switch` that gives a value.
    fn switch_value(&mut self, node: Node<'_>) -> Expression {
        let outer = std::mem::take(&mut self.yields);
        let condition = node.child_by_field_name("condition");
        let mut operands: Vec<Expression> =
            condition.map(|condition| self.expression(condition)).into_iter().collect();
        for group in node.child_by_field_name("body").into_iter().flat_map(parts) {
            match child_of_kind(group, &["expression_statement"]).and_then(first_part) {
                Some(value) if group.kind() == "switch_rule" => {
                    let value = self.expression(value);
                    self.yields.push(value);
                }
                _ => self.switch_group(group),
            }
        }
        operands.append(&mut self.yields);
        self.yields = outer;
        combine(Operation::Choose, span(node.child(0).unwrap_or(node)), operands)
    }

    /// A text, or what goes into it.
    fn text_literal(&mut self, node: Node<'_>) -> Expression {
        let holes: Vec<_> =
            parts(node).into_iter().filter(|part| part.kind() == "string_interpolation").collect();
        text_with_holes(node, holes, |value| self.expression(value))
    }
}

/// `Outer` and `Inner` of `Outer.Inner<T>`.
fn split_type(kind: Node<'_>) -> (Option<Span>, Span) {
    let bare = match kind.kind() {
        "generic_type" | "annotated_type" => {
            child_of_kind(kind, &["type_identifier", "scoped_type_identifier"]).unwrap_or(kind)
        }
        _ => kind,
    };
    if bare.kind() != "scoped_type_identifier" {
        return (None, span(bare));
    }
    let named = parts(bare);
    let around = named.first().filter(|_| named.len() > 1).map(|outer| span(*outer));
    (around, named.last().map_or_else(|| span(bare), |last| span(*last)))
}

/// Whether a node before `new` is the object around the new one.
fn is_value(kind: &str) -> bool {
    matches!(
        kind,
        "identifier" | "this" | "method_invocation" | "field_access" | "parenthesized_expression"
    )
}

/// The variables of `Point(int x, var y)`.
fn pattern_names<'n>(pattern: Node<'n>) -> Vec<Node<'n>> {
    let mut names = Vec::new();
    let mut waiting = vec![pattern];
    while let Some(node) = waiting.pop() {
        let inner = parts(node);
        if node.kind() == "record_pattern_component" {
            names.extend(inner.last().filter(|last| last.kind() == "identifier"));
        } else {
            waiting.extend(inner.into_iter().rev());
        }
    }
    names
}
