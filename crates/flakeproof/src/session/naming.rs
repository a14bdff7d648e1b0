//! The test that somebody means.

use flakeproof_core::TestId;
use flakeproof_runner::Adapter;

use crate::problem::Problem;
use crate::source::source_tests::SourceTest;

/// Ids named when the one that was typed fits none or several.
const SUGGESTED: usize = 8;

/// Where a user finds the ids of all tests.
pub(crate) fn how_to_list(adapter: &dyn Adapter) -> String {
    adapter.command_to_list().map_or_else(
        || "the suite's own runner lists every id".to_owned(),
        |command| format!("the suite's own runner lists every id: `{command}`"),
    )
}

/// The position of the test with this id, or of the only one whose id ends like this. `elsewhere`
/// says where all ids are found.
pub(crate) fn the_one(typed: &str, ids: &[&TestId], elsewhere: &str) -> Result<usize, Problem> {
    if let Some(at) = ids.iter().position(|id| id.as_str() == typed) {
        return Ok(at);
    }
    let where_id = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        ids.iter().enumerate().filter(|(_, id)| fits(id.as_str())).map(|(at, _)| at).collect()
    };
    let listed = |found: &[usize]| {
        let ids: Vec<&str> = found.iter().take(SUGGESTED).map(|at| ids[*at].as_str()).collect();
        ids.join("\n  ")
    };
    match where_id(&|id| id.ends_with(typed))[..] {
        [at] => Ok(at),
        [] => {
            let near = where_id(&|id| id.contains(typed));
            let next = if near.is_empty() {
                elsewhere.to_owned()
            } else {
                format!("did you mean one of these?\n  {}", listed(&near))
            };
            Err(Problem::usage(format!("no test is called `{typed}`"), next))
        }
        ref several => Err(Problem::usage(
            format!("{} tests end in `{typed}`", several.len()),
            format!("give more of the id:\n  {}", listed(several)),
        )),
    }
}

/// The test of the source that is meant; a case of it stands for it.
pub(crate) fn the_one_written<'t>(
    typed: &str,
    tests: &'t [SourceTest],
) -> Result<&'t SourceTest, Problem> {
    let ids: Vec<&TestId> = tests.iter().map(|test| &test.id).collect();
    let list = "`flakeproof predict --output-format json` lists every test with its id";
    let without_case = typed.split_once('[').map_or(typed, |(test, _)| test);
    let at = the_one(typed, &ids, list)
        .or_else(|problem| the_one(without_case, &ids, list).map_err(|_| problem))?;
    Ok(&tests[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Result<usize, Problem> {
        let ids: Vec<TestId> =
            ["a.py::test_x", "b.py::test_x", "b.py::test_y[1]"].map(TestId::from).into();
        the_one(typed, &ids.iter().collect::<Vec<_>>(), "look elsewhere")
    }

    #[test]
    fn an_id_or_the_end_of_it_is_enough() {
        assert_eq!(found("a.py::test_x"), Ok(0));
        assert_eq!(found("test_y[1]"), Ok(2));
    }

    #[test]
    fn what_fits_several_or_none_is_told_what_there_is() {
        let several = found("test_x").unwrap_err();
        assert!(several.next.contains("a.py::test_x\n  b.py::test_x"), "{several:?}");
        let near = found("test_y").unwrap_err();
        assert!(near.next.contains("did you mean"), "{near:?}");
        assert_eq!(found("nothing").unwrap_err().next, "look elsewhere");
    }
}
