//! The index itself: types, functions and fields of all files, by name; superclasses and subclasses,
//! and which of their functions a call runs.

use flakeproof_core::TestId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::call::{CallCache, Target};
use super::names::{Name, Names};
use super::reach::begin_of_test_code;
use super::scope::Scope;
use super::text_notes::TextNotes;
use super::value::Value;
use crate::flow::{Declared, Field, Function, Role, Span, Unit};
use crate::words::Comments;
use crate::{Language, words};

/// A class of a project, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub(super) u32);

impl TypeId {
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// The files of a project, indexed.
///
/// Equal units in equal order give an equal index. Everything is read through `&self`, from as
/// many threads as you like.
#[derive(Debug)]
pub struct ProjectIndex {
    pub(super) units: Vec<Unit>,
    pub(super) names: Names,
    pub(super) types: Vec<Type>,
    /// The class of each declaration of each file.
    pub(super) declarations: Vec<Vec<TypeId>>,
    /// Classes by package and name.
    pub(super) types_by_name: FxHashMap<(Name, Name), Vec<TypeId>>,
    /// Classes by their own name alone.
    pub(super) types_by_simple_name: FxHashMap<Name, Vec<TypeId>>,
    /// Classes by the class around them.
    pub(super) inner_types: FxHashMap<(TypeId, Name), TypeId>,
    /// Functions outside of classes, by package and name.
    pub(super) package_functions: FxHashMap<(Name, Name), Vec<Declared>>,
    /// All functions, by their name alone.
    pub(super) functions_by_name: FxHashMap<Name, Vec<Declared>>,
    /// The last parts of the packages of Python: `orders.basket` for `src.orders.basket`.
    pub(super) package_ends: FxHashMap<Name, Name>,
    /// The files of each package.
    pub(super) packages: FxHashMap<Name, Vec<u32>>,
    pub(super) scopes: Vec<Scope>,
    pub(super) tests: FxHashMap<TestId, Declared>,
    pub(super) fixtures: FxHashMap<Name, Vec<Declared>>,
    /// What files of fixtures run around every test below them.
    pub(super) automatic_fixtures: Vec<Declared>,
    /// What runs before or after the tests of each file, outside of its classes.
    pub(super) hooks: Vec<Vec<Declared>>,
    /// What is assigned to `self.x` where no type is written.
    pub(super) attributes: FxHashMap<(TypeId, Name), Value>,
    /// From which byte on each file is test code.
    pub(super) test_code: Vec<Option<u32>>,
    pub(super) calls: CallCache,
    pub(super) notes: Vec<TextNotes>,
}

/// A class, with all that is declared of it.
#[derive(Debug)]
pub(super) struct Type {
    /// Its file and its place there; several where a language lets it be opened again.
    pub(super) parts: Vec<(u32, u32)>,
    pub(super) simple_name: Name,
    /// The class around it.
    pub(super) outer: Option<TypeId>,
    /// What it is derived from, itself left out, nearest first.
    pub(super) ancestors: Vec<TypeId>,
    /// What is derived from it directly.
    pub(super) subtypes: Vec<TypeId>,
    pub(super) functions: FxHashMap<Name, Vec<Declared>>,
    /// Its functions that run before or after tests, in the order of the text.
    pub(super) hooks: Vec<Declared>,
    /// Its variables: file, declaration, place.
    pub(super) fields: FxHashMap<Name, (u32, u32, u32)>,
}

impl ProjectIndex {
    /// The index of these files.
    #[must_use]
    pub fn new(units: Vec<Unit>) -> Self {
        let mut project = Self {
            calls: CallCache::new(&units),
            notes: units.iter().map(|_| TextNotes::default()).collect(),
            test_code: units.iter().map(begin_of_test_code).collect(),
            scopes: Vec::with_capacity(units.len()),
            units: Vec::new(),
            names: Names::default(),
            types: Vec::new(),
            declarations: Vec::with_capacity(units.len()),
            types_by_name: FxHashMap::default(),
            types_by_simple_name: FxHashMap::default(),
            inner_types: FxHashMap::default(),
            package_functions: FxHashMap::default(),
            functions_by_name: FxHashMap::default(),
            package_ends: FxHashMap::default(),
            packages: FxHashMap::default(),
            tests: FxHashMap::default(),
            fixtures: FxHashMap::default(),
            automatic_fixtures: Vec::new(),
            hooks: Vec::with_capacity(units.len()),
            attributes: FxHashMap::default(),
        };
        for (unit, file) in (0..).zip(&units) {
            project.add_types(unit, file);
            project.add_functions(unit, file);
        }
        project.units = units;
        project.add_scopes();
        project.follow_exports();
        project.add_ancestors();
        project.add_attributes();
        project
    }

    /// The files, in the order they were given.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The file a function is in.
    #[must_use]
    pub fn unit(&self, declared: Declared) -> Option<&Unit> {
        self.units.get(declared.unit as usize)
    }

    /// A function.
    #[must_use]
    pub fn function(&self, declared: Declared) -> Option<&Function> {
        self.unit(declared)?.functions.get(declared.function as usize)
    }

    /// The class a function belongs to.
    #[must_use]
    pub fn owner(&self, declared: Declared) -> Option<TypeId> {
        let owner = self.function(declared)?.owner?;
        self.declaration(declared.unit, owner)
    }

    /// Whether a function is test code: in a file of tests, or in a folder of them.
    #[must_use]
    pub fn is_test_code(&self, declared: Declared) -> bool {
        let begin = self.test_code.get(declared.unit as usize).copied().flatten();
        let start = self.function(declared).map(|function| function.span.start);
        begin.zip(start).is_some_and(|(begin, start)| begin <= start)
    }

    pub(super) fn declaration(&self, unit: u32, index: u32) -> Option<TypeId> {
        self.declarations.get(unit as usize)?.get(index as usize).copied()
    }

    /// The class declared at a place of a file.
    pub(crate) fn class_at(&self, unit: u32, declaration: Option<u32>) -> Option<TypeId> {
        self.declaration(unit, declaration?)
    }

    pub(super) fn class(&self, class: TypeId) -> Option<&Type> {
        self.types.get(class.0 as usize)
    }

    /// A variable of a class or, without one, of a file, by where it is declared.
    pub(super) fn field(&self, unit: u32, declaration: Option<u32>, place: u32) -> Option<&Field> {
        let unit = self.units.get(unit as usize)?;
        let fields = match declaration {
            Some(index) => &unit.types.get(index as usize)?.fields,
            None => &unit.fields,
        };
        fields.get(place as usize)
    }

    fn add_types(&mut self, unit: u32, file: &Unit) {
        let package = self.names.intern(&file.package);
        self.packages.entry(package).or_default().push(unit);
        let mut declared: Vec<TypeId> = Vec::with_capacity(file.types.len());
        for (index, declaration) in (0..).zip(&file.types) {
            let full = self.names.intern(&declaration.name);
            let (around, simple) = match declaration.name.rsplit_once('.') {
                Some((around, simple)) => (Some(around), simple),
                None => (None, declaration.name.as_str()),
            };
            let simple_name = self.names.intern(simple);
            let outer = around.and_then(|around| {
                let place = file.types.iter().position(|other| other.name == around)?;
                declared.get(place).copied()
            });
            let known = self.types_by_name.entry((package, full)).or_default();
            let id = match known.first() {
                Some(first) if may_be_opened_again(file.language) => *first,
                _ => {
                    let id = TypeId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
                    known.push(id);
                    self.types_by_simple_name.entry(simple_name).or_default().push(id);
                    self.types.push(Type::new(simple_name, outer));
                    id
                }
            };
            if let Some(outer) = outer {
                self.inner_types.entry((outer, simple_name)).or_insert(id);
            }
            declared.push(id);
            let names: Vec<Name> = declaration
                .fields
                .iter()
                .map(|field| self.names.intern(file.text_of(field.name)))
                .collect();
            if let Some(class) = self.types.get_mut(id.0 as usize) {
                class.parts.push((unit, index));
                for (place, name) in (0..).zip(names) {
                    class.fields.entry(name).or_insert((unit, index, place));
                }
            }
        }
        self.declarations.push(declared);
    }

    fn add_functions(&mut self, unit: u32, file: &Unit) {
        let package = self.names.intern(&file.package);
        let mut hooks = Vec::new();
        for (place, function) in (0..).zip(&file.functions) {
            let declared = Declared { unit, function: place };
            let name = self.names.intern(&function.name);
            let is_automatic = |mark: &Span| file.text_of(*mark).contains("autouse");
            if file.language == Language::Python && function.marks.iter().any(is_automatic) {
                self.fixtures.entry(name).or_default().push(declared);
                // Those of a file of tests are among its hooks.
                if file.path.ends_with("conftest.py") {
                    self.automatic_fixtures.push(declared);
                }
            }
            let class = function.owner.and_then(|owner| self.declaration(unit, owner));
            match class.and_then(|class| self.types.get_mut(class.0 as usize)) {
                Some(class) => {
                    class.functions.entry(name).or_default().push(declared);
                    if matches!(function.role, Role::Before | Role::After) {
                        class.hooks.push(declared);
                    }
                }
                None => {
                    self.package_functions.entry((package, name)).or_default().push(declared);
                    if matches!(function.role, Role::Before | Role::After) {
                        hooks.push(declared);
                    }
                }
            }
            match &function.role {
                Role::Test(id) => {
                    self.tests.entry(id.clone()).or_insert(declared);
                }
                Role::Fixture => self.fixtures.entry(name).or_default().push(declared),
                Role::Before | Role::After | Role::Plain => {
                    self.functions_by_name.entry(name).or_default().push(declared);
                }
            }
        }
        self.hooks.push(hooks);
    }

    /// The words of a function's text, names cut into their parts, comments left out, as they
    /// stand: `readJson(order)` is `read`, `Json`, `order`.
    pub fn body_words(&self, declared: Declared) -> impl Iterator<Item = &str> {
        let unit = self.unit(declared);
        let function = self.function(declared);
        unit.zip(function).into_iter().flat_map(|(unit, function)| {
            words::of_code(unit.text_of(function.span), Comments::from(unit.language))
        })
    }
}

impl Type {
    fn new(simple_name: Name, outer: Option<TypeId>) -> Self {
        Self {
            parts: Vec::new(),
            simple_name,
            outer,
            ancestors: Vec::new(),
            subtypes: Vec::new(),
            functions: FxHashMap::default(),
            hooks: Vec::new(),
            fields: FxHashMap::default(),
        }
    }
}

/// Whether a class may be declared in several places: the `impl`s of Rust, the methods of Go.
fn may_be_opened_again(language: Language) -> bool {
    matches!(language, Language::Go | Language::Rust | Language::Ruby)
}

/// A class derived from more classes than this knows the nearest only.
const MOST_ANCESTORS: usize = 32;

/// Implementers are looked for among this many subclasses.
const MOST_SUBTYPES: usize = 64;

/// A declaration without a body stands for its implementers if there are no more than these.
pub(super) const MOST_IMPLEMENTERS: usize = 3;

impl ProjectIndex {
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
