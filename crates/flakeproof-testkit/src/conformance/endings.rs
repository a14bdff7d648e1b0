//! Tests that end their process, or never end.

use std::time::{Duration, Instant};

use flakeproof_core::{Isolation, Outcome, TestId};
use flakeproof_runner::{Cancel, Environment, Error, Probe, Then};

use super::claim::{Claim, Held, claims};
use super::notes::wait_for_end_of;
use super::scene::{Opened, Scene, outcome};
use super::subject::Role;

pub(super) const CLAIMS: &[Claim] = claims![
    a_crash_is_its_own_tests_and_ends_the_environment,
    an_exit_with_code_zero_is_no_pass,
    a_hanging_test_is_killed_with_all_that_it_started,
    an_interrupt_ends_a_run_and_all_that_it_started,
];

/// How long an interrupt may take: a second, and what a busy machine adds.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Longer than any claim waits.
const NEVER: Duration = Duration::from_secs(3600);

fn a_crash_is_its_own_tests_and_ends_the_environment(scene: &Scene<'_>) -> Held {
    let order = scene.ids([Role::Passes, Role::Crashes, Role::Prints])?;
    ends_the_environment(scene, &order, scene.subject.outcome(Role::Crashes))
}

fn an_exit_with_code_zero_is_no_pass(scene: &Scene<'_>) -> Held {
    let order = scene.ids([Role::Passes, Role::Exits, Role::Prints])?;
    ends_the_environment(scene, &order, scene.subject.outcome(Role::Exits))
}

/// The second test ends the environment, and the third runs in another.
fn ends_the_environment(scene: &Scene<'_>, order: &[TestId; 3], wanted: Outcome) -> Held {
    let opened = scene.own();
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
        let mut environment = opened.open(how);
        environment.expect(order, Then::End).unwrap_or_else(|error| panic!("{error:?}"));
        let first = run(&mut *environment, &order[0]);
        assert_eq!(first.unwrap_or_else(|error| panic!("{error:?}")).0, Outcome::Passed, "{how}");
        let (second, text) =
            run(&mut *environment, &order[1]).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(second, wanted, "{how}: {text}");
        assert!(!text.is_empty(), "{how}: it does not say how it ended");
        let third = run(&mut *environment, &order[2]);
        if second.ends_environment() {
            assert!(is_gone(&opened, &third), "{how}: {third:?}");
        }
        drop(environment);
        let elsewhere = outcome(&mut *opened.open(how), &order[2], Then::End);
        assert_eq!(elsewhere, Outcome::Passed, "{how}");
    }
    Ok(())
}

fn a_hanging_test_is_killed_with_all_that_it_started(scene: &Scene<'_>) -> Held {
    let order = scene.ids([Role::Passes, Role::Hangs, Role::Prints])?;
    let opened = scene.another(scene.subject.limit, Cancel::never());
    let mut children = Vec::new();
    for how in [Isolation::Spawn, Isolation::Same] {
        scene.notes.forget();
        let mut environment = opened.open(how);
        environment.expect(&order, Then::End).unwrap_or_else(|error| panic!("{error:?}"));
        let first = run(&mut *environment, &order[0]);
        assert_eq!(first.unwrap_or_else(|error| panic!("{error:?}")).0, Outcome::Passed, "{how}");
        let begin = Instant::now();
        let (second, text) =
            run(&mut *environment, &order[1]).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(second, Outcome::TimedOut, "{how}: {text}");
        assert!(begin.elapsed() >= scene.subject.limit, "{how}: {:?}", begin.elapsed());
        let third = run(&mut *environment, &order[2]);
        assert!(is_gone(&opened, &third), "{how}: {third:?}");
        drop(environment);
        wait_for_end_of(scene.notes.process_of("hangs"));
        children.push(scene.notes.process_of("child"));
    }
    drop(opened);
    children.into_iter().for_each(wait_for_end_of);
    Ok(())
}

fn an_interrupt_ends_a_run_and_all_that_it_started(scene: &Scene<'_>) -> Held {
    let hangs = scene.id(Role::Hangs)?;
    let (canceller, cancel) = Cancel::new();
    let opened = scene.another(NEVER, cancel);
    let both = [Isolation::Spawn, Isolation::Same].map(|how| {
        let mut environment = opened.open(how);
        let announced = environment.expect(std::slice::from_ref(&hangs), Then::End);
        announced.unwrap_or_else(|error| panic!("{error:?}"));
        environment
    });
    let took = std::thread::scope(|scope| {
        let run = |mut environment: Box<dyn Environment>| {
            let ran = environment.run(&hangs, Probe::attempt(1));
            assert!(matches!(ran, Err(Error::Cancelled)), "{ran:?}");
        };
        let running = both.map(|environment| scope.spawn(move || run(environment)));
        scene.notes.wait_for("child", running.len());
        let begin = Instant::now();
        canceller.cancel();
        for run in running {
            run.join().unwrap_or_else(|_| panic!("a run was not interrupted"));
        }
        begin.elapsed()
    });
    assert!(took < AT_ONCE, "{took:?}");
    drop(opened);
    scene.notes.all().into_iter().for_each(|note| wait_for_end_of(note.pid));
    Ok(())
}

/// Whether an environment is gone, as its next test tells; where each has its own process, it may
/// go on.
fn is_gone(opened: &Opened, next: &Result<(Outcome, String), Error>) -> bool {
    match next {
        Err(Error::EnvironmentLost { .. }) => true,
        Ok((Outcome::Passed, _)) => opened.shares_processes().is_err(),
        _ => false,
    }
}

/// Run one test of an announced order: how it ended, and what is said about it.
fn run(environment: &mut dyn Environment, test: &TestId) -> Result<(Outcome, String), Error> {
    let execution = environment.run(test, Probe::attempt(1))?;
    assert_eq!(execution.test, *test);
    Ok((execution.outcome, execution.failure.map(|it| it.text).unwrap_or_default()))
}
