//! Which files a name stands for.

use super::index::{Project, TypeId};

impl Project {
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
