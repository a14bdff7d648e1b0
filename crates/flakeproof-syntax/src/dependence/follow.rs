//! Calls into test code: their bodies are part of the graph.

use super::builder::{Builder, Frame, Input, Through};
use super::environment::Variable;
use super::graph::Words;
use crate::flow::{Declared, Expression, Function, Role};
use crate::project::{Target, is_this};

/// Calls in one another that are followed, the test itself counted.
const MOST_FRAMES: usize = 5;

impl<'p> Builder<'p> {
    /// What a call runs, and the object it runs on.
    pub(super) fn callee(&self, target: &Target) -> Option<(Declared, u32)> {
        let frame = self.frames.last()?;
        let class = self.class.filter(|_| frame.object == 0);
        let first = *self.project.runs(target, class).first()?;
        if target.on_this {
            return Some((first, frame.object));
        }
        let object = match self.project.owner(first) {
            Some(class) if frame.owner == Some(class) => frame.object,
            Some(class) => class.number().saturating_add(1),
            None if first.unit == frame.unit => frame.object,
            None => first.unit.saturating_add(1 << 24),
        };
        Some((first, object))
    }

    /// Whether a function's body becomes part of the graph.
    pub(super) fn may_follow(&self, declared: Declared) -> bool {
        let has_body = self.project.function(declared).is_some_and(|it| !it.body.is_empty());
        has_body
            && self.frames.len() < MOST_FRAMES
            && self.project.is_test_code(declared)
            && !self.frames.iter().any(|frame| frame.function == Some(declared))
    }

    /// Run through a function, with what its arguments give, and say what it gives back.
    pub(super) fn follow(
        &mut self,
        declared: Declared,
        arguments: &[Vec<Input>],
        object: u32,
    ) -> Vec<Input> {
        let (Some(file), Some(function)) =
            (self.project.unit(declared), self.project.function(declared))
        else {
            return Vec::new();
        };
        if !self.descend() {
            return Vec::new();
        }
        let frame = Frame {
            unit: declared.unit,
            file,
            function: Some(declared),
            owner: self.project.owner(declared),
            object,
            run: self.next_run(),
            calls: self.project.calls(declared),
            returned: Vec::new(),
        };
        self.frames.push(frame);
        if matches!(function.role, Role::Test(_)) {
            for fixture in self.project.automatic_fixtures_of(declared) {
                self.fixture(fixture);
            }
        }
        self.bind_parameters(declared, function, arguments);
        self.block(&function.body);
        let frame = self.frames.pop();
        self.depth -= 1;
        frame.map(|frame| frame.returned).unwrap_or_default()
    }

    fn bind_parameters(
        &mut self,
        declared: Declared,
        function: &'p Function,
        arguments: &[Vec<Input>],
    ) {
        let asks_for_fixtures =
            matches!(function.role, Role::Test(_) | Role::Fixture | Role::Before);
        let last = function.parameters.len().saturating_sub(1);
        for (place, parameter) in function.parameters.iter().enumerate() {
            let name = self.text(parameter.name);
            let fixture = self.project.fixture(declared.unit, name);
            let inputs: Vec<Input> = match fixture.filter(|_| asks_for_fixtures) {
                Some(fixture) => {
                    let words = Words::new(declared.unit, &[parameter.name]);
                    let through = Through { words, code: None, is_plain: false };
                    let given = self.fixture(fixture);
                    given.into_iter().map(|input| Input { through, ..input }).collect()
                }
                // The last parameter may take all arguments that are left.
                None if place == last => arguments.get(place..).unwrap_or_default().concat(),
                None => arguments.get(place).cloned().unwrap_or_default(),
            };
            let variable = Variable::Local(self.run(), name);
            self.define(variable, parameter.name, &inputs);
        }
    }

    /// What a fixture gives; it runs once for a test.
    fn fixture(&mut self, fixture: Declared) -> Vec<Input> {
        if let Some(known) = self.fixtures.get(&fixture) {
            return known.clone();
        }
        let is_running = self.frames.iter().any(|frame| frame.function == Some(fixture));
        if is_running || self.frames.len() >= 2 * MOST_FRAMES {
            return Vec::new();
        }
        let object = self.frames.first().map_or(0, |frame| frame.object);
        let counts = std::mem::replace(&mut self.counts_assertions, false);
        let given = self.follow(fixture, &[], object);
        self.counts_assertions = counts;
        self.fixtures.insert(fixture, given.clone());
        given
    }

    /// The variable a value hangs on: `order` in `order.lines().get(0)`.
    pub(super) fn root(
        &self,
        expression: &'p Expression,
    ) -> Option<(Variable<'p>, crate::flow::Span)> {
        let mut current = expression;
        loop {
            current = match current {
                Expression::Name(span) => {
                    let name = self.text(*span);
                    let variable = if is_this(name) { None } else { self.variable(name) };
                    return variable.map(|variable| (variable, *span));
                }
                Expression::Member { object, name } => match self.own_field(object, *name) {
                    Some(field) => return Some((field, *name)),
                    None => object,
                },
                Expression::Call { receiver: Some(receiver), .. } => receiver,
                Expression::Combine { operands, operation, .. } => {
                    use crate::flow::Operation::{Index, Pass};
                    if !matches!(operation, Index | Pass) {
                        return None;
                    }
                    operands.first()?
                }
                Expression::Literal(_) | Expression::Call { .. } | Expression::Lambda(_) => {
                    return None;
                }
            };
        }
    }
}
