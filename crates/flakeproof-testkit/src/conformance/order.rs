//! Orders: what is announced is what runs.

use flakeproof_core::{Isolation, Outcome, TestId};
use flakeproof_runner::{Error, Orders, Probe, Then};

use super::claim::{Claim, Held, claims};
use super::scene::{Scene, outcome, run};
use super::subject::Role;

pub(super) const CLAIMS: &[Claim] = claims![
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
        Orders::Any => tests.reverse(),
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
        assert_eq!(words, wanted, "{how}");
    }
    Ok(())
}

fn an_order_that_cannot_be_kept_is_told(scene: &Scene<'_>) -> Held {
    let backwards = scene.ids([Role::Prints, Role::Passes])?;
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
    let order = scene.ids([Role::Passes, Role::Fails, Role::Prints])?;
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
        assert_eq!(times("prints"), 1, "{how}: {words:?}");
    }
    Ok(())
}

fn an_environment_that_is_made_ready_runs_nothing_yet(scene: &Scene<'_>) -> Held {
    let [passes, touches] = scene.ids([Role::Passes, Role::Touches])?;
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
    let [passes, prints] = scene.ids([Role::Passes, Role::Prints])?;
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
    let roles = [Role::Passes, Role::CountedFirst, Role::CountedSecond, Role::Touches];
    let order = scene.ids(roles)?;
    scene.shared().shares_processes()?;
    let opened = scene.own();
    for how in [Isolation::Spawn, Isolation::Same] {
        scene.notes.forget();
        opened.run(how, &order);
        let wanted = ["passes", "+class", "counted_first", "counted_second", "-class", "touches"];
        assert_eq!(scene.notes.words(), wanted, "{how}");
    }
    Ok(())
}
