//! What is provoked, and what is not called latent.

use std::collections::BTreeSet;
use std::time::Duration;

use flakeproof_core::{LeverName, Seed, TestId};
use flakeproof_detect::provoke::{Provocation, Provoked, provoke};
use flakeproof_runner::Cancel;
use flakeproof_runner::levers::{Company, Intervention, Setting};
use flakeproof_testkit::scripted::{Moment, Scripted, suite};

const TESTS: [&str; 4] = ["a", "b", "c", "d"];

fn zone() -> (LeverName, Setting) {
    (LeverName::Zone, Setting::of_variables("kolkata", [("TZ", "kolkata")]))
}

fn reversed() -> (LeverName, Setting) {
    let company = Intervention::Company(Company::SuiteReversed);
    (LeverName::Order, Setting::new("after those behind it", company))
}

fn is_there(moment: &Moment<'_>) -> bool {
    *moment.intervention == Intervention::variables([("TZ", "kolkata")])
}

fn provoked(scripted: &Scripted, settings: Vec<(LeverName, Setting)>) -> Provoked {
    let ids = TESTS.map(TestId::from).to_vec();
    let steady: BTreeSet<TestId> = ids.iter().cloned().collect();
    let provocation = Provocation {
        suite: &ids,
        steady: &steady,
        settings,
        seed: Seed(7),
        until: None,
        timeout: None,
    };
    let clock = || Duration::ZERO;
    let cancel = Cancel::never();
    provoke(scripted, &scripted.in_force(), &provocation, &clock, &cancel, &mut |_| {})
        .expect("it runs")
}

fn latent(provoked: &Provoked) -> Vec<(&str, LeverName)> {
    let lever = |cause: &flakeproof_core::Cause| cause.lever().map(|it| it.name);
    provoked.latent.iter().filter_map(|it| Some((it.test.as_str(), lever(it)?))).collect()
}

#[test]
fn what_fails_under_a_lever_and_never_without_is_latent() {
    let suite = suite(TESTS).fails_if("b", is_there);
    let found = provoked(&suite, vec![zone()]);
    assert_eq!(latent(&found), [("b", LeverName::Zone)]);
    assert!(found.is_whole && found.failed_plainly.is_empty() && found.unproven.is_empty());
}

#[test]
fn what_fails_without_the_lever_too_is_not_latent() {
    // It always passed in the hunt, and fails every third time since.
    let suite = suite(TESTS).fails_if("b", |moment| is_there(moment) || moment.times % 3 == 2);
    let found = provoked(&suite, vec![zone()]);
    assert_eq!(latent(&found), []);
    assert_eq!(found.failed_plainly, [TestId::from("b")]);
}

#[test]
fn a_failure_that_does_not_come_back_is_not_latent() {
    let suite = suite(TESTS).fails_if("b", |moment| is_there(moment) && moment.times <= 1);
    let found = provoked(&suite, vec![zone()]);
    assert_eq!(latent(&found), []);
    assert_eq!(found.unproven, [TestId::from("b")]);
}

#[test]
fn a_polluter_behind_it_in_the_suite_shows_the_other_way_round() {
    let suite = suite(TESTS).with_polluter("b", "d");
    let found = provoked(&suite, vec![reversed()]);
    assert_eq!(latent(&found), [("b", LeverName::Order)]);
}
