//! Where `flakeproof predict` looks, which model speaks, and when a test is a suspect; and `flakeproof
//! explain`: one test, suspect or not.

use flakeproof_testkit::Project;

use crate::labelled::{self, PURE, SUSPECT};
use crate::{
    assert_refuses, assert_says, finish, flakeproof, ids, model, predict, project, stdout, tests,
};

const ONE: &str = "def test_one(): assert 1\n";

/// A project with one test that resembles known flaky ones, and one that does not.
fn suspicious() -> Project {
    project().file("QueueTest.java", SUSPECT).file("TextTest.java", PURE)
}

/// The ids of the suspects.
fn suspects(project: &Project, options: &[&str]) -> Vec<String> {
    let ran = predict(project, &[&["--model", model()], options].concat());
    let suspects = tests(&ran).iter().filter(|test| test["flaky"] == true);
    suspects.filter_map(|test| Some(test["id"].as_str()?.to_owned())).collect()
}

#[test]
fn what_git_ignores_is_left_out() {
    let project = project()
        .file(".gitignore", "generated/\n*_old.py\n")
        .file("generated/test_a.py", ONE)
        .file("test_old.py", ONE)
        .file("test_new.py", ONE);
    assert_eq!(ids(&predict(&project, &[])), ["test_new.py::test_one"]);
}

#[test]
fn a_folder_can_be_named() {
    let project = project().file("a/test_a.py", ONE).file("b/test_b.py", ONE);
    assert_eq!(ids(&predict(&project, &["b"])), ["b/test_b.py::test_one"]);
}

#[test]
fn a_file_can_be_named() {
    let project = project().file("a/test_a.py", ONE).file("a/test_b.py", ONE);
    assert_eq!(ids(&predict(&project, &["a/test_b.py"])), ["a/test_b.py::test_one"]);
}

#[test]
fn a_place_that_is_named_twice_is_read_once() {
    let project = project().file("a/test_a.py", ONE);
    assert_eq!(ids(&predict(&project, &["a", "./a/test_a.py", "."])), ["a/test_a.py::test_one"]);
}

#[test]
fn a_link_to_a_file_can_be_named() {
    let project = project().file("a/test_a.py", ONE);
    let link = project.path().join("test_link.py");
    std::os::unix::fs::symlink("a/test_a.py", link).expect("a link can be made");
    assert_eq!(ids(&predict(&project, &["test_link.py"])), ["test_link.py::test_one"]);
}

#[test]
fn paths_are_relative_to_the_folder_it_is_run_in() {
    let project = project().file("a/b/test_a.py", ONE).file("test_outside.py", ONE);
    let mut command = project.flakeproof(&["predict", "--output-format", "json"]);
    let ran = finish(command.current_dir(project.path().join("a")));
    assert_eq!(ids(&ran), ["b/test_a.py::test_one"]);
}

#[test]
fn tests_come_by_file_and_line_on_any_number_of_threads() {
    let project = project();
    for file in 0..20 {
        project.write(&format!("test_{file:02}.py"), "def test_b(): pass\ndef test_a(): pass\n");
    }
    let on = |threads: &str| {
        let mut command = project.flakeproof(&["predict", "--output-format", "json"]);
        stdout(&finish(command.env("RAYON_NUM_THREADS", threads)))
    };
    let one = on("1");
    assert_eq!(one, on("2"));
    let places: Vec<&str> = one.lines().filter(|line| line.contains("\"id\": \"test_")).collect();
    assert!(places[0].contains("test_00.py::test_b"), "{}", places[0]);
    assert!(places[1].contains("test_00.py::test_a"), "{}", places[1]);
}

#[test]
fn what_resembles_flaky_tests_is_a_suspect_and_what_does_not_is_none() {
    assert_eq!(suspects(&suspicious(), &[]), ["org.fresh.QueueTest#drainsSlowly"]);
}

/// A test that resembles known flaky ones, but less.
fn less_suspicious(wait: &str) -> String {
    let less = SUSPECT.replace("QueueTest", "PadTest").replace("drainsSlowly", "fillsSlowly");
    let both = "latch.countDown();\n        String blank = padded.trim();";
    less.replace("latch.countDown();", both).replace("100", wait)
}

/// A project with two tests that resemble known flaky ones, one of them less, and one that does not.
fn twice_suspicious() -> Project {
    suspicious().file("PadTest.java", &less_suspicious("100"))
}

#[test]
fn of_many_suspects_those_that_stand_out_remain() {
    let project = twice_suspicious();
    assert_eq!(suspects(&project, &["--max-suspects", "100%"]).len(), 2);
    assert_eq!(suspects(&project, &["--max-suspects", "4%"]), ["org.fresh.QueueTest#drainsSlowly"]);
}

#[test]
fn what_does_not_stand_out_is_told() {
    let ran =
        flakeproof(&twice_suspicious(), &["predict", "--model", model(), "--max-suspects", "4%"]);
    assert_says(&ran, 0, &["2 of 3 tests", "only the 1 that stand out", "--max-suspects 100%"]);
}

#[test]
fn a_changed_test_is_compared_with_its_whole_project() {
    let project = twice_suspicious();
    project.commit();
    project.write("PadTest.java", &less_suspicious("200"));
    assert_eq!(suspects(&project, &["--diff", "HEAD"]).len(), 1);
    assert_eq!(suspects(&project, &["--diff", "HEAD", "--max-suspects", "4%"]), [""; 0]);
}

#[test]
fn a_test_that_is_explained_is_compared_with_its_whole_project() {
    let explain = ["explain", "fillsSlowly", "--model", model(), "--max-suspects"];
    let said = |most| flakeproof(&twice_suspicious(), &[&explain[..], &[most]].concat());
    assert_says(&said("100%"), 0, &["SUSPECT", "PadTest#fillsSlowly"]);
    assert_says(&said("4%"), 0, &["FINE", "PadTest#fillsSlowly"]);
}

#[test]
fn a_share_of_suspects_is_given_in_percent() {
    let ran = flakeproof(&suspicious(), &["predict", "--max-suspects", "4"]);
    assert_eq!(ran.code(), Some(2), "{}", ran.text());
    assert!(ran.text().contains("`4` is no share from `1%` to `100%`"), "{}", ran.text());
}

#[test]
fn a_suspect_has_the_category_of_what_it_resembles() {
    let ran = predict(&suspicious(), &["--model", model()]);
    assert_eq!(ran.test("#drainsSlowly")["category"], "async_wait");
}

#[test]
fn the_nearest_known_tests_are_told_with_the_words_they_share() {
    let ran = predict(&suspicious(), &["--model", model()]);
    let nearest = &ran.test("#drainsSlowly")["neighbours"][0];
    assert!(nearest["id"].as_str().is_some_and(|id| id.ends_with("LatchTest#checks")), "{nearest}");
    assert_eq!(nearest["flaky"], true);
    let shared = nearest["shared"].as_array().expect("shared words are a list");
    assert!(shared.iter().any(|word| word == "latch"), "{nearest}");
}

#[test]
fn the_model_that_was_named_says_what_it_learned_from() {
    let ran = predict(&suspicious(), &["--model", model()]);
    let facts = &ran.json["model"];
    assert_eq!(facts["name"], model());
    assert_eq!([&facts["tests"], &facts["flaky"], &facts["projects"]], [96, 36, 6]);
    assert_eq!(facts["held_out"], "project");
}

#[test]
fn a_careful_threshold_still_finds_what_is_plain() {
    let careful = suspects(&suspicious(), &["--threshold", "careful"]);
    assert_eq!(careful, ["org.fresh.QueueTest#drainsSlowly"]);
}

#[test]
fn a_probability_as_threshold_divides_suspects_from_the_rest() {
    let ran = predict(&suspicious(), &["--model", model(), "--threshold", "0.99"]);
    for test in tests(&ran) {
        let is_above = test["probability"].as_f64() >= Some(0.99);
        assert_eq!(test["flaky"], is_above, "{test}");
    }
    assert_eq!(ran.json["model"]["threshold"], "0.99");
}

#[test]
fn at_threshold_zero_every_test_is_a_suspect() {
    assert_eq!(suspects(&suspicious(), &["--threshold", "0"]).len(), 2);
}

#[test]
fn a_threshold_that_is_none_is_refused() {
    let ran = flakeproof(&suspicious(), &["predict", "--threshold", "high"]);
    assert_says(&ran, 2, &["`high` is neither `balanced` nor `careful` nor a number from 0 to 1"]);
}

#[test]
fn people_see_the_suspect_in_its_code_beside_what_it_resembles() {
    let ran = flakeproof(&suspicious(), &["predict", "--model", model()]);
    assert_says(
        &ran,
        0,
        &[
            "SUSPECT",
            "org.fresh.QueueTest#drainsSlowly  async wait",
            "QueueTest.java:4",
            "   7 │         Thread.sleep(100);",
            "     │         ~~~~~~ ~~~~~",
            "resembles",
            "LatchTest#checks (flaky, async wait)",
            "both have: ",
            "1 suspect among 2 tests",
            "36 flaky of 96 known tests",
        ],
    );
    assert!(!stdout(&ran).contains("dropsSpaces"), "{}", stdout(&ran));
}

#[test]
fn suspects_beyond_those_shown_are_listed_by_name() {
    let arguments = ["predict", "--model", model(), "--threshold", "0", "--show", "1"];
    let ran = flakeproof(&suspicious(), &arguments);
    assert_says(&ran, 0, &["and 1 more:", "org.fresh.TextTest#dropsSpaces"]);
}

#[test]
fn without_a_suspect_people_see_that() {
    let project = project().file("TextTest.java", PURE);
    let ran = flakeproof(&project, &["predict", "--model", model()]);
    assert_says(&ran, 0, &["no suspect among 1 test"]);
}

#[test]
fn a_suspect_fails_a_build_only_when_asked_to() {
    let options = ["predict", "--model", model(), "--fail-on-suspects"];
    assert_eq!(flakeproof(&suspicious(), &options[..3]).code(), Some(0));
    assert_eq!(flakeproof(&suspicious(), &options).code(), Some(1));
    let pure = project().file("TextTest.java", PURE);
    assert_eq!(flakeproof(&pure, &options).code(), Some(0));
}

#[test]
fn the_model_of_the_project_speaks_by_itself() {
    let project = suspicious().file("tests.jsonl", &labelled::lines());
    let trained = flakeproof(&project, &["train", "flast", "--data", "tests.jsonl"]);
    assert_says(&trained, 0, &[".flakeproof/flast.model"]);
    let name = predict(&project, &[]).json["model"]["name"].as_str().map(str::to_owned);
    let name = name.expect("the model has a name");
    assert!(name.ends_with(".flakeproof/flast.model"), "{name}");
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let ran = flakeproof(&suspicious(), &["predict", "--model", "nowhere.model"]);
    assert_refuses(&ran, 2, &["the model nowhere.model cannot be opened", "train"]);
}

fn two_tests() -> Project {
    project().file("QueueTest.java", SUSPECT).file("TextTest.java", PURE)
}

#[test]
fn the_end_of_an_id_is_enough() {
    let ran = flakeproof(&two_tests(), &["explain", "drainsSlowly", "--model", model()]);
    assert_says(&ran, 0, &["SUSPECT", "org.fresh.QueueTest#drainsSlowly", "both have: "]);
}

#[test]
fn a_test_that_is_no_suspect_is_explained_too() {
    let ran = flakeproof(&two_tests(), &["explain", "dropsSpaces", "--model", model()]);
    assert_says(&ran, 0, &["FINE", "TrimTest#checks (not flaky)", "both have: "]);
}

#[test]
fn an_explanation_for_programs_holds_the_one_test() {
    let arguments = ["explain", "dropsSpaces", "--output-format", "json", "--model", model()];
    let ran = flakeproof(&two_tests(), &arguments);
    assert_eq!(ran.json["tests"].as_array().map(Vec::len), Some(1), "{}", ran.text());
    assert_eq!(ran.test("#dropsSpaces")["flaky"], false);
}

#[test]
fn a_whole_id_is_never_ambiguous() {
    let text = "def test_a(): pass\n";
    let project = project().file("test_x.py", text).file("sub/test_x.py", text);
    let ran = flakeproof(&project, &["explain", "test_x.py::test_a", "--model", model()]);
    assert_says(&ran, 0, &["test_x.py:1"]);
    assert!(!ran.text().contains("sub/test_x.py"), "{}", ran.text());
}

#[test]
fn an_end_that_fits_several_ids_lists_them() {
    let text = "def test_a(): pass\n";
    let project = project().file("test_x.py", text).file("test_y.py", text);
    let ran = flakeproof(&project, &["explain", "test_a", "--model", model()]);
    let listed = ["2 tests end in `test_a`", "test_x.py::test_a", "test_y.py::test_a"];
    assert_refuses(&ran, 2, &listed);
}

#[test]
fn a_part_of_an_id_suggests_the_whole() {
    let ran = flakeproof(&two_tests(), &["explain", "drains", "--model", model()]);
    let suggested = ["no test is called `drains`", "org.fresh.QueueTest#drainsSlowly"];
    assert_refuses(&ran, 2, &suggested);
}

#[test]
fn an_id_like_no_other_is_told_where_ids_are_listed() {
    let ran = flakeproof(&two_tests(), &["explain", "zzz", "--model", model()]);
    assert_refuses(
        &ran,
        2,
        &["no test is called `zzz`", "flakeproof predict --output-format json"],
    );
}

#[test]
fn a_folder_without_tests_has_nothing_to_explain() {
    let ran = flakeproof(&project(), &["explain", "a", "--model", model()]);
    assert_refuses(&ran, 4, &["no test was found"]);
}
