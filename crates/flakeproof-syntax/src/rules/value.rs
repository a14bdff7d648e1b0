//! What values are made of: variables are replaced by what they were given last, helpers of the test
//! code by what they give back, and names by what was imported.

use rustc_hash::FxHashSet;

use super::scene::{Deed, Part, Scene};
use crate::Language;
use crate::flow::{Expression, Operation, Span, Statement, Unit};

/// Values in one another are followed this far.
const DEEPEST: u32 = 24;

/// A value at a place of the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'p> {
    pub(super) expression: &'p Expression,
    pub(super) file: &'p Unit,
    /// The step it is looked at in.
    pub(super) at: usize,
}

/// What a variable was given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'p> {
    pub(super) value: Value<'p>,
    /// Whether it was one element after another, in a loop.
    pub(super) is_element: bool,
}

impl<'p> Value<'p> {
    pub(super) fn of(self, expression: &'p Expression) -> Self {
        Self { expression, ..self }
    }

    pub(super) fn text(self, span: Span) -> &'p str {
        self.file.text_of(span)
    }
}

/// An expression without casts, `await`, references and brackets around it.
pub(super) fn bare(mut expression: &Expression) -> &Expression {
    while let Expression::Combine { operation: Operation::Pass, operands, .. } = expression {
        let [only] = operands.as_slice() else { break };
        expression = only;
    }
    expression
}

/// The dotted path of a name, a member or a call, imports resolved: `random.randint`,
/// `java.util.Random().nextInt` for a call on what a call gave.
pub(super) fn path(file: &Unit, expression: &Expression) -> String {
    let mut found = String::new();
    write_path(file, expression, &mut found, 0);
    found
}

fn write_path(file: &Unit, expression: &Expression, out: &mut String, depth: u32) {
    if depth > DEEPEST {
        return;
    }
    match bare(expression) {
        Expression::Name(span) => out.push_str(&imported(file, file.text_of(*span))),
        Expression::Member { object, name } => {
            write_path(file, object, out, depth + 1);
            out.push('.');
            out.push_str(file.text_of(*name));
        }
        Expression::Call { name, receiver, .. } => match receiver {
            Some(receiver) => {
                write_path(file, receiver, out, depth + 1);
                if matches!(bare(receiver), Expression::Call { .. }) {
                    out.push_str("()");
                }
                out.push('.');
                out.push_str(&file.text_of(*name).replace("::", "."));
            }
            None => out.push_str(&imported(file, file.text_of(*name))),
        },
        Expression::Literal(_) | Expression::Combine { .. } | Expression::Lambda(_) => {
            out.push('?');
        }
    }
}

/// A name with what its first part was imported as.
fn imported(file: &Unit, name: &str) -> String {
    let name = name.replace("::", ".");
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name.as_str(), None),
    };
    let import = file.imports.iter().find(|import| import.name == first);
    match (import, rest) {
        (Some(import), Some(rest)) => format!("{}.{rest}", plain(&import.path)),
        (Some(import), None) => plain(&import.path),
        (None, _) => name,
    }
}

fn plain(path: &str) -> String {
    path.replace("::", ".").replace('/', ".").trim_start_matches("node:").to_owned()
}

/// Whether a path is one of these or ends in one of them.
pub(super) fn is_any(path: &str, wanted: &[&str]) -> bool {
    wanted.iter().any(|wanted| {
        path.strip_suffix(wanted)
            .is_some_and(|before| before.is_empty() || before.ends_with(['.', ')']))
    })
}

/// The name of a call.
pub(super) fn name_of<'p>(file: &'p Unit, call: &Expression) -> &'p str {
    match call {
        Expression::Call { name, .. } => file.text_of(*name),
        _ => "",
    }
}

/// What a call is given.
pub(super) fn arguments_of(call: &Expression) -> &[Expression] {
    match call {
        Expression::Call { arguments, .. } => arguments,
        _ => &[],
    }
}

/// What a call is called on.
pub(super) fn receiver_of(call: &Expression) -> Option<&Expression> {
    match call {
        Expression::Call { receiver, .. } => receiver.as_deref(),
        _ => None,
    }
}

/// The text of a literal.
pub(super) fn literal_text<'p>(file: &'p Unit, expression: &Expression) -> Option<&'p str> {
    match bare(expression) {
        Expression::Literal(span) => Some(file.text_of(*span)),
        _ => None,
    }
}

/// The number that a literal is.
pub(super) fn number(file: &Unit, expression: &Expression) -> Option<f64> {
    let text = literal_text(file, expression)?.replace('_', "");
    let digits = text.trim_end_matches(['L', 'l', 'f', 'F', 'd', 'D']);
    let digits = ["u64", "u32", "i32", "i64", "f64", "f32", "u16", "usize"]
        .iter()
        .find_map(|kind| digits.strip_suffix(kind))
        .unwrap_or(digits);
    digits.parse().ok()
}

/// The text inside of a literal's quotes.
pub(super) fn quoted<'p>(file: &'p Unit, expression: &Expression) -> Option<&'p str> {
    let text = literal_text(file, expression)?;
    let start = text.find(['"', '\'', '`'])?;
    let quote = text.as_bytes().get(start).copied().map(char::from)?;
    if start > 3 {
        return None;
    }
    let inner = text.get(start..)?.trim_matches(quote);
    Some(inner)
}

/// Whether what stands before a span in the text is this word.
pub(super) fn follows_word(file: &Unit, start: u32, word: &str) -> bool {
    let before = file.text.get(..start as usize).unwrap_or_default().trim_end();
    before
        .strip_suffix(word)
        .is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Where an expression begins in the text.
pub(super) fn start_of(expression: &Expression) -> u32 {
    match expression {
        Expression::Call { receiver: Some(inner), name, .. } => start_of(inner).min(name.start),
        Expression::Member { object, name } => start_of(object).min(name.start),
        Expression::Combine { operands, word, .. } => {
            operands.first().map_or(word.start, |first| start_of(first).min(word.start))
        }
        other => other.span().start,
    }
}

/// Whether an expression is made of literals alone.
pub(super) fn is_constant(expression: &Expression) -> bool {
    match bare(expression) {
        Expression::Literal(_) => true,
        Expression::Combine { operands, .. } => operands.iter().all(is_constant),
        Expression::Call { arguments, name: _, receiver, .. } => {
            // `Arrays.asList(1, 2)`, `vec![1, 2]`, `[]string{"a"}`.
            !arguments.is_empty()
                && arguments.iter().all(is_constant)
                && receiver.as_deref().is_none_or(|it| matches!(bare(it), Expression::Name(_)))
        }
        Expression::Name(_) | Expression::Member { .. } | Expression::Lambda(_) => false,
    }
}

impl<'p> Scene<'p> {
    pub(super) fn value(&self, at: usize, expression: &'p Expression) -> Value<'p> {
        let file = self.steps.get(at).map_or(self.file, |step| step.file);
        Value { expression, file, at }
    }

    /// Look at a value and at what it is made of; `visit` says whether to look inside.
    pub(super) fn walk(&self, value: Value<'p>, visit: &mut dyn FnMut(Value<'p>) -> bool) {
        let mut walk = Walk { scene: self, seen: FxHashSet::default() };
        walk.value(value, visit, 0);
    }

    /// What a variable was given last before a step: in the test, before it, or where it is declared.
    pub(super) fn given(&self, name: &str, value: Value<'p>) -> Option<Given<'p>> {
        let before = self.steps.get(..value.at.min(self.steps.len())).unwrap_or_default();
        for (at, step) in before.iter().enumerate().rev() {
            let Deed::Bind { targets, operator, value: Some(given) } = step.deed else { continue };
            let is_hidden = step.part == Part::Before && step.file.language == Language::Python;
            let names = |target: &Expression| match target {
                Expression::Name(span) => !is_hidden && step.file.text_of(*span) == name,
                Expression::Member { object, name: member } => {
                    let is_this = matches!(bare(object), Expression::Name(span)
                        if matches!(step.file.text_of(*span), "self" | "this"));
                    is_this && step.file.text_of(*member) == name
                }
                _ => false,
            };
            let hit = targets.iter().any(|target| match bare(target) {
                Expression::Combine { operation: Operation::Gather, operands, .. } => {
                    operands.iter().any(names)
                }
                other => names(other),
            });
            if hit {
                let is_element = step.file.text_of(operator).starts_with("for");
                let value = Value { expression: given, file: step.file, at };
                return Some(Given { value, is_element });
            }
        }
        self.declared(name, value.file)
    }

    /// The first value of a field, or what a fixture gives.
    fn declared(&self, name: &str, file: &'p Unit) -> Option<Given<'p>> {
        let unit = self.test.unit;
        if file.language == Language::Python
            && let Some(fixture) = self.project.fixture(unit, name)
        {
            let (file, function) = (self.project.unit(fixture)?, self.project.function(fixture)?);
            let expression = function.body.iter().rev().find_map(|it| match it {
                Statement::Return(Some(value)) => Some(value),
                _ => None,
            })?;
            return Some(Given { value: Value { expression, file, at: 0 }, is_element: false });
        }
        let place = self.project.find_field(unit, self.owner, name)?;
        let field = self.project.field_at(place)?;
        let file = self.project.units().get(place.unit as usize)?;
        let expression = field.value.as_ref()?;
        Some(Given { value: Value { expression, file, at: 0 }, is_element: false })
    }

    /// What a call of a helper of the test code gives back, where that is all it does.
    pub(super) fn helper_value(&self, value: Value<'p>) -> Option<Value<'p>> {
        let Expression::Call { name, .. } = value.expression else { return None };
        if !std::ptr::eq(value.file, self.file) {
            return None;
        }
        let target = self.project.calls(self.test).at(*name)?;
        let helper = *self.project.runs(target, self.owner).first()?;
        if !self.project.is_test_code(helper) {
            return None;
        }
        let (file, function) = (self.project.unit(helper)?, self.project.function(helper)?);
        match function.body.as_slice() {
            [Statement::Return(Some(expression))] => Some(Value { expression, file, at: 0 }),
            _ => None,
        }
    }
}

struct Walk<'s, 'p> {
    scene: &'s Scene<'p>,
    seen: FxHashSet<(usize, u32)>,
}

impl<'p> Walk<'_, 'p> {
    fn value(&mut self, value: Value<'p>, visit: &mut dyn FnMut(Value<'p>) -> bool, depth: u32) {
        if depth > DEEPEST || !visit(value) {
            return;
        }
        let depth = depth + 1;
        match value.expression {
            Expression::Literal(_) | Expression::Lambda(_) => {}
            Expression::Name(span) => self.name(value.text(*span), value, visit, depth),
            Expression::Member { object, name } => match bare(object) {
                Expression::Name(span) if matches!(value.text(*span), "self" | "this") => {
                    self.name(value.text(*name), value, visit, depth);
                }
                object => self.value(value.of(object), visit, depth),
            },
            Expression::Combine { operands, .. } => {
                operands.iter().for_each(|it| self.value(value.of(it), visit, depth));
            }
            Expression::Call { receiver, arguments, .. } => {
                if let Some(inner) = self.scene.helper_value(value) {
                    return self.value(inner, visit, depth);
                }
                receiver.iter().for_each(|it| self.value(value.of(it), visit, depth));
                arguments.iter().for_each(|it| self.value(value.of(it), visit, depth));
            }
        }
    }

    fn name(
        &mut self,
        name: &str,
        value: Value<'p>,
        visit: &mut dyn FnMut(Value<'p>) -> bool,
        depth: u32,
    ) {
        let Some(given) = self.scene.given(name, value) else { return };
        let start = given.value.expression.span().start;
        if self.seen.insert((given.value.at, start)) {
            self.value(given.value, visit, depth);
        }
    }
}
