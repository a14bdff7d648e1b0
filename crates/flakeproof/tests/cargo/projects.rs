//! Projects of every shape: workspaces, features, filters, documentation, harnesses of their own.

use flakeproof_core::Outcome;
use flakeproof_runner::Adapter;

use crate::claims::Claim;
use crate::scene::{Crate, manifest};

pub(crate) const CLAIMS: &[Claim] = claims![
    every_kind_of_target_has_its_tests,
    documentation_is_tested_one_by_one,
    members_features_and_filters_are_what_the_user_chose,
    tests_see_what_cargo_gives_them,
];

fn every_kind_of_target_has_its_tests() {
    let test =
        |name: &str| format!("#[cfg(test)]\nmod tests {{\n    #[test]\n    fn {name}() {{}}\n}}\n");
    let manifest = manifest("demo")
        + "\n[[example]]\nname = \"shown\"\ntest = true\n\n\
           [[test]]\nname = \"whole\"\nharness = false\n\n\
           [[test]]\nname = \"listed\"\nharness = false\n";
    let listed = r#"
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| arguments.iter().any(|it| it == name);
    if wants("--list") { println!("one: test\ntwo: test"); return; }
    if wants("two") { eprintln!("two is broken"); std::process::exit(1); }
}
"#;
    let scene = Crate::empty()
        .file("Cargo.toml", &manifest)
        .file("src/lib.rs", &test("of_library"))
        .file("src/url/mod.rs", "")
        .file("src/main.rs", &format!("fn main() {{}}\n{}", test("of_program")))
        .file("tests/api.rs", "#[test]\nfn works() {}\n")
        .file("examples/shown.rs", &format!("fn main() {{}}\n{}", test("of_example")))
        .file("tests/whole.rs", "fn main() { println!(\"whole\"); }\n")
        .file("tests/listed.rs", listed)
        .found(&[]);
    let mut ids = scene.ids();
    ids.sort_unstable();
    let expected = [
        "demo/bin/demo::tests::of_program",
        "demo/examples/shown::tests::of_example",
        "demo/tests/api::works",
        "demo/tests/listed::one",
        "demo/tests/listed::two",
        "demo/tests/whole",
        "demo::tests::of_library",
    ];
    assert_eq!(ids, expected);
    assert_eq!(scene.alone("listed::one").outcome, Outcome::Passed);
    let two = scene.alone("listed::two");
    assert_eq!(two.outcome, Outcome::Failed);
    assert!(two.failure.expect("a failure").text.contains("two is broken"));
    assert_eq!(scene.alone("tests/whole").outcome, Outcome::Passed);
    let suite = scene.adapter.discover().expect("again");
    let of_library = suite.tests.iter().find(|test| test.id.as_str() == "demo::tests::of_library");
    let place = of_library.and_then(|test| test.location.as_ref()).map(ToString::to_string);
    assert_eq!(place.as_deref(), Some("src/lib.rs:4"));
}

const DOCUMENTED: &str = r#"
/// Adds.
/// ```
/// assert_eq!(demo::add(1, 2), 3);
/// ```
/// ```
/// assert_eq!(demo::add(1, 2), 4, "it is late");
/// ```
/// ```compile_fail
/// let number: u8 = "a";
/// ```
/// ```ignore
/// nonsense
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }
"#;

fn documentation_is_tested_one_by_one() {
    let scene = Crate::new(DOCUMENTED).found(&["--doc"]);
    let outcome = |line: &str| {
        let test = scene.tests.iter().find(|test| test.as_str().contains(line)).expect("a test");
        scene.alone(test.as_str())
    };
    assert!(scene.ids().contains(&"demo/doc::src/lib.rs - add (line 3)"), "{:?}", scene.tests);
    assert_eq!(outcome("(line 3)").outcome, Outcome::Passed);
    let failed = outcome("(line 6)");
    assert_eq!(failed.outcome, Outcome::Failed);
    let failure = failed.failure.expect("a failure");
    assert!(failure.message.contains("it is late"), "{failure:?}");
    assert_eq!(failure.location.map(|it| it.to_string()), Some("src/lib.rs:6".into()));
    assert_eq!(outcome("(line 9)").outcome, Outcome::Passed, "it does not compile, as it should");
    assert_eq!(outcome("(line 12)").outcome, Outcome::Skipped);
}

fn members_features_and_filters_are_what_the_user_chose() {
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn plain() {}\n    #[test]\n    \
        #[cfg(feature = \"extra\")]\n    fn with_extra() {}\n    #[test]\n    fn slow() {}\n}\n";
    let of = |name: &str| manifest(name) + "\n[features]\nextra = []\n";
    let project = Crate::empty()
        .file("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n")
        .file("one/Cargo.toml", &of("one"))
        .file("one/src/lib.rs", tests)
        .file("two/Cargo.toml", &of("two"))
        .file("two/src/lib.rs", tests);
    let found = |options: &[&str]| {
        let suite = project.adapter(options).discover().expect("tests are found");
        suite.ids().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let all = ["one::tests::plain", "one::tests::slow", "two::tests::plain", "two::tests::slow"];
    assert_eq!(found(&["--workspace"]), all);
    assert_eq!(
        found(&["-p", "two", "--features", "extra", "--", "--skip", "slow"]),
        ["two::tests::plain", "two::tests::with_extra"]
    );
    assert_eq!(found(&["slow", "-p", "one"]), ["one::tests::slow"]);
    assert_eq!(found(&["-p", "one", "--", "--exact", "tests::plain"]), ["one::tests::plain"]);
}

fn tests_see_what_cargo_gives_them() {
    let library = r#"
#[cfg(test)]
mod tests {
    use std::path::Path;
    fn var(name: &str) -> String { std::env::var(name).unwrap_or_default() }

    #[test] fn sees_them() {
        assert_eq!(var("CARGO_PKG_NAME"), "demo");
        assert_eq!(var("OF_THE_CONFIGURATION"), "here");
        let here = std::env::current_dir().unwrap();
        assert_eq!(here, Path::new(&var("CARGO_MANIFEST_DIR")).canonicalize().unwrap());
        assert!(here.ends_with("inner"), "{here:?}");
        assert_eq!(include_str!(concat!(env!("OUT_DIR"), "/made")), "made");
        assert!(var("LD_LIBRARY_PATH").contains("debug") || cfg!(not(target_os = "linux")));
        assert_eq!(var("FLAKEPROOF"), "1");
        let name = std::thread::current().name().map(str::to_owned);
        assert_eq!(name.as_deref(), Some("tests::sees_them"), "a thread of its own, as usual");
    }
}
"#;
    let build = "fn main() { let folder = std::env::var(\"OUT_DIR\").unwrap(); \
        std::fs::write(folder + \"/made\", \"made\").unwrap(); }\n";
    let scene = Crate::empty()
        .file("Cargo.toml", "[workspace]\nmembers = [\"inner\"]\nresolver = \"2\"\n")
        .file(".cargo/config.toml", "[env]\nOF_THE_CONFIGURATION = \"here\"\n")
        .file("inner/Cargo.toml", &manifest("demo"))
        .file("inner/build.rs", build)
        .file("inner/src/lib.rs", library)
        .found(&[]);
    let execution = scene.alone("sees_them");
    assert_eq!(execution.outcome, Outcome::Passed, "{:?}", execution.failure);
}
