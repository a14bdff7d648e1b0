//! The expressions of Java in the flow form, and those that compare values: JUnit, TestNG, AssertJ,
//! Truth, Hamcrest and Mockito's `verify`.
//!
//! An assertion is told by its name, because own helpers follow the same habit: whether
//! `assertPaid(order)` is a method of the project is seen later, by the first of its words.

use tree_sitter::Node;

use super::flow::Java;
use crate::flow::{Block, Expression, Operation, Parameter, Span, Statement};
use crate::languages::lowering::Head;
use crate::languages::shapes::{
    Link, binary, cast, choice, combine, first_part, gathered, inside, links_from, literal, member,
    name, parts, span, text_with_holes,
};
use crate::tree::{Fields, child_of_kind, children};

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
        let Some(called) = node.field("name") else { return gathered(node) };
        let receiver = node.field("object");
        let receiver = receiver.map(|receiver| Box::new(self.expression(receiver)));
        let arguments = self.arguments(node);
        Expression::Call { name: span(called), receiver, arguments, creates: false }
    }

    /// The values given to a call.
    pub(super) fn arguments(&mut self, call: Node<'_>) -> Vec<Expression> {
        let list = call.field("arguments");
        let arguments = list.into_iter().flat_map(parts);
        arguments.map(|argument| self.expression(argument)).collect()
    }

    fn creation(&mut self, node: Node<'_>) -> Expression {
        let Some(kind) = node.field("type") else { return gathered(node) };
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
        let (Some(sign), Some(operand)) = (node.field("operator"), node.field("operand")) else {
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
        let fields = ["left", "operator", "right"].map(|field| node.field(field));
        let [Some(target), Some(operator), Some(value)] = fields else { return gathered(node) };
        let value = self.expression(value);
        let target = self.expression(target);
        self.form.bind(target.clone(), span(operator), Some(value));
        target
    }

    fn instance_test(&mut self, node: Node<'_>) -> Expression {
        let (Some(value), Some(word)) = (node.field("left"), child_of_kind(node, &["instanceof"]))
        else {
            return gathered(node);
        };
        let value = self.expression(value);
        let kind = node.field("right");
        let pattern = node.field("pattern");
        let variables = node
            .field("name")
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
        fields: &[&'static str],
    ) -> Expression {
        let word = child_of_kind(node, &[word]).unwrap_or(node);
        let nodes = fields.iter().filter_map(|field| node.field(field));
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
        let word = node.field("type").or_else(|| node.child(0)).unwrap_or(node);
        combine(Operation::Gather, span(word), operands)
    }

    fn lambda(&mut self, node: Node<'_>) -> Expression {
        let parameters = self.parameters(node);
        let outer = self.form.open();
        match node.field("body") {
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
        let condition = node.field("condition");
        let mut operands: Vec<Expression> =
            condition.map(|condition| self.expression(condition)).into_iter().collect();
        for group in node.field("body").into_iter().flat_map(parts) {
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

impl<'a> Java<'_, 'a> {
    /// Write an assertion; `false`, and nothing written, where the node is none.
    pub(super) fn assertion(&mut self, node: Node<'_>) -> bool {
        let Some(chain) = self.chain(node) else { return false };
        let mut operands: Vec<Expression> = Vec::new();
        let mut runs = 0;
        operands.extend(chain.subject.map(|subject| self.expression(subject)));
        for link in &chain.links {
            let block = block_of(self.form.text(link.name));
            for argument in link.arguments.into_iter().flat_map(parts) {
                let value = self.expression(argument);
                match self.form.run_or_keep(value, block) {
                    Some(value) => operands.push(value),
                    None => runs += 1,
                }
            }
        }
        // `assertAll(() -> …, () -> …)` says nothing beyond its parts.
        let only_groups = runs > 0 && chain.name == "assertAll";
        if !only_groups {
            self.form.assert_by(&chain.links, operands, node);
        }
        true
    }

    /// `assertThrows(…)` where its value is used: the error that was raised.
    pub(super) fn raised(&mut self, node: Node<'_>) -> Option<Expression> {
        let called = node.field("name")?;
        if !matches!(self.form.text(called), "assertThrows" | "expectThrows") {
            return None;
        }
        let kinds = node.field("arguments").into_iter().flat_map(parts);
        let kinds: Vec<_> = kinds.filter(|n| n.kind() == "class_literal").collect();
        if !self.assertion(node) {
            return None;
        }
        let arguments = kinds.into_iter().map(|kind| self.expression(kind)).collect();
        Some(Expression::Call { name: span(called), receiver: None, arguments, creates: false })
    }

    /// The calls of a chain, from the one that makes it an assertion to the last.
    fn chain<'n>(&self, node: Node<'n>) -> Option<Chain<'n, 'a>> {
        let links = links_from(node, link, |link, goes_on| {
            is_assertion(self.form.text(link.name), self.receiver(link.object), goes_on)
        })?;
        let first = links.first()?;
        let (name, object) = (self.form.text(first.name), first.object);
        let receiver = self.receiver(object);
        let is_subject = match receiver {
            Receiver::None | Receiver::Class | Receiver::Library => false,
            // `inOrder.verify(mock).pay()` looks at the mock alone.
            Receiver::Variable if name == "verify" => links.len() == 1,
            Receiver::Variable => !is_library_verb(name),
            Receiver::Value => true,
        };
        Some(Chain { links, name, subject: object.filter(|_| is_subject) })
    }

    fn receiver(&self, object: Option<Node<'_>>) -> Receiver {
        let Some(object) = object else { return Receiver::None };
        let last = match object.kind() {
            "this" | "super" => return Receiver::None,
            "field_access" => object.field("field").unwrap_or(object),
            "identifier" => object,
            _ => return Receiver::Value,
        };
        match self.form.text(last) {
            "Assert" | "Assertions" | "MatcherAssert" | "Truth" => Receiver::Library,
            name if name.starts_with(char::is_uppercase) => Receiver::Class,
            _ => Receiver::Variable,
        }
    }
}

/// An assertion, however long.
struct Chain<'n, 'a> {
    /// Its calls, in the order in which they run.
    links: Vec<Link<'n>>,
    /// The name of the first.
    name: &'a str,
    /// The value that the first is called on, where that is looked at.
    subject: Option<Node<'n>>,
}

/// The method that is called by a node.
fn link<'n>(node: Node<'n>) -> Option<Link<'n>> {
    let name = node.field("name").filter(|_| node.kind() == "method_invocation")?;
    let object = node.field("object");
    Some(Link { name, object, arguments: node.field("arguments") })
}

/// What a call is made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    None,
    Class,
    /// A class that holds nothing but assertions.
    Library,
    Variable,
    /// Anything longer: `client.get("/").expectStatus()`.
    Value,
}

fn is_assertion(name: &str, receiver: Receiver, goes_on: bool) -> bool {
    let is_static = matches!(receiver, Receiver::None | Receiver::Class | Receiver::Library);
    if receiver == Receiver::Library || continues(name, "assert") || continues(name, "verify") {
        return true;
    }
    match name {
        "fail"
        | "failNotEquals"
        | "failSame"
        | "failNotSame"
        | "failWithMessage"
        | "failBecauseExceptionWasNotThrown" => is_static,
        "checkThat" | "andExpect" | "andExpectAll" | "expectThat" | "expectThrows" => true,
        // JUnit's rule for errors; EasyMock's `expect` has no receiver and sets a mock up.
        "expect" | "expectMessage" | "expectCause" => receiver == Receiver::Variable,
        "then" => receiver == Receiver::None && goes_on,
        "expectLastCall" => false,
        // `expectAndReturn` sets a mock up.
        _ => continues(name, "expect") && receiver != Receiver::Class && !name.contains("And"),
    }
}

/// Whether a name is a word or goes on with another one: `assert`, `assertPaid`, not `assertion`.
fn continues(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

/// Whether a library has an assertion of this name, so that the variable it is called on (a
/// `SoftAssertions`, an `InOrder`, a rule) is no value of the test.
fn is_library_verb(name: &str) -> bool {
    matches!(
        name,
        "assertThat"
            | "assertEquals"
            | "assertNotEquals"
            | "assertTrue"
            | "assertFalse"
            | "assertNull"
            | "assertNotNull"
            | "assertSame"
            | "assertNotSame"
            | "assertArrayEquals"
            | "assertAll"
            | "checkThat"
            | "expect"
            | "expectMessage"
            | "expectCause"
    )
}

fn block_of(name: &str) -> Block {
    let is_about_errors = name.contains("Throw") && !name.contains("NotThrow");
    if is_about_errors { Block::Raises } else { Block::Plain }
}
