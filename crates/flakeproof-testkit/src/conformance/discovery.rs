//! Which tests there are, where they are written, and how a person runs one.

use std::process::{Command, Stdio};

use flakeproof_core::{Isolation, TestId};
use flakeproof_runner::{Error, Probe, Then};

use super::claim::{Claim, Held, claims};
use super::scene::Scene;
use super::subject::Role;

pub(super) const CLAIMS: &[Claim] = claims![
    discovery_finds_the_tests_in_the_runners_order_twice_the_same,
    tests_are_said_to_be_where_they_are_written,
    a_test_that_is_not_in_the_suite_is_told,
    the_command_for_a_test_runs_it_alone_with_its_outcome,
];

/// What is only known after everything else.
pub(super) const LAST: &[Claim] = claims![nothing_is_written_into_the_project];

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
    let fails = scene.id(Role::Fails)?;
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
    let roles = [Role::Passes, Role::Fails, Role::Victim, Role::OddName, Role::ParameterTwo];
    for role in roles {
        let Ok(test) = scene.id(role) else { continue };
        scene.notes.forget();
        let typed = opened.adapter.command_for(&test);
        let mut shell = Command::new("sh");
        shell.args(["-c", &typed]).current_dir(scene.project()).stdin(Stdio::null());
        let output = shell.output().unwrap_or_else(|error| panic!("no shell: {error}"));
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let mut words = scene.notes.tests();
        // Some frameworks select a test only with all its parameters.
        words.retain(|word| role != Role::ParameterTwo || word != Role::ParameterOne.word());
        assert_eq!(words, [role.word()], "{typed}\n{said}");
        assert_eq!(output.status.success(), role != Role::Fails, "{typed}\n{said}");
    }
    Ok(())
}

fn nothing_is_written_into_the_project(scene: &Scene<'_>) -> Held {
    let nothing: [std::path::PathBuf; 0] = [];
    assert_eq!(scene.changed_files(), nothing);
    Ok(())
}
