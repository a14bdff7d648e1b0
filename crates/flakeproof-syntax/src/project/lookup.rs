//! Finding tests, methods and classes by the names that runners give them, and the files that a name
//! stands for.

use flakeproof_core::TestId;

use super::index::{Project, TypeId};
use super::names::cuts;
use crate::flow::{Declared, Role};

impl Project {
    /// The function that is this test.
    #[must_use]
    pub fn find_test(&self, id: &TestId) -> Option<Declared> {
        self.tests.get(id).copied()
    }

    /// All tests, in the order of the files and of their text.
    pub fn tests(&self) -> impl Iterator<Item = (&TestId, Declared)> {
        (0..).zip(&self.units).flat_map(|(unit, file)| {
            (0..).zip(&file.functions).filter_map(move |(place, function)| match &function.role {
                Role::Test(id) => Some((id, Declared { unit, function: place })),
                Role::Before | Role::After | Role::Fixture | Role::Plain => None,
            })
        })
    }

    /// The method of a class, given by the class's whole name, or the one it inherits.
    ///
    /// What runners write behind a method's name is passed over: `[3]`, `(arguments)`.
    #[must_use]
    pub fn find_method(&self, class: &str, method: &str) -> Option<Declared> {
        let method = method.split(['[', '(', '{']).next().unwrap_or(method).trim();
        let name = self.names.get(method)?;
        let found = self.classes_named(class);
        let methods = found.iter().flat_map(|class| self.functions_named(*class, name));
        let methods: Vec<Declared> = methods.collect();
        let is_test = |declared: &&Declared| {
            let function = self.function(**declared);
            function.is_some_and(|function| matches!(function.role, Role::Test(_)))
        };
        let without_parameters = |declared: &&Declared| {
            self.function(**declared).is_some_and(|function| function.parameters.is_empty())
        };
        let found = methods.iter().find(is_test);
        found.or_else(|| methods.iter().find(without_parameters)).or(methods.first()).copied()
    }

    /// The class of this whole name; of several, the first.
    #[must_use]
    pub fn find_class(&self, class: &str) -> Option<TypeId> {
        self.classes_named(class).first().copied()
    }

    fn classes_named(&self, class: &str) -> Vec<TypeId> {
        let class = class.replace('$', ".");
        let mut found = Vec::new();
        for (package, name) in cuts(&class).chain([("", class.as_str())]) {
            let key = self.names.get(package).zip(self.names.get(name));
            let known = key.and_then(|key| self.types_by_name.get(&key));
            found.extend(known.into_iter().flatten().copied());
        }
        found
    }

    /// The files a class is declared in.
    #[must_use]
    pub fn files_of(&self, class: TypeId) -> Vec<u32> {
        let parts = self.class(class).map_or(&[][..], |class| &class.parts);
        parts.iter().map(|(unit, _)| *unit).collect()
    }

    /// The files of the classes that a class is derived from, nearest first, each once.
    #[must_use]
    pub fn files_of_bases(&self, class: TypeId) -> Vec<u32> {
        let mut found = Vec::new();
        for ancestor in self.lineage(class).filter(|ancestor| *ancestor != class) {
            for unit in self.files_of(ancestor) {
                if !found.contains(&unit) {
                    found.push(unit);
                }
            }
        }
        found
    }

    /// The files that a name means in a file: those of a class, or those an import takes it from.
    #[must_use]
    pub fn files_named(&self, unit: u32, name: &str) -> Vec<u32> {
        let Some(number) = self.names.get(name) else { return Vec::new() };
        if self.types_by_simple_name.contains_key(&number)
            && let Some(class) = self.find_type(unit, None, name)
        {
            return self.files_of(class);
        }
        let functions = self.imported_functions(unit, number);
        functions.into_iter().map(|declared| declared.unit).take(1).collect()
    }
}
