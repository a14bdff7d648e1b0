//! Claims about single tests: which there are, where they are written and how a person runs one;
//! how they end, what they say and what they see; and what is measured when it is asked for, and
//! only then.

use std::process::{Command, Stdio};

use flakeproof_core::{Execution, Isolation, Outcome, TestId};
use flakeproof_runner::{Cancel, Error, Granularity, Measuring, Orders, Probe, Then};

use super::claim::{Claim, Held, claims};
use super::scene::{Opened, RUN, SEED, Scene};
use super::subjects::{MESSAGE, STDERR, STDOUT, TestRole};

pub(super) const DISCOVERY: &[Claim] = claims![
    discovery_finds_the_tests_in_the_runners_order_twice_the_same,
    tests_are_said_to_be_where_they_are_written,
    a_test_that_is_not_in_the_suite_is_told,
    the_command_for_a_test_runs_it_alone_with_its_outcome,
    the_command_for_an_order_runs_it_in_one_process_and_shows_the_failure,
];

/// What is only known after everything else.
pub(super) const LAST_OF_ALL: &[Claim] = claims![nothing_is_written_into_the_project];

fn discovery_finds_the_tests_in_the_runners_order_twice_the_same(scene: &Scene<'_>) -> Held {
    let wanted: Vec<TestId> = scene.subject.tests.iter().map(|(_, id)| (*id).into()).collect();
    let first = &scene.shared().suite;
    assert_eq!(first.ids(), wanted);
    assert_eq!(first, &scene.new_one().suite, "a second discovery finds something else");
    assert!(first.problems.is_empty(), "{:?}", first.problems);
    assert_eq!(scene.notes.tests(), [""; 0], "discovery runs no test");
    Ok(())
}

fn tests_are_said_to_be_where_they_are_written(scene: &Scene<'_>) -> Held {
    let opened = scene.shared();
    let fails = scene.id(TestRole::Fails)?;
    let found = opened.suite.tests.iter().find(|test| test.id == fails);
    let location = found.and_then(|test| test.location.as_ref());
    let location = location.ok_or("the adapter does not say where tests are written")?;
    assert_eq!(location.file, scene.subject.file);
    let root = opened.adapter.root().unwrap_or_else(|| scene.project());
    assert!(root.join(&location.file).is_file(), "{location} is not below {}", root.display());
    let file = scene.project().join(scene.subject.file);
    let text = std::fs::read_to_string(file).unwrap_or_default();
    if let Some(line) = location.line {
        // The line of the declaration, or of what is written around it.
        let after = text.lines().skip(line.saturating_sub(1) as usize).take(4);
        let is_near = after.into_iter().any(|it| it.contains("fails"));
        assert!(is_near, "{location} is not where `{fails}` is written");
    }
    Ok(())
}

fn a_test_that_is_not_in_the_suite_is_told(scene: &Scene<'_>) -> Held {
    let opened = scene.own();
    let unknown = TestId::from("no/such::test");
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
        let mut environment = opened.open(how);
        let announced = environment.expect(std::slice::from_ref(&unknown), Then::End);
        let told = announced.and_then(|()| environment.run(&unknown, Probe::attempt(1)).map(drop));
        let is_told = matches!(&told, Err(Error::UnknownTest { test }) if *test == unknown);
        assert!(is_told, "{how}: {told:?}");
    }
    Ok(())
}

fn the_command_for_a_test_runs_it_alone_with_its_outcome(scene: &Scene<'_>) -> Held {
    let opened = scene.shared();
    let roles = [
        TestRole::Passes,
        TestRole::Fails,
        TestRole::Victim,
        TestRole::OddName,
        TestRole::ParameterTwo,
    ];
    for role in roles {
        let Ok(test) = scene.id(role) else { continue };
        let typed = opened.adapter.command_for(&test);
        let (is_success, said) = type_in_shell(scene, &typed);
        let mut words = scene.notes.tests();
        // Some frameworks select a test only with all its parameters.
        words
            .retain(|word| role != TestRole::ParameterTwo || word != TestRole::ParameterOne.word());
        assert_eq!(words, [role.word()], "{typed}\n{said}");
        assert_eq!(is_success, role != TestRole::Fails, "{typed}\n{said}");
    }
    Ok(())
}

fn the_command_for_an_order_runs_it_in_one_process_and_shows_the_failure(
    scene: &Scene<'_>,
) -> Held {
    let opened = scene.shared();
    let order = scene.ids([TestRole::Polluter, TestRole::Victim])?;
    let typed = opened.adapter.command_for_order(&order);
    let typed = typed.ok_or("no command runs tests in a given order")?;
    let (is_success, said) = type_in_shell(scene, &typed);
    let words = [TestRole::Polluter, TestRole::Victim].map(TestRole::word);
    assert_eq!(scene.notes.tests(), words, "{typed}\n{said}");
    let [polluter, victim] = words.map(|word| scene.notes.process_of(word));
    assert_eq!(polluter, victim, "they run in two processes: {typed}\n{said}");
    assert!(!is_success, "the victim does not fail: {typed}\n{said}");
    Ok(())
}

/// Run a command as a person would; whether it ends well, and what it says.
fn type_in_shell(scene: &Scene<'_>, typed: &str) -> (bool, String) {
    scene.notes.forget();
    let mut shell = Command::new("sh");
    shell.args(["-c", typed]).current_dir(scene.project()).stdin(Stdio::null());
    let output = shell.output().unwrap_or_else(|error| panic!("no shell: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), said)
}

fn nothing_is_written_into_the_project(scene: &Scene<'_>) -> Held {
    let nothing: [std::path::PathBuf; 0] = [];
    assert_eq!(scene.changed_files(), nothing);
    Ok(())
}

pub(super) const OUTCOMES: &[Claim] = claims![
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
        if *role != TestRole::Victim {
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
        for role in [
            TestRole::Passes,
            TestRole::Fails,
            TestRole::Skipped,
            TestRole::ErrorsInSetup,
            TestRole::Touches,
        ] {
            let Ok(test) = scene.id(role) else { continue };
            let execution = alone(opened, how, &test);
            assert_eq!(execution.test, test);
            assert_eq!(execution.outcome, scene.subject.outcome(role), "{how}: {execution:?}");
        }
    }
    Ok(())
}

fn a_failure_says_what_and_where(scene: &Scene<'_>) -> Held {
    let execution = alone(scene.shared(), Isolation::Spawn, &scene.id(TestRole::Fails)?);
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
    let order = scene.ids([TestRole::Passes, TestRole::Prints, TestRole::Touches])?;
    let opened = scene.own();
    // Where Rust's harness runs several tests at a time, it shows only what failed ones printed.
    let may_be_kept = opened.can().orders == Orders::Seeded;
    let both = [Isolation::Same, Isolation::Spawn].into_iter();
    for how in both.filter(|how| *how == Isolation::Spawn || !may_be_kept) {
        let executions = opened.run(how, &order);
        let said: Vec<bool> = executions.iter().map(|it| it.output.contains(STDOUT)).collect();
        assert_eq!(said, [false, true, false], "{how}: {executions:?}");
        let output = &executions[1].output;
        assert!(output.contains(STDERR), "{how}: {output}");
    }
    Ok(())
}

fn tests_see_the_run_and_its_seed(scene: &Scene<'_>) -> Held {
    let test = scene.id(TestRole::SeesVariables)?;
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
    let test = scene.id(TestRole::SeesVariables)?;
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

pub(super) const MEASURING: &[Claim] = claims![
    dependencies_are_measured_when_asked_for,
    what_a_dying_test_touched_is_whole_or_not_told,
    features_are_measured_when_asked_for,
];

fn dependencies_are_measured_when_asked_for(scene: &Scene<'_>) -> Held {
    if !scene.shared().can().dependencies {
        return Err("its dependencies cannot be measured".into());
    }
    assert!(touches(scene, Probe::attempt(1))?.dependencies.is_none(), "nobody asked");
    let touched = touched(scene);
    for dependencies in [Granularity::File, Granularity::Function] {
        let execution = touches(scene, Probe { dependencies, ..Probe::attempt(1) })?;
        assert_eq!(execution.outcome, Outcome::Passed, "{execution:?}");
        let measured = execution.dependencies;
        let measured = measured.unwrap_or_else(|| panic!("nothing is measured"));
        assert!(measured.code.contains(&touched), "{touched} is not in {:?}", measured.code);
        let ending = touched.rfind('.').map(|at| touched[at..].to_owned());
        let is_followed = ending.is_some_and(|ending| measured.followed.contains(&ending));
        assert!(is_followed, "{:?}", measured.followed);
    }
    Ok(())
}

/// A process that dies may take the record of what it touched with it. Half a record would say
/// that a change was not touched, and make a real failure flaky.
fn what_a_dying_test_touched_is_whole_or_not_told(scene: &Scene<'_>) -> Held {
    if !scene.shared().can().dependencies {
        return Err("its dependencies cannot be measured".into());
    }
    let opened = scene.another(scene.subject.limit, Cancel::never());
    for role in [TestRole::Fails, TestRole::Crashes, TestRole::Exits, TestRole::Hangs] {
        let probe = Probe { dependencies: Granularity::Function, ..Probe::attempt(1) };
        let execution = measured(scene, &opened, role, probe)?;
        assert!(execution.outcome.is_failure(), "{execution:?}");
        let Some(measured) = execution.dependencies else { continue };
        let word = role.word();
        assert!(measured.code.contains(&touched(scene)), "{word}: {:?}", measured.code);
    }
    Ok(())
}

fn features_are_measured_when_asked_for(scene: &Scene<'_>) -> Held {
    if !scene.shared().can().features {
        return Err("what its tests use and cover cannot be measured".into());
    }
    assert!(touches(scene, Probe::attempt(1))?.measured.is_none(), "nobody asked");
    let probe = Probe { features: Measuring::On, ..Probe::attempt(1) };
    assert!(touches(scene, probe)?.measured.is_some(), "nothing is measured");
    Ok(())
}

/// The file that tests touch, as measurements name it.
fn touched(scene: &Scene<'_>) -> String {
    let touched = scene.project().join(scene.subject.touched);
    touched.canonicalize().unwrap_or(touched).to_string_lossy().into_owned()
}

fn touches(scene: &Scene<'_>, probe: Probe) -> Result<Execution, String> {
    measured(scene, scene.shared(), TestRole::Touches, probe)
}

fn measured(
    scene: &Scene<'_>,
    opened: &Opened,
    role: TestRole,
    probe: Probe,
) -> Result<Execution, String> {
    let test = scene.id(role)?;
    let mut environment = opened.open(Isolation::Spawn);
    let announced = environment.expect(std::slice::from_ref(&test), Then::End);
    announced.unwrap_or_else(|error| panic!("{error:?}"));
    let ran = environment.run(&test, probe);
    Ok(ran.unwrap_or_else(|error| panic!("`{test}`: {error:?}")))
}
