//! What a file hands on of others: `from .basket import Basket` in `__init__.py`, `export … from`
//! in `index.ts`, `pub use`.

use super::index::Project;
use super::names::{Name, cuts};
use super::scope::Imported;
use crate::Language;

/// Files that hand on what they were handed on, in one another.
const LONGEST_CHAIN: usize = 4;

impl Project {
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
