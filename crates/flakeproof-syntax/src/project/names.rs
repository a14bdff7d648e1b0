//! Names: as numbers, as types are written, and as runners give them to tests, methods and classes,
//! which are found by them, as are the files that a name stands for.

use flakeproof_core::TestId;
use rustc_hash::FxHashMap;

use super::index::{ProjectIndex, TypeId};
use crate::flow::{Declared, Role};

/// A name of the project, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u32);

/// All names of a project, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<Box<str>, Name>,
}

impl Names {
    /// The number of a name, given out now if it is new.
    pub(super) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.numbers.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        self.numbers.insert(text.into(), name);
        name
    }

    /// The number of a name, if the project has it.
    pub(super) fn get(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied()
    }
}

/// The ways to cut a path into what a file is called and what it declares, the longest file first:
/// `com.acme.Outer.Inner` is `com.acme.Outer` and `Inner`, or `com.acme` and `Outer.Inner`.
pub(super) fn cuts(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let bytes = path.as_bytes();
    (1..path.len()).rev().filter_map(move |at| {
        let after = match bytes.get(at)? {
            b':' if bytes.get(at + 1) == Some(&b':') => at + 2,
            b'.' | b'/' | b'#' => at + 1,
            _ => return None,
        };
        Some((path.get(..at)?, path.get(after..)?))
    })
}

/// A type as it is written, taken apart: its own name and the last of its type arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written<'t> {
    /// The name, with the names of classes or packages before it; empty for an array of Go.
    pub(super) name: &'t str,
    /// What it holds: `Order` of `List<Order>`, of `Order[]` and of `Map<String, Order>`.
    pub(super) element: Option<&'t str>,
}

/// Take a written type apart.
pub(super) fn written(text: &str) -> Written<'_> {
    let text = bare(text);
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':')));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let name = name.trim_end_matches([':', '.']);
    let element = match rest.as_bytes().first() {
        Some(b'[') if rest.starts_with("[]") && name.is_empty() => Some(rest[2..].trim_start()),
        Some(b'[') if rest.trim_start_matches(['[', ']', ' ']).is_empty() => Some(name),
        Some(b'<' | b'[') => last_argument(rest),
        _ => None,
    };
    let element = element.map(|element| {
        let element = bare(element);
        let end = element.find(|c: char| !(c.is_alphanumeric() || "_$.:".contains(c)));
        &element[..end.unwrap_or(element.len())]
    });
    let is_array = rest.starts_with('[') && element == Some(name);
    Written { name: if is_array { "" } else { name }, element: element.filter(|e| !e.is_empty()) }
}

/// A type without what stands before its name: references, pointers, `mut`, `dyn`, quotes.
fn bare(mut text: &str) -> &str {
    loop {
        let before = text.len();
        text = text.trim_start_matches(|c: char| c.is_whitespace() || "&*'\"?:@(".contains(c));
        for word in ["mut ", "dyn ", "impl ", "final ", "const ", "extends ", "super ", "-> "] {
            text = text.strip_prefix(word).unwrap_or(text);
        }
        if text.len() == before {
            return text;
        }
    }
}

/// The last type argument of what begins with a bracket.
fn last_argument(rest: &str) -> Option<&str> {
    let (mut depth, mut start) = (0_u32, 1);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' => depth += 1,
            b'>' | b']' | b')' if depth <= 1 => return rest.get(start..at).map(str::trim),
            b'>' | b']' | b')' => depth -= 1,
            b',' if depth == 1 => start = at + 1,
            _ => {}
        }
    }
    None
}

impl ProjectIndex {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_from_its_end() {
        let found: Vec<_> = cuts("com.acme.Outer.Inner").collect();
        assert_eq!(found[0], ("com.acme.Outer", "Inner"));
        assert_eq!(found[1], ("com.acme", "Outer.Inner"));
        assert_eq!(cuts("orders::basket::Basket").next(), Some(("orders::basket", "Basket")));
        assert_eq!(cuts("plain").next(), None);
    }

    #[test]
    fn a_written_type_is_its_name_and_what_it_holds() {
        let parts = |text| {
            let written = written(text);
            (written.name, written.element)
        };
        assert_eq!(parts("Order"), ("Order", None));
        assert_eq!(parts("List<Order>"), ("List", Some("Order")));
        assert_eq!(parts("Map<String, List<Order>>"), ("Map", Some("List")));
        assert_eq!(parts("Order[]"), ("", Some("Order")));
        assert_eq!(parts("[]*orders.Order"), ("", Some("orders.Order")));
        assert_eq!(parts("&mut Box<dyn Order>"), ("Box", Some("Order")));
        assert_eq!(parts("*orders.Basket"), ("orders.Basket", None));
        assert_eq!(parts("list[Order]"), ("list", Some("Order")));
        assert_eq!(parts("'Order'"), ("Order", None));
        assert_eq!(parts("Class<? extends Order>"), ("Class", Some("Order")));
        assert_eq!(parts(""), ("", None));
    }
}
