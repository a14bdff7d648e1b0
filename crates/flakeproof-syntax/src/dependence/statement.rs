//! What statements do to variables.

use super::builder::{Builder, Input, LastCall, Through};
use super::call::{Passed, span_of_call};
use super::value::{Nested, Variable, transparent};
use crate::flow::{Block, Expression, Operation, Span, Statement};

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
