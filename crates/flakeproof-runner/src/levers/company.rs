//! Levers of company: the tests that run before a test, and a copy of it beside it.

use flakeproof_core::LeverName;

use super::{Company, Control, Intervention, Lever, Machine, Setting};

/// The tests that run before it.
#[derive(Debug)]
pub(super) struct Order;

impl Lever for Order {
    fn name(&self) -> LeverName {
        LeverName::Order
    }

    fn settings(&self, _: &Machine) -> Result<Vec<Setting>, String> {
        Ok(vec![
            Setting::new(
                "after those before it in the suite",
                Intervention::Company(Company::SuiteBefore),
            ),
            Setting::new(
                "after those behind it in the suite",
                Intervention::Company(Company::SuiteReversed),
            ),
        ])
    }
}

/// A copy of the same test at the same time in the same folder: what two suites at once do.
#[derive(Debug)]
pub(super) struct BesideItself;

impl Lever for BesideItself {
    fn name(&self) -> LeverName {
        LeverName::BesideItself
    }

    fn settings(&self, _: &Machine) -> Result<Vec<Setting>, String> {
        let copy = Setting::new("a copy at the same time", Intervention::Company(Company::Itself));
        let control = Control {
            value: "a copy after it".to_owned(),
            intervention: Intervention::Company(Company::ItselfInTurn),
        };
        Ok(vec![copy.beside(control).typed("({} & {}; wait $!)")])
    }
}
