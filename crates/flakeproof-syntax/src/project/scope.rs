//! What a name means in a file: by its imports, its package, and the classes around it.
//!
//! A file may hand on what it takes from others: `from .basket import Basket` in `__init__.py`,
//! `export … from` in `index.ts`, `pub use`.

use rustc_hash::FxHashMap;

use super::index::{ProjectIndex, TypeId};
use super::names::{Name, cuts, written};
use super::value::Value;
use crate::Language;
use crate::flow::{Declared, Import, Span, Unit};

/// Files that hand on what they were handed on, in one another.
const LONGEST_CHAIN: usize = 4;

/// What a file sees by its imports.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) package: Option<Name>,
    pub(super) imported: FxHashMap<Name, Imported>,
    /// What everything is imported of.
    pub(super) stars: Vec<Imported>,
    /// The file's own variables, by name.
    pub(super) fields: FxHashMap<Name, u32>,
}

/// What an import means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Imported {
    Type(TypeId),
    Package(Name),
    /// A function of a package, under its name there.
    Function(Name, Name),
    /// A function or a constant of a class, under its name there.
    Member(TypeId, Name),
    /// Something that is not the project's.
    Foreign,
}

impl ProjectIndex {
    /// Read the imports of all files; needs the types and functions of all of them.
    pub(super) fn add_scopes(&mut self) {
        self.add_package_ends();
        let mut scopes = Vec::with_capacity(self.units.len());
        for unit in 0..self.units.len() {
            let Some(file) = self.units.get(unit) else { continue };
            let package = self.names.get(&file.package);
            let mut scope = Scope { package, ..Scope::default() };
            let place = u32::try_from(unit).unwrap_or(u32::MAX);
            let mut bindings = Vec::new();
            for import in &file.imports {
                let meant = self.imported(place, file, import);
                if import.name == "*" {
                    scope.stars.extend(meant);
                } else {
                    bindings.push((import.name.clone(), meant.unwrap_or(Imported::Foreign)));
                }
            }
            let fields: Vec<String> =
                file.fields.iter().map(|field| file.text_of(field.name).to_owned()).collect();
            for (name, meant) in bindings {
                scope.imported.entry(self.names.intern(&name)).or_insert(meant);
            }
            for (place, name) in (0..).zip(fields) {
                scope.fields.entry(self.names.intern(&name)).or_insert(place);
            }
            scopes.push(scope);
        }
        self.scopes = scopes;
    }

    fn add_package_ends(&mut self) {
        let packages: Vec<String> = self
            .units
            .iter()
            .filter(|unit| unit.language == Language::Python)
            .map(|unit| unit.package.clone())
            .collect();
        for package in packages {
            let Some(whole) = self.names.get(&package) else { continue };
            let mut end = package.as_str();
            while let Some((_, rest)) = end.split_once('.') {
                let name = self.names.intern(rest);
                self.package_ends.entry(name).or_insert(whole);
                end = rest;
            }
            self.package_ends.insert(whole, whole);
        }
    }

    fn imported(&self, unit: u32, file: &Unit, import: &Import) -> Option<Imported> {
        let path = import.path.as_str();
        if import.name == "*" {
            return self
                .type_at(unit, path)
                .map(Imported::Type)
                .or_else(|| self.package_at(path).map(Imported::Package));
        }
        if let Some(class) = self.type_at(unit, path) {
            return Some(Imported::Type(class));
        }
        for (before, last) in cuts(path) {
            // What a module exports by default has, most often, the name it is imported by.
            let last = if last == "default" { import.name.as_str() } else { last };
            let Some(last) = self.names.get(last) else { continue };
            if let Some(package) = self.package_at(before)
                && let Some(classes) = self.types_by_name.get(&(package, last))
            {
                return self.nearest(unit, classes).map(Imported::Type);
            }
            if let Some(package) = self.package_at(before)
                && self.package_functions.contains_key(&(package, last))
            {
                return Some(Imported::Function(package, last));
            }
            if let Some(class) = self.type_at(unit, before) {
                return Some(Imported::Member(class, last));
            }
            if file.language == Language::Java {
                break;
            }
        }
        self.package_at(path).map(Imported::Package)
    }

    /// A package by its name, or by the end of it where folders stand before it.
    pub(super) fn package_at(&self, path: &str) -> Option<Name> {
        let name = self.names.get(path)?;
        Some(self.package_ends.get(&name).copied().unwrap_or(name))
    }

    /// A class by its whole name, packages included.
    fn type_at(&self, unit: u32, path: &str) -> Option<TypeId> {
        cuts(path).find_map(|(package, name)| {
            let package = self.package_at(package)?;
            let name = self.names.get(name)?;
            self.nearest(unit, self.types_by_name.get(&(package, name))?)
        })
    }

    /// Of classes with the same name, the one whose file lies nearest to this one.
    pub(super) fn nearest(&self, unit: u32, classes: &[TypeId]) -> Option<TypeId> {
        if let [only] = classes {
            return Some(*only);
        }
        let path = self.units.get(unit as usize)?.path.as_str();
        let shared = |class: &TypeId| {
            let other = self.class(*class).and_then(|class| class.parts.first());
            let other = other.and_then(|(unit, _)| self.units.get(*unit as usize));
            let other = other.map_or("", |unit| unit.path.as_str());
            path.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
        };
        // The first of several that are equally near.
        classes.iter().rev().max_by_key(|class| shared(class)).copied()
    }

    /// A path of Rust that begins at its crate, its module or the one around, written whole.
    pub(super) fn whole_path(&self, unit: u32, text: &str) -> Option<String> {
        let (first, rest) = text.split_once("::")?;
        let package = self.units.get(unit as usize)?.package.as_str();
        let start = match first {
            "crate" => package.split("::").next()?,
            "super" => package.rsplit_once("::")?.0,
            "self" => package,
            _ => return None,
        };
        Some(format!("{start}::{rest}"))
    }

    /// The class a name means here: inside `owner`, by import, by package.
    pub(super) fn find_type(&self, unit: u32, owner: Option<TypeId>, text: &str) -> Option<TypeId> {
        let end = text.find(['.', ':', '$']).unwrap_or(text.len());
        let (head, rest) = text.split_at(end);
        let rest = rest.trim_start_matches([':', '.', '$']);
        if let Some(name) = self.names.get(head) {
            let found = self
                .inner_type(owner, name)
                .or_else(|| self.visible_type(unit, name))
                .and_then(|class| self.descend(class, rest));
            if found.is_some() {
                return found;
            }
            if let Some(Imported::Package(package)) = self.import_of(unit, name)
                && let Some(rest) = self.names.get(rest)
                && let Some(classes) = self.types_by_name.get(&(package, rest))
            {
                return self.nearest(unit, classes);
            }
        }
        if rest.is_empty() {
            return None;
        }
        let whole = self.whole_path(unit, text);
        self.type_at(unit, whole.as_deref().unwrap_or(text))
    }

    /// What an import of this file calls by this name.
    pub(super) fn import_of(&self, unit: u32, name: Name) -> Option<Imported> {
        self.scopes.get(unit as usize)?.imported.get(&name).copied()
    }

    /// A written type as what its values are.
    pub(super) fn declared_value(&self, unit: u32, owner: Option<TypeId>, span: Span) -> Value {
        let Some(file) = self.units.get(unit as usize) else { return Value::unknown() };
        let text = file.text_of(span);
        let written = written(text);
        let element = written.element.and_then(|text| self.find_type(unit, owner, text));
        let is_placeholder = written.name.len() == 1
            || matches!(written.name, "var" | "let" | "val" | "auto" | "Object" | "any" | "Any");
        if is_placeholder {
            return Value { element, ..Value::unknown() };
        }
        if matches!(written.name, "Self" | "SELF" | "this") {
            return owner.map_or(Value::unknown(), Value::object);
        }
        // What only wraps a value lets through what is called on it.
        let is_wrapper = matches!(written.name, "Box" | "Rc" | "Arc" | "Optional" | "Promise")
            || matches!(written.name, "Final" | "ClassVar" | "Annotated" | "Awaitable");
        if let (true, Some(element)) = (is_wrapper && written.name != "Optional", element) {
            return Value::object(element);
        }
        match self.find_type(unit, owner, written.name) {
            Some(class) => Value { element, ..Value::object(class) },
            None => Value { element, ..Value::foreign(written.name) },
        }
    }

    /// A class inside `owner`, its ancestors, and the classes around it.
    fn inner_type(&self, owner: Option<TypeId>, name: Name) -> Option<TypeId> {
        let mut around = owner;
        for _ in 0..16 {
            let id = around?;
            let class = self.class(id)?;
            if class.simple_name == name {
                return Some(id);
            }
            let own = std::iter::once(&id).chain(&class.ancestors);
            let found = own.filter_map(|class| self.inner_types.get(&(*class, name))).next();
            if found.is_some() {
                return found.copied();
            }
            around = class.outer;
        }
        None
    }

    /// A class by import, by package, by star import; in that order, as languages do.
    fn visible_type(&self, unit: u32, name: Name) -> Option<TypeId> {
        let scope = self.scopes.get(unit as usize)?;
        match scope.imported.get(&name) {
            Some(Imported::Type(class)) => return Some(*class),
            Some(Imported::Member(class, member)) => {
                return self.inner_types.get(&(*class, *member)).copied();
            }
            Some(Imported::Foreign | Imported::Package(_) | Imported::Function(..)) => return None,
            None => {}
        }
        let in_package = |package: Name| {
            self.types_by_name.get(&(package, name)).and_then(|found| self.nearest(unit, found))
        };
        let stars = || {
            scope.stars.iter().find_map(|star| match star {
                Imported::Package(package) => in_package(*package),
                Imported::Type(class) => self.inner_types.get(&(*class, name)).copied(),
                Imported::Function(..) | Imported::Member(..) | Imported::Foreign => None,
            })
        };
        let by_name_alone = || {
            let language = self.units.get(unit as usize)?.language;
            let is_strict = matches!(language, Language::Java | Language::Kotlin);
            match self.types_by_simple_name.get(&name)?.as_slice() {
                [only] if !is_strict => Some(*only),
                _ => None,
            }
        };
        scope.package.and_then(in_package).or_else(stars).or_else(by_name_alone)
    }

    fn descend(&self, mut class: TypeId, rest: &str) -> Option<TypeId> {
        for part in rest.split(['.', ':', '$']).filter(|part| !part.is_empty()) {
            let name = self.names.get(part)?;
            class = self.inner_types.get(&(class, name)).copied()?;
        }
        Some(class)
    }

    /// The functions that an import of this name gives.
    pub(super) fn imported_functions(&self, unit: u32, name: Name) -> Vec<Declared> {
        let Some(scope) = self.scopes.get(unit as usize) else { return Vec::new() };
        if let Some(imported) = scope.imported.get(&name) {
            return match imported {
                Imported::Function(package, own) => {
                    self.package_functions.get(&(*package, *own)).cloned().unwrap_or_default()
                }
                Imported::Member(class, own) => self.functions_named(*class, *own),
                Imported::Type(_) | Imported::Package(_) | Imported::Foreign => Vec::new(),
            };
        }
        let mut found = Vec::new();
        for star in &scope.stars {
            match star {
                Imported::Type(class) => found.extend(self.functions_named(*class, name)),
                Imported::Package(package) => {
                    found.extend(
                        self.package_functions.get(&(*package, name)).into_iter().flatten(),
                    );
                }
                Imported::Function(..) | Imported::Member(..) | Imported::Foreign => {}
            }
        }
        found
    }

    /// Give imports that led to no declaration what is handed on there; needs the scopes.
    pub(super) fn follow_exports(&mut self) {
        for _ in 0..LONGEST_CHAIN {
            let changes = self.handed_on();
            if changes.is_empty() {
                return;
            }
            for (unit, name, meant) in changes {
                if let Some(scope) = self.scopes.get_mut(unit) {
                    scope.imported.insert(name, meant);
                }
            }
        }
    }

    fn handed_on(&self) -> Vec<(usize, Name, Imported)> {
        let mut changes = Vec::new();
        for (unit, (file, scope)) in self.units.iter().zip(&self.scopes).enumerate() {
            if matches!(file.language, Language::Java | Language::Kotlin | Language::Go) {
                continue;
            }
            for import in &file.imports {
                let Some(name) = self.names.get(&import.name) else { continue };
                let is_open = match scope.imported.get(&name) {
                    Some(Imported::Foreign) => true,
                    Some(Imported::Package(package)) => !self.packages.contains_key(package),
                    Some(Imported::Type(_) | Imported::Function(..) | Imported::Member(..))
                    | None => false,
                };
                let found = cuts(&import.path).next().filter(|_| is_open);
                let found = found.and_then(|(package, last)| {
                    self.export(self.package_at(package)?, self.names.get(last)?, LONGEST_CHAIN)
                });
                changes.extend(found.map(|found| (unit, name, found)));
            }
        }
        changes
    }

    /// What a package gives under a name that it does not declare itself.
    pub(super) fn export(&self, package: Name, name: Name, chain: usize) -> Option<Imported> {
        let units = self.packages.get(&package)?;
        units.iter().find_map(|unit| {
            let scope = self.scopes.get(*unit as usize)?;
            match scope.imported.get(&name) {
                Some(Imported::Foreign) | None => {}
                Some(found) => return Some(*found),
            }
            scope.stars.iter().find_map(|star| match star {
                Imported::Package(inner) if *inner != package && chain > 0 => {
                    self.declared_in(*inner, name).or_else(|| self.export(*inner, name, chain - 1))
                }
                _ => None,
            })
        })
    }

    fn declared_in(&self, package: Name, name: Name) -> Option<Imported> {
        if let Some(class) = self.types_by_name.get(&(package, name)).and_then(|it| it.first()) {
            return Some(Imported::Type(*class));
        }
        let is_function = self.package_functions.contains_key(&(package, name));
        is_function.then_some(Imported::Function(package, name))
    }
}
