//! Reads a piece of code in the order of its text and resolves its calls.
//!
//! Types are followed through declarations, assignments, fields, calls that were resolved before
//! and what they give back. One variable has one type at a time; branches are not told apart.

use rustc_hash::FxHashMap;

use super::call::{Arguments, Calls, Target};
use super::index::{ProjectIndex, TypeId};
use super::value::{Kind, Value};
use crate::Language;
use crate::flow::{Expression, Function, Operation, Span, Statement, Unit};

/// Expressions in one another deeper than this are not looked into.
const DEEPEST: u32 = 300;

/// A call, ready to be resolved.
pub(super) struct Site<'s> {
    pub(super) name: &'s str,
    pub(super) on: Receiver,
    pub(super) arguments: Arguments<'s>,
    pub(super) creates: bool,
}

/// What a call is made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    /// Nothing is written: the own class, an import, the package.
    Nothing,
    /// `this`, `self`.
    This,
    /// `super`.
    Super,
    /// A value.
    Value(Value),
}

pub(super) struct Reader<'p> {
    project: &'p ProjectIndex,
    unit: u32,
    file: Option<&'p Unit>,
    owner: Option<TypeId>,
    locals: FxHashMap<&'p str, Value>,
    found: Vec<(u32, Target)>,
    depth: u32,
}

impl<'p> Reader<'p> {
    pub(super) fn new(project: &'p ProjectIndex, unit: u32, owner: Option<TypeId>) -> Self {
        let file = project.units.get(unit as usize);
        let locals = FxHashMap::default();
        Self { project, unit, file, owner, locals, found: Vec::new(), depth: 0 }
    }

    pub(super) fn finish(self) -> Calls {
        Calls::new(self.found)
    }

    pub(super) fn function(&mut self, function: &'p Function) {
        for parameter in &function.parameters {
            let value = parameter.declared.map(|span| self.declared(span)).unwrap_or_default();
            self.locals.insert(self.text(parameter.name), value);
        }
        self.statements(&function.body);
    }

    /// What each `self.x = …` of a function gives `x`.
    pub(super) fn attributes(&mut self, function: &'p Function) -> Vec<(&'p str, Value)> {
        self.function(function);
        let mut found = Vec::new();
        for statement in &function.body {
            let Statement::Bind { targets, value: Some(value), .. } = statement else { continue };
            for target in targets {
                if let Expression::Member { object, name } = target
                    && let Expression::Name(object) = &**object
                    && is_this(self.text(*object))
                {
                    found.push((self.text(*name), self.expression(value)));
                }
            }
        }
        found
    }

    fn statements(&mut self, statements: &'p [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        match statement {
            Statement::Bind { targets, declared, operator, value } => {
                let value = value.as_ref().map(|value| self.expression(value));
                let value = match value {
                    Some(value) if self.text(*operator) == "for" => Some(value.item()),
                    other => other,
                };
                let written = declared.map(|span| self.declared(span));
                let known = written.filter(|value| value.kind != Kind::Unknown).or(value);
                // Functions of Go give an error beside their value.
                let is_go = self.file.is_some_and(|file| file.language == Language::Go);
                for (place, target) in targets.iter().enumerate() {
                    let is_meant = targets.len() == 1 || is_go && place == 0 || written.is_some();
                    self.assign(target, known.or(written), is_meant);
                }
            }
            Statement::Evaluate(value) | Statement::Return(Some(value)) => {
                self.expression(value);
            }
            Statement::Return(None) => {}
            Statement::Assert { words, operands, .. } => self.assertion(words, operands),
            Statement::Nested { heads, body, .. } => {
                for head in heads {
                    self.expression(head);
                }
                self.statements(body);
            }
        }
        self.depth -= 1;
    }

    fn assign(&mut self, target: &'p Expression, value: Option<Value>, is_meant: bool) {
        match target {
            Expression::Name(span) => {
                let name = self.text(*span);
                let value = value.filter(|_| is_meant).unwrap_or_default();
                // A field keeps the type it was declared with.
                if value.kind != Kind::Unknown || self.name(name).kind == Kind::Unknown {
                    self.locals.insert(name, value);
                }
            }
            other => {
                self.expression(other);
            }
        }
    }

    fn assertion(&mut self, words: &'p [Span], operands: &'p [Expression]) {
        let values: Vec<Value> = operands.iter().map(|value| self.expression(value)).collect();
        let Some((first, rest)) = words.split_first() else { return };
        let on = self.receiver_before(*first);
        let values = values.get(usize::from(has_subject(*first, operands))..).unwrap_or_default();
        let arguments = if rest.is_empty() {
            Arguments::Known(values)
        } else {
            Arguments::Known(values.get(..1).unwrap_or_default())
        };
        let site = Site { name: self.text(*first), on, arguments, creates: false };
        // What an unknown `verify(mock)` or `assertThat(value)` gives back speaks for its argument.
        let given = values.first().copied().unwrap_or_default();
        let mut value = self.resolve(*first, &site).unwrap_or(given);
        for word in rest {
            let name = self.text(*word);
            let on = Receiver::Value(value);
            let site = Site { name, on, arguments: Arguments::Unknown, creates: false };
            if matches!(value.kind, Kind::Object(_) | Kind::Class(_)) {
                value = self.resolve(*word, &site).unwrap_or(value);
            }
        }
    }

    /// What stands before the dot before a word whose call the form does not keep.
    fn receiver_before(&self, word: Span) -> Receiver {
        let text = self.file.map_or("", |file| file.text.as_str());
        let before = text.get(..word.start as usize).unwrap_or_default().trim_end();
        let Some(before) = before.strip_suffix('.').or_else(|| before.strip_suffix("::")) else {
            return Receiver::Nothing;
        };
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let start = before.rfind(|c: char| !is_part(c)).map_or(0, |at| at + 1);
        match before.get(start..) {
            Some("super") => Receiver::Super,
            Some(name) if is_this(name) => Receiver::This,
            Some(name) => Receiver::Value(self.name(name)),
            None => Receiver::Value(Value::unknown()),
        }
    }

    /// Read an expression and say what it gives.
    pub(super) fn expression(&mut self, expression: &'p Expression) -> Value {
        if self.depth >= DEEPEST {
            return Value::unknown();
        }
        self.depth += 1;
        let value = match expression {
            Expression::Name(span) => self.name(self.text(*span)),
            Expression::Literal(span) => Value::of_literal(self.text(*span)),
            Expression::Call { name, receiver, arguments, creates } => {
                self.call(*name, receiver.as_deref(), arguments, *creates)
            }
            Expression::Member { object, name } => self.member(object, *name),
            Expression::Combine { operation, word, operands } => {
                self.combine(*operation, *word, operands)
            }
            Expression::Lambda(function) => {
                self.function(function);
                Value::unknown()
            }
        };
        self.depth -= 1;
        value
    }

    fn call(
        &mut self,
        name: Span,
        receiver: Option<&'p Expression>,
        arguments: &'p [Expression],
        creates: bool,
    ) -> Value {
        let on = match receiver {
            None => Receiver::Nothing,
            Some(Expression::Name(span)) if is_this(self.text(*span)) => Receiver::This,
            Some(Expression::Name(span)) if matches!(self.text(*span), "super") => Receiver::Super,
            Some(Expression::Call { name, receiver: None, .. }) if self.text(*name) == "super" => {
                Receiver::Super
            }
            Some(receiver) => Receiver::Value(self.expression(receiver)),
        };
        let values: Vec<Value> = arguments.iter().map(|value| self.expression(value)).collect();
        let text = self.text(name);
        let arguments = Arguments::Known(&values);
        if creates && let Some(outer) = receiver.and_then(|outer| dotted(outer, self.file)) {
            let whole = format!("{outer}.{text}");
            let site = Site { name: &whole, on: Receiver::Nothing, arguments, creates };
            if let Some(value) = self.resolve(name, &site) {
                return value;
            }
        }
        let site = Site { name: text, on, arguments, creates };
        self.resolve(name, &site).unwrap_or_else(|| match on {
            Receiver::Value(value) => value.after(text),
            Receiver::Nothing | Receiver::This | Receiver::Super => Value::unknown(),
        })
    }

    fn resolve(&mut self, name: Span, site: &Site<'_>) -> Option<Value> {
        let target = self.project.resolve(self.unit, self.owner, site)?;
        let value = self.project.value_of(&target, site);
        self.found.push((name.start, target));
        Some(value)
    }

    fn member(&mut self, object: &'p Expression, name: Span) -> Value {
        let name = self.text(name);
        if let Expression::Name(span) = object
            && is_this(self.text(*span))
        {
            return self.owner.map_or(Value::unknown(), |class| self.project.field_of(class, name));
        }
        let value = self.expression(object);
        match value.kind {
            Kind::Object(class) => self.project.field_of(class, name),
            Kind::Class(class) => self.project.static_member(class, name),
            Kind::Package(package) => self.project.in_package(self.unit, package, name),
            Kind::Unknown | Kind::Foreign(_) => {
                let whole = dotted(object, self.file).map(|text| format!("{text}.{name}"));
                let named = |text: String| self.project.path_value(self.unit, self.owner, &text);
                whole.map_or(Value::unknown(), named)
            }
        }
    }

    fn combine(&mut self, operation: Operation, word: Span, operands: &'p [Expression]) -> Value {
        let values: Vec<Value> = operands.iter().map(|value| self.expression(value)).collect();
        let first = values.first().copied().unwrap_or_default();
        match operation {
            Operation::Pass => {
                let class = self.project.find_type(self.unit, self.owner, self.text(word));
                class.map_or(first, Value::object)
            }
            Operation::Index => first.item(),
            Operation::Compare => Value::foreign("boolean"),
            Operation::Choose => values.last().copied().unwrap_or_default(),
            Operation::Arithmetic => {
                let text = Value::foreign("String");
                if values.contains(&text) { text } else { first }
            }
            Operation::Gather => Value::unknown(),
        }
    }

    fn name(&self, name: &str) -> Value {
        if let Some(value) = self.locals.get(name) {
            return *value;
        }
        if is_this(name) {
            return self.owner.map_or(Value::unknown(), Value::object);
        }
        self.project.name_value(self.unit, self.owner, name)
    }

    fn declared(&self, span: Span) -> Value {
        self.project.declared_value(self.unit, self.owner, span)
    }

    fn text(&self, span: Span) -> &'p str {
        self.file.map_or("", |file| file.text_of(span))
    }
}

/// Whether the first operand of an assertion is what its first word is called on.
pub(crate) fn has_subject(word: Span, operands: &[Expression]) -> bool {
    operands.first().is_some_and(|operand| operand.span().start < word.start)
}

/// Whether a name means the object whose code this is.
pub(crate) fn is_this(name: &str) -> bool {
    matches!(name, "this" | "self" | "cls")
}

/// The text of names joined by dots; nothing if anything else is among them.
fn dotted(expression: &Expression, file: Option<&Unit>) -> Option<String> {
    let mut parts = Vec::new();
    let mut current = expression;
    loop {
        match current {
            Expression::Name(span) => {
                parts.push(file?.text_of(*span));
                break;
            }
            Expression::Member { object, name } if parts.len() < 12 => {
                parts.push(file?.text_of(*name));
                current = object;
            }
            _ => return None,
        }
    }
    parts.reverse();
    Some(parts.join("."))
}
