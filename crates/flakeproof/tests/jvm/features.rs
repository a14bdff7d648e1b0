//! What a test uses and covers in a JVM.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use flakeproof_core::{Covered, Execution, Isolation, Measured};
use flakeproof_runner::{Adapter, Probe, Then};
use flakeproof_testkit::{campaign, skipped};
use serde_json::Value;

use crate::claims::Claim;
use crate::scene::{JUNIT4, JUPITER, MavenProject, Pom, Scene, TESTNG};

pub(crate) const CLAIMS: &[Claim] = claims![
    lines_threads_processes_and_memory_of_each_test_are_its_own,
    tests_of_jupiter_and_testng_are_measured_too,
    covered_lines_of_a_real_suite_are_those_of_jacoco,
];

/// Lines are counted by hand: each statement of interest has its own.
const PRODUCT: &str = "\
public class Product {
    static final java.util.List<String> NAMES =
        new java.util.ArrayList<>();
    public static String kind(int n) {
        switch (n) {
            case 0: return \"none\";
            case 1: return \"one\";
            default:
        }
        try {
            return Integer.parseInt(\"x\") + \"\";
        } catch (NumberFormatException e) {
            NAMES.add(\"many\");
        }
        return n > 5
            ? \"many\"
            : \"some\";
    }
}
";

const USES: &str = r#"
    static byte[] kept;
    static java.util.concurrent.CountDownLatch threadsMayEnd = new java.util.concurrent.CountDownLatch(1);
    @Test public void one() { Assert.assertEquals("one", Product.kind(1)); }
    @Test public void many() { Assert.assertEquals("many", Product.kind(7)); }
    @Test public void fails() { Assert.fail(Product.kind(0)); }
    @Ignore @Test public void ignored() { }
    @Test public void threads() throws Exception {
        // In turns: who waits for a monitor sleeps, where an exchanger may spin. What a thread did is known
        // for sure only while there is one.
        int[] turn = {0};
        java.util.concurrent.CountDownLatch both = new java.util.concurrent.CountDownLatch(2);
        java.util.function.IntFunction<Runnable> half = me -> () -> {
            try {
                for (int i = 0; i < 50; i++) {
                    synchronized (turn) {
                        while (turn[0] != me) { turn.wait(); }
                        Product.kind(1);
                        turn[0] = 1 - me;
                        turn.notify();
                    }
                }
                both.countDown();
                threadsMayEnd.await();
            } catch (InterruptedException never) { throw new AssertionError(never); }
        };
        new Thread(half.apply(0)).start();
        new Thread(half.apply(1)).start();
        both.await();
    }
    @Test public void process() throws Exception {
        Process process = new ProcessBuilder("cat").start();
        process.getOutputStream().close();
        Assert.assertEquals(0, process.waitFor());
    }
    @Test public void memory() { kept = new byte[90_000_000]; java.util.Arrays.fill(kept, (byte) 1); }
    @Test public void after() { kept = null; threadsMayEnd.countDown(); }
"#;

fn measured(scene: &Scene, endings: &[&str]) -> Vec<Execution> {
    let order: Vec<_> = endings.iter().map(|ending| scene.id(ending)).collect();
    let mut environment = scene.open(Isolation::Same);
    environment.expect(&order, Then::End).expect("it is announced");
    let run = |test| environment.run(test, Probe::features()).expect("no trouble");
    let executions = order.iter().map(run).collect();
    environment.close().expect("it ends");
    executions
}

fn of(execution: &Execution) -> &Measured {
    execution.measured.as_deref().expect("it was measured")
}

/// The lines of a file that ran.
fn lines(execution: &Execution, file: &str) -> Vec<u32> {
    let files = match &of(execution).covered {
        Covered::Lines(files) => Some(files),
        Covered::Unknown { .. } => None,
    };
    let files = files.expect("the lines of every class are followed");
    let found = files.iter().find(|(path, _)| path.ends_with(file));
    assert!(found.is_none_or(|(path, _)| Path::new(path).is_file()), "{files:?}");
    found.map(|(_, lines)| lines.ranges().flatten().collect()).unwrap_or_default()
}

fn lines_threads_processes_and_memory_of_each_test_are_its_own() {
    let scene = MavenProject::new(Pom::default())
        .class("src/main/java/acme/Product", PRODUCT)
        .test("UsesTest", USES)
        .collect(&[]);
    assert!(scene.adapter.can().features);
    let tests =
        ["#one", "#many", "#fails", "#ignored", "#threads", "#process", "#memory", "#after"];
    let seen: [Execution; 8] =
        measured(&scene, &tests).try_into().expect("each of them has an execution");
    let [one, many, fails, ignored, threads, process, memory, after] = &seen;
    // The class is initialised by the first test that uses it. Line 1 is the package.
    assert_eq!(lines(one, "Product.java"), [3, 6, 8]);
    assert_eq!(lines(many, "Product.java"), [6, 12, 13, 14, 16, 17]);
    assert_eq!(lines(fails, "Product.java"), [6, 7]);
    assert_eq!(ignored.outcome, flakeproof_core::Outcome::Skipped);
    assert_eq!(lines(threads, "Product.java"), [6, 8], "of all threads");
    assert_eq!(lines(process, "Product.java"), Vec::<u32>::new());
    assert!(!lines(one, "UsesTest.java").is_empty());
    let most = |of_test| (of(of_test).max_threads, of(of_test).max_children);
    assert_eq!((most(one).0, most(threads).0), (1, 3));
    assert!(of(threads).context_switches >= 20, "{threads:?}");
    if of(one).max_children.is_some() {
        assert_eq!((most(one).1, most(process).1), (Some(0), Some(1)));
    }
    let peak = |of_test| of(of_test).max_memory;
    assert!(peak(memory) >= peak(one) + 60_000_000, "{} and {}", peak(memory), peak(one));
    assert!(of(after).max_memory > 0 && of(after).run_time == after.duration);
}

fn tests_of_jupiter_and_testng_are_measured_too() {
    let body = "@Test public void one() { Product.kind(1); }";
    let frameworks = [
        (JUPITER, "import org.junit.jupiter.api.*;"),
        (TESTNG, "import org.testng.annotations.*;"),
    ];
    for at in campaign::today(frameworks.len(), 1) {
        let (dependencies, imports) = frameworks[at];
        let text = format!("{imports}\npublic class UsesTest {{\n{body}\n}}\n");
        let scene = MavenProject::new(Pom { dependencies, ..Pom::default() })
            .class("src/main/java/acme/Product", PRODUCT)
            .class("src/test/java/acme/UsesTest", &text)
            .collect(&[]);
        let seen = measured(&scene, &["#one"]);
        assert_eq!(lines(&seen[0], "Product.java"), [3, 6, 8]);
    }
}

/// The suite, and what measures it independently, from Maven's central repository.
const VERSION: &str = "1.4";
const JACOCO: &str = "0.8.12";
/// Tests of it, enough to say something and few enough to be quick.
const CHOSEN: &str = "-Dtest=Option*Test,GnuParserTest,HelpFormatterTest,ValuesTest,BugsTest";
const LISTENER: &str = include_str!("reference/EachTest.java");

fn covered_lines_of_a_real_suite_are_those_of_jacoco() {
    if let Err(why) = agrees_with_jacoco() {
        skipped::note("features of commons-cli beside JaCoCo", &why);
    }
}

/// Compare test by test, or say why it cannot be done here.
fn agrees_with_jacoco() -> Result<(), String> {
    let project = commons_cli()?;
    maven(&project, &["test", CHOSEN, "-Preference"])?;
    let text = std::fs::read_to_string(project.path().join("target/reference.txt"));
    let text = text.map_err(|error| error.to_string())?;
    let reference: BTreeMap<&str, (f64, bool)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (test, count, throws) = (words.next()?, words.next()?, words.next()?);
            Some((test, (count.parse().ok()?, throws == "true")))
        })
        .collect();
    let output = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .args(["features", "--output-format", "json", "--", "mvn", "-q", "test", CHOSEN])
        .current_dir(project.path())
        .output()
        .expect("flakeproof runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let (mut equal, mut more) = (0, 0);
    for test in report["tests"].as_array().expect("tests") {
        let id = test["test"].as_str().unwrap_or_default();
        let lines = test["features"]["covered_lines"].as_f64().expect("lines are followed");
        let (theirs, throws) = reference.get(id).copied().expect("the reference ran it, too");
        // JaCoCo does not count a line that a throwable leaves.
        if throws && lines > theirs {
            more += 1;
        } else {
            assert_eq!((id, lines), (id, theirs));
            equal += 1;
        }
    }
    assert!(equal > 100 && more < equal / 2, "{equal} equal, {more} with a throwable more");
    Ok(())
}

/// The published sources and tests of a real project.
fn commons_cli() -> Result<MavenProject, String> {
    let of = |place: &str, classifier: &str| {
        format!("<dependency>{place}{classifier}<scope>test</scope></dependency>")
    };
    let place = |group: &str, name: &str, version: &str| {
        format!(
            "<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        )
    };
    let classified = |word: &str| format!("<classifier>{word}</classifier>");
    let cli = place("commons-cli", "commons-cli", VERSION);
    let sources = of(&cli, &classified("sources")) + &of(&cli, &classified("test-sources"));
    let measuring = of(&place("org.jacoco", "org.jacoco.agent", JACOCO), &classified("runtime"))
        + &of(&place("org.jacoco", "org.jacoco.core", JACOCO), "");
    let dependencies = format!("{JUNIT4}{sources}{measuring}");
    let agent = format!(
        "${{settings.localRepository}}/org/jacoco/org.jacoco.agent/{JACOCO}/\
         org.jacoco.agent-{JACOCO}-runtime.jar"
    );
    let profile = format!(
        "<profiles><profile><id>reference</id><build><testResources><testResource>\
         <directory>src/told</directory><filtering>true</filtering></testResource></testResources>\
         <plugins><plugin>\
         <artifactId>maven-surefire-plugin</artifactId><configuration>\
         <argLine>-javaagent:{agent}=output=none</argLine>\
         <properties><property><name>listener</name><value>reference.EachTest</value></property>\
         </properties></configuration></plugin></plugins></build></profile></profiles>"
    );
    let pom = Pom { dependencies: &dependencies, more: &profile, ..Pom::default() };
    let project = MavenProject::new(pom)
        .file("src/told/repository.txt", "${settings.localRepository}")
        .file("src/test/java/reference/EachTest.java", LISTENER);
    maven(&project, &["test-compile", "-Preference"])?;
    let told = project.path().join("target/test-classes/repository.txt");
    let repository = std::fs::read_to_string(told).map_err(|error| error.to_string())?;
    let repository = PathBuf::from(repository.trim());
    for (classifier, folder) in [("sources", "src/main/java"), ("test-sources", "src/test/java")] {
        let jar =
            format!("commons-cli/commons-cli/{VERSION}/commons-cli-{VERSION}-{classifier}.jar");
        let folder = project.path().join(folder);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let jar = repository.join(jar);
        let unpacked = Command::new("jar").arg("xf").arg(jar).current_dir(&folder).status();
        if !unpacked.is_ok_and(|status| status.success()) {
            return Err("its sources cannot be had".into());
        }
        let _ = std::fs::remove_dir_all(folder.join("META-INF"));
    }
    Ok(project)
}

fn maven(project: &MavenProject, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("mvn").arg("-q").args(arguments).current_dir(project.path()).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("Maven fails: {}", String::from_utf8_lossy(&output.stdout))),
    }
}
