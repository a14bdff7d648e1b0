//! Every language: each test is found under the name its runner gives it, at its lines.

use flakeproof_testkit::Project;
use serde_json::Value;

use crate::{ids, predict, project, tests};

/// The sample of each language, where it would stand in a project, and its tests:
/// id, first line, last line.
type Sample = (&'static str, &'static str, &'static str, &'static [(&'static str, u64, u64)]);

const JAVA: Sample = (
    "java",
    "src/test/java/com/acme/shop/CartTest.java",
    include_str!("../samples/languages/CartTest.java"),
    &[
        ("com.acme.shop.CartTest#sumsPrices", 9, 12),
        ("com.acme.shop.CartTest$WhenEmpty#costsNothing", 16, 19),
    ],
);
const JUNIT_3: Sample = (
    "java",
    "src/test/java/com/acme/old/LegacyTest.java",
    include_str!("../samples/languages/LegacyTest.java"),
    &[("com.acme.old.LegacyTest#testParses", 6, 8)],
);
const KOTLIN: Sample = (
    "kotlin",
    "src/test/kotlin/QueueTest.kt",
    include_str!("../samples/languages/QueueTest.kt"),
    &[("com.acme.queue.QueueTest#first in is first out", 7, 10)],
);
const PYTEST: Sample = (
    "python",
    "tests/test_words.py",
    include_str!("../samples/languages/test_words.py"),
    &[
        ("tests/test_words.py::test_upper", 4, 6),
        ("tests/test_words.py::TestSplit::test_at_spaces", 10, 11),
    ],
);
const UNITTEST: Sample = (
    "python",
    "tests/test_case.py",
    include_str!("../samples/languages/test_case.py"),
    &[("tests/test_case.py::SumTest::test_sum", 5, 6)],
);
const JAVASCRIPT: Sample = (
    "javascript",
    "web/clock.test.js",
    include_str!("../samples/languages/clock.test.js"),
    &[("web/clock.test.js > clock > ticks", 2, 4)],
);
const TYPESCRIPT: Sample = (
    "typescript",
    "web/store.test.ts",
    include_str!("../samples/languages/store.test.ts"),
    &[("web/store.test.ts > store > keeps what is put", 4, 7)],
);
const GO: Sample = (
    "go",
    "go/pool/pool_test.go",
    include_str!("../samples/languages/pool_test.go"),
    &[("acme.com/kit/pool.TestPoolIsEmpty", 5, 9)],
);
const RUST: Sample = (
    "rust",
    "sums/src/lib.rs",
    include_str!("../samples/languages/lib.rs"),
    &[("acme_sums::tests::one_and_one_is_two", 5, 8)],
);
const CSHARP: Sample = (
    "csharp",
    "Acme.Tests/ParserTests.cs",
    include_str!("../samples/languages/ParserTests.cs"),
    &[("Acme.Parsing.ParserTests.ReadsNumbers", 7, 11)],
);
const RSPEC: Sample = (
    "ruby",
    "spec/user_spec.rb",
    include_str!("../samples/languages/user_spec.rb"),
    &[("spec/user_spec.rb > User > #name > is trimmed", 3, 5)],
);
const MINITEST: Sample = (
    "ruby",
    "test/user_test.rb",
    include_str!("../samples/languages/user_test.rb"),
    &[("UserTest#test_age", 2, 4)],
);
const ALL: [Sample; 12] = [
    JAVA, JUNIT_3, KOTLIN, PYTEST, UNITTEST, JAVASCRIPT, TYPESCRIPT, GO, RUST, CSHARP, RSPEC,
    MINITEST,
];

/// A project with a test in every language.
fn polyglot() -> Project {
    let project = project()
        .file("go/go.mod", "module acme.com/kit\n\ngo 1.22\n")
        .file("sums/Cargo.toml", "[package]\nname = \"acme-sums\"\nversion = \"0.1.0\"\n");
    for (_, path, text, _) in ALL {
        project.write(path, text);
    }
    project
}

#[track_caller]
fn assert_lists(tests: &[Value], (language, file, _, expected): Sample) {
    let found: Vec<(&str, u64, u64)> = tests
        .iter()
        .filter(|test| test["file"] == file)
        .map(|test| {
            assert_eq!(test["language"], language);
            let line = |key: &str| test[key].as_u64().expect("a line is a number");
            (test["id"].as_str().expect("an id is a text"), line("line"), line("end_line"))
        })
        .collect();
    assert_eq!(found, expected);
}

/// The sample alone in a fresh folder.
#[track_caller]
fn assert_is_found_alone(sample: Sample) {
    let (_, path, text, _) = sample;
    assert_lists(tests(&predict(&project().file(path, text), &[])), sample);
}

#[test]
fn java_is_found_with_junit_5_and_nested_classes() {
    assert_is_found_alone(JAVA);
}

#[test]
fn java_is_found_with_junit_3() {
    assert_is_found_alone(JUNIT_3);
}

#[test]
fn kotlin_is_found() {
    assert_is_found_alone(KOTLIN);
}

#[test]
fn python_is_found_with_pytest() {
    assert_is_found_alone(PYTEST);
}

#[test]
fn python_is_found_with_unittest() {
    assert_is_found_alone(UNITTEST);
}

#[test]
fn javascript_is_found_with_jest() {
    assert_is_found_alone(JAVASCRIPT);
}

#[test]
fn typescript_is_found_with_vitest() {
    assert_is_found_alone(TYPESCRIPT);
}

#[test]
fn go_is_found_and_named_by_its_module() {
    let project = project().file("go/go.mod", "module acme.com/kit\n").file(GO.1, GO.2);
    assert_lists(tests(&predict(&project, &[])), GO);
}

#[test]
fn rust_is_found_and_named_by_its_crate() {
    let manifest = "[package]\nname = \"acme-sums\"\n";
    let project = project().file("sums/Cargo.toml", manifest).file(RUST.1, RUST.2);
    assert_lists(tests(&predict(&project, &[])), RUST);
}

#[test]
fn csharp_is_found() {
    assert_is_found_alone(CSHARP);
}

#[test]
fn ruby_is_found_with_rspec() {
    assert_is_found_alone(RSPEC);
}

#[test]
fn ruby_is_found_with_minitest() {
    assert_is_found_alone(MINITEST);
}

#[test]
fn all_languages_of_one_project_are_found_at_once() {
    let ran = predict(&polyglot(), &[]);
    for sample in ALL {
        assert_lists(tests(&ran), sample);
    }
    assert_eq!(ids(&ran).len(), ALL.iter().map(|sample| sample.3.len()).sum::<usize>());
}

#[test]
fn every_answer_has_the_promised_fields() {
    let ran = predict(&polyglot(), &[]);
    assert_eq!(ran.json["schema"], 1);
    for test in tests(&ran) {
        let probability = test["probability"].as_f64().expect("a probability is a number");
        assert!((0.0..=1.0).contains(&probability), "{test}");
        assert!(test["flaky"].is_boolean(), "{test}");
        assert!(test["category"].is_null() || test["category"].is_string(), "{test}");
        for neighbour in test["neighbours"].as_array().expect("neighbours are a list") {
            let similarity = neighbour["similarity"].as_f64().expect("it is a number");
            assert!((0.0..=1.0).contains(&similarity), "{neighbour}");
            assert!(neighbour["id"].is_string() && neighbour["project"].is_string());
            assert!(neighbour["flaky"].is_boolean(), "{neighbour}");
            assert!(neighbour.get("category").is_some(), "{neighbour}");
        }
    }
    let is_told = |test: &Value| test["neighbours"].as_array().is_some_and(|it| !it.is_empty());
    assert!(tests(&ran).iter().any(is_told), "no test has a neighbour");
}

#[test]
fn the_model_inside_the_program_speaks_where_there_is_no_other() {
    let ran = predict(&project().file(JAVA.1, JAVA.2), &[]);
    let model = &ran.json["model"];
    assert_eq!(model["name"], "built-in");
    assert_eq!(model["kind"], "jury");
    assert!(model["flaky"].as_u64() > Some(2000), "{model}");
}

#[test]
fn a_language_that_the_model_has_not_learned_is_named() {
    let ran = predict(&polyglot(), &[]);
    let what = ran.json["notices"][0]["what"].as_str().expect("a notice says what");
    let unknown = "rules only for csharp, go, javascript, python, ruby, rust, typescript: ";
    assert!(what.starts_with(unknown), "{what}");
}
