//! Tests that take their JVM with them.

use flakeproof_core::{Isolation, Outcome};
use flakeproof_runner::{Error, Probe, Then};

use crate::claims::Claim;
use crate::scene::{MavenProject, Pom, Scene, Shared, told};

/// Built once for all claims.
pub(crate) static KILLERS: Shared = Shared::new();

pub(crate) const CLAIMS: &[Claim] = claims![
    a_test_that_ends_the_jvm_crashed_whatever_its_exit_code,
    a_deadlock_is_named_and_its_threads_are_shown,
    a_crash_ahead_of_a_rerun_belongs_to_the_test_that_ran,
];

fn make_killers() -> Scene {
    MavenProject::new(Pom::default())
        .test(
            "ExitTest",
            "@Test public void exits() { System.exit(0); }
             @Test public void after() {}",
        )
        .test("LocksTest", LOCKS)
        .test(
            "MixedTest",
            "@Test public void fails() { Assert.fail(\"no\"); }
             @Test public void passes() {}
             @Test public void kills() {
                 System.err.println(\"last words\");
                 Runtime.getRuntime().halt(7);
             }",
        )
        .collect(&[])
}

const LOCKS: &str = "
    @Test public void locks() throws Exception {
        Object one = new Object(), two = new Object();
        java.util.concurrent.CyclicBarrier both = new java.util.concurrent.CyclicBarrier(2);
        Thread other = new Thread(() -> hold(two, one, both), \"the other\");
        other.start();
        hold(one, two, both);
        other.join();
    }
    static void hold(Object first, Object second, java.util.concurrent.CyclicBarrier both) {
        synchronized (first) {
            try { both.await(); } catch (Exception never) { throw new Error(never); }
            synchronized (second) { first.notify(); }
        }
    }";

fn a_test_that_ends_the_jvm_crashed_whatever_its_exit_code() {
    let scene = KILLERS.get(make_killers);
    let order = ["ExitTest#exits", "ExitTest#after"].map(|ending| scene.id(ending));
    let mut environment = scene.open(Isolation::Same);
    environment.expect(&order, Then::End).expect("a live environment");
    let execution = environment.run(&order[0], Probe::attempt(1)).expect("no trouble");
    assert_eq!(execution.outcome, Outcome::Crashed);
    let message = execution.failure.expect("a failure").message;
    assert_eq!(message, "the JVM ended itself: exit code 0");
    let next = environment.run(&order[1], Probe::attempt(1));
    assert!(matches!(next, Err(Error::EnvironmentLost { .. })), "{next:?}");
}

fn a_deadlock_is_named_and_its_threads_are_shown() {
    let scene = KILLERS.get(make_killers);
    let test = scene.id("LocksTest#locks");
    let mut environment = scene.open(Isolation::Spawn);
    environment.expect(std::slice::from_ref(&test), Then::End).expect("a live environment");
    let execution = environment.run(&test, Probe::attempt(1)).expect("no trouble");
    assert_eq!(execution.outcome, Outcome::TimedOut);
    let failure = execution.failure.expect("a failure");
    assert!(failure.message.ends_with("its threads are in a deadlock"), "{}", failure.message);
    assert!(failure.text.contains("\"the other\""), "{}", failure.text);
    assert!(failure.text.contains("acme.LocksTest.hold"), "{}", failure.text);
}

fn a_crash_ahead_of_a_rerun_belongs_to_the_test_that_ran() {
    let scene = KILLERS.get(make_killers);
    let order = ["#fails", "#passes", "#kills"].map(|ending| scene.id(ending));
    let mut environment = scene.open(Isolation::Same);
    environment.expect(&order, Then::End).expect("a live environment");
    let first = environment.run(&order[0], Probe::attempt(1)).expect("no trouble");
    assert_eq!(told(&first), "fails failed");
    let again = environment.run(&order[0], Probe::attempt(2));
    assert!(matches!(again, Err(Error::EnvironmentLost { .. })), "{again:?}");
    let second = environment.run(&order[1], Probe::attempt(1)).expect("no trouble");
    assert_eq!(told(&second), "passes passed");
    let third = environment.run(&order[2], Probe::attempt(1)).expect("no trouble");
    assert_eq!(told(&third), "kills crashed");
    let failure = third.failure.expect("a failure");
    assert_eq!(failure.message, "the JVM ended itself: exit code 7");
    assert!(failure.text.contains("last words"), "{}", failure.text);
}
