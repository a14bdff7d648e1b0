//! Which source belongs to which test of a suite.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use flakeproof_core::{Suite, SuiteTest};

use super::sources::SourceTest;

/// The files in which the tests of a suite are written. `root` is the folder that their places are
/// relative to.
pub(super) fn files_of(suite: &Suite, root: &Path) -> Vec<PathBuf> {
    let files: BTreeSet<PathBuf> = suite
        .tests
        .iter()
        .flat_map(places)
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    files.into_iter().collect()
}

/// For each test of a suite, in its order, the place of its source among those found.
pub(super) fn places_of(suite: &Suite, found: &[SourceTest]) -> Vec<Option<usize>> {
    let numbered = || found.iter().enumerate();
    let by_id: HashMap<&str, usize> = numbered().map(|(at, it)| (it.id.as_str(), at)).collect();
    let mut by_file: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, test) in numbered() {
        by_file.entry(test.file.as_str()).or_default().push(at);
    }
    let place = |test: &SuiteTest| {
        // A test that its class inherits stands elsewhere than its id says.
        let by_id = by_id.get(without_parameters(test.id.as_str())).copied();
        by_id.or_else(|| at_place(test, found, &by_file))
    };
    suite.tests.iter().map(place).collect()
}

/// The id of the function behind a test: parameters are no part of the source.
pub(super) fn without_parameters(id: &str) -> &str {
    // A folder may have a bracket in its name, too.
    let names = id.find("::").unwrap_or(0);
    id[names..].find('[').map_or(id, |bracket| &id[..names + bracket])
}

/// The file of a test's id, and the file in which it is written.
fn places(test: &SuiteTest) -> impl Iterator<Item = &str> {
    let written = test.location.as_ref().map(|place| place.file.as_str());
    test.id.as_str().split("::").take(1).chain(written)
}

fn at_place(
    test: &SuiteTest,
    found: &[SourceTest],
    by_file: &HashMap<&str, Vec<usize>>,
) -> Option<usize> {
    let place = test.location.as_ref()?;
    let line = place.line?;
    let holds = |source: &SourceTest| (source.first_line..=source.last_line).contains(&line);
    by_file.get(place.file.as_str())?.iter().copied().find(|at| holds(&found[*at]))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Location;
    use flakeproof_syntax::Language;

    use super::*;

    fn written(id: &str, first_line: u32) -> SourceTest {
        SourceTest {
            id: id.into(),
            file: id.split("::").next().unwrap_or_default().into(),
            first_line,
            last_line: first_line + 3,
            language: Language::Python,
            class: String::new(),
            source: String::new(),
            features: None,
        }
    }

    #[test]
    fn all_cases_of_a_test_have_its_source() {
        let ids = ["t.py::test_a[1]", "t.py::test_a[x::y]", "t.py::T::test_b", "t.py::test_made"];
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        let suite = Suite { tests: ids.iter().map(test).collect(), problems: Vec::new() };
        let found = [written("t.py::T::test_b", 1), written("t.py::test_a", 9)];
        assert_eq!(places_of(&suite, &found), [Some(1), Some(1), Some(0), None]);
    }

    #[test]
    fn an_inherited_test_has_the_source_of_where_it_is_written() {
        let location = Some(Location { file: "base.py".into(), line: Some(5) });
        let test = SuiteTest { id: "t.py::TestChild::test_a".into(), location };
        let suite = Suite { tests: vec![test], problems: Vec::new() };
        assert_eq!(places_of(&suite, &[written("base.py::TestBase::test_a", 4)]), [Some(0)]);
    }

    #[test]
    fn only_what_follows_the_test_is_a_parameter() {
        assert_eq!(without_parameters("a[b]/t.py::test_a[1][2]"), "a[b]/t.py::test_a");
        assert_eq!(without_parameters("a[b]/t.py::test_a"), "a[b]/t.py::test_a");
    }
}
