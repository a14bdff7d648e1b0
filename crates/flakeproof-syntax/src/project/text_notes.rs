//! What was found out about the text of a file as a whole, once for all tests that ask: a file of a thousand
//! tests is else looked through a thousand times.

use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::index::ProjectIndex;

/// What is known of the text of one file.
#[derive(Debug, Default)]
pub(super) struct TextNotes {
    /// Whether a word occurs in it.
    words: Mutex<FxHashMap<&'static str, bool>>,
    /// Where code stands that is handed to others to run.
    tasks: OnceLock<Vec<(u32, u32)>>,
}

impl ProjectIndex {
    /// Whether a word occurs anywhere in a file.
    pub(crate) fn file_says(&self, unit: u32, word: &'static str) -> bool {
        let at = unit as usize;
        let (Some(notes), Some(file)) = (self.notes.get(at), self.units.get(at)) else {
            return false;
        };
        let mut words = notes.words.lock().unwrap_or_else(PoisonError::into_inner);
        *words.entry(word).or_insert_with(|| file.text.contains(word))
    }

    /// Where code of a file stands that is handed to others to run, which `find` finds in its text.
    pub(crate) fn tasks_of_file(
        &self,
        unit: u32,
        find: impl FnOnce(&str) -> Vec<(u32, u32)>,
    ) -> &[(u32, u32)] {
        let at = unit as usize;
        let (Some(notes), Some(file)) = (self.notes.get(at), self.units.get(at)) else {
            return &[];
        };
        notes.tasks.get_or_init(|| find(&file.text))
    }
}

#[cfg(test)]
mod tests {
    use crate::Language;
    use crate::flow::Unit;
    use crate::project::ProjectIndex;

    #[test]
    fn each_file_says_its_own_words() {
        let unit = |path: &str, text: &str| Unit::empty(path, Language::Python, text);
        let project = ProjectIndex::new(vec![unit("a.py", "freezegun"), unit("b.py", "")]);
        for _ in 0..2 {
            let says = [0, 1, 2].map(|unit| project.file_says(unit, "freezegun"));
            assert_eq!(says, [true, false, false]);
        }
        assert_eq!(
            project.tasks_of_file(0, |text| vec![(0, u32::from(text == "freezegun"))]),
            [(0, 1)]
        );
        assert_eq!(project.tasks_of_file(0, |_| Vec::new()), [(0, 1)], "it is found once");
    }
}
