//! What statements do to variables, and what an assertion among them looks at.

use super::builder::{Builder, Input, LastCall, Through};
use super::call::{Passed, span_of_call};
use super::graph::{NodeId, NodeKind, Words};
use super::value::{Nested, Variable, transparent};
use crate::flow::{Block, Declared, Expression, Operation, Span, Statement};
use crate::project::has_subject;

/// The calls of one block that may raise an exception, at most.
const MOST_RAISING: usize = 200;

impl<'p> Builder<'p> {
    /// Run through statements in the order of the text.
    pub(super) fn block(&mut self, statements: &'p [Statement]) {
        let mut at = 0;
        while let Some(statement) = statements.get(at) {
            at += 1;
            if !self.descend() {
                return;
            }
            match statement {
                Statement::Nested { block: Block::Branch, .. } => {
                    at = self.branches(statements, at - 1);
                }
                Statement::Nested { block: Block::Raises, body, .. } => {
                    let next = statements.get(at);
                    at += usize::from(self.raises(body, next));
                }
                Statement::Assert { words, .. }
                    if matches!(
                        statements.get(at),
                        Some(Statement::Nested { block: Block::Raises, .. })
                    ) =>
                {
                    if let Some(Statement::Nested { body, .. }) = statements.get(at) {
                        let next = Some(statement).filter(|_| !words.is_empty());
                        self.raises(body, next);
                        at += 1;
                    }
                }
                other => self.statement(other),
            }
            self.depth -= 1;
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        match statement {
            Statement::Bind { targets, operator, value, .. } => {
                self.bind(targets, *operator, value.as_ref());
            }
            Statement::Evaluate(value) => self.evaluate(value),
            Statement::Return(Some(value)) => self.give_back(value),
            Statement::Return(None) => {}
            Statement::Assert { words, operands, .. } => {
                self.assertion(words, operands, Vec::new());
            }
            Statement::Nested { block, heads, body } => {
                self.heads(heads);
                match block {
                    Block::Plain | Block::Raises => self.block(body),
                    Block::Branch | Block::Loop | Block::Try | Block::Handler => {
                        let mark = self.environment.enter();
                        self.block(body);
                        let changes = self.environment.leave(mark);
                        self.environment.merge(changes);
                    }
                }
            }
        }
    }

    /// A branch and what stands for its `else`: each begins with what was so before all of them.
    /// Gives the place of the first statement after them.
    fn branches(&mut self, statements: &'p [Statement], first: usize) -> usize {
        let mut changes = Vec::new();
        let mut at = first;
        while let Some(Statement::Nested { block: Block::Branch, heads, body }) = statements.get(at)
        {
            if at > first && !heads.is_empty() {
                break;
            }
            self.heads(heads);
            let mark = self.environment.enter();
            self.block(body);
            changes.push(self.environment.leave(mark));
            at += 1;
        }
        for changes in changes {
            self.environment.merge(changes);
        }
        at
    }

    fn heads(&mut self, heads: &'p [Expression]) {
        for head in heads {
            let through = self.plain(head.span());
            self.flow(head, through, Nested::Plain, &mut Vec::new());
        }
    }

    /// What must raise: its calls end in the assertion about the exception. Says whether that was
    /// the statement beside it.
    fn raises(&mut self, body: &'p [Statement], beside: Option<&'p Statement>) -> bool {
        let outer = self.raising.replace(Vec::new());
        self.block(body);
        let inputs = std::mem::replace(&mut self.raising, outer).unwrap_or_default();
        if let Some(Statement::Assert { words, operands, .. }) = beside {
            self.assertion(words, operands, inputs);
            return true;
        }
        if let (Some(last), true) = (&self.last_call, self.counts_assertions) {
            let words = last.through.words;
            self.conclude(words, &inputs);
        }
        false
    }

    fn bind(&mut self, targets: &'p [Expression], operator: Span, value: Option<&'p Expression>) {
        let mut inputs = Vec::new();
        let through = self.plain(operator);
        if let Some(value) = value {
            self.top_value(value, through, &mut inputs);
        }
        for target in targets {
            self.assign(target, through, &inputs);
        }
    }

    fn assign(&mut self, target: &'p Expression, through: Through, inputs: &[Input]) {
        match target {
            Expression::Name(span) => {
                let name = self.text(*span);
                let local = Variable::Local(self.run(), name);
                let variable = self.variable(name).unwrap_or(local);
                let mut inputs = inputs.to_vec();
                if self.is_compound(through) {
                    self.flow(target, through, Nested::Plain, &mut inputs);
                }
                self.define(variable, *span, &inputs);
            }
            Expression::Combine {
                operation: Operation::Gather | Operation::Pass,
                operands,
                ..
            } => {
                if self.descend() {
                    for operand in operands {
                        self.assign(operand, through, inputs);
                    }
                    self.depth -= 1;
                }
            }
            Expression::Member { object, name } => match self.own_field(object, *name) {
                Some(field) => {
                    let mut inputs = inputs.to_vec();
                    if self.is_compound(through) {
                        self.flow(target, through, Nested::Plain, &mut inputs);
                    }
                    self.define(field, *name, &inputs);
                }
                None => self.change(target, through, inputs),
            },
            other => self.change(other, through, inputs),
        }
    }

    /// A part of a variable gets a value: a new definition, of the old one and of the value.
    fn change(&mut self, target: &'p Expression, through: Through, inputs: &[Input]) {
        let mut inputs = inputs.to_vec();
        self.flow(target, through, Nested::Plain, &mut inputs);
        if let Some((variable, span)) = self.root(target) {
            self.define(variable, span, &inputs);
        }
    }

    /// Whether the old value stays in the new one: `+=`.
    fn is_compound(&self, through: Through) -> bool {
        let operator = through.words.spans().first().map_or("", |span| self.text(*span));
        let plain = matches!(operator, "=" | ":=" | "==" | "=>" | "<=" | ">=");
        !plain && (operator.ends_with('=') || matches!(operator, "++" | "--"))
    }

    fn evaluate(&mut self, value: &'p Expression) {
        match transparent(value) {
            call @ Expression::Call { .. } => self.dropped_call(call),
            other => {
                let through = self.plain(other.span());
                self.flow(other, through, Nested::Plain, &mut Vec::new());
            }
        }
    }

    /// A call whose value nobody takes: it changes what it is called on, or what it is given.
    fn dropped_call(&mut self, call: &'p Expression) {
        let Expression::Call { receiver, arguments, .. } = call else { return };
        let mut inputs = Vec::new();
        let passed = self.call_inputs(call, &mut inputs);
        self.note_call(call, passed, inputs.clone());
        let root = receiver.as_deref().and_then(|receiver| self.root(receiver));
        if let Some((variable, span)) = root {
            self.define(variable, span, &inputs);
            return;
        }
        for argument in arguments {
            if let Expression::Name(_) | Expression::Member { .. } = argument
                && let Some((variable, span)) = self.root(argument)
            {
                self.define(variable, span, &inputs);
            }
        }
    }

    fn give_back(&mut self, value: &'p Expression) {
        let is_test = self.frames.len() == 1;
        if let (true, Expression::Call { .. }) = (is_test, transparent(value)) {
            return self.evaluate(value);
        }
        let mut inputs = Vec::new();
        let through = self.plain(value.span());
        self.top_value(value, through, &mut inputs);
        if let Some(frame) = self.frames.last_mut() {
            frame.returned.append(&mut inputs);
        }
    }

    /// A statement made a call: it may be the last one, or the one that raises.
    pub(super) fn note_call(&mut self, call: &'p Expression, passed: Passed, inputs: Vec<Input>) {
        let Some(frame) = self.frames.last() else { return };
        if let Some(raising) = &mut self.raising
            && raising.len() < MOST_RAISING
        {
            raising.extend(inputs.iter().copied());
        }
        // The last call of a body that was followed comes later than the call of that body.
        if passed.makes_calls {
            return;
        }
        let (unit, span) = (frame.unit, span_of_call(frame.file, call));
        self.last_call = Some(LastCall { through: passed.through, unit, span, inputs });
    }
}

/// A literal flows into this many of the values it is compared with.
const MOST_COMPARED: usize = 4;

/// What an assertion looks at, as it is gathered.
struct Looked {
    id: u32,
    /// Values that something flows into.
    values: Vec<NodeId>,
    /// Literals and constants.
    literals: Vec<NodeId>,
    /// What has no node of the assertion's own.
    loose: Vec<Input>,
}

impl<'p> Builder<'p> {
    /// An assertion; `raised` flows into it too.
    pub(super) fn assertion(
        &mut self,
        words: &'p [Span],
        operands: &'p [Expression],
        raised: Vec<Input>,
    ) {
        if self.follow_assertion(words, operands) && raised.is_empty() {
            return;
        }
        let through = self.through_assertion(words);
        if self.expects_exception(words) {
            return self.expect_exception(through, operands);
        }
        if !self.counts_assertions {
            for operand in operands {
                self.flow(operand, through, Nested::Plain, &mut Vec::new());
            }
            return;
        }
        let id = self.open_assertion(through.words);
        let mut looked = Looked { id, values: Vec::new(), literals: Vec::new(), loose: raised };
        for operand in operands {
            self.look_at_literals(operand, &mut looked);
        }
        for operand in operands {
            self.look_at(operand, through, &mut looked);
        }
        self.close_assertion(through, looked);
    }

    /// An assertion that the test code itself defines is what it does inside. Says whether anything
    /// was asserted there.
    fn follow_assertion(&mut self, words: &'p [Span], operands: &'p [Expression]) -> bool {
        let [name] = words else { return false };
        let target = self.frames.last().and_then(|frame| frame.calls.at(*name));
        let callee = target.and_then(|target| self.callee(target));
        let Some((declared, object)) = callee.filter(|(it, _)| self.may_follow(*it)) else {
            return false;
        };
        let before = self.graph.assertions.len();
        let through =
            Through { words: Words::new(self.unit(), &[*name]), code: None, is_plain: false };
        let given: Vec<Vec<Input>> = operands
            .iter()
            .skip(usize::from(has_subject(*name, operands)))
            .map(|operand| {
                let mut inputs = Vec::new();
                self.flow(operand, through, Nested::Argument, &mut inputs);
                inputs
            })
            .collect();
        self.follow(declared, &given, object);
        self.graph.assertions.len() > before
    }

    /// Whether a rule of JUnit 4 is told which exception will come.
    fn expects_exception(&self, words: &[Span]) -> bool {
        let Some((first, frame)) = words.first().zip(self.frames.last()) else { return false };
        if !self.counts_assertions || !self.text(*first).starts_with("expect") {
            return false;
        }
        let before = frame.file.text.get(..first.start as usize).unwrap_or_default();
        let Some(before) = before.trim_end().strip_suffix('.') else { return false };
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let rule = before.get(start..).unwrap_or_default();
        let place = self.project.find_field(self.unit(), self.owner(), rule);
        let field = place.and_then(|place| Some((place, self.project.field_at(place)?)));
        field.is_some_and(|(place, field)| {
            let file = self.project.units().get(place.unit as usize);
            let declared = file.zip(field.declared).map(|(file, span)| file.text_of(span));
            declared.is_some_and(|text| text.contains("ExpectedException"))
        })
    }

    /// From here on each call may be the one that raises; the test ends in the exception.
    fn expect_exception(&mut self, through: Through, operands: &'p [Expression]) {
        let mut inputs = self.raising.take().unwrap_or_default();
        for operand in operands {
            self.flow(operand, through, Nested::Plain, &mut inputs);
        }
        self.expected = Some(through.words);
        self.raising = Some(inputs);
    }

    fn through_assertion(&self, words: &[Span]) -> Through {
        let calls = self.frames.last().map(|frame| frame.calls);
        let resolved = |word: &Span| -> Option<Declared> {
            let target = calls.and_then(|calls| calls.at(*word))?;
            target.functions.first().copied().filter(|it| !self.project.is_test_code(*it))
        };
        let code = words.iter().rev().find_map(resolved);
        Through { words: Words::new(self.unit(), words), code, is_plain: false }
    }

    /// Literals come first, so that edges lead from earlier to later nodes.
    fn look_at_literals(&mut self, operand: &'p Expression, looked: &mut Looked) {
        if !self.descend() {
            return;
        }
        match operand {
            Expression::Literal(span) => {
                let node = self.add_node(NodeKind::Literal, self.unit(), *span, &[]);
                looked.literals.push(node);
            }
            Expression::Combine { operation, operands, .. } if *operation != Operation::Index => {
                for operand in operands {
                    self.look_at_literals(operand, looked);
                }
            }
            Expression::Member { object, name } => {
                if self.own_field(object, *name).is_none() {
                    looked.literals.extend(self.constant(object, *name));
                }
            }
            Expression::Combine { .. }
            | Expression::Name(_)
            | Expression::Call { .. }
            | Expression::Lambda(_) => {}
        }
        self.depth -= 1;
    }

    fn look_at(&mut self, operand: &'p Expression, through: Through, looked: &mut Looked) {
        if !self.descend() {
            return;
        }
        match operand {
            Expression::Literal(_) => {}
            Expression::Name(span) => self.look_at_variable(operand, *span, through, looked),
            Expression::Member { object, name } => {
                self.look_at_member(operand, object, *name, through, looked);
            }
            Expression::Call { .. } => self.look_at_call(operand, through, looked),
            Expression::Combine { operation, word, operands } => {
                let through = match operation {
                    Operation::Pass | Operation::Index => through,
                    Operation::Arithmetic
                    | Operation::Compare
                    | Operation::Gather
                    | Operation::Choose => through.inner(*word),
                };
                for operand in operands {
                    self.look_at(operand, through, looked);
                }
            }
            Expression::Lambda(function) => {
                let returned = self.lambda(function, &[]);
                let returned = returned.into_iter().map(|input| Input { through, ..input });
                looked.loose.extend(returned);
            }
        }
        self.depth -= 1;
    }

    fn look_at_member(
        &mut self,
        operand: &'p Expression,
        object: &'p Expression,
        name: Span,
        through: Through,
        looked: &mut Looked,
    ) {
        let first = if object.span().start < name.start { object.span() } else { name };
        let span = Span { start: first.start, end: name.end, line: first.line };
        if self.own_field(object, name).is_some() {
            self.look_at_variable(operand, span, through, looked);
        } else if self.constant(object, name).is_none() {
            let inner = Words::new(self.unit(), &[name]);
            let words = through.words.spans().iter().fold(inner, |all, it| all.and(*it));
            self.look_at_variable(object, span, Through { words, ..through }, looked);
        }
    }

    fn look_at_call(&mut self, call: &'p Expression, through: Through, looked: &mut Looked) {
        let mut inputs = Vec::new();
        let passed = self.call_inputs(call, &mut inputs);
        let node = self.call_node(call, &inputs);
        if inputs.is_empty() {
            looked.loose.push(Input { node, through, is_argument: false });
        } else {
            looked.values.push(node);
        }
        self.note_call(call, passed, inputs);
    }

    fn look_at_variable(
        &mut self,
        value: &'p Expression,
        span: Span,
        through: Through,
        looked: &mut Looked,
    ) {
        let mut inputs = Vec::new();
        self.flow(value, through, Nested::Plain, &mut inputs);
        if !inputs.is_empty() {
            let unit = self.unit();
            looked.values.push(self.add_node(NodeKind::Variable, unit, span, &inputs));
        }
    }

    fn close_assertion(&mut self, through: Through, mut looked: Looked) {
        let literal = |node: &NodeId| Input { node: *node, through, is_argument: false };
        let literals: Vec<Input> = looked.literals.iter().map(literal).collect();
        for value in looked.values.iter().take(MOST_COMPARED) {
            self.connect(&literals, *value);
        }
        if looked.values.is_empty() {
            looked.loose.extend(&literals);
            // `fail("…")` looks at nothing: what it is about is the call before it.
            if let Some(last) = &self.last_call {
                looked.loose.extend(&last.inputs);
            }
        }
        let mut nodes: Vec<NodeId> =
            looked.literals.iter().chain(&looked.values).copied().collect();
        if let (false, Some(span)) = (looked.loose.is_empty(), through.words.spans().first()) {
            let unit = through.words.unit;
            nodes.push(self.add_node(NodeKind::Assertion, unit, *span, &looked.loose));
        }
        let place = |node: &NodeId| self.graph.node(*node).map(|node| node.span.start);
        nodes.sort_by_key(|node| (place(node), *node));
        nodes.dedup();
        for node in nodes {
            self.look_at_node(looked.id, node);
        }
    }
}
