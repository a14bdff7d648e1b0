//! What Maven is configured to do is what happens.

use flakeproof_core::Isolation;
use flakeproof_runner::Adapter;

use crate::claims::Claim;
use crate::scene::{JUNIT4, JUPITER, MavenProject, Pom, TESTNG, run, told};

pub(crate) const CLAIMS: &[Claim] = claims![
    a_build_that_is_up_to_date_is_not_started_again,
    what_surefire_is_told_reaches_the_tests,
    a_surefire_that_listens_on_a_port_is_answered_there,
    tests_named_on_the_command_line_are_the_suite,
    modules_with_other_frameworks_are_one_suite,
    a_build_that_breaks_says_why,
    a_build_that_skips_its_tests_says_so,
    where_classes_do_not_share_jvms_each_has_its_own,
    the_command_for_a_test_is_the_users_own,
    gradle_tells_as_much_as_maven,
];

const CONFIGURED: &str = "<argLine>-Xmx200m -Dfrom.line=1</argLine>\
    <systemPropertyVariables><from.pom>a b</from.pom></systemPropertyVariables>\
    <environmentVariables><FROM_POM>x y</FROM_POM></environmentVariables>\
    <workingDirectory>${basedir}/work</workingDirectory>\
    <excludes><exclude>**/Left*</exclude></excludes>";

const SEES: &str = "
    static void same(Object wanted, Object found) { Assert.assertEquals(wanted, found); }
    @Test public void line() { same(\"1\", System.getProperty(\"from.line\")); }
    @Test public void pom() { same(\"a b\", System.getProperty(\"from.pom\")); }
    @Test public void variable() { same(\"x y\", System.getenv(\"FROM_POM\")); }
    @Test public void folder() { same(true, System.getProperty(\"user.dir\").endsWith(\"work\")); }
    @Test public void memory() { same(true, Runtime.getRuntime().maxMemory() < 300_000_000L); }
    @Test public void clean() { same(null, System.getProperty(\"jvm\")); }
    @Test public void asserts() {
        boolean on = false;
        assert on = true;
        Assert.assertTrue(on);
    }";

fn what_surefire_is_told_reaches_the_tests() {
    for surefire in ["2.12.4", "2.22.2", "3.2.5"] {
        let pom = Pom { surefire, configuration: CONFIGURED, ..Pom::default() };
        let project = MavenProject::new(pom).file("work/.keep", "").test("SeesTest", SEES);
        let scene = project.test("LeftTest", "@Test public void out() {}").collect(&[]);
        assert_eq!(scene.tests.len(), 7, "{surefire}: {:?}", scene.ids());
        let mut environment = scene.open(Isolation::Same);
        for execution in run(&mut *environment, &scene.tests).expect("no trouble") {
            assert!(told(&execution).ends_with("passed"), "{surefire}: {execution:?}");
        }
    }
}

fn a_surefire_that_listens_on_a_port_is_answered_there() {
    let configuration = "<forkNode implementation=\"org.apache.maven.plugin.surefire.extensions\
        .SurefireForkNodeFactory\"/>";
    let pom = Pom { configuration, ..Pom::default() };
    let scene = MavenProject::new(pom).test("ATest", "@Test public void one() {}").collect(&[]);
    assert_eq!(scene.outcomes(&["#one"]), ["one passed"]);
}

fn tests_named_on_the_command_line_are_the_suite() {
    let body = "@Test public void one() {}\n@Test public void two() {}";
    let project = MavenProject::new(Pom::default()).test("ATest", body).test("BTest", body);
    let scene = project.collect(&["-Dtest=ATest#t*"]);
    assert_eq!(scene.ids(), ["acme.ATest#two"]);
}

const ROWS: &str = "
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.*;
class RowsTest {
    @ParameterizedTest @ValueSource(ints = {1, 2}) void row(int number) {
        Assertions.assertEquals(1, number);
    }
    @Nested class Inner { @Test void inside() {} }
}";

const DATA: &str = "
import org.testng.annotations.*;
public class RowsTest {
    @DataProvider public Object[][] rows() { return new Object[][] {{1}, {2}}; }
    @Test(dataProvider = \"rows\") public void row(int number) {
        org.testng.Assert.assertEquals(number, 2);
    }
}";

fn modules_with_other_frameworks_are_one_suite() {
    let parent = "<packaging>pom</packaging><modules><module>a</module><module>b</module>\
        <module>c</module></modules>";
    let module = |dependencies| Pom { dependencies, ..Pom::default() };
    let body = "import org.junit.*;\npublic class OldTest { @Test public void old() {} }";
    let scene = MavenProject::new(Pom { more: parent, dependencies: "", ..Pom::default() })
        .pom("a", module(JUPITER))
        .pom("b", module(TESTNG))
        .pom("c", module(JUNIT4))
        .class("a/src/test/java/acme/RowsTest", ROWS)
        .class("b/src/test/java/acme/RowsTest", DATA)
        .class("c/src/test/java/acme/OldTest", body)
        .collect(&[]);
    let expected = [
        ("acme.RowsTest#row(int)[1]", "passed"),
        ("acme.RowsTest#row(int)[2]", "failed"),
        ("acme.RowsTest$Inner#inside", "passed"),
        ("acme.RowsTest#row[0]", "failed"),
        ("acme.RowsTest#row[1]", "passed"),
        ("acme.OldTest#old", "passed"),
    ];
    let ids: Vec<&str> = expected.iter().map(|(id, _)| *id).collect();
    let mut found = scene.ids();
    found.sort_unstable();
    let mut wanted = ids.clone();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let mut environment = scene.open(Isolation::Same);
    let order: Vec<_> = ids.iter().map(|id| scene.id(id)).collect();
    let ran = run(&mut *environment, &order).expect("no trouble but a test's");
    for (execution, (id, outcome)) in ran.iter().zip(expected) {
        assert_eq!(execution.outcome.word(), outcome, "{id}: {:?}", execution.failure);
    }
}

fn a_build_that_breaks_says_why() {
    let project = MavenProject::new(Pom::default()).test("ATest", "int number = \"no number\";");
    let trouble = project.trouble(&[]);
    assert!(trouble.contains("failed before any test ran"), "{trouble}");
    assert!(trouble.contains("incompatible types"), "{trouble}");
}

fn a_build_that_skips_its_tests_says_so() {
    let project = MavenProject::new(Pom::default()).test("ATest", "@Test public void one() {}");
    let trouble = project.trouble(&["-DskipTests"]);
    assert!(trouble.contains("skip"), "{trouble}");
}

fn where_classes_do_not_share_jvms_each_has_its_own() {
    let configuration = "<forkCount>1</forkCount><reuseForks>false</reuseForks>";
    let body = "
        @Test public void first() { Assert.assertNull(System.setProperty(\"mark\", \"1\")); }
        @Test public void second() { System.setProperty(\"mark\", \"2\"); }";
    let scene = MavenProject::new(Pom { configuration, ..Pom::default() })
        .test("ATest", body)
        .test("BTest", body)
        .collect(&[]);
    let order = ["ATest#first", "ATest#second", "BTest#first", "BTest#second"];
    let expected = ["first passed", "second passed", "first passed", "second passed"];
    assert_eq!(scene.outcomes(&order), expected);
}

fn the_command_for_a_test_is_the_users_own() {
    let project = MavenProject::new(Pom::default()).test("ATest", "@Test public void one() {}");
    let scene = project.collect(&["-Dtest=A*"]);
    let command = scene.adapter.command_for(&scene.id("ATest#one"));
    assert_eq!(command, "mvn -q test '-Dtest=acme.ATest#one'");
    let status = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(scene.project.path())
        .status();
    assert!(status.expect("it starts").success());
}

const GRADLE: &str = "apply plugin: 'java'
repositories { mavenLocal(); mavenCentral() }
dependencies { testCompile 'junit:junit:4.13.2' }
test {
    systemProperty 'from.pom', 'a b'
    environment 'FROM_POM', 'x y'
    maxHeapSize = '200m'
    workingDir = file('work')
    exclude '**/Left*'
    doFirst { systemProperty 'from.line', '1' }
}";

fn gradle_tells_as_much_as_maven() {
    if std::process::Command::new("gradle").arg("--version").output().is_err() {
        flakeproof_testkit::skipped::note("gradle_tells_as_much_as_maven", "there is no gradle");
        return;
    }
    let project = MavenProject::new(Pom::default())
        .file("settings.gradle", "")
        .file("build.gradle", GRADLE)
        .file("work/.keep", "")
        .test("SeesTest", SEES)
        .test("LeftTest", "@Test public void out() {}");
    let scene = project.collect_by(&["gradle", "-q", "test", "--tests", "*Sees*"]);
    assert_eq!(scene.tests.len(), 7, "{:?}", scene.ids());
    let mut environment = scene.open(Isolation::Same);
    for execution in run(&mut *environment, &scene.tests).expect("no trouble") {
        assert!(told(&execution).ends_with("passed"), "{execution:?}");
    }
    let command = scene.adapter.command_for(&scene.id("#line"));
    assert_eq!(command, "gradle -q test --tests acme.SeesTest.line");
}

fn a_build_that_is_up_to_date_is_not_started_again() {
    let project = MavenProject::new(Pom::default()).test("ATest", "@Test public void passes() { }");
    assert!(project.is_built(), "nobody has built it yet");
    assert!(!project.is_built());
    let project = project.file("src/main/resources/new.txt", "new");
    assert!(project.is_built(), "a resource is new");
    assert!(!project.is_built());
    let tests = project.path().join("target/test-classes");
    std::fs::remove_dir_all(tests).expect("removed");
    assert!(project.is_built(), "what was built is gone");
}
