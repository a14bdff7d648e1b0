//! A test as rules read it: what runs before it, what it does and what runs after it, step by step.
//!
//! Each call is a step of its own, however deep it stands in an expression, and so is each value
//! that gets a name and each assertion. Code that is handed to a call runs there and then where the
//! call is known to run it so (`t.Run`, `assertThrows`); anything else runs in a frame of its own, of
//! which nobody knows when it runs.

use crate::Language;
use crate::flow::{Block, Declared, Expression, Function, Operation, Span, Statement, Unit};
use crate::project::{ProjectIndex, TypeId};

/// Statements and expressions in one another deeper than this are not looked into.
const DEEPEST: u32 = 120;
/// A test of more steps than these is read to here.
const MOST_STEPS: usize = 6_000;

/// What runs around a test and in it.
pub(super) struct Scene<'p> {
    pub(super) project: &'p ProjectIndex,
    pub(super) test: Declared,
    /// The file of the test.
    pub(super) file: &'p Unit,
    pub(super) function: &'p Function,
    pub(super) owner: Option<TypeId>,
    /// Everything in the order of the run.
    pub(super) steps: Vec<Step<'p>>,
}

/// One thing that is done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'p> {
    pub(super) deed: Deed<'p>,
    pub(super) file: &'p Unit,
    pub(super) part: Part,
    /// 0 where it runs with the test itself; any other number for code that is handed to somebody.
    pub(super) frame: u32,
    /// The name of the call that the code of this frame is handed to.
    pub(super) handed_to: &'p str,
    pub(super) in_loop: bool,
    pub(super) in_branch: bool,
    /// In what must raise.
    pub(super) in_raises: bool,
    /// In a `catch` or `finally`.
    pub(super) in_handler: bool,
}

/// When a step is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Before,
    Test,
    After,
}

/// What is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed<'p> {
    Bind { targets: &'p [Expression], operator: Span, value: Option<&'p Expression> },
    Call { call: &'p Expression, used: Use },
    Assert { words: &'p [Span], operands: &'p [Expression], line: u32 },
}

/// What becomes of what a call gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Dropped,
    Awaited,
    Returned,
    Value,
}

impl<'p> Scene<'p> {
    /// The scene of a test, run in a class: its own or one that inherits it.
    pub(super) fn new(
        project: &'p ProjectIndex,
        test: Declared,
        class: Option<&str>,
    ) -> Option<Self> {
        let (file, function) = (project.unit(test)?, project.function(test)?);
        let owner =
            class.and_then(|class| project.find_class(class)).or_else(|| project.owner(test));
        let hooks = project.test_hooks(test, owner);
        let mut reader = StepReader::new(file);
        for before in hooks.before.iter().chain(&hooks.fixtures) {
            reader.function(project, *before, Part::Before);
        }
        reader.function(project, test, Part::Test);
        for after in &hooks.after {
            reader.function(project, *after, Part::After);
        }
        let mut steps = reader.steps;
        set_apart_tasks(project, test.unit, file, &mut steps);
        Some(Self { project, test, file, function, owner, steps })
    }

    /// Whether a word occurs anywhere in the file of the test.
    pub(super) fn file_says(&self, word: &'static str) -> bool {
        self.project.file_says(self.test.unit, word)
    }

    /// The calls of the scene, each with its place among the steps.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, &Step<'p>, &'p Expression, Use)> {
        self.steps.iter().enumerate().filter_map(|(at, step)| match step.deed {
            Deed::Call { call, used } => Some((at, step, call, used)),
            Deed::Bind { .. } | Deed::Assert { .. } => None,
        })
    }

    /// The calls of the test itself.
    pub(super) fn own_calls(
        &self,
    ) -> impl Iterator<Item = (usize, &Step<'p>, &'p Expression, Use)> {
        self.calls().filter(|(_, step, ..)| step.part == Part::Test)
    }

    /// The assertions of the test, each with its place among the steps.
    pub(super) fn assertions(&self) -> impl Iterator<Item = (usize, &Step<'p>)> {
        self.steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.part == Part::Test && matches!(step.deed, Deed::Assert { .. }))
    }

    /// Whether the test asserts something after a step, in the frame of the step.
    pub(super) fn asserts_after(&self, at: usize) -> bool {
        let Some(step) = self.steps.get(at) else { return false };
        self.assertions().any(|(place, it)| place > at && it.frame == step.frame)
    }

    /// The text of a mark of the test or of its class that holds a word.
    pub(super) fn mark(&self, is_meant: impl Fn(&str) -> bool) -> Option<(&'p str, u32)> {
        let marks = self.function.marks.iter().map(|mark| (self.file.text_of(*mark), mark.line));
        marks.into_iter().find(|(text, _)| is_meant(text))
    }
}

impl Step<'_> {
    /// Where it stands in its file.
    pub(super) fn span(&self) -> Span {
        match self.deed {
            Deed::Bind { operator, .. } => operator,
            Deed::Call { call, .. } => call.span(),
            Deed::Assert { words, line, .. } => {
                words.first().copied().unwrap_or(Span { line, ..Span::default() })
            }
        }
    }
}

/// What `go func() { … }()` and `spawn(async { … })` do is not done by the test itself, though the
/// flow form writes it in place.
fn set_apart_tasks(project: &ProjectIndex, unit: u32, file: &Unit, steps: &mut [Step<'_>]) {
    let words: &[&str] = match file.language {
        Language::Go => &["go func"],
        Language::Rust => &["spawn(async", "spawn({", "spawn_local(async", "spawn_on(async"],
        _ => return,
    };
    let bodies = project.tasks_of_file(unit, |text| {
        let begins = words.iter().flat_map(|word| text.match_indices(*word));
        begins.filter_map(|(at, _)| body_behind(text, at)).collect()
    });
    for step in steps.iter_mut().filter(|step| std::ptr::eq(step.file, file)) {
        let start = step.span().start;
        let body = (1..).zip(bodies).find(|(_, body)| (body.0..body.1).contains(&start));
        if let Some((number, _)) = body {
            step.frame = TASKS + number;
            step.handed_to = "go";
        }
    }
}

/// The braces behind a place, and all between them.
fn body_behind(text: &str, at: usize) -> Option<(u32, u32)> {
    let open = at + text.get(at..)?.find('{')?;
    let mut depth = 0_u32;
    for (place, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((u32::try_from(open).ok()?, u32::try_from(place).ok()?));
        }
    }
    None
}

/// Frames of tasks are counted from here on.
const TASKS: u32 = 1 << 20;

/// Writes steps.
struct StepReader<'p> {
    steps: Vec<Step<'p>>,
    /// What a step written now is like.
    next: Step<'p>,
    frames: u32,
    depth: u32,
}

impl<'p> StepReader<'p> {
    fn new(file: &'p Unit) -> Self {
        let deed = Deed::Assert { words: &[], operands: &[], line: 0 };
        let next = Step {
            deed,
            file,
            part: Part::Before,
            frame: 0,
            handed_to: "",
            in_loop: false,
            in_branch: false,
            in_raises: false,
            in_handler: false,
        };
        Self { steps: Vec::new(), next, frames: 0, depth: 0 }
    }

    fn function(&mut self, project: &'p ProjectIndex, declared: Declared, part: Part) {
        if let (Some(file), Some(function)) = (project.unit(declared), project.function(declared)) {
            self.next.file = file;
            self.next.part = part;
            self.block(&function.body);
        }
    }

    fn push(&mut self, deed: Deed<'p>) {
        if self.steps.len() < MOST_STEPS {
            self.steps.push(Step { deed, ..self.next });
        }
    }

    fn block(&mut self, statements: &'p [Statement]) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        for statement in statements {
            self.statement(statement);
        }
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &'p Statement) {
        match statement {
            Statement::Bind { targets, operator, value, .. } => {
                value.iter().for_each(|value| self.expression(value, Use::Value));
                targets.iter().for_each(|target| self.expression(target, Use::Value));
                self.push(Deed::Bind { targets, operator: *operator, value: value.as_ref() });
            }
            Statement::Evaluate(value) => self.expression(value, Use::Dropped),
            Statement::Return(value) => {
                value.iter().for_each(|value| self.expression(value, Use::Returned));
            }
            Statement::Assert { words, operands, line } => {
                operands.iter().for_each(|value| self.expression(value, Use::Value));
                self.push(Deed::Assert { words, operands, line: *line });
            }
            Statement::Nested { block, heads, body } => self.nested(*block, heads, body),
        }
    }

    fn nested(&mut self, block: Block, heads: &'p [Expression], body: &'p [Statement]) {
        let outer = self.next;
        match block {
            Block::Loop => self.next.in_loop = true,
            Block::Branch => self.next.in_branch = true,
            Block::Handler => self.next.in_handler = true,
            Block::Raises => self.next.in_raises = true,
            Block::Plain | Block::Try => {}
        }
        heads.iter().for_each(|head| self.expression(head, Use::Value));
        self.block(body);
        self.next = outer;
    }

    fn expression(&mut self, expression: &'p Expression, used: Use) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        match expression {
            Expression::Name(_) | Expression::Literal(_) => {}
            Expression::Member { object, .. } => self.expression(object, Use::Value),
            Expression::Combine { operation, word, operands } => {
                let is_await = self.next.file.text_of(*word).contains("await");
                let used = match (operation, used) {
                    (Operation::Pass, Use::Dropped) if is_await => Use::Awaited,
                    (Operation::Pass, used) => used,
                    _ => Use::Value,
                };
                operands.iter().for_each(|operand| self.expression(operand, used));
            }
            Expression::Lambda(function) => self.lambda(function, ""),
            Expression::Call { name, receiver, arguments, .. } => {
                receiver.iter().for_each(|it| self.expression(it, Use::Value));
                let name = self.next.file.text_of(*name);
                for argument in arguments {
                    match argument {
                        Expression::Lambda(function) => self.lambda(function, name),
                        other => self.expression(other, Use::Value),
                    }
                }
                self.push(Deed::Call { call: expression, used });
            }
        }
        self.depth -= 1;
    }

    fn lambda(&mut self, function: &'p Function, handed_to: &'p str) {
        let outer = self.next;
        if !runs_at_once(handed_to) {
            self.frames += 1;
            self.next.frame = self.frames;
            self.next.handed_to = handed_to;
        }
        if raises(handed_to) {
            self.next.in_raises = true;
        }
        self.block(&function.body);
        self.next = outer;
    }
}

/// Whether a call runs the code it is given before it comes back.
fn runs_at_once(call: &str) -> bool {
    let lower = call.to_ascii_lowercase();
    raises(call)
        || matches!(
            call,
            "Run"
                | "run"
                | "forEach"
                | "each"
                | "map"
                | "filter"
                | "act"
                | "also"
                | "apply"
                | "let"
                | "runTest"
                | "runBlocking"
                | "runBlockingTest"
                | "repeat"
                | "use"
                | "step"
                | "group"
                | "block_on"
                | "with"
                | "assertAll"
                | "it"
                | "test"
                | "describe"
                | "context"
                | "times"
                | "Convey"
                | "Describe"
                | "It"
                | "range"
                | "testApplication"
                | "subTest"
        )
        || lower.starts_with("with")
}

/// Whether a call expects the code it is given to raise.
fn raises(call: &str) -> bool {
    let lower = call.to_ascii_lowercase();
    lower.contains("throws")
        || lower.contains("rejects")
        || lower.contains("raises")
        || lower == "panics"
        || lower == "shouldfail"
        || lower == "tothrow"
}
