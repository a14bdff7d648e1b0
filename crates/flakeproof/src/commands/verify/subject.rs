//! The test that was mended, and the orders in which it used to fail.

use std::path::Path;

use flakeproof_core::{
    ExitCode, FlakyKind, FormerRate, HuntedTest, ImplementationDependence, KnownFlaky, Notice,
    Shuffle, Suite, TestId,
};
use flakeproof_report::words;

use crate::cli::VerifyArguments;
use crate::problem::Problem;
use crate::session::known_cause::LeverPulled;
use crate::session::{history, naming};

/// The test that was mended, and the orders in which it used to fail.
#[derive(Debug)]
pub(in crate::commands) struct Subject {
    pub(in crate::commands) test: TestId,
    pub(in crate::commands) kind: Option<FlakyKind>,
    /// The orders in which it used to fail, itself last.
    pub(in crate::commands) orders: Vec<Vec<TestId>>,
    /// What decided the orders that the language leaves open where it failed, if not the runtime.
    pub(in crate::commands) shuffle: Option<Shuffle>,
    /// An order in which it used to pass.
    pub(in crate::commands) control: Option<Vec<TestId>>,
    pub(in crate::commands) notices: Vec<Notice>,
}

/// What hunts know about the test; `None` if they do not know it.
pub(in crate::commands) fn known(
    typed: &VerifyArguments,
    folder: &Path,
) -> Result<Option<KnownFlaky>, Problem> {
    let mut known = history::flaky_tests(typed.store.as_ref(), folder)?;
    if !known.iter().any(|it| it.test.id.as_str().ends_with(&typed.test)) {
        return Ok(None);
    }
    let ids: Vec<&TestId> = known.iter().map(|it| &it.test.id).collect();
    let at = naming::the_one(&typed.test, &ids, "`flakeproof list` shows those that are known")?;
    Ok(Some(known.swap_remove(at)))
}

/// How often it failed before: what was typed, else under the lever that it runs under, else what a hunt
/// saw.
pub(in crate::commands) fn former_rate(
    typed: &VerifyArguments,
    known: Option<&KnownFlaky>,
    lever: Option<&LeverPulled>,
) -> Result<FormerRate, Problem> {
    let test = words::command(std::slice::from_ref(&typed.test));
    let next = format!("say it: `flakeproof verify {test} --was 3%`, or measure it: `hunt`");
    match (typed.was, known, lever) {
        (Some(was), ..) => Ok(FormerRate::given(was.0)),
        (None, _, Some(LeverPulled { failed: Some(failed), .. })) => {
            Ok(FormerRate::under_lever(*failed))
        }
        (None, _, Some(LeverPulled { lever, failed: None })) => Err(Problem::usage(
            format!("how often `{}` fails under {lever} was not measured", typed.test),
            format!("say it: `--was 50%`, or measure it: `flakeproof cause {test}`"),
        )),
        (None, Some(known), None) => FormerRate::from_hunted(&known.test).ok_or_else(|| {
            let what = format!("how often `{}` failed before was not measured", known.test.id);
            Problem::usage(what, next)
        }),
        (None, None, None) => Err(Problem::usage(
            format!("no hunt knows a flaky test `{}`, or how often it failed", typed.test),
            next,
        )),
    }
}

impl Subject {
    /// The test in the suite as it is now.
    pub(in crate::commands) fn find(
        typed: &str,
        known: Option<&KnownFlaky>,
        suite: &Suite,
        list: &str,
    ) -> Result<Self, Problem> {
        match known {
            Some(known) => Self::of_known(&known.test, suite),
            None => Self::of_suite(typed, suite, list),
        }
    }

    /// A test that runs alone, whatever made it fail in a hunt.
    pub(in crate::commands) fn alone(
        id: &str,
        known: Option<&KnownFlaky>,
        suite: &Suite,
        list: &str,
    ) -> Result<Self, Problem> {
        let subject = Self::of_suite(id, suite, list)?;
        Ok(Self { kind: known.and_then(|it| it.test.kind), ..subject })
    }

    /// A test of which only its rate is known: it runs alone.
    fn of_suite(typed: &str, suite: &Suite, list: &str) -> Result<Self, Problem> {
        let ids: Vec<&TestId> = suite.tests.iter().map(|test| &test.id).collect();
        let at = naming::the_one(typed, &ids, list).map_err(|problem| {
            let is_there = ids.iter().any(|id| id.as_str().ends_with(typed));
            let exit = if is_there { problem.exit } else { ExitCode::NoTests };
            Problem { exit, ..problem }
        })?;
        let test = ids[at].clone();
        let orders = vec![vec![test.clone()]];
        Ok(Self { test, kind: None, orders, shuffle: None, control: None, notices: Vec::new() })
    }

    fn of_known(known: &HuntedTest, suite: &Suite) -> Result<Self, Problem> {
        let there = suite.positions();
        let test = known.id.clone();
        if !there.contains_key(&test) {
            return Err(Problem::new(
                ExitCode::NoTests,
                format!("`{test}` is not in the suite here"),
                "if it was renamed, give its new id and how often it failed with `--was`; \
                 if the command does not select it, give another after `--`",
            ));
        }
        let before_it = |set: &Vec<TestId>| [set.as_slice(), std::slice::from_ref(&test)].concat();
        let alone = vec![test.clone()];
        let reproduction = known.reproduction.as_ref().map(|it| it.order.clone());
        let (mut orders, control): (Vec<Vec<TestId>>, _) = match known.kind {
            Some(FlakyKind::Victim) if known.polluters.is_empty() => {
                (reproduction.into_iter().collect(), Some(alone))
            }
            Some(FlakyKind::Victim) => {
                (known.polluters.iter().map(before_it).collect(), Some(alone))
            }
            Some(FlakyKind::Brittle) => (vec![alone], known.setters.first().map(before_it)),
            Some(FlakyKind::Nod | FlakyKind::Id) | None => {
                (vec![reproduction.unwrap_or(alone)], None)
            }
        };
        let is_whole = |order: &Vec<TestId>| order.iter().all(|it| there.contains_key(it));
        let all = orders.len();
        orders.retain(is_whole);
        let notices = gone(&test, all, orders.len())?;
        let control = control.filter(is_whole);
        let shuffle = known.implementation.as_ref().map(ImplementationDependence::shuffle);
        Ok(Self { test, kind: known.kind, orders, shuffle, control, notices })
    }
}

/// What to say about orders of which tests are no longer in the suite.
fn gone(test: &TestId, all: usize, left: usize) -> Result<Vec<Notice>, Problem> {
    let next = format!("`flakeproof hunt --victim '{test}'` looks for others that make it fail");
    if left == 0 {
        return Err(Problem::new(
            ExitCode::Inconclusive,
            format!("no order in which `{test}` used to fail can be run: tests of it are gone"),
            next,
        ));
    }
    if left == all {
        return Ok(Vec::new());
    }
    let what = format!("{} of {all} orders in which it failed have lost a test", all - left);
    Ok(vec![Notice { what, next }])
}

#[cfg(test)]
mod tests {
    use flakeproof_core::SuiteTest;

    use super::*;

    fn suite(tests: &[&str]) -> Suite {
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        Suite { tests: tests.iter().map(test).collect(), problems: Vec::new() }
    }

    fn hunted(kind: FlakyKind) -> HuntedTest {
        let mut test = HuntedTest::new("v".into(), None);
        test.kind = Some(kind);
        test.polluters = vec![vec!["p".into()], vec!["q".into(), "r".into()]];
        test.setters = vec![vec!["s".into()]];
        test
    }

    fn order(tests: &[&str]) -> Vec<TestId> {
        tests.iter().map(|id| TestId::from(*id)).collect()
    }

    #[test]
    fn a_victim_runs_after_each_set_of_its_polluters() {
        let subject =
            Subject::of_known(&hunted(FlakyKind::Victim), &suite(&["p", "q", "r", "v"])).unwrap();
        assert_eq!(subject.orders, [order(&["p", "v"]), order(&["q", "r", "v"])]);
        assert_eq!(subject.control, Some(order(&["v"])));
        assert_eq!(subject.notices, []);
    }

    #[test]
    fn a_brittle_test_runs_alone() {
        let subject = Subject::of_known(&hunted(FlakyKind::Brittle), &suite(&["s", "v"])).unwrap();
        assert_eq!(subject.orders, [order(&["v"])]);
        assert_eq!(subject.control, Some(order(&["s", "v"])));
    }

    #[test]
    fn polluters_that_are_gone_are_told() {
        let subject = Subject::of_known(&hunted(FlakyKind::Victim), &suite(&["p", "v"])).unwrap();
        assert_eq!(subject.orders, [order(&["p", "v"])]);
        assert!(subject.notices[0].what.contains("1 of 2 orders"), "{:?}", subject.notices);
        let none = Subject::of_known(&hunted(FlakyKind::Victim), &suite(&["v"])).unwrap_err();
        assert_eq!(none.exit, ExitCode::Inconclusive);
    }

    #[test]
    fn a_test_that_is_not_there_is_exit_four() {
        let gone = Subject::of_known(&hunted(FlakyKind::Nod), &suite(&["a"])).unwrap_err();
        assert_eq!(gone.exit, ExitCode::NoTests);
        let unknown = Subject::of_suite("b", &suite(&["a"]), "").unwrap_err();
        assert_eq!(unknown.exit, ExitCode::NoTests);
        let several = Subject::of_suite("a", &suite(&["xa", "ya"]), "").unwrap_err();
        assert_eq!(several.exit, ExitCode::Usage);
    }
}
