//! Orders of tests in live and in fresh JVMs.

use flakeproof_core::{BlindSpot, Dependencies, Isolation};
use flakeproof_runner::{Granularity, Probe, Then};

use crate::claims::Claim;
use crate::scene::{MavenProject, Pom, Scene, Shared, told};

/// Built once for all claims.
pub(crate) static STATE: Shared = Shared::new();

pub(crate) const CLAIMS: &[Claim] = claims![
    methods_run_in_any_order_across_classes,
    a_rerun_waits_for_the_end_of_its_class_and_then_the_order_goes_on,
    a_new_jvm_knows_nothing_of_the_last_one,
    the_classes_that_a_test_loads_are_its_dependencies,
    many_fresh_jvms_get_an_archive_and_say_the_same,
];

/// Two classes whose set-ups count, a polluter and a victim.
fn make_state() -> Scene {
    let counts = |other: &str| {
        format!(
            "static int setUps;
             @BeforeClass public static void open() {{ setUps++; }}
             @Test public void once() {{ Assert.assertEquals(1, setUps); }}
             @Test public void twice() {{ Assert.assertEquals(2, setUps); }}
             @Test public void {other}"
        )
    };
    MavenProject::new(Pom::default())
        .test("ATest", &counts("pollutes() { System.setProperty(\"dirt\", \"1\"); }"))
        .test("BTest", &counts("clean() { Assert.assertNull(System.getProperty(\"dirt\")); }"))
        .collect(&[])
}

fn methods_run_in_any_order_across_classes() {
    let scene = STATE.get(make_state);
    let order = ["ATest#once", "BTest#once", "BTest#clean", "ATest#twice", "ATest#pollutes"];
    let outcomes = scene.outcomes(&order);
    assert_eq!(
        outcomes,
        ["once passed", "once passed", "clean passed", "twice passed", "pollutes passed"]
    );
    let outcomes = scene.outcomes(&["ATest#pollutes", "BTest#clean", "BTest#twice"]);
    assert_eq!(outcomes, ["pollutes passed", "clean failed", "twice failed"]);
}

fn a_rerun_waits_for_the_end_of_its_class_and_then_the_order_goes_on() {
    let scene = STATE.get(make_state);
    let order = ["ATest#twice", "ATest#once", "BTest#clean"].map(|ending| scene.id(ending));
    let mut environment = scene.open(Isolation::Same);
    environment.expect(&order, Then::End).expect("a live environment");
    let mut told_of = |test: usize, attempt| {
        told(&environment.run(&order[test], Probe::attempt(attempt)).expect("no trouble"))
    };
    assert_eq!(told_of(0, 1), "twice failed");
    // The class is set up again for it.
    assert_eq!(told_of(0, 2), "twice passed");
    assert_eq!(told_of(1, 1), "once passed", "it ran with the class that the first test failed in");
    assert_eq!(told_of(2, 1), "clean passed");
    assert_eq!(told_of(0, 3), "twice failed", "the set-ups of a live JVM add up");
    environment.close().expect("it ends");
}

fn a_new_jvm_knows_nothing_of_the_last_one() {
    let scene = STATE.get(make_state);
    for _ in 0..2 {
        assert_eq!(scene.outcomes(&["ATest#pollutes"]), ["pollutes passed"]);
        assert_eq!(scene.outcomes(&["BTest#clean"]), ["clean passed"]);
    }
}

/// What a test alone depends on, and the names of its source files.
fn measured(scene: &Scene, ending: &str) -> (Dependencies, Vec<String>) {
    let test = scene.id(ending);
    let mut environment = scene.open(Isolation::Spawn);
    environment.expect(std::slice::from_ref(&test), Then::End).expect("a live environment");
    let probe = Probe { dependencies: Granularity::File, ..Probe::attempt(1) };
    let execution = environment.run(&test, probe).expect("no trouble but a test's");
    let dependencies = execution.dependencies.expect("it was measured");
    let names = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
    let code = dependencies.code.iter().map(names).collect();
    (dependencies, code)
}

fn the_classes_that_a_test_loads_are_its_dependencies() {
    let main = "src/main/java/acme";
    let scene = MavenProject::new(Pom::default())
        .class(&format!("{main}/Used"), "public class Used { public static int one = 1; }")
        .class(&format!("{main}/Idle"), "public class Idle { public static int one = 1; }")
        .class(
            &format!("{main}/Limits"),
            "public class Limits { public static final int ONE = 1; }",
        )
        .test(
            "ATest",
            "@Test public void plain() { Assert.assertEquals(Limits.ONE, Used.one); }
             @Test public void starts() throws Exception { new ProcessBuilder(\"true\").start(); }",
        )
        .test("BTest", "@Test public void idle() { Assert.assertEquals(1, Idle.one); }")
        .collect(&[]);
    let (dependencies, code) = measured(&scene, "#plain");
    assert_eq!(code, ["Used.java", "ATest.java"]);
    let spots = &dependencies.blind_spots[..];
    let is_expected = matches!(
        spots,
        [BlindSpot::Opens, BlindSpot::Installed { .. }]
            | [BlindSpot::Installed { .. }, BlindSpot::Caches]
    );
    assert!(is_expected, "{spots:?}");
    assert_eq!(dependencies.copied.len(), 1, "{:?}", dependencies.copied);
    let (dependencies, _) = measured(&scene, "#starts");
    let is_process = |spot: &BlindSpot| matches!(spot, BlindSpot::Process { .. });
    assert!(dependencies.blind_spots.iter().any(is_process), "{:?}", dependencies.blind_spots);
    let (_, code) = measured(&scene, "#idle");
    assert_eq!(code, ["Idle.java", "BTest.java"]);
}

fn many_fresh_jvms_get_an_archive_and_say_the_same() {
    let scene = STATE.get(make_state);
    for number in 0..13 {
        let outcomes = scene.outcomes(&["ATest#once", "BTest#clean", "BTest#twice"]);
        assert_eq!(outcomes, ["once passed", "clean passed", "twice failed"], "JVM {number}");
    }
}
