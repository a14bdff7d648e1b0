//! How tests end, what they say, and what they see.

use flakeproof_core::{Execution, Isolation, Outcome, TestId};

use super::claim::{Claim, Held, claims};
use super::scene::{Opened, RUN, SEED, Scene};
use super::subject::{MESSAGE, Role, STDERR, STDOUT};
use flakeproof_runner::{Probe, Then};

pub(super) const CLAIMS: &[Claim] = claims![
    every_outcome_in_the_suites_own_run_is_the_tests_own,
    every_outcome_in_a_fresh_environment_is_the_tests_own,
    a_failure_says_what_and_where,
    what_a_test_prints_is_its_own_output,
    tests_see_the_run_and_its_seed,
    tests_see_their_attempt,
];

fn every_outcome_in_the_suites_own_run_is_the_tests_own(scene: &Scene<'_>) -> Held {
    let opened = scene.own();
    let survived = scene.survived();
    let order: Vec<TestId> = survived.iter().map(|(_, id)| id.clone()).collect();
    let executions = opened.run(Isolation::Same, &order);
    for ((role, id), execution) in survived.iter().zip(&executions) {
        assert_eq!(execution.test, *id);
        // Whether the polluter's state is there is another claim.
        if *role != Role::Victim {
            assert_eq!(execution.outcome, scene.subject.outcome(*role), "{execution:?}");
        }
        let has_failure = execution.failure.is_some();
        assert_eq!(has_failure, execution.outcome.is_failure(), "{execution:?}");
    }
    Ok(())
}

fn every_outcome_in_a_fresh_environment_is_the_tests_own(scene: &Scene<'_>) -> Held {
    let opened = scene.shared();
    for how in opened.fresh() {
        for role in [Role::Passes, Role::Fails, Role::Skipped, Role::ErrorsInSetup, Role::Touches] {
            let Ok(test) = scene.id(role) else { continue };
            let execution = alone(opened, how, &test);
            assert_eq!(execution.test, test);
            assert_eq!(execution.outcome, scene.subject.outcome(role), "{how}: {execution:?}");
        }
    }
    Ok(())
}

fn a_failure_says_what_and_where(scene: &Scene<'_>) -> Held {
    let execution = alone(scene.shared(), Isolation::Spawn, &scene.id(Role::Fails)?);
    let failure = execution.failure.unwrap_or_else(|| panic!("a failure without a word"));
    assert!(failure.message.contains(MESSAGE), "message: {}", failure.message);
    assert!(failure.text.contains(MESSAGE), "text: {}", failure.text);
    let location = failure.location.ok_or("its framework does not say where a failure is")?;
    assert_eq!(location.file, scene.subject.file, "{}", failure.text);
    let file = std::fs::read_to_string(scene.project().join(scene.subject.file));
    let file = file.unwrap_or_else(|error| panic!("{}: {error}", scene.subject.file));
    let line = file.lines().position(|line| line.contains(MESSAGE)).map(|at| at as u32 + 1);
    assert_eq!(location.line, line, "{}", failure.text);
    Ok(())
}

fn what_a_test_prints_is_its_own_output(scene: &Scene<'_>) -> Held {
    let order = scene.ids([Role::Passes, Role::Prints, Role::Touches])?;
    let opened = scene.own();
    for how in [Isolation::Same, Isolation::Spawn] {
        let executions = opened.run(how, &order);
        let said: Vec<bool> = executions.iter().map(|it| it.output.contains(STDOUT)).collect();
        assert_eq!(said, [false, true, false], "{how}: {executions:?}");
        let output = &executions[1].output;
        assert!(output.contains(STDERR), "{how}: {output}");
    }
    Ok(())
}

fn tests_see_the_run_and_its_seed(scene: &Scene<'_>) -> Held {
    let test = scene.id(Role::SeesVariables)?;
    let opened = scene.own();
    let wanted = format!("variables:1,{RUN},{SEED},");
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
        scene.notes.forget();
        opened.run(how, std::slice::from_ref(&test));
        let words = scene.notes.words();
        assert!(words.iter().any(|it| it.starts_with(&wanted)), "{how}: {words:?}");
    }
    Ok(())
}

fn tests_see_their_attempt(scene: &Scene<'_>) -> Held {
    let test = scene.id(Role::SeesVariables)?;
    let mut environment = scene.shared().open(Isolation::Spawn);
    let announced = environment.expect(std::slice::from_ref(&test), Then::End);
    announced.unwrap_or_else(|error| panic!("{error:?}"));
    for attempt in [1, 2] {
        scene.notes.forget();
        let execution = environment.run(&test, Probe::attempt(attempt));
        let execution = execution.unwrap_or_else(|error| panic!("attempt {attempt}: {error:?}"));
        assert_eq!(execution.outcome, Outcome::Passed);
        let words = scene.notes.words();
        let wanted = format!(",{attempt}");
        let is_seen = words.iter().any(|it| it.starts_with("variables") && it.ends_with(&wanted));
        assert!(is_seen, "attempt {attempt}: {words:?}");
    }
    Ok(())
}

/// Run one test in an environment of its own.
fn alone(opened: &Opened, how: Isolation, test: &TestId) -> Execution {
    let ran = opened.run(how, std::slice::from_ref(test)).pop();
    ran.unwrap_or_else(|| panic!("`{test}` did not run"))
}
