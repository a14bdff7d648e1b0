//! Where the value of an expression comes from, and which definitions of a variable a use of it may
//! mean.

use rustc_hash::{FxHashMap, FxHashSet};

use super::builder::{Builder, Input, Through};
use super::call::span_of_call;
use super::graph::{NodeId, NodeKind};
use crate::flow::{Expression, Operation, Span};
use crate::project::is_this;

impl<'p> Builder<'p> {
    /// What flows into what is named by this value. A call at its top is no node of its own: what
    /// it takes in flows on, through it.
    pub(super) fn top_value(
        &mut self,
        value: &'p Expression,
        through: Through,
        out: &mut Vec<Input>,
    ) {
        match transparent(value) {
            call @ Expression::Call { .. } => {
                if !self.descend() {
                    return;
                }
                let from = out.len();
                let passed = self.call_inputs(call, out);
                if out.len() == from {
                    let node = self.call_node(call, &[]);
                    out.push(Input { node, through: passed.through, is_argument: false });
                }
                self.note_call(call, passed, out.get(from..).unwrap_or_default().to_vec());
                self.depth -= 1;
            }
            other => self.flow(other, through, Nested::Plain, out),
        }
    }

    /// What flows through `through` out of an expression.
    pub(super) fn flow(
        &mut self,
        expression: &'p Expression,
        through: Through,
        nested: Nested,
        out: &mut Vec<Input>,
    ) {
        if !self.descend() {
            return;
        }
        let is_argument = nested == Nested::Argument;
        match expression {
            Expression::Name(span) => {
                let nodes = self.definitions(*span);
                out.extend(nodes.into_iter().map(|node| Input { node, through, is_argument }));
            }
            Expression::Literal(span) => {
                let node = self.add_node(NodeKind::Literal, self.unit(), *span, &[]);
                out.push(Input { node, through, is_argument });
            }
            Expression::Call { .. } => {
                let mut inner = Vec::new();
                self.call_inputs(expression, &mut inner);
                let node = self.call_node(expression, &inner);
                out.push(Input { node, through, is_argument: false });
                // The paper's example also draws what an argument's own arguments give.
                let arguments = inner.iter().filter(|input| is_argument && input.is_argument);
                let again = |input: &Input| Input { node: input.node, through, is_argument: false };
                out.extend(arguments.map(again));
            }
            Expression::Member { object, name } => self.member(object, *name, through, out),
            Expression::Combine { operation, word, operands } => {
                self.combination(*operation, *word, operands, through, nested, out);
            }
            Expression::Lambda(function) => {
                let returned = self.lambda(function, &[]);
                out.extend(returned.into_iter().map(|input| Input { through, ..input }));
            }
        }
        self.depth -= 1;
    }

    fn member(
        &mut self,
        object: &'p Expression,
        name: Span,
        through: Through,
        out: &mut Vec<Input>,
    ) {
        let nodes = match self.own_field(object, name) {
            Some(Variable::Field(number, name)) => self.field(number, name),
            _ => match self.constant(object, name) {
                Some(node) => vec![node],
                None => return self.flow(object, through.inner(name), Nested::Plain, out),
            },
        };
        out.extend(nodes.into_iter().map(|node| Input { node, through, is_argument: false }));
    }

    /// `this.x` as a field.
    pub(super) fn own_field(&self, object: &Expression, name: Span) -> Option<Variable<'p>> {
        let Expression::Name(span) = object else { return None };
        let number = self.frames.last().map_or(0, |frame| frame.object);
        is_this(self.text(*span)).then(|| Variable::Field(number, self.text(name)))
    }

    /// `Color.RED`: a value of a class, where the value begins.
    pub(super) fn constant(&mut self, object: &'p Expression, name: Span) -> Option<NodeId> {
        let first = leading_name(object)?;
        let text = self.text(first);
        let (unit, owner) = (self.unit(), self.owner());
        let is_value = is_this(text) || self.variable(text).is_some();
        if is_value || !self.project.is_class_or_package(unit, owner, text) {
            return None;
        }
        let span = Span { start: first.start, end: name.end, line: first.line };
        let constant = Variable::Local(0, self.text(span));
        if let Some(node) = self.environment.definitions(constant).first() {
            return Some(*node);
        }
        let node = self.add_node(NodeKind::Variable, unit, span, &[]);
        self.environment.remember(constant, node);
        Some(node)
    }

    fn combination(
        &mut self,
        operation: Operation,
        word: Span,
        operands: &'p [Expression],
        through: Through,
        nested: Nested,
        out: &mut Vec<Input>,
    ) {
        let through = match operation {
            Operation::Pass | Operation::Index => through,
            Operation::Arithmetic | Operation::Compare | Operation::Gather | Operation::Choose => {
                through.inner(word)
            }
        };
        for (place, operand) in operands.iter().enumerate() {
            // Which element of an array is taken is no value of its own, as in the paper.
            let is_number = matches!(operand, Expression::Literal(_));
            if operation == Operation::Index && place > 0 && is_number {
                continue;
            }
            self.flow(operand, through, nested, out);
        }
    }

    /// A node for what a call gives back.
    pub(super) fn call_node(&mut self, call: &'p Expression, inputs: &[Input]) -> NodeId {
        let unit = self.unit();
        let span = self.frames.last().map_or_else(|| call.span(), |it| span_of_call(it.file, call));
        self.add_node(NodeKind::Call, unit, span, inputs)
    }
}

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    /// Among the arguments of a call.
    Argument,
    /// Anywhere else.
    Plain,
}

/// An expression without casts, `await` and brackets around it.
pub(super) fn transparent(mut expression: &Expression) -> &Expression {
    while let Expression::Combine { operation: Operation::Pass, operands, .. } = expression {
        let [only] = operands.as_slice() else { break };
        expression = only;
    }
    expression
}

/// The first of names joined by dots; nothing if anything else is among them.
fn leading_name(mut expression: &Expression) -> Option<Span> {
    loop {
        match expression {
            Expression::Name(span) => return Some(*span),
            Expression::Member { object, .. } => expression = object,
            _ => return None,
        }
    }
}

/// A use after many branches means the latest definitions only, at most these.
const MOST_DEFINITIONS: usize = 6;

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Variable<'p> {
    /// Of one run of one function, by the number of that run.
    Local(u32, &'p str),
    /// Of an object, by the number of that object.
    Field(u32, &'p str),
}

/// The definitions of all variables, at one place of the run.
#[derive(Debug, Default)]
pub(super) struct Environment<'p> {
    known: FxHashMap<Variable<'p>, Vec<NodeId>>,
    /// What was known of a variable before it changed, inside of branches.
    log: Vec<(Variable<'p>, Vec<NodeId>)>,
    branches: usize,
}

/// Where a branch began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize);

/// What the variables were at the end of a branch.
pub(super) type Changes<'p> = Vec<(Variable<'p>, Vec<NodeId>)>;

impl<'p> Environment<'p> {
    /// The latest definitions; several after branches, none if there is none.
    pub(super) fn definitions(&self, variable: Variable<'p>) -> &[NodeId] {
        self.known.get(&variable).map_or(&[], Vec::as_slice)
    }

    pub(super) fn knows(&self, variable: Variable<'p>) -> bool {
        self.known.contains_key(&variable)
    }

    /// A new definition takes the place of all before it.
    pub(super) fn define(&mut self, variable: Variable<'p>, node: NodeId) {
        let before = self.known.insert(variable, vec![node]);
        if self.branches > 0 {
            self.log.push((variable, before.unwrap_or_default()));
        }
    }

    /// What was so from the beginning, whichever branch looks at it first.
    pub(super) fn remember(&mut self, variable: Variable<'p>, node: NodeId) {
        self.known.entry(variable).or_insert_with(|| vec![node]);
    }

    /// A branch begins.
    pub(super) fn enter(&mut self) -> Mark {
        self.branches += 1;
        Mark(self.log.len())
    }

    /// A branch ends: everything is as it was before, and what it changed is handed out.
    pub(super) fn leave(&mut self, mark: Mark) -> Changes<'p> {
        self.branches -= 1;
        let mut changes: Changes<'p> = Vec::new();
        let mut seen: FxHashSet<Variable<'p>> = FxHashSet::default();
        let mut undone = self.log.split_off(mark.0.min(self.log.len()));
        while let Some((variable, before)) = undone.pop() {
            let after = self.known.insert(variable, before).unwrap_or_default();
            // The last change is undone first: it is what the branch ends with.
            if seen.insert(variable) {
                changes.push((variable, after));
            }
        }
        changes
    }

    /// From here on a branch may have run: its changes are added to what was.
    pub(super) fn merge(&mut self, changes: Changes<'p>) {
        for (variable, after) in changes {
            let before = self.known.get(&variable).cloned().unwrap_or_default();
            let mut merged: Vec<NodeId> = before.iter().chain(&after).copied().collect();
            merged.sort_unstable();
            merged.dedup();
            let surplus = merged.len().saturating_sub(MOST_DEFINITIONS);
            merged.drain(..surplus);
            self.known.insert(variable, merged);
            if self.branches > 0 {
                self.log.push((variable, before));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Variable<'static> = Variable::Local(0, "x");

    #[test]
    fn after_a_branch_both_definitions_are_meant() {
        let mut environment = Environment::default();
        environment.define(X, NodeId(1));
        let mark = environment.enter();
        environment.define(X, NodeId(2));
        environment.define(X, NodeId(3));
        assert_eq!(environment.definitions(X), [NodeId(3)]);
        let changes = environment.leave(mark);
        assert_eq!(environment.definitions(X), [NodeId(1)]);
        environment.merge(changes);
        assert_eq!(environment.definitions(X), [NodeId(1), NodeId(3)]);
    }

    #[test]
    fn a_merge_inside_a_branch_is_undone_with_it() {
        let mut environment = Environment::default();
        environment.define(X, NodeId(1));
        let outer = environment.enter();
        let inner = environment.enter();
        environment.define(X, NodeId(2));
        let changes = environment.leave(inner);
        environment.merge(changes);
        let changes = environment.leave(outer);
        assert_eq!(environment.definitions(X), [NodeId(1)]);
        assert_eq!(changes, vec![(X, vec![NodeId(1), NodeId(2)])]);
    }
}
