//! What the calls of a function mean, resolved once and kept.
//!
//! A call is resolved by what it is made on, by imports, and, of several functions of one name, by
//! how many arguments there are, then by their types.

use std::sync::OnceLock;

use super::index::{ProjectIndex, TypeId};
use super::names::{Name, written};
use super::reader::{Reader, Receiver, Site};
use super::scope::Imported;
use super::value::{Kind, Value};
use crate::Language;
use crate::flow::{Declared, Expression, Function, Span, Statement, Unit};

/// What the calls in a piece of code mean, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    targets: Vec<(u32, Target)>,
}

/// What a call means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// The functions it runs: one, or a few where an interface is called.
    pub functions: Vec<Declared>,
    /// The class of the project it makes an object of.
    pub created: Option<TypeId>,
    /// Whether it is called on the object whose code this is, so that a subclass may decide.
    pub on_this: bool,
}

impl Calls {
    pub(super) fn new(mut targets: Vec<(u32, Target)>) -> Self {
        targets.sort_by_key(|(start, _)| *start);
        Self { targets }
    }

    /// What the call whose name stands here means; nothing where it leaves the project.
    #[must_use]
    pub fn at(&self, name: Span) -> Option<&Target> {
        let found = self.targets.binary_search_by_key(&name.start, |(start, _)| *start).ok()?;
        self.targets.get(found).map(|(_, target)| target)
    }

    /// All of them, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().map(|(_, target)| target)
    }
}

/// The calls of each piece of code, filled when they are first asked for.
#[derive(Debug)]
pub(super) struct CallCache {
    units: Vec<CallsOfUnit>,
}

#[derive(Debug)]
struct CallsOfUnit {
    functions: Vec<OnceLock<Calls>>,
    /// Of the first values of the fields of each class.
    types: Vec<OnceLock<Calls>>,
    /// Of the first values of the file's own variables.
    fields: OnceLock<Calls>,
}

impl CallCache {
    pub(super) fn new(units: &[Unit]) -> Self {
        let empty = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        let of_unit = |unit: &Unit| CallsOfUnit {
            functions: empty(unit.functions.len()),
            types: empty(unit.types.len()),
            fields: OnceLock::new(),
        };
        Self { units: units.iter().map(of_unit).collect() }
    }
}

/// What no piece of code calls.
static NONE: Calls = Calls { targets: Vec::new() };

impl ProjectIndex {
    /// What the calls of a function mean, those in its lambdas included.
    #[must_use]
    pub fn calls(&self, declared: Declared) -> &Calls {
        let cell = self.calls.units.get(declared.unit as usize);
        let cell = cell.and_then(|unit| unit.functions.get(declared.function as usize));
        let (Some(cell), Some(function)) = (cell, self.function(declared)) else { return &NONE };
        cell.get_or_init(|| {
            let mut reader = Reader::new(self, declared.unit, self.owner(declared));
            reader.function(function);
            reader.finish()
        })
    }

    /// What the calls in the first values of fields mean: of a class of a file, or of the file.
    #[must_use]
    pub fn calls_of_fields(&self, unit: u32, declaration: Option<u32>) -> &Calls {
        let (Some(cells), Some(file)) =
            (self.calls.units.get(unit as usize), self.units.get(unit as usize))
        else {
            return &NONE;
        };
        let (cell, fields) = match declaration.map(|index| index as usize) {
            Some(index) => (cells.types.get(index), file.types.get(index).map(|t| &t.fields)),
            None => (Some(&cells.fields), Some(&file.fields)),
        };
        let (Some(cell), Some(fields)) = (cell, fields) else { return &NONE };
        cell.get_or_init(|| {
            let owner = declaration.and_then(|index| self.declaration(unit, index));
            let mut reader = Reader::new(self, unit, owner);
            for value in fields.iter().filter_map(|field| field.value.as_ref()) {
                reader.expression(value);
            }
            reader.finish()
        })
    }
}

/// What is known of the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments<'v> {
    /// Each of them, in order.
    Known(&'v [Value]),
    /// Not even how many.
    Unknown,
}

impl ProjectIndex {
    /// What a call at a place of a file means; nothing where it leaves the project.
    pub(super) fn resolve(
        &self,
        unit: u32,
        owner: Option<TypeId>,
        site: &Site<'_>,
    ) -> Option<Target> {
        if site.creates {
            let class = match site.name {
                "this" => owner?,
                "super" => *self.class(owner?)?.ancestors.first()?,
                name => self.find_type(unit, owner, written(name).name)?,
            };
            return Some(self.creation(class, site.arguments));
        }
        match site.on {
            Receiver::Nothing => self.resolve_plain(unit, owner, site),
            Receiver::This => self.resolve_in(owner?, site, true).or_else(|| self.by_name(site)),
            Receiver::Super => {
                let ancestors = &self.class(owner?)?.ancestors;
                ancestors.iter().find_map(|class| self.resolve_in(*class, site, false))
            }
            Receiver::Value(value) => match value.kind {
                Kind::Object(class) | Kind::Class(class) => {
                    self.resolve_in(class, site, false).or_else(|| {
                        let class = self.inner_types.get(&(class, self.names.get(site.name)?))?;
                        Some(self.creation(*class, site.arguments))
                    })
                }
                Kind::Package(package) => self.resolve_in_package(unit, package, site),
                Kind::Unknown => self.by_name(site),
                Kind::Foreign(_) => None,
            },
        }
    }

    /// A call on nothing: the own class, those around it, imports, the package, a class.
    fn resolve_plain(&self, unit: u32, owner: Option<TypeId>, site: &Site<'_>) -> Option<Target> {
        let name = self.names.get(site.name);
        let mut around = owner;
        let mut is_own = true;
        for _ in 0..16 {
            let Some(class) = around else { break };
            if let Some(target) = self.resolve_in(class, site, is_own) {
                return Some(target);
            }
            is_own = false;
            around = self.class(class)?.outer;
        }
        let imported = self.imported_functions(unit, name?);
        if let Some(found) = self.best(&imported, site.arguments) {
            return Some(self.target(found));
        }
        if let Some(package) = self.scopes.get(unit as usize)?.package
            && let Some(target) = self.resolve_in_package(unit, package, site)
        {
            return Some(target);
        }
        let class = self.find_type(unit, owner, site.name)?;
        Some(self.creation(class, site.arguments))
    }

    fn resolve_in(&self, class: TypeId, site: &Site<'_>, on_this: bool) -> Option<Target> {
        let name = self.names.get(site.name)?;
        let found = self.best(&self.functions_named(class, name), site.arguments)?;
        // What an object runs of its own code is known only when its class is.
        let functions = if on_this { vec![found] } else { self.with_bodies(found, Some(class)) };
        Some(Target { functions, created: None, on_this })
    }

    fn resolve_in_package(&self, unit: u32, package: Name, site: &Site<'_>) -> Option<Target> {
        let name = self.names.get(site.name)?;
        let is_elsewhere = self.scopes.get(unit as usize)?.package != Some(package);
        if let Some(functions) = self.package_functions.get(&(package, name)) {
            // Where several files share a package, what stands in this one comes first.
            let mut functions = functions.clone();
            functions.sort_by_key(|found| (found.unit != unit, *found));
            if let Some(found) = self.best(&functions, site.arguments) {
                return Some(self.target(found));
            }
        }
        if let Some(classes) = self.types_by_name.get(&(package, name)) {
            return Some(self.creation(self.nearest(unit, classes)?, site.arguments));
        }
        match self.export(package, name, 2).filter(|_| is_elsewhere)? {
            Imported::Type(class) => Some(self.creation(class, site.arguments)),
            Imported::Function(package, name) => {
                let functions = self.package_functions.get(&(package, name))?;
                Some(self.target(self.best(functions, site.arguments)?))
            }
            Imported::Package(_) | Imported::Member(..) | Imported::Foreign => None,
        }
    }

    /// Where nothing is known of what a call is made on: the only function of that name that takes
    /// so many arguments.
    fn by_name(&self, site: &Site<'_>) -> Option<Target> {
        let Arguments::Known(values) = site.arguments else { return None };
        let named = self.functions_by_name.get(&self.names.get(site.name)?)?;
        let fits = |declared: &&Declared| {
            let function = self.function(**declared);
            function.is_some_and(|function| {
                function.parameters.len() == values.len() && function.owner.is_some()
            })
        };
        let mut found = named.iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(only), None) => Some(self.target(*only)),
            _ => None,
        }
    }

    fn target(&self, declared: Declared) -> Target {
        let functions = self.with_bodies(declared, None);
        Target { functions, created: None, on_this: false }
    }

    /// The making of an object: its constructor, if one is written.
    fn creation(&self, class: TypeId, arguments: Arguments<'_>) -> Target {
        let constructors = self.constructors(class);
        let found = self.best(&constructors, arguments);
        Target { functions: found.into_iter().collect(), created: Some(class), on_this: false }
    }

    pub(super) fn constructors(&self, class: TypeId) -> Vec<Declared> {
        let Some(declared) = self.class(class) else { return Vec::new() };
        let named = ["__init__", "constructor", "initialize", "<init>"];
        let named = named.iter().filter_map(|name| self.names.get(name));
        let mut names = std::iter::once(declared.simple_name).chain(named);
        let found = names.find_map(|name| declared.functions.get(&name)).cloned();
        found.unwrap_or_default()
    }

    /// What a resolved call gives back.
    pub(super) fn value_of(&self, target: &Target, site: &Site<'_>) -> Value {
        if let Some(class) = target.created {
            return Value::object(class);
        }
        let Some(declared) = target.functions.first() else { return Value::unknown() };
        let Some(function) = self.function(*declared) else { return Value::unknown() };
        let owner = self.owner(*declared);
        let given = match function.returns {
            Some(span) => self.declared_value(declared.unit, owner, span),
            None => self.inferred(*declared),
        };
        let (Receiver::Value(on), Kind::Unknown) = (site.on, given.kind) else { return given };
        // A type variable: what the object holds, or the object itself of a fluent interface.
        match (on.element, on.kind) {
            (Some(element), _) => Value::object(element),
            (None, Kind::Object(class)) if owner.is_some_and(|owner| owner != class) => {
                let unit = self.unit(*declared);
                let returns = function.returns.zip(unit).map(|(span, unit)| unit.text_of(span));
                if matches!(returns, Some("T" | "S" | "B")) { Value::object(class) } else { given }
            }
            _ => given,
        }
    }

    /// What a function without a written type gives back, if it makes it where it returns.
    fn inferred(&self, declared: Declared) -> Value {
        let Some(function) = self.function(declared) else { return Value::unknown() };
        let Some(unit) = self.unit(declared) else { return Value::unknown() };
        let Some(Statement::Return(Some(Expression::Call { name, receiver: None, .. }))) =
            function.body.last()
        else {
            return Value::unknown();
        };
        let class = self.find_type(declared.unit, self.owner(declared), unit.text_of(*name));
        class.map_or(Value::unknown(), Value::object)
    }

    /// The function of `candidates` these arguments fit best; of equals the first.
    ///
    /// Candidates come nearest class first, so that what overrides wins over what is overridden.
    fn best(&self, candidates: &[Declared], given: Arguments<'_>) -> Option<Declared> {
        let Arguments::Known(values) = given else { return candidates.first().copied() };
        let mut best: Option<(i32, Declared)> = None;
        let fitting = candidates.iter().filter_map(|candidate| {
            let function = self.function(*candidate)?;
            Some((self.fit_of_count(*candidate, function, values.len())?, *candidate, function))
        });
        let fitting: Vec<(i32, Declared, &Function)> = fitting.collect();
        if let [(_, only, _)] = fitting.as_slice() {
            return Some(*only);
        }
        for (fit, candidate, function) in fitting {
            let fit = fit + self.fit_of_types(candidate, function, values);
            if best.is_none_or(|(known, _)| fit > known) {
                best = Some((fit, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// How well the number of arguments fits; nothing if it cannot.
    fn fit_of_count(&self, declared: Declared, function: &Function, given: usize) -> Option<i32> {
        let taken = function.parameters.len();
        if taken == given {
            return Some(1);
        }
        if self.takes_any_number(declared, function) && given + 1 >= taken {
            return Some(0);
        }
        // Parameters may have a default value, which the form does not tell.
        let has_defaults = match self.unit(declared)?.language {
            Language::Python | Language::JavaScript | Language::TypeScript => true,
            Language::Kotlin | Language::CSharp | Language::Ruby => true,
            Language::Java | Language::Go | Language::Rust => false,
        };
        (has_defaults && given < taken).then_some(0)
    }

    /// Whether the last parameter takes all that is left: `String... names`, `*args`, `...rest`.
    fn takes_any_number(&self, declared: Declared, function: &Function) -> bool {
        let (Some(unit), Some(last)) = (self.unit(declared), function.parameters.last()) else {
            return false;
        };
        let from = last.declared.map_or(last.name.start, |span| span.start).min(last.name.start);
        let to = last.declared.map_or(last.name.end, |span| span.end).max(last.name.end);
        let text = unit.text.get(from.saturating_sub(3) as usize..to as usize).unwrap_or_default();
        text.contains("...") || text.contains('*') && unit.language == Language::Python
    }

    fn fit_of_types(&self, declared: Declared, function: &Function, values: &[Value]) -> i32 {
        let owner = self.owner(declared);
        let pairs = function.parameters.iter().zip(values);
        pairs
            .map(|(parameter, value)| {
                let Some(span) = parameter.declared else { return 0 };
                self.fit_of_type(self.declared_value(declared.unit, owner, span), *value)
            })
            .sum()
    }

    fn fit_of_type(&self, taken: Value, given: Value) -> i32 {
        match (taken.kind, given.kind) {
            (Kind::Object(taken), Kind::Object(given)) if taken == given => 3,
            (Kind::Object(taken), Kind::Object(given)) => {
                if self.lineage(given).any(|ancestor| ancestor == taken) { 2 } else { -3 }
            }
            (Kind::Foreign(taken), Kind::Foreign(given)) => {
                if taken == given {
                    3
                } else {
                    -1
                }
            }
            (Kind::Object(_), Kind::Foreign(_)) => -2,
            (Kind::Foreign(_), Kind::Object(_)) => -1,
            _ => 0,
        }
    }
}
