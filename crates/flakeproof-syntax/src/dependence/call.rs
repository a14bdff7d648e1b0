//! What flows through calls and into functions without a name.
//!
//! A call into test code is followed: its body is part of the graph. Of any other call the form
//! keeps the name only, so where the whole of it stands in the text is found here.

use super::builder::{Builder, Frame, Input, Through};
use super::graph::{NodeKind, Words};
use super::value::{Nested, Variable};
use crate::flow::{Declared, Expression, Function, Role, Span, Unit};
use crate::project::{Target, is_this};

/// A function that gives nothing back stands for what flows into its calls, the first of them.
const MOST_MADE: usize = 16;

/// A call whose text is longer than this is known by its beginning.
const LONGEST: usize = 160;

/// What values pass in a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    pub(super) through: Through,
    /// Whether the body of what is called is in the graph and makes calls itself.
    pub(super) makes_calls: bool,
}

impl<'p> Builder<'p> {
    /// What flows into a call: what it is called on, and its arguments; what comes out of its body
    /// where that is test code. Gives what the values pass.
    pub(super) fn call_inputs(&mut self, call: &'p Expression, out: &mut Vec<Input>) -> Passed {
        let Expression::Call { name, receiver, arguments, .. } = call else {
            return Passed { through: self.plain(call.span()), makes_calls: false };
        };
        let target = self.frames.last().and_then(|frame| frame.calls.at(*name));
        let callee = target.and_then(|target| self.callee(target));
        let followed = callee.filter(|(declared, _)| self.may_follow(*declared));
        let code = if followed.is_some() { None } else { callee.map(|(declared, _)| declared) };
        let words = Words::new(self.unit(), &[*name]);
        let through = Through { words, code, is_plain: false };
        let from = out.len();
        if let Some(receiver) = receiver {
            self.flow(receiver, through, Nested::Plain, out);
        }
        let given = self.given(arguments, through);
        let mut sources = out.get(from..).unwrap_or_default().to_vec();
        sources.extend(given.iter().flatten());
        let handed = self.handed(arguments, through, &sources);
        let followed =
            followed.map(|(declared, object)| self.follow_call(declared, &given, object));
        let (returned, makes_calls) = followed.unwrap_or_default();
        if returned.is_empty() {
            out.extend(given.iter().flatten());
        }
        out.extend(handed);
        out.extend(returned.into_iter().map(|input| {
            let through = if input.through.is_plain { through } else { input.through };
            Input { through, is_argument: false, ..input }
        }));
        Passed { through, makes_calls }
    }

    /// What each argument gives, nothing for functions without a name.
    fn given(&mut self, arguments: &'p [Expression], through: Through) -> Vec<Vec<Input>> {
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let mut inputs = Vec::new();
            if !matches!(argument, Expression::Lambda(_)) {
                self.flow(argument, through, Nested::Argument, &mut inputs);
            }
            given.push(inputs);
        }
        given
    }

    /// What functions without a name among the arguments give, their parameters taken from all else
    /// that flows into the call.
    fn handed(
        &mut self,
        arguments: &'p [Expression],
        through: Through,
        sources: &[Input],
    ) -> Vec<Input> {
        let mut handed = Vec::new();
        for argument in arguments {
            if let Expression::Lambda(function) = argument {
                let returned = self.lambda(function, sources);
                handed.extend(returned.into_iter().map(|input| handed_on(input, through)));
            }
        }
        handed
    }

    /// What a followed call gives back, and whether its body makes calls itself.
    fn follow_call(
        &mut self,
        declared: Declared,
        given: &[Vec<Input>],
        object: u32,
    ) -> (Vec<Input>, bool) {
        let earlier = self.last_call.take();
        let returned = self.follow(declared, given, object);
        let makes_calls = self.last_call.is_some();
        self.last_call = self.last_call.take().or(earlier);
        (returned, makes_calls)
    }

    /// A function without a name, read where it stands. Its parameters come from `sources`; what
    /// it gives back flows on; where that is nothing or a literal, what flows into its calls.
    pub(super) fn lambda(&mut self, function: &'p Function, sources: &[Input]) -> Vec<Input> {
        if !self.descend() {
            return Vec::new();
        }
        for parameter in &function.parameters {
            let variable = Variable::Local(self.run(), self.text(parameter.name));
            self.define(variable, parameter.name, sources);
        }
        let outer = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.returned));
        let raising = self.raising.replace(Vec::new());
        self.block(&function.body);
        let made = std::mem::replace(&mut self.raising, raising).unwrap_or_default();
        let mut returned = match self.frames.last_mut() {
            Some(frame) => std::mem::replace(&mut frame.returned, outer.unwrap_or_default()),
            None => Vec::new(),
        };
        let is_literal = |input: &Input| {
            self.graph.node(input.node).is_none_or(|node| node.kind == NodeKind::Literal)
        };
        if returned.iter().all(is_literal) {
            returned.extend(made.iter().take(MOST_MADE));
        }
        if let Some(raising) = &mut self.raising {
            raising.extend(made);
        }
        self.depth -= 1;
        returned
    }
}

/// A value that leaves a function without a name through what that is handed to.
fn handed_on(input: Input, outer: Through) -> Input {
    let inner = input.through;
    let word = outer.words.spans().first().filter(|_| inner.words.unit == outer.words.unit);
    let through = match word {
        _ if inner.is_plain => outer,
        Some(word) => Through { words: inner.words.and(*word), ..inner },
        None => inner,
    };
    let code = through.code.or(outer.code);
    Input { through: Through { code, ..through }, is_argument: false, ..input }
}

/// The text of a call from what it is called on to its closing bracket: `get(item)`.
pub(super) fn span_of_call(unit: &Unit, call: &Expression) -> Span {
    let name = call.span();
    let first = leftmost(call);
    let start = if first.start <= name.start { first } else { name };
    let end = closing(unit, name.end as usize).unwrap_or(name.end as usize);
    let longest = start.start as usize + LONGEST;
    let mut end = end.min(longest).max(name.end as usize).min(unit.text.len());
    while !unit.text.is_char_boundary(end) {
        end += 1;
    }
    Span { start: start.start, end: u32::try_from(end).unwrap_or(name.end), line: name.line }
}

fn leftmost(expression: &Expression) -> Span {
    let mut current = expression;
    loop {
        current = match current {
            Expression::Call { receiver: Some(inner), .. } => inner,
            Expression::Member { object, .. } => object,
            other => return other.span(),
        };
    }
}

/// The byte after the bracket that closes the one that follows.
fn closing(unit: &Unit, from: usize) -> Option<usize> {
    let text = unit.text.as_bytes();
    let mut at = from;
    // Type arguments and a macro's mark may stand between name and bracket.
    let mut open = 0_u32;
    loop {
        match text.get(at)? {
            b' ' | b'!' | b'\n' | b'\t' => {}
            b'<' => open += 1,
            b'>' if open > 0 => open -= 1,
            _ if open > 0 && at - from < LONGEST => {}
            _ => break,
        }
        at += 1;
    }
    if *text.get(at)? != b'(' {
        return None;
    }
    let (mut depth, mut quote) = (0_u32, None);
    for (place, byte) in text.iter().enumerate().skip(at).take(LONGEST * 2) {
        match (quote, byte) {
            (Some(open), byte) if open == *byte && text.get(place - 1) != Some(&b'\\') => {
                quote = None;
            }
            (Some(_), _) => {}
            (None, b'"' | b'`') => quote = Some(*byte),
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

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
