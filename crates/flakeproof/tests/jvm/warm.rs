//! Environments that follow one another in a warm JVM.

use flakeproof_core::{Isolation, State, TestId};
use flakeproof_runner::{Adapter, Error, Probe, Then};

use crate::claims::Claim;
use crate::scene::{JUNIT4, JUPITER, MavenProject, Pom, Scene, Shared, TESTNG, run, told};

/// Built once for all claims.
pub(crate) static HOSTILE: Shared = Shared::new();

pub(crate) const CLAIMS: &[Claim] = claims![
    tests_that_change_the_jdk_do_the_same_in_warm_and_in_new_jvms,
    so_do_those_of_jupiter,
    so_do_those_of_testng,
    a_victim_of_each_framework_is_seen_in_warm_jvms_with_what_is_left_behind,
    a_test_that_sees_the_difference_sends_its_module_back_to_new_jvms,
    what_a_polluter_leaves_behind_is_named,
    a_property_that_is_read_at_the_start_keeps_jvms_new_and_is_named,
    a_new_jvm_is_neither_copied_nor_looked_into,
    a_test_that_leaves_no_memory_for_classes_fails_and_is_no_fault_of_ours,
];

/// Tests that fail if another environment ran before them in a JVM that nobody has cleaned.
const CHANGES: &str = r#"
    static int count;
    static class Once { static { if (true) throw new IllegalStateException("once"); } static int x; }
    @Test public void counts() { Assert.assertEquals(0, count++); }
    @Test public void property() { Assert.assertNull(System.getProperty("p")); System.setProperty("p", "1"); }
    @Test public void locale() {
        Assert.assertNotEquals(java.util.Locale.JAPAN, java.util.Locale.getDefault());
        java.util.Locale.setDefault(java.util.Locale.JAPAN);
    }
    @Test public void zone() {
        Assert.assertNotEquals("Asia/Tokyo", java.util.TimeZone.getDefault().getID());
        java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone("Asia/Tokyo"));
    }
    @Test public void output() { System.out.close(); System.setOut(null); System.setErr(null); }
    @Test public void factory() { java.net.URL.setURLStreamHandlerFactory(protocol -> null); }
    @Test public void logger() {
        Assert.assertNull(java.util.logging.Logger.getLogger("l").getLevel());
        java.util.logging.Logger.getLogger("l").setLevel(java.util.logging.Level.FINEST);
    }
    @Test public void stubborn() {
        Thread thread = new Thread(() -> {
            while (true) { try { Thread.sleep(60000); } catch (InterruptedException again) { } }
        });
        thread.setDaemon(true);
        thread.start();
        Assert.assertEquals("Thread-0", thread.getName());
    }
    static final ThreadLocal<Integer> LOCAL = new ThreadLocal<>();
    @Test public void pool() throws Exception {
        Assert.assertNull(java.util.concurrent.CompletableFuture.supplyAsync(() -> {
            Integer before = LOCAL.get();
            LOCAL.set(1);
            return before;
        }).get());
    }
    @Test public void exits() { System.exit(0); }
    @Test public void initialisesOnce() {
        try { Once.x++; Assert.fail(); } catch (ExceptionInInitializerError first) { }
        try { Once.x++; Assert.fail(); } catch (NoClassDefFoundError second) { }
    }
    @Test public void hook() { Runtime.getRuntime().addShutdownHook(new Thread(() -> count++)); }
    @Test public void systemLoader() throws Exception {
        ClassLoader.getSystemClassLoader().loadClass(getClass().getName());
    }
    @Test public void library() { System.load(System.getProperty("java.home") + "/lib/libprefs.so"); }
    @Test public void fails() { Assert.fail("always"); }
    @Test public void manager() {
        Assert.assertNull(System.getSecurityManager());
        try {
            System.setSecurityManager(new SecurityManager() {
                @Override public void checkPermission(java.security.Permission any) { }
            });
        } catch (UnsupportedOperationException newer) { }
    }
    @Test public void deadlock() {
        Object first = new Object(), second = new Object();
        java.util.concurrent.CyclicBarrier both = new java.util.concurrent.CyclicBarrier(2);
        Thread[] threads = { locking(first, second, both), locking(second, first, both) };
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.BLOCKED) { Thread.yield(); }
        }
    }
    static Thread locking(Object one, Object other, java.util.concurrent.CyclicBarrier both) {
        Thread thread = new Thread(() -> {
            synchronized (one) {
                try { both.await(); } catch (Exception never) { }
                synchronized (other) { count++; }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
    @Test public void version() { Assert.assertEquals("that of the tests", Version.TEXT.toString()); }
"#;

/// One class in two versions: the folder that stands first on the path has the one that counts.
const VERSIONS: [(&str, &str); 2] = [
    (
        "src/main/java/acme/Version",
        "class Version { static Object TEXT = \"that of the product\"; }",
    ),
    ("src/test/java/acme/Version", "class Version { static Object TEXT = \"that of the tests\"; }"),
];

/// The imports of each framework, and its assertions under one name.
const FRAMEWORKS: [(&str, &str); 3] = [
    (JUNIT4, "import org.junit.*;"),
    (JUPITER, "import org.junit.jupiter.api.*; class Assert extends Assertions { }"),
    (TESTNG, "import org.testng.Assert; import org.testng.annotations.*;"),
];

fn make_hostile() -> Scene {
    with_versions(MavenProject::new(Pom::default())).test("ChangesTest", CHANGES).collect(&[])
}

fn with_versions(project: MavenProject) -> MavenProject {
    VERSIONS.iter().fold(project, |project, (path, text)| project.class(path, text))
}

/// A class of tests for a framework.
fn of_framework((dependencies, imports): (&str, &str), name: &str, body: &str) -> Scene {
    let text = format!("{imports}\npublic class {name} {{\n{body}\n}}\n");
    with_versions(MavenProject::new(Pom { dependencies, ..Pom::default() }))
        .class(&format!("src/test/java/acme/{name}"), &text)
        .collect(&[])
}

fn tests_that_change_the_jdk_do_the_same_in_warm_and_in_new_jvms() {
    assert_alike(&HOSTILE.get(make_hostile));
}

fn so_do_those_of_jupiter() {
    assert_alike(&of_framework(FRAMEWORKS[1], "ChangesTest", CHANGES));
}

fn so_do_those_of_testng() {
    assert_alike(&of_framework(FRAMEWORKS[2], "ChangesTest", CHANGES));
}

/// Every test does the same in both kinds of JVM, and none of them is given up.
fn assert_alike(scene: &Scene) {
    scene.adapter.can().fork.expect("warm JVMs");
    let alone = |test: &TestId, how| {
        let mut environment = scene.open(how);
        let ended = run(&mut *environment, std::slice::from_ref(test)).expect("runs");
        if !ended.iter().any(|it| it.outcome.ends_environment()) {
            environment.close().expect("closes");
        }
        ended.iter().map(told).collect::<Vec<_>>()
    };
    // Twice: in the second round the JVMs are warm, and what the first left would show.
    for test in scene.tests.iter().chain(&scene.tests) {
        assert_eq!(alone(test, Isolation::Fork), alone(test, Isolation::Spawn), "{test}");
    }
    assert_not_given_up(scene);
}

/// Both kinds of JVM do the same. How much faster the one is on a busy machine is another matter.
fn assert_not_given_up(scene: &Scene) {
    let mut notices = scene.adapter.notices();
    notices.retain(|notice| !notice.what.contains("is not much faster"));
    assert_eq!(notices, []);
}

fn a_victim_of_each_framework_is_seen_in_warm_jvms_with_what_is_left_behind() {
    let body = "static int count;
        @Test public void pollutes() { count = 7; }
        @Test public void suffers() { Assert.assertEquals(count, 0); }";
    for framework in FRAMEWORKS {
        let scene = of_framework(framework, "PairTest", body);
        let pair = [scene.id("#pollutes"), scene.id("#suffers")];
        let outcomes = |order: &[TestId], how| {
            let mut environment = scene.open(how);
            let ended = run(&mut *environment, order).expect("runs");
            environment.close().expect("closes");
            ended.iter().map(told).collect::<Vec<_>>()
        };
        // So often that warm JVMs are trusted, and beyond.
        for _ in 0..8 {
            assert_eq!(outcomes(&pair, Isolation::Fork), ["pollutes passed", "suffers failed"]);
            assert_eq!(outcomes(&pair[1..], Isolation::Fork), ["suffers passed"]);
        }
        let mut environment = scene.open(Isolation::Fork);
        let before = environment.look().expect("a picture");
        environment.expect(&pair[..1], Then::Open).expect("expects");
        environment.run(&pair[0], Probe::attempt(1)).expect("runs");
        let left = State::left_behind(&before, &environment.look().expect("a picture"));
        let texts: Vec<String> = left.iter().map(ToString::to_string).collect();
        let is_named = |text: &String| text.contains("PairTest.count: 0 before, 7 after");
        assert!(texts.iter().any(is_named), "{texts:?}");
        environment.close().expect("closes");
        assert_not_given_up(&scene);
    }
}

fn a_test_that_sees_the_difference_sends_its_module_back_to_new_jvms() {
    let scene = MavenProject::new(Pom::default())
        .test(
            "ATest",
            "@Test public void sees() {
                 Assert.assertSame(Assert.class.getClassLoader(), getClass().getClassLoader());
             }",
        )
        .collect(&[]);
    let test = scene.id("ATest#sees");
    for _ in 0..2 {
        let mut environment = scene.open(Isolation::Fork);
        environment.expect(std::slice::from_ref(&test), Then::End).expect("expects");
        let execution = environment.run(&test, Probe::attempt(1)).expect("runs");
        assert_eq!(told(&execution), "sees passed", "the new JVM's word counts");
        environment.close().expect("closes");
    }
    let notices = scene.adapter.notices();
    let wanted = "ATest#sees` fails in a warm JVM and passes in a new one";
    assert!(notices.iter().any(|notice| notice.what.contains(wanted)), "{notices:?}");
}

fn what_a_polluter_leaves_behind_is_named() {
    let scene = HOSTILE.get(make_hostile);
    let polluters = ["ChangesTest#counts", "ChangesTest#property", "ChangesTest#zone"];
    let polluters = polluters.map(|test| scene.id(test));
    let mut environment = scene.open(Isolation::Fork);
    let before = environment.look().expect("a picture");
    environment.expect(&polluters, Then::Open).expect("expects");
    for test in &polluters {
        environment.run(test, Probe::attempt(1)).expect("runs");
    }
    let after = environment.look().expect("a picture");
    let left = State::left_behind(&before, &after);
    let texts: Vec<String> = left.iter().map(ToString::to_string).collect();
    let has = |wanted: &str| texts.iter().any(|text| text.contains(wanted));
    assert!(has("ChangesTest.count: 0 before, 1 after"), "{texts:?}");
    assert!(has("system property p: unset before, \"1\" after"), "{texts:?}");
    assert!(has("Asia/Tokyo after"), "{texts:?}");
    environment.close().expect("closes");
}

fn a_property_that_is_read_at_the_start_keeps_jvms_new_and_is_named() {
    let argument = "<argLine>-Djava.security.manager=allow</argLine>";
    let scene = MavenProject::new(Pom { configuration: argument, ..Pom::default() })
        .test("ATest", "@Test public void passes() { }")
        .collect(&[]);
    let why = scene.adapter.can().fork.expect_err("no warm JVM");
    assert!(why.contains("java.security.manager"), "{why}");
    assert!(matches!(scene.adapter.open(Isolation::Fork), Err(Error::NotPossible { .. })));
}

fn a_new_jvm_is_neither_copied_nor_looked_into() {
    let scene = HOSTILE.get(make_hostile);
    let can = scene.adapter.can();
    assert!(can.runner.starts_with("JUnit 4.13.2, Java "), "{}", can.runner);
    assert!(!can.snapshot && can.fork.is_ok() && can.state && can.features && can.dependencies);
    let mut environment = scene.open(Isolation::Spawn);
    assert!(matches!(environment.snapshot(), Err(Error::NotPossible { .. })));
    assert!(matches!(environment.look(), Err(Error::NotPossible { .. })));
    let unknown = environment.expect(&["acme.ATest#gone".into()], Then::End);
    assert!(matches!(unknown, Err(Error::UnknownTest { .. })));
}

fn a_test_that_leaves_no_memory_for_classes_fails_and_is_no_fault_of_ours() {
    let argument = "<argLine>-XX:MaxMetaspaceSize=32m</argLine>";
    let scene = MavenProject::new(Pom { configuration: argument, ..Pom::default() })
        .test(
            "ATest",
            "static final java.util.List<Class<?>> KEPT = new java.util.ArrayList<>();
             static class Copies extends ClassLoader {
                 Class<?> copy(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
             }
             @Test public void exhausts() throws Exception {
                 java.io.InputStream in = Copies.class.getResourceAsStream(\"ATest$Copies.class\");
                 byte[] bytes = in.readAllBytes();
                 while (true) { KEPT.add(new Copies().copy(bytes)); }
             }
             @Test public void passes() { }",
        )
        .collect(&[]);
    let order = [scene.id("#exhausts"), scene.id("#passes")];
    for how in [Isolation::Spawn, Isolation::Fork, Isolation::Fork] {
        let mut environment = scene.open(how);
        environment.expect(&order, Then::End).expect("expects");
        let execution = environment.run(&order[0], Probe::attempt(1)).expect("an outcome");
        assert!(execution.outcome.is_failure(), "{}", told(&execution));
        // Whether a JVM without memory can run another test is its own affair.
        let next = environment.run(&order[1], Probe::attempt(1));
        assert!(matches!(next, Ok(_) | Err(Error::EnvironmentLost { .. })), "{next:?}");
        let _ = environment.close();
    }
    let mut environment = scene.open(Isolation::Spawn);
    let alone = run(&mut *environment, &order[1..]).expect("runs");
    assert_eq!(alone.iter().map(told).collect::<Vec<_>>(), ["passes passed"]);
}
