//! Claims about environments: what is announced is what runs, tests of one environment share what
//! those of two do not, and tests that end their process, or never end, take their environment with
//! them.

use std::time::{Duration, Instant};

use flakeproof_core::{Isolation, Outcome, TestId};
use flakeproof_runner::{Cancel, Environment, Error, Likeness, Orders, Probe, Then};

use super::claim::{Claim, Held, claims};
use super::scene::{Opened, Scene, outcome, run, wait_for_end_of};
use super::subjects::TestRole;

pub(super) const ORDER: &[Claim] = claims![
    an_announced_order_is_kept,
    an_order_that_cannot_be_kept_is_told,
    a_failed_test_runs_again_and_the_order_goes_on,
    an_environment_that_is_made_ready_runs_nothing_yet,
    an_open_order_goes_on_with_another,
    the_set_up_of_a_class_is_made_once_and_undone_after_its_last_test,
];

fn an_announced_order_is_kept(scene: &Scene<'_>) -> Held {
    let opened = scene.own();
    let mut tests = scene.survived();
    tests.retain(|(role, _)| role.notes());
    match opened.can().orders {
        Orders::Any | Orders::AnyFresh | Orders::ByFile => tests.reverse(),
        Orders::Seeded => tests = backwards_as_it_can_be_run(&opened, &tests),
        Orders::Own => drop(tests.remove(1)),
        // Each costs a process, and four tell as much as all.
        Orders::Apart => tests = tests.into_iter().rev().take(4).collect(),
    }
    let order: Vec<TestId> = tests.iter().map(|(_, id)| id.clone()).collect();
    let wanted: Vec<&str> = tests.iter().map(|(role, _)| role.word()).collect();
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
        scene.notes.forget();
        opened.run(how, &order);
        let mut words = scene.notes.tests();
        words.retain(|word| wanted.contains(&word.as_str()));
        if opened.can().orders == Orders::Seeded {
            // A failure that only a shuffled process has shown is checked afterwards, alone.
            words.truncate(wanted.len());
        }
        if how == Isolation::Fork && opened.can().likeness == Likeness::Nearly {
            // The same order once more is how such an environment is compared with a new process.
            let again = words.split_off(wanted.len().min(words.len()));
            assert!(again.is_empty() || again == wanted, "{how}: then {again:?}");
        }
        assert_eq!(words, wanted, "{how}");
    }
    Ok(())
}

/// The same tests, another way round: as near to backwards as the adapter can.
fn backwards_as_it_can_be_run(
    opened: &Opened,
    tests: &[(TestRole, TestId)],
) -> Vec<(TestRole, TestId)> {
    let wanted: Vec<TestId> = tests.iter().rev().map(|(_, id)| id.clone()).collect();
    let order = opened.adapter.runnable(&wanted);
    assert_eq!(order.last(), wanted.last(), "the last one stays the last");
    assert_eq!(opened.adapter.runnable(&order), order, "what was given out stays as it is");
    let role = |id: TestId| {
        let found = tests.iter().find(|(_, it)| *it == id);
        found.cloned().unwrap_or_else(|| panic!("`{id}` was not asked for"))
    };
    let tests: Vec<_> = order.into_iter().map(role).collect();
    assert_eq!(tests.len(), wanted.len());
    tests
}

fn an_order_that_cannot_be_kept_is_told(scene: &Scene<'_>) -> Held {
    let backwards = scene.ids([TestRole::Prints, TestRole::Passes])?;
    if scene.shared().can().orders != Orders::Own {
        return Err("every order can be kept".into());
    }
    let opened = scene.own();
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
        let told = run(&mut *opened.open(how), &backwards, Then::End);
        assert!(matches!(told, Err(Error::NotPossible { .. })), "{how}: {told:?}");
        assert_eq!(scene.notes.tests(), [""; 0], "{how}");
    }
    Ok(())
}

fn a_failed_test_runs_again_and_the_order_goes_on(scene: &Scene<'_>) -> Held {
    let order = scene.ids([TestRole::Passes, TestRole::Fails, TestRole::Prints])?;
    let [passes, fails, prints] = &order;
    let opened = scene.own();
    for how in [Isolation::Spawn, Isolation::Same] {
        scene.notes.forget();
        let mut environment = opened.open(how);
        environment.expect(&order, Then::End).unwrap_or_else(|error| panic!("{error:?}"));
        let mut run = |test: &TestId, attempt| {
            let ran = environment.run(test, Probe::attempt(attempt));
            ran.unwrap_or_else(|error| panic!("{how} {test}: {error:?}")).outcome
        };
        let outcomes = [run(passes, 1), run(fails, 1), run(fails, 2), run(prints, 1)];
        let wanted = [Outcome::Passed, Outcome::Failed, Outcome::Failed, Outcome::Passed];
        assert_eq!(outcomes, wanted, "{how}");
        // Where a process cannot go on, what came before runs again for the state it leaves.
        let words = scene.notes.tests();
        let times = |word| words.iter().filter(|it| *it == word).count();
        assert!(times("fails") >= 2 && times("passes") >= 1, "{how}: {words:?}");
        let runs_ahead = match opened.can().orders {
            // The whole order was given to the runner, which went on after the failure.
            Orders::AnyFresh | Orders::ByFile => how == Isolation::Spawn,
            Orders::Any | Orders::Seeded | Orders::Own | Orders::Apart => false,
        };
        let most = if runs_ahead { 2 } else { 1 };
        assert!((1..=most).contains(&times("prints")), "{how}: {words:?}");
    }
    Ok(())
}

fn an_environment_that_is_made_ready_runs_nothing_yet(scene: &Scene<'_>) -> Held {
    let [passes, touches] = scene.ids([TestRole::Passes, TestRole::Touches])?;
    let mut environment = scene.shared().open(Isolation::Spawn);
    let order = [passes, touches];
    environment.expect(&order, Then::End).unwrap_or_else(|error| panic!("{error:?}"));
    environment.get_ready().unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(scene.notes.tests(), [""; 0]);
    for test in &order {
        let ran = environment.run(test, Probe::attempt(1));
        assert_eq!(ran.unwrap_or_else(|error| panic!("{error:?}")).outcome, Outcome::Passed);
    }
    Ok(())
}

fn an_open_order_goes_on_with_another(scene: &Scene<'_>) -> Held {
    let [passes, prints] = scene.ids([TestRole::Passes, TestRole::Prints])?;
    let opened = scene.own();
    let mut environment = opened.open(Isolation::Same);
    assert_eq!(outcome(&mut *environment, &passes, Then::Open), Outcome::Passed);
    match environment.expect(std::slice::from_ref(&prints), Then::End) {
        Err(Error::NotPossible { why, .. }) => return Err(why),
        announced => announced.unwrap_or_else(|error| panic!("{error:?}")),
    }
    let ran = environment.run(&prints, Probe::attempt(1));
    assert_eq!(ran.unwrap_or_else(|error| panic!("{error:?}")).outcome, Outcome::Passed);
    // Where a process cannot go on, what came before runs again for the state it leaves.
    let words = scene.notes.tests();
    let (last, before) = words.split_last().unwrap_or_else(|| panic!("nothing ran"));
    assert!(last == "prints" && before.iter().all(|it| it == "passes"), "{words:?}");
    Ok(())
}

fn the_set_up_of_a_class_is_made_once_and_undone_after_its_last_test(scene: &Scene<'_>) -> Held {
    let roles =
        [TestRole::Passes, TestRole::CountedFirst, TestRole::CountedSecond, TestRole::Touches];
    let order = scene.ids(roles)?;
    scene.shared().shares_processes(Isolation::Spawn)?;
    let opened = scene.own();
    for how in [Isolation::Spawn, Isolation::Same]
        .into_iter()
        .filter(|how| opened.shares_processes(*how).is_ok())
    {
        scene.notes.forget();
        opened.run(how, &order);
        let wanted = ["passes", "+class", "counted_first", "counted_second", "-class", "touches"];
        assert_eq!(scene.notes.words(), wanted, "{how}");
    }
    Ok(())
}

pub(super) const STATE: &[Claim] = claims![
    tests_of_one_environment_share_its_state,
    a_fresh_environment_has_no_state_of_another,
    a_copy_of_an_environment_has_its_state,
    what_a_test_leaves_behind_is_seen,
];

fn tests_of_one_environment_share_its_state(scene: &Scene<'_>) -> Held {
    let order = scene.ids([TestRole::Polluter, TestRole::Victim])?;
    scene.shared().shares_processes(Isolation::Spawn)?;
    let opened = scene.own();
    let all = opened.fresh().into_iter().chain([Isolation::Same]);
    for how in all.filter(|how| opened.shares_processes(*how).is_ok()) {
        scene.notes.forget();
        let executions = opened.run(how, &order);
        let outcomes = [executions[0].outcome, executions[1].outcome];
        assert_eq!(outcomes, [Outcome::Passed, Outcome::Failed], "{how}");
        let processes = [scene.notes.process_of("polluter"), scene.notes.process_of("victim")];
        assert_eq!(processes[0], processes[1], "{how}");
    }
    Ok(())
}

fn a_fresh_environment_has_no_state_of_another(scene: &Scene<'_>) -> Held {
    let [polluter, victim] = scene.ids([TestRole::Polluter, TestRole::Victim])?;
    let opened = scene.shared();
    for how in opened.fresh() {
        scene.notes.forget();
        let mut polluted = opened.open(how);
        assert_eq!(outcome(&mut *polluted, &polluter, Then::Open), Outcome::Passed);
        // While the polluted one still lives, and again when it is gone.
        assert_eq!(outcome(&mut *opened.open(how), &victim, Then::End), Outcome::Passed, "{how}");
        let processes = [scene.notes.process_of("polluter"), scene.notes.process_of("victim")];
        assert_ne!(processes[0], processes[1], "{how}");
        drop(polluted);
        assert_eq!(outcome(&mut *opened.open(how), &victim, Then::End), Outcome::Passed, "{how}");
    }
    Ok(())
}

fn a_copy_of_an_environment_has_its_state(scene: &Scene<'_>) -> Held {
    let [polluter, victim] = scene.ids([TestRole::Polluter, TestRole::Victim])?;
    let opened = scene.shared();
    if !opened.can().snapshot {
        return Err("its environments cannot be copied".into());
    }
    let mut original = opened.open(Isolation::Fork);
    let mut clean = original.snapshot().unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(outcome(&mut *original, &polluter, Then::Open), Outcome::Passed);
    let mut polluted = original.snapshot().unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(outcome(&mut *polluted, &victim, Then::End), Outcome::Failed);
    assert_eq!(outcome(&mut *original, &victim, Then::End), Outcome::Failed);
    assert_eq!(outcome(&mut *clean, &victim, Then::End), Outcome::Passed);
    Ok(())
}

fn what_a_test_leaves_behind_is_seen(scene: &Scene<'_>) -> Held {
    let [polluter, _] = scene.ids([TestRole::Polluter, TestRole::Victim])?;
    let opened = scene.shared();
    if !opened.can().state {
        return Err("its environments do not tell what tests leave behind".into());
    }
    let mut environment = opened.open(opened.fresh().pop().unwrap_or(Isolation::Spawn));
    let announced = environment.expect(std::slice::from_ref(&polluter), Then::Open);
    announced.unwrap_or_else(|error| panic!("{error:?}"));
    let mut look = || environment.look().unwrap_or_else(|error| panic!("{error:?}"));
    let before = look();
    assert_eq!(look(), before, "nothing happened between two looks");
    assert_eq!(outcome(&mut *environment, &polluter, Then::Open), Outcome::Passed);
    let after = environment.look().unwrap_or_else(|error| panic!("{error:?}"));
    assert_ne!(after, before);
    Ok(())
}

pub(super) const ENDINGS: &[Claim] = claims![
    a_crash_is_its_own_tests_and_ends_the_environment,
    an_exit_with_code_zero_is_no_pass,
    a_hanging_test_is_killed_with_all_that_it_started,
    an_interrupt_ends_a_run_and_all_that_it_started,
];

/// Less than the 20 s after which a process that did not hear the interrupt is killed; it takes a
/// fraction of a second, and the rest is for a busy machine.
const IS_HEARD: Duration = Duration::from_secs(18);
/// Longer than any claim waits.
const NEVER: Duration = Duration::from_secs(3600);

fn a_crash_is_its_own_tests_and_ends_the_environment(scene: &Scene<'_>) -> Held {
    let order = scene.ids([TestRole::Passes, TestRole::Crashes, TestRole::Prints])?;
    ends_the_environment(scene, &order, scene.subject.outcome(TestRole::Crashes))
}

fn an_exit_with_code_zero_is_no_pass(scene: &Scene<'_>) -> Held {
    let order = scene.ids([TestRole::Passes, TestRole::Exits, TestRole::Prints])?;
    ends_the_environment(scene, &order, scene.subject.outcome(TestRole::Exits))
}

/// The second test ends the environment, and the third runs in another.
fn ends_the_environment(scene: &Scene<'_>, order: &[TestId; 3], wanted: Outcome) -> Held {
    let opened = scene.own();
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
        let mut environment = opened.open(how);
        environment.expect(order, Then::End).unwrap_or_else(|error| panic!("{error:?}"));
        let first = run_and_read(&mut *environment, &order[0]);
        assert_eq!(first.unwrap_or_else(|error| panic!("{error:?}")).0, Outcome::Passed, "{how}");
        let (second, text) =
            run_and_read(&mut *environment, &order[1]).unwrap_or_else(|error| panic!("{error:?}"));
        // A runner may tell only of a file that failed; who runs an order sees the process end.
        let is_seen = how != Isolation::Same && second == Outcome::Crashed;
        assert!(second == wanted || is_seen, "{how}: {second:?}, not {wanted:?}: {text}");
        assert!(!text.is_empty(), "{how}: it does not say how it ended");
        let third = run_and_read(&mut *environment, &order[2]);
        if second.ends_environment() {
            assert!(is_gone(&opened, how, &third), "{how}: {third:?}");
        }
        drop(environment);
        let elsewhere = outcome(&mut *opened.open(how), &order[2], Then::End);
        assert_eq!(elsewhere, Outcome::Passed, "{how}");
    }
    Ok(())
}

fn a_hanging_test_is_killed_with_all_that_it_started(scene: &Scene<'_>) -> Held {
    let order = scene.ids([TestRole::Passes, TestRole::Hangs, TestRole::Prints])?;
    let opened = scene.another(scene.subject.limit, Cancel::never());
    let mut children = Vec::new();
    for how in [Isolation::Spawn, Isolation::Same] {
        scene.notes.forget();
        let mut environment = opened.open(how);
        environment.expect(&order, Then::End).unwrap_or_else(|error| panic!("{error:?}"));
        // A runner that runs tests at the same time begins with all of them.
        let begin = Instant::now();
        let first = run_and_read(&mut *environment, &order[0]);
        assert_eq!(first.unwrap_or_else(|error| panic!("{error:?}")).0, Outcome::Passed, "{how}");
        let (second, text) =
            run_and_read(&mut *environment, &order[1]).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(second, Outcome::TimedOut, "{how}: {text}");
        assert!(begin.elapsed() >= scene.subject.limit, "{how}: {:?}", begin.elapsed());
        let third = run_and_read(&mut *environment, &order[2]);
        assert!(is_gone(&opened, how, &third), "{how}: {third:?}");
        drop(environment);
        wait_for_end_of(scene.notes.process_of("hangs"));
        children.push(scene.notes.process_of("child"));
    }
    drop(opened);
    children.into_iter().for_each(wait_for_end_of);
    Ok(())
}

fn an_interrupt_ends_a_run_and_all_that_it_started(scene: &Scene<'_>) -> Held {
    let hangs = scene.id(TestRole::Hangs)?;
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
    assert!(took < IS_HEARD, "{took:?}");
    drop(opened);
    scene.notes.all().into_iter().for_each(|note| wait_for_end_of(note.pid));
    Ok(())
}

/// Whether an environment is gone, as its next test tells; where each has its own process, it may
/// go on.
fn is_gone(opened: &Opened, how: Isolation, next: &Result<(Outcome, String), Error>) -> bool {
    match next {
        Err(Error::EnvironmentLost { .. }) => true,
        Ok((Outcome::Passed, _)) => opened.shares_processes(how).is_err(),
        _ => false,
    }
}

/// Run one test of an announced order: how it ended, and what is said about it.
fn run_and_read(
    environment: &mut dyn Environment,
    test: &TestId,
) -> Result<(Outcome, String), Error> {
    let execution = environment.run(test, Probe::attempt(1))?;
    assert_eq!(execution.test, *test);
    Ok((execution.outcome, execution.failure.map(|it| it.text).unwrap_or_default()))
}
