//! Whole orders in one interpreter, in any order, and tests that end it in the middle.

use flakeproof_core::{Isolation, Outcome, TestId};
use flakeproof_runner::{Environment, Error, Probe, Then};

use crate::claims::Claim;
use crate::scene::{Scene, outcomes, project};

pub(crate) const CLAIMS: &[Claim] = claims![
    a_whole_suite_runs_in_another_order_in_a_spawned_interpreter,
    a_crash_in_the_middle_of_an_order_is_the_tests_own_and_the_rest_runs_elsewhere,
    a_spawned_interpreter_takes_on_no_test_that_it_did_not_collect,
];

const MANY: &str = r#"
import pytest
@pytest.mark.parametrize("n", range(500))
def test_n(n): assert n % 100 != 7
"#;

fn a_whole_suite_runs_in_another_order_in_a_spawned_interpreter() {
    let scene = Scene::of(project().file("test_a.py", MANY).file("inner/test_b.py", MANY));
    let (half, mut order) = (scene.tests.len() / 2, Vec::new());
    for at in (0..half).rev() {
        order.extend([scene.tests[at].clone(), scene.tests[half + at].clone()]);
    }
    let mut environment = scene.open(Isolation::Spawn);
    let outcomes = outcomes(&mut *environment, &order, Then::End);
    assert_eq!(outcomes.len(), 1000);
    for (test, outcome) in order.iter().zip(outcomes) {
        let fails = test.as_str().ends_with("07]") || test.as_str().ends_with("[7]");
        assert_eq!(outcome == Outcome::Failed, fails, "{test}");
    }
    environment.close().expect("it ends");
}

const KILLER: &str = r#"
import os
def test_a(): pass
def test_kills(): os.kill(os.getpid(), 9)
def test_c(): pass
"#;

fn a_crash_in_the_middle_of_an_order_is_the_tests_own_and_the_rest_runs_elsewhere() {
    let scene = Scene::of(project().file("test_a.py", KILLER));
    let order = &scene.tests;
    for how in [Isolation::Spawn, Isolation::Fork] {
        let mut environment = scene.open(how);
        environment.expect(order, Then::Open).expect("it lives");
        let mut run = |test: &TestId| environment.run(test, Probe::attempt(1));
        assert_eq!(run(&order[0]).expect("it runs").outcome, Outcome::Passed);
        assert_eq!(run(&order[1]).expect("it runs").outcome, Outcome::Crashed);
        assert!(matches!(run(&order[2]), Err(Error::EnvironmentLost { .. })));
        let another: &mut dyn Environment = &mut *scene.open(how);
        assert_eq!(outcomes(another, &order[2..], Then::End), [Outcome::Passed]);
    }
}

fn a_spawned_interpreter_takes_on_no_test_that_it_did_not_collect() {
    let project = project().file("test_a.py", "def test_a(): pass\n");
    let scene = Scene::of(project.file("test_b.py", "def test_b(): pass\n"));
    let mut environment = scene.open(Isolation::Spawn);
    assert_eq!(outcomes(&mut *environment, &scene.tests[..1], Then::Open), [Outcome::Passed]);
    let refused = environment.expect(&scene.tests[1..], Then::End);
    assert!(matches!(refused, Err(Error::NotPossible { .. })), "{refused:?}");
    assert_eq!(outcomes(&mut *environment, &scene.tests[..1], Then::End), [Outcome::Passed]);
}
