//! Runs through a test as it would run, and draws what flows.

use rustc_hash::FxHashMap;

use super::graph::{Assertion, Edge, Graph, Node, NodeId, NodeKind, Words};
use super::value::{Environment, Variable};
use crate::flow::{Declared, Span, Unit};
use crate::project::{Calls, FieldPlace, ProjectIndex, TypeId, is_this};

/// A test of more expressions than this, its helpers and set-up included, is read to here.
const MOST_STEPS: u32 = 20_000;

/// What runs before a test may take this part of the steps.
const MOST_STEPS_BEFORE: u32 = 8_000;

/// Expressions, statements and followed calls in one another deeper than this are not looked into.
const DEEPEST: u32 = 220;

/// A value made of more parts than this is made of the first ones.
const MOST_INPUTS: usize = 64;

impl Graph {
    /// The graph of a test, run in a class: its own, or one that inherits it, by its whole name.
    ///
    /// Reads at most 20,000 expressions of the test, its helpers and its set-up, however long they
    /// are; [`Graph::is_cut`] says whether that was too few.
    ///
    /// ```
    /// use flakeproof_syntax::dependence::{Graph, PathLimits};
    /// use flakeproof_syntax::project::ProjectIndex;
    /// use flakeproof_syntax::{Finder, Layout, SourceFile};
    ///
    /// let text = "def test_adds():\n    total = add(1, 2)\n    assert total == 3\n";
    /// let file = SourceFile { path: "tests/test_sums.py", text };
    /// let unit = Finder::default().lower(&file, &Layout::default()).unit;
    /// let project = ProjectIndex::new(vec![unit]);
    /// let test = project.find_test(&"tests/test_sums.py::test_adds".into()).expect("is there");
    /// let graph = Graph::new(&project, test, None);
    /// let paths = graph.paths(&project, &PathLimits::default());
    /// let (first, _) = paths[2].steps[0];
    /// assert_eq!(graph.node_text(&project, first), "1");
    /// ```
    #[must_use]
    pub fn new(project: &ProjectIndex, test: Declared, class: Option<&str>) -> Self {
        let class = class.and_then(|class| project.find_class(class));
        let class = class.or_else(|| project.owner(test));
        let mut builder = Builder::new(project, class);
        builder.test(test);
        builder.graph
    }
}

pub(super) struct Builder<'p> {
    pub(super) project: &'p ProjectIndex,
    /// The class the test is run in.
    pub(super) class: Option<TypeId>,
    pub(super) graph: Graph,
    pub(super) environment: Environment<'p>,
    pub(super) frames: Vec<Frame<'p>>,
    /// What fixtures gave, each run once.
    pub(super) fixtures: FxHashMap<Declared, Vec<Input>>,
    /// The latest call of a statement.
    pub(super) last_call: Option<LastCall>,
    /// The calls that may raise what is expected.
    pub(super) raising: Option<Vec<Input>>,
    /// Where the test said that it expects an exception.
    pub(super) expected: Option<Words>,
    /// Whether what is asserted now counts: not in set-up.
    pub(super) counts_assertions: bool,
    pub(super) depth: u32,
    runs: u32,
    steps: u32,
    most_steps: u32,
    initialising: Vec<Variable<'p>>,
}

/// One run of one function.
pub(super) struct Frame<'p> {
    pub(super) unit: u32,
    pub(super) file: &'p Unit,
    pub(super) function: Option<Declared>,
    pub(super) owner: Option<TypeId>,
    /// The object whose code runs: 0 is the test itself.
    pub(super) object: u32,
    /// The number of this run, for its local variables.
    pub(super) run: u32,
    pub(super) calls: &'p Calls,
    /// What flows back to the caller.
    pub(super) returned: Vec<Input>,
}

/// A value on its way into another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    pub(super) node: NodeId,
    pub(super) through: Through,
    /// Whether it stands by itself among the arguments of a call.
    pub(super) is_argument: bool,
}

/// What a value passes on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Through {
    pub(super) words: Words,
    pub(super) code: Option<Declared>,
    /// Whether it only gets a new name: `=`, `return`.
    pub(super) is_plain: bool,
}

/// A call that was made by a statement.
#[derive(Debug, Clone)]
pub(super) struct LastCall {
    pub(super) through: Through,
    pub(super) unit: u32,
    pub(super) span: Span,
    pub(super) inputs: Vec<Input>,
}

impl Through {
    /// Also through what this word stands for.
    pub(super) fn inner(self, word: Span) -> Self {
        if self.is_plain {
            let words = Words::new(self.words.unit, &[word]);
            return Self { words, code: None, is_plain: false };
        }
        Self { words: self.words.and(word), ..self }
    }
}

impl<'p> Builder<'p> {
    fn new(project: &'p ProjectIndex, class: Option<TypeId>) -> Self {
        Self {
            project,
            class,
            graph: Graph::default(),
            environment: Environment::default(),
            frames: Vec::new(),
            fixtures: FxHashMap::default(),
            last_call: None,
            raising: None,
            expected: None,
            counts_assertions: false,
            depth: 0,
            runs: 0,
            steps: 0,
            most_steps: MOST_STEPS_BEFORE,
            initialising: Vec::new(),
        }
    }

    fn test(&mut self, test: Declared) {
        for before in self.project.test_hooks(test, self.class).before {
            self.follow(before, &[], 0);
        }
        (self.counts_assertions, self.most_steps) = (true, MOST_STEPS);
        (self.last_call, self.graph.is_cut) = (None, false);
        self.follow(test, &[], 0);
        if let (Some(words), Some(inputs)) = (self.expected, self.raising.take()) {
            self.conclude(words, &inputs);
        }
        if !self.ends_anywhere() {
            self.end_at_last_call();
        }
    }

    /// Whether any value flows into an assertion.
    fn ends_anywhere(&self) -> bool {
        self.graph
            .edges
            .iter()
            .any(|edge| self.graph.node(edge.to).is_some_and(|node| node.assertion.is_some()))
    }

    /// The last call stands for the assertion of a test that makes none.
    fn end_at_last_call(&mut self) {
        let Some(last) = self.last_call.take() else { return };
        let mut inputs = last.inputs;
        if inputs.is_empty() {
            let node = self.add_node(NodeKind::Call, last.unit, last.span, &[]);
            inputs.push(Input { node, through: last.through, is_argument: false });
        }
        self.conclude(last.through.words, &inputs);
    }

    /// Values end in an assertion that has no value of its own.
    pub(super) fn conclude(&mut self, words: Words, inputs: &[Input]) {
        let Some(span) = words.spans().first().copied() else { return };
        let id = self.open_assertion(words);
        let node = self.add_node(NodeKind::Assertion, words.unit, span, inputs);
        self.look_at_node(id, node);
    }

    pub(super) fn open_assertion(&mut self, words: Words) -> u32 {
        self.graph.assertions.push(Assertion { words, nodes: Vec::new() });
        u32::try_from(self.graph.assertions.len() - 1).unwrap_or(u32::MAX)
    }

    /// A node is what an assertion looks at.
    pub(super) fn look_at_node(&mut self, id: u32, node: NodeId) {
        if let Some(found) = self.graph.nodes.get_mut(node.0 as usize) {
            found.assertion = Some(id);
        }
        if let Some(assertion) = self.graph.assertions.get_mut(id as usize) {
            assertion.nodes.push(node);
        }
    }

    /// A node and what flows into it; where nothing does, a value begins.
    pub(super) fn add_node(
        &mut self,
        kind: NodeKind,
        unit: u32,
        span: Span,
        inputs: &[Input],
    ) -> NodeId {
        let to = NodeId(u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX));
        let is_start = inputs.is_empty();
        self.graph.nodes.push(Node { kind, unit, span, is_start, assertion: None });
        self.connect(inputs, to);
        to
    }

    pub(super) fn connect(&mut self, inputs: &[Input], to: NodeId) {
        let first = self.graph.edges.len();
        for input in inputs.iter().take(MOST_INPUTS) {
            let Through { words, code, .. } = input.through;
            let edge = Edge { from: input.node, to, operation: words, code };
            let added = self.graph.edges.get(first..).unwrap_or_default();
            if input.node != to && !added.iter().any(|known| known.from == edge.from) {
                self.graph.edges.push(edge);
            }
        }
    }

    /// A variable gets a value.
    pub(super) fn define(&mut self, variable: Variable<'p>, span: Span, inputs: &[Input]) {
        let unit = self.unit();
        let is_first = !self.environment.knows(variable);
        let node = self.add_node(NodeKind::Variable, unit, span, inputs);
        if let (true, Some(node)) = (is_first, self.graph.nodes.get_mut(node.0 as usize)) {
            node.is_start = true;
        }
        self.environment.define(variable, node);
    }

    /// The latest definitions of what a name means; none for a class or a package.
    pub(super) fn definitions(&mut self, span: Span) -> Vec<NodeId> {
        let name = self.text(span);
        if is_this(name) || name == "super" {
            return Vec::new();
        }
        match self.variable(name) {
            Some(Variable::Field(object, name)) => self.field(object, name),
            Some(local) => self.environment.definitions(local).to_vec(),
            None => {
                let (unit, owner) = (self.unit(), self.owner());
                if self.project.is_class_or_package(unit, owner, name) {
                    return Vec::new();
                }
                let node = self.add_node(NodeKind::Variable, unit, span, &[]);
                self.environment.remember(Variable::Local(self.run(), name), node);
                vec![node]
            }
        }
    }

    /// The variable a plain name means: a local one, else a field.
    pub(super) fn variable(&self, name: &'p str) -> Option<Variable<'p>> {
        let local = Variable::Local(self.run(), name);
        if self.environment.knows(local) {
            return Some(local);
        }
        let object = self.frames.last().map_or(0, |frame| frame.object);
        let field = Variable::Field(object, name);
        let is_field = self.environment.knows(field)
            || self.project.find_field(self.unit(), self.owner(), name).is_some();
        is_field.then_some(field)
    }

    /// The latest definitions of a field; before the first, what it is declared with.
    pub(super) fn field(&mut self, object: u32, name: &'p str) -> Vec<NodeId> {
        let variable = Variable::Field(object, name);
        if self.environment.knows(variable) {
            return self.environment.definitions(variable).to_vec();
        }
        if self.initialising.contains(&variable) {
            return Vec::new();
        }
        self.initialising.push(variable);
        let place = self.project.find_field(self.unit(), self.owner(), name);
        if let Some(node) = place.and_then(|place| self.first_value(place, object)) {
            self.environment.remember(variable, node);
        }
        self.initialising.pop();
        self.environment.definitions(variable).to_vec()
    }

    fn first_value(&mut self, place: FieldPlace, object: u32) -> Option<NodeId> {
        let field = self.project.field_at(place)?;
        let file = self.project.units().get(place.unit as usize)?;
        let calls = self.project.calls_of_fields(place.unit, place.declaration);
        let owner = self.project.class_at(place.unit, place.declaration);
        let run = self.next_run();
        let frame = Frame {
            unit: place.unit,
            file,
            function: None,
            owner,
            object,
            run,
            calls,
            returned: Vec::new(),
        };
        self.frames.push(frame);
        let mut inputs = Vec::new();
        if let Some(value) = &field.value {
            let through = self.plain(field.name);
            self.top_value(value, through, &mut inputs);
        }
        self.frames.pop();
        let node = self.add_node(NodeKind::Variable, place.unit, field.name, &inputs);
        if let Some(node) = self.graph.nodes.get_mut(node.0 as usize) {
            node.is_start = true;
        }
        Some(node)
    }

    /// Through nothing but a new name.
    pub(super) fn plain(&self, word: Span) -> Through {
        Through { words: Words::new(self.unit(), &[word]), code: None, is_plain: true }
    }

    /// Whether there is room for one more expression, one deeper.
    pub(super) fn descend(&mut self) -> bool {
        if self.steps >= self.most_steps {
            self.graph.is_cut = true;
            return false;
        }
        if self.depth >= DEEPEST {
            return false;
        }
        self.steps += 1;
        self.depth += 1;
        true
    }

    pub(super) fn next_run(&mut self) -> u32 {
        self.runs += 1;
        self.runs
    }

    pub(super) fn unit(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.unit)
    }

    pub(super) fn owner(&self) -> Option<TypeId> {
        self.frames.last().and_then(|frame| frame.owner)
    }

    pub(super) fn run(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.run)
    }

    pub(super) fn text(&self, span: Span) -> &'p str {
        self.frames.last().map_or("", |frame| frame.file.text_of(span))
    }
}
