//! Superclasses, subclasses, and which of their functions a call runs.

use rustc_hash::FxHashSet;

use super::call::Target;
use super::index::{Project, TypeId};
use super::names::Name;
use crate::flow::{Declared, Function};

/// A class derived from more classes than this knows the nearest only.
const MOST_ANCESTORS: usize = 32;

/// Implementers are looked for among this many subclasses.
const MOST_SUBTYPES: usize = 64;

/// A declaration without a body stands for its implementers if there are no more than these.
pub(super) const MOST_IMPLEMENTERS: usize = 3;

impl Project {
    /// Resolve what each class is derived from; needs the scopes of all files.
    pub(super) fn add_ancestors(&mut self) {
        let bases: Vec<Vec<TypeId>> = (0..)
            .zip(&self.types)
            .map(|(id, class)| {
                let id = TypeId(id);
                let mut bases = Vec::new();
                for (unit, index) in &class.parts {
                    let file = self.units.get(*unit as usize);
                    let declaration = file.and_then(|file| file.types.get(*index as usize));
                    for base in declaration.into_iter().flat_map(|declared| &declared.bases) {
                        // A class may be derived from one of its own name in another package.
                        let scope = class.outer;
                        bases.extend(self.find_type(*unit, scope, base).filter(|base| *base != id));
                    }
                }
                bases
            })
            .collect();
        let ancestors: Vec<Vec<TypeId>> =
            (0..).zip(&bases).map(|(id, _)| nearest_first(TypeId(id), &bases)).collect();
        for (class, ancestors) in self.types.iter_mut().zip(ancestors) {
            class.ancestors = ancestors;
        }
        for (id, bases) in (0..).zip(&bases) {
            for base in bases {
                if let Some(base) = self.types.get_mut(base.0 as usize) {
                    base.subtypes.push(TypeId(id));
                }
            }
        }
    }

    /// A class and what it is derived from, nearest first.
    pub(super) fn lineage(&self, class: TypeId) -> impl Iterator<Item = TypeId> {
        let ancestors = self.class(class).map_or(&[][..], |class| &class.ancestors);
        std::iter::once(class).chain(ancestors.iter().copied())
    }

    /// The functions of this name of a class, or of the nearest ancestors that have some.
    pub(super) fn functions_named(&self, class: TypeId, name: Name) -> Vec<Declared> {
        let mut found = Vec::new();
        for class in self.lineage(class) {
            let own = self.class(class).and_then(|class| class.functions.get(&name));
            found.extend(own.into_iter().flatten().copied());
        }
        found
    }

    /// What a call runs, in code of an object of this class.
    #[must_use]
    pub fn runs(&self, target: &Target, class: Option<TypeId>) -> Vec<Declared> {
        match target.functions.as_slice() {
            [declared] if target.on_this => {
                let declared = class.map_or(*declared, |class| self.dispatch(*declared, class));
                self.with_bodies(declared, class)
            }
            functions => functions.to_vec(),
        }
    }

    /// What runs for a call on an object of `class` that was resolved to `declared` of an ancestor.
    fn dispatch(&self, declared: Declared, class: TypeId) -> Declared {
        let Some(function) = self.function(declared) else { return declared };
        let Some(owner) = self.owner(declared) else { return declared };
        let Some(name) = self.names.get(&function.name) else { return declared };
        if !self.lineage(class).any(|ancestor| ancestor == owner) {
            return declared;
        }
        let candidates = self.functions_named(class, name);
        let same = |other: &&Declared| {
            self.function(**other).is_some_and(|other_function| {
                self.has_same_parameters(declared, function, **other, other_function)
            })
        };
        candidates.iter().find(same).copied().unwrap_or(declared)
    }

    fn has_same_parameters(
        &self,
        one: Declared,
        one_function: &Function,
        other: Declared,
        other_function: &Function,
    ) -> bool {
        if one_function.parameters.len() != other_function.parameters.len() {
            return false;
        }
        let (Some(one), Some(other)) = (self.unit(one), self.unit(other)) else { return false };
        one_function.parameters.iter().zip(&other_function.parameters).all(|(a, b)| {
            match (a.declared, b.declared) {
                (Some(a), Some(b)) => {
                    let (a, b) = (one.text_of(a), other.text_of(b));
                    // A type variable is written differently where it is bound.
                    a == b || a.len() == 1 || b.len() == 1
                }
                _ => true,
            }
        })
    }

    /// A function, or where it has no body those that implement it, if they are few: in classes
    /// derived from `class`, what it is called on, else in all.
    pub(super) fn with_bodies(&self, declared: Declared, class: Option<TypeId>) -> Vec<Declared> {
        let (Some(function), Some(owner)) = (self.function(declared), self.owner(declared)) else {
            return vec![declared];
        };
        if self.has_body(declared) {
            return vec![declared];
        }
        let mut found = Vec::new();
        for from in class.into_iter().filter(|class| *class != owner).chain([owner]) {
            found = self.implementers(from, function);
            if !found.is_empty() {
                break;
            }
        }
        if found.iter().any(|found| !self.is_test_code(*found)) {
            found.retain(|found| !self.is_test_code(*found));
        }
        match found.len() {
            1..=MOST_IMPLEMENTERS => {
                found.sort_by(|a, b| self.class_name(*a).cmp(self.class_name(*b)).then(a.cmp(b)));
                found
            }
            _ => vec![declared],
        }
    }

    /// The functions like this one in the classes derived from a class, the nearest ones first.
    fn implementers(&self, class: TypeId, function: &Function) -> Vec<Declared> {
        let mut found = Vec::new();
        let Some(name) = self.names.get(&function.name) else { return found };
        let mut seen: FxHashSet<TypeId> = FxHashSet::default();
        let mut queue = vec![class];
        let mut at = 0;
        while let Some(class) = queue.get(at).and_then(|class| self.class(*class)) {
            at += 1;
            for subtype in &class.subtypes {
                if queue.len() < MOST_SUBTYPES && seen.insert(*subtype) {
                    queue.push(*subtype);
                    found.extend(self.implementers_in(*subtype, name, function));
                }
            }
        }
        found
    }

    fn implementers_in(&self, class: TypeId, name: Name, function: &Function) -> Vec<Declared> {
        let own = self.class(class).and_then(|class| class.functions.get(&name));
        let fits = |other: &&Declared| {
            let count = self.function(**other).map(|other| other.parameters.len());
            count == Some(function.parameters.len()) && self.has_body(**other)
        };
        own.into_iter().flatten().filter(fits).copied().collect()
    }

    /// Whether a function says what it does: not one of an interface, not an abstract one.
    pub(super) fn has_body(&self, declared: Declared) -> bool {
        let (Some(unit), Some(function)) = (self.unit(declared), self.function(declared)) else {
            return false;
        };
        !function.body.is_empty() || unit.text_of(function.span).trim_end().ends_with('}')
    }

    fn class_name(&self, declared: Declared) -> &str {
        let owner = self.function(declared).and_then(|function| function.owner);
        let unit = self.unit(declared);
        let class = owner.zip(unit).and_then(|(owner, unit)| unit.types.get(owner as usize));
        class.map_or("", |class| class.name.as_str())
    }
}

/// What a class is derived from, breadth first; a class that is derived from itself ends it.
fn nearest_first(class: TypeId, bases: &[Vec<TypeId>]) -> Vec<TypeId> {
    let mut found: Vec<TypeId> = Vec::new();
    let mut at = 0;
    let mut next = Some(class);
    while let Some(current) = next {
        for base in bases.get(current.0 as usize).into_iter().flatten() {
            if *base != class && !found.contains(base) && found.len() < MOST_ANCESTORS {
                found.push(*base);
            }
        }
        next = found.get(at).copied();
        at += 1;
    }
    found
}
