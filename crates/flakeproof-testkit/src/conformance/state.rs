//! What tests of one environment share, and those of two do not.

use flakeproof_core::{Isolation, Outcome};
use flakeproof_runner::Then;

use super::claim::{Claim, Held, claims};
use super::scene::{Scene, outcome};
use super::subject::Role;

pub(super) const CLAIMS: &[Claim] = claims![
    tests_of_one_environment_share_its_state,
    a_fresh_environment_has_no_state_of_another,
    a_copy_of_an_environment_has_its_state,
    what_a_test_leaves_behind_is_seen,
];

fn tests_of_one_environment_share_its_state(scene: &Scene<'_>) -> Held {
    let order = scene.ids([Role::Polluter, Role::Victim])?;
    scene.shared().shares_processes()?;
    let opened = scene.own();
    for how in opened.fresh().into_iter().chain([Isolation::Same]) {
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
    let [polluter, victim] = scene.ids([Role::Polluter, Role::Victim])?;
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
    let [polluter, victim] = scene.ids([Role::Polluter, Role::Victim])?;
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
    let [polluter, _] = scene.ids([Role::Polluter, Role::Victim])?;
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
