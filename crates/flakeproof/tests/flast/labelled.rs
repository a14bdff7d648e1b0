//! A small data set: six projects, each with one test on each of sixteen subjects.
//!
//! Six subjects are flaky, the others are not. No word that tells a subject is in more than a
//! tenth of the tests, as it would be in a large data set.

use serde_json::json;

const PROJECTS: [&str; 6] = ["apple", "birch", "cedar", "elder", "hazel", "maple"];

/// Name, category, and the lines of a test on it.
type Subject = (&'static str, &'static str, &'static [&'static str]);

/// What flaky tests are about.
const FLAKY: [Subject; 6] = [
    ("Latch", "async_wait", &["worker.start();", "Thread.sleep(100);", "latch.countDown();"]),
    ("Port", "network", &["new ServerSocket(8080);", "client.connect(localhost, 8080);"]),
    ("Remote", "network", &["HttpURLConnection remote = url.openConnection();", "ping(remote);"]),
    ("Pool", "concurrency", &["executor.submit(task);", "future.get(50, TimeUnit.MILLISECONDS);"]),
    ("Clock", "time", &["long begin = System.currentTimeMillis();", "elapsed(begin) < 10;"]),
    ("Dice", "randomness", &["Random dice = new Random();", "dice.nextInt(6);"]),
];

/// What stable tests are about.
const STABLE: [Subject; 10] = [
    ("Trim", "", &["String blank = padded.trim();", "assertEquals(bare, blank);"]),
    ("Sum", "", &["int sum = adder.plus(1, 2);", "assertEquals(3, sum);"]),
    ("Parse", "", &["Token token = parser.parse(grammar);", "assertEquals(IDENT, token);"]),
    ("Sort", "", &["list.sort(ascending);", "assertEquals(smallest, list.first());"]),
    ("Map", "", &["map.put(key, value);", "assertTrue(map.containsKey(key));"]),
    ("Format", "", &["String pattern = formatter.format(decimal);", "assertEquals(x, pattern);"]),
    ("Equal", "", &["assertEquals(hashCode(left), hashCode(right));"]),
    ("Json", "", &["Node node = json.read(document);", "assertEquals(field, node.name());"]),
    ("Colour", "", &["Colour colour = Colour.valueOf(RED);", "assertEquals(RED, colour);"]),
    ("Path", "", &["Path path = root.resolve(child);", "assertEquals(child, path.tail());"]),
];

/// A test on the first flaky subject, in a project that the model has not seen.
pub(crate) const SUSPECT: &str = "package org.fresh;

class QueueTest {
    @Test
    void drainsSlowly() {
        worker.start();
        Thread.sleep(100);
        latch.countDown();
    }
}
";

/// A test on a stable subject, in a project that the model has not seen.
pub(crate) const PURE: &str = "package org.fresh;

class TextTest {
    @Test
    void dropsSpaces() {
        String blank = padded.trim();
        assertEquals(bare, blank);
    }
}
";

/// The data set as JSON Lines.
pub(crate) fn lines() -> String {
    of_projects(PROJECTS.len())
}

/// The part of the data set that belongs to the first projects.
pub(crate) fn of_projects(count: usize) -> String {
    let mut lines = String::new();
    for project in &PROJECTS[..count] {
        for subject in &FLAKY {
            lines += &line(project, subject, true);
        }
        for subject in &STABLE {
            lines += &line(project, subject, false);
        }
    }
    lines
}

/// The tests of one kind, as the name of a file and its content.
pub(crate) fn files(flaky: bool) -> Vec<(String, String)> {
    let subjects = if flaky { &FLAKY[..] } else { &STABLE[..] };
    PROJECTS
        .iter()
        .flat_map(|project| subjects.iter().map(move |it| (project, it)))
        .map(|(project, subject)| {
            (format!("{project}_{}.java", subject.0), source(project, subject))
        })
        .collect()
}

fn line(project: &str, subject: &Subject, flaky: bool) -> String {
    let (name, category, _) = subject;
    let class = format!("org.{project}.{name}Test");
    let mut row = json!({
        "id": format!("{project}::{class}#checks"),
        "project": project,
        "class": class,
        "method": "checks",
        "flaky": flaky,
        "source": source(project, subject),
    });
    if flaky {
        row["category"] = json!(category);
    }
    format!("{row}\n")
}

fn source(project: &str, (_, _, body): &Subject) -> String {
    format!("@Test void checks() {{\n  use({project});\n  {}\n}}", body.join("\n  "))
}
