//! What the calls of a function mean, resolved once and kept.

use std::sync::OnceLock;

use super::index::{Project, TypeId};
use super::reader::Reader;
use crate::flow::{Declared, Span, Unit};

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

impl Project {
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
