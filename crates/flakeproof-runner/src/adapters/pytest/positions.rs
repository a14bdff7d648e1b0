//! Where the tests of the user's own session are in another interpreter.

use std::collections::{HashMap, HashSet};

use flakeproof_core::TestId;

use crate::agent::protocol::Collected;

/// The position of each test of `main` in what another interpreter collected.
///
/// An id that pytest numbers (`expected3`) may mean another case there, where cases come out of a set. Such a
/// test is found by its case, or is not there. A case that neither interpreter shares with the other
/// holds something that is new in each process, and says nothing.
pub(super) fn positions_in(other: &Collected, main: &Collected) -> HashMap<TestId, usize> {
    let by_id: HashMap<&str, usize> =
        other.tests.iter().enumerate().map(|(at, test)| (test.id.as_str(), at)).collect();
    let of_main: HashSet<&str> = main.tests.iter().filter_map(|it| it.case.as_deref()).collect();
    let (once_in_main, once_in_other) = (positions_of_cases(main), positions_of_cases(other));
    let found = main.tests.iter().filter_map(|test| {
        let same_id = by_id.get(test.id.as_str()).copied();
        let Some(case) = test.case.as_deref() else {
            return Some((test, same_id?));
        };
        let means_the_same = |at: &usize| {
            let there = other.tests[*at].case.as_deref();
            there.is_none_or(|there| there == case || !of_main.contains(there))
        };
        let by_case = || once_in_main.get(case)?.and(*once_in_other.get(case)?);
        Some((test, same_id.filter(means_the_same).or_else(by_case)?))
    });
    found.map(|(test, at)| (TestId::from(test.id.as_str()), at)).collect()
}

/// Where each case is; None for one that several tests have.
fn positions_of_cases(collected: &Collected) -> HashMap<&str, Option<usize>> {
    let mut positions = HashMap::new();
    for (at, test) in collected.tests.iter().enumerate() {
        if let Some(case) = test.case.as_deref() {
            positions.entry(case).and_modify(|it| *it = None).or_insert(Some(at));
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::protocol::CollectedTest;

    fn collected(tests: &[(&str, Option<&str>)]) -> Collected {
        let tests = tests.iter().map(|(id, case)| CollectedTest {
            id: (*id).to_owned(),
            path: None,
            file: None,
            line: None,
            case: case.map(str::to_owned),
        });
        Collected {
            root: String::new(),
            tests: tests.collect(),
            problems: Vec::new(),
            goes_on: true,
            collect_only: false,
            threads: 1,
            selectors: Vec::new(),
            for_order: Vec::new(),
        }
    }

    fn position(
        test: &str,
        main: &[(&str, Option<&str>)],
        other: &[(&str, Option<&str>)],
    ) -> Option<usize> {
        positions_in(&collected(other), &collected(main)).get(&TestId::from(test)).copied()
    }

    #[test]
    fn a_test_without_cases_is_found_by_its_id() {
        let (main, other) = ([("a", None), ("b", None)], [("b", None)]);
        assert_eq!(position("b", &main, &other), Some(0));
        assert_eq!(position("a", &main, &other), None);
    }

    #[test]
    fn a_case_that_changed_its_number_is_found() {
        let main = [("t[x0]", Some("red")), ("t[x1]", Some("blue"))];
        let other = [("t[x0]", Some("blue")), ("t[x1]", Some("red"))];
        assert_eq!(position("t[x0]", &main, &other), Some(1));
        assert_eq!(position("t[x1]", &main, &other), Some(0));
    }

    #[test]
    fn a_case_with_another_id_is_found() {
        let main = [("t[4-x0]", Some("red")), ("t[6-x1]", Some("blue"))];
        let other = [("t[6-x0]", Some("blue")), ("t[4-x1]", Some("red"))];
        assert_eq!(position("t[4-x0]", &main, &other), Some(1));
    }

    #[test]
    fn an_id_that_means_another_case_is_not_the_test() {
        let main = [("t[x0]", Some("red")), ("t[x1]", Some("blue"))];
        assert_eq!(position("t[x0]", &main, &[("t[x0]", Some("blue"))]), None);
    }

    #[test]
    fn a_case_that_is_new_in_each_process_is_found_by_its_id() {
        let (main, other) = ([("t[x0]", Some("at noon"))], [("t[x0]", Some("at one"))]);
        assert_eq!(position("t[x0]", &main, &other), Some(0));
    }

    #[test]
    fn alike_cases_are_told_apart_by_their_ids_only() {
        let main = [("t[x0]", Some("red")), ("t[x1]", Some("red"))];
        let other = [("t[x0]", Some("red")), ("t[y]", Some("red"))];
        assert_eq!(position("t[x0]", &main, &other), Some(0));
        assert_eq!(position("t[x1]", &main, &other), None);
    }
}
