//! The expressions of Rust in the flow form, and those that compare values: `assert!` and its like,
//! and `#[should_panic]`; and calls of macros, which are tokens to the grammar, and mostly
//! expressions to people.

use tree_sitter::Node;

use super::flow::Rust;
use super::statements::block_of;
use crate::flow::{Expression, Operation, Statement};
use crate::languages::lowering::Head;
use crate::languages::shapes::{
    Link, behind, binary, call_of_value, cast, combine, first_part, gathered, inside, links_from,
    literal, member, name, parts, raising, span,
};
use crate::tree::{Fields, child_of_kind, children};

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
        let Some(called) = node.field("function") else { return gathered(node) };
        // `f::<T>(x)`: the type says nothing about values.
        let generic = called.kind() == "generic_function";
        let inner = called.field("function").filter(|_| generic);
        let called = inner.unwrap_or(called);
        let list = node.field("arguments");
        let (named, object) = match called.kind() {
            "identifier" => (Some(called), None),
            "scoped_identifier" => (called.field("name"), called.field("path")),
            "field_expression" => (called.field("field"), called.field("value")),
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
        let bare = object.field("type").filter(|_| object.kind() == "generic_type");
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
        match (node.field("path"), node.field("name")) {
            (Some(path), Some(member)) => {
                let object = Box::new(name(path));
                Expression::Member { object, name: span(member) }
            }
            _ => gathered(node),
        }
    }

    /// `Order { total, tax: 1, ..base }`.
    fn structure(&mut self, node: Node<'_>) -> Expression {
        let Some(kind) = node.field("name") else { return gathered(node) };
        let mut arguments = Vec::new();
        for part in node.field("body").into_iter().flat_map(parts) {
            let value = part.field("value").or_else(|| first_part(part));
            arguments.extend(value.map(|value| self.expression(value)));
        }
        let kind = kind.field("type").unwrap_or(kind);
        let named = kind.field("name").unwrap_or(kind);
        let receiver = kind.field("path").map(|path| Box::new(name(path)));
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
        let (Some(left), Some(right)) = (node.field("left"), node.field("right")) else {
            return gathered(node);
        };
        let value = Some(self.expression(right));
        let sign = node.field("operator").or_else(|| child_of_kind(node, &["="]));
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
        if let Some(body) = node.field("body") {
            self.function_body(body, true);
        }
        let body = self.form.close(outer);
        let returns = node.field("return_type").map(span);
        let head = Head { returns, ..Head::lambda(parameters, node) };
        Expression::Lambda(Box::new(self.form.function(head, body)))
    }
}

impl Rust<'_, '_> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        if node.kind() != "macro_invocation" {
            return self.chain(node);
        }
        let Some(word) = macro_name(node).filter(|name| is_macro(self.form.text(*name))) else {
            return false;
        };
        let operands = self.macro_arguments(node);
        let words = vec![span(word)];
        self.form.emit(Statement::Assert { words, operands, line: span(node).line });
        true
    }

    /// `assert_paid(&order)` and `command.assert().success()`: own helpers follow the same habit.
    fn chain(&mut self, node: Node<'_>) -> bool {
        let is_assertion = |link: &Link<'_>, _| is_helper(self.form.text(link.name));
        let Some(links) = links_from(node, link, is_assertion) else { return false };
        let subject = links.first().and_then(|link| link.object);
        let mut operands: Vec<Expression> =
            subject.map(|subject| self.expression(subject)).into_iter().collect();
        for link in &links {
            operands.extend(self.arguments(link.arguments));
        }
        self.form.assert_by(&links, operands, node);
        true
    }

    /// A body that must panic, as `#[should_panic(expected = "…")]` says.
    pub(super) fn expecting(
        &self,
        attributes: &[Node<'_>],
        body: Vec<Statement>,
    ) -> Vec<Statement> {
        let attributes = attributes.iter().filter_map(|attribute| first_part(*attribute));
        let found = attributes.filter_map(|attribute| Some((first_part(attribute)?, attribute)));
        let mut found = found.filter(|(name, _)| self.form.text(*name) == "should_panic");
        let Some((name, attribute)) = found.next() else { return body };
        let said = attribute
            .field("arguments")
            .and_then(|tokens| child_of_kind(tokens, &["string_literal"]))
            .or_else(|| attribute.field("value"));
        let operands = said.map(gathered).into_iter().collect();
        raising(body, span(name), operands)
    }

    /// What a macro makes.
    fn macro_value(&mut self, node: Node<'_>) -> Expression {
        let Some(called) = macro_name(node) else { return gathered(node) };
        let arguments = self.macro_arguments(node);
        match self.form.text(called) {
            "vec" => combine(Operation::Gather, span(called), arguments),
            "matches" => combine(Operation::Compare, span(called), arguments),
            _ => {
                let (name, receiver) = (span(called), None);
                Expression::Call { name, receiver, arguments, creates: false }
            }
        }
    }

    /// The values given to a macro. What follows the first comma of `matches!` is a pattern.
    fn macro_arguments(&mut self, node: Node<'_>) -> Vec<Expression> {
        let Some(tokens) = child_of_kind(node, &["token_tree"]) else { return Vec::new() };
        let name = macro_name(node).map_or("", |name| self.form.text(name));
        if matches!(name, "matches" | "assert_matches" | "debug_assert_matches") {
            return self.pieces(tokens).into_iter().take(1).collect();
        }
        let text = self.form.reading.text;
        let Some(tree) = self.form.pieces.parse(tokens, tokens, text) else {
            return vec![gathered(tokens)];
        };
        let whole = first_part(tree.root_node());
        let whole = whole.filter(|part| part.kind() == "expression_statement").and_then(first_part);
        let is_list = |list: &Node<'_>| {
            !list.has_error() && list.byte_range() == tokens.byte_range() && list.kind() != "block"
        };
        let Some(list) = whole.filter(is_list) else { return self.pieces(tokens) };
        self.form.pieces.enter();
        let arguments = parts(list).into_iter().map(|value| self.expression(value)).collect();
        self.form.pieces.leave();
        arguments
    }

    /// The values between the outermost commas, each read on its own.
    fn pieces(&mut self, tokens: Node<'_>) -> Vec<Expression> {
        let inner = children(tokens);
        let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
        let pieces = inner.split(|token| matches!(token.kind(), "," | ";" | "=>"));
        pieces.filter_map(|piece| self.piece(piece)).collect()
    }

    fn piece(&mut self, tokens: &[Node<'_>]) -> Option<Expression> {
        let (first, last) = (*tokens.first()?, *tokens.last()?);
        let text = self.form.reading.text;
        let tree = self.form.pieces.parse(first, last, text);
        let root = tree.as_ref().and_then(|tree| first_part(tree.root_node()));
        let value = root.map(|root| match root.kind() {
            "expression_statement" => first_part(root).unwrap_or(root),
            _ => root,
        });
        let is_whole = |value: &Node<'_>| {
            !value.has_error() && !value.is_error() && value.end_byte() == last.end_byte()
        };
        match value.filter(is_whole) {
            Some(value) => {
                self.form.pieces.enter();
                let value = self.expression(value);
                self.form.pieces.leave();
                Some(value)
            }
            None => {
                let loose = tokens.iter().filter(|t| t.is_named()).map(|t| gathered(*t));
                let loose: Vec<_> = loose.collect();
                (!loose.is_empty()).then(|| combine(Operation::Gather, span(first), loose))
            }
        }
    }

    /// Write the statements of a block that is nothing but tokens.
    pub(super) fn token_block(&mut self, tokens: Node<'_>) {
        let text = self.form.reading.text;
        let Some(tree) = self.form.pieces.parse(tokens, tokens, text) else { return };
        self.form.pieces.enter();
        for part in parts(tree.root_node()) {
            let block = if part.kind() == "expression_statement" { first_part(part) } else { None };
            match block.filter(|block| block.kind() == "block") {
                Some(block) => self.block(block),
                None => self.statement(part),
            }
        }
        self.form.pieces.leave();
    }
}

fn is_macro(name: &str) -> bool {
    let name = name.strip_prefix("debug_").unwrap_or(name);
    let name = name.strip_prefix("prop_").unwrap_or(name);
    is_helper(name) || matches!(name, "panic" | "unreachable")
}

/// `assert` and `assert_paid`.
fn is_helper(name: &str) -> bool {
    name == "assert" || name.starts_with("assert_")
}

/// The function or method that a node calls.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let called = node.field("function").filter(|_| node.kind() == "call_expression")?;
    let inner = called.field("function");
    let called = inner.filter(|_| called.kind() == "generic_function").unwrap_or(called);
    let arguments = node.field("arguments");
    match called.kind() {
        "identifier" => Some(Link { name: called, object: None, arguments }),
        "field_expression" => {
            let name = called.field("field")?;
            Some(Link { name, object: called.field("value"), arguments })
        }
        _ => None,
    }
}

/// The last part of a macro's path.
fn macro_name<'n>(node: Node<'n>) -> Option<Node<'n>> {
    let called = node.field("macro")?;
    Some(called.field("name").unwrap_or(called))
}
