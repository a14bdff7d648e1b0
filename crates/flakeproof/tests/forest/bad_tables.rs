//! Tables that are not what they should be, or that do not tell what is asked: a clear refusal, or the
//! documented meaning.

use std::fmt::Write as _;
use std::fs;

use crate::tables::{PROJECTS, Tables};
use crate::{assert_refuses, assert_says, evaluate, finish, project, project_with, train};

const QUICK: [&str; 4] = ["--trees", "5", "--folds", "3"];

/// Asserts that `features.csv` with this text is refused in these words, with the file's name.
#[track_caller]
fn assert_features_are_refused(text: &str, words: &[&str]) {
    let project = project_with(&Tables::usual()).file("features.csv", text);
    let ran = train(&project, "nod", &QUICK);
    assert_refuses(&ran, &["features.csv: ", "first line names the columns"]);
    assert_refuses(&ran, words);
    assert!(!project.path().join(".flakeproof").exists(), "no model is left behind");
}

/// Asserts that `outcomes.csv` with this text is refused in these words.
#[track_caller]
fn assert_outcomes_are_refused(text: &str, words: &[&str]) {
    let project = project_with(&Tables::usual()).file("outcomes.csv", text);
    assert_refuses(&train(&project, "nod", &QUICK), words);
}

/// Asserts that a forest can be trained on and measured with this table of features.
#[track_caller]
fn assert_works(tables: &Tables) {
    let project = project_with(tables);
    assert_says(&train(&project, "nod", &QUICK), 0, &["30 NOD flaky of 240 tests"]);
    let options = ["--trees", "5", "--repeats", "1", "--shap", "picture.svg"];
    assert_says(&evaluate(&project, "nod", &options), 0, &["the strongest features"]);
    let svg = fs::read_to_string(project.path().join("picture.svg")).expect("a picture");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_constant_feature_is_one_to_learn_without() {
    assert_works(&Tables::usual().with_column("assertions", |_| "1".into()));
}

#[test]
fn a_feature_that_is_missing_everywhere_is_left_out() {
    let tables = Tables::usual().with_column("wait_time", |_| String::new());
    assert_works(&tables);
    let options = ["--trees", "5", "--repeats", "1", "--output-format", "json"];
    let ran = evaluate(&project_with(&tables), "nod", &options);
    assert!(!ran.json["features"].to_string().contains("wait_time"), "{:#}", ran.json);
}

#[test]
fn a_table_of_missing_values_alone_teaches_nothing() {
    let mut features = String::from("project,test,run_time\n");
    for line in Tables::usual().features().lines().skip(1) {
        let mut cells = line.split(',');
        let place = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        features += &format!("{},{},\n", place.0, place.1);
    }
    let project = project_with(&Tables::usual()).file("features.csv", &features);
    let ran = train(&project, "nod", &QUICK);
    assert_refuses(&ran, &["no feature of the 240 tests is known", "flakeproof features"]);
}

#[test]
fn an_empty_cell_and_nan_are_missing_values() {
    let cell = |number: usize| match number % 3 {
        0 => "nan".to_owned(),
        1 => String::new(),
        _ => "4".to_owned(),
    };
    assert_works(&Tables::usual().with_column("wait_time", cell));
}

#[test]
fn infinite_values_are_refused_with_their_line() {
    for word in ["inf", "-inf", "Infinity", "1e999"] {
        let cell = |number: usize| if number == 5 { word.to_owned() } else { "1".to_owned() };
        let features = Tables::usual().with_column("wait_time", cell).features();
        let said = format!("line 7: `wait_time` is {word}, which is infinite");
        assert_features_are_refused(&features, &[&said]);
    }
}

#[test]
fn a_value_too_large_to_learn_from_is_refused_with_its_line() {
    let features = Tables::usual().with_column("wait_time", |_| "1e39".into()).features();
    assert_features_are_refused(&features, &["line 2: `wait_time` is 1e39, which is too large"]);
}

#[test]
fn a_cell_that_is_no_number_is_refused_with_its_line() {
    let features = Tables::usual().with_column("wait_time", |_| "soon".into()).features();
    assert_features_are_refused(&features, &["line 2: `wait_time` is soon, which is no number"]);
}

#[test]
fn an_unknown_column_is_refused_with_those_that_are_known() {
    let features = Tables::usual().with_column("colour", |_| "1".into()).features();
    assert_features_are_refused(&features, &["the column `colour` is no feature", "covered_lines"]);
}

#[test]
fn a_column_that_is_there_twice_is_refused() {
    let features = Tables::usual().with_column("run_time", |_| "1".into()).features();
    assert_features_are_refused(&features, &["the column `run_time` is there twice"]);
}

#[test]
fn a_table_without_tests_or_features_is_refused() {
    let features = Tables::usual().features();
    let without = features.replacen(",test,", ",assertions,", 1);
    assert_features_are_refused(&without, &["there is no column `test`"]);
    assert_features_are_refused("project,test\na,b\n", &["no column of a feature"]);
}

#[test]
fn a_ragged_line_is_refused_with_its_number() {
    let mut features = Tables::usual().features();
    features += "willow,tests/test_willow.py::test_x,1\n";
    let said = "line 242: it has 3 cells, and the first line has 7";
    assert_features_are_refused(&features, &[said]);
}

#[test]
fn a_run_that_is_no_number_is_refused_with_its_line() {
    let said = "line 2: `run` is no number";
    assert_features_are_refused("test,run,run_time\na,first,1\n", &[said]);
}

#[test]
fn an_empty_file_is_no_table() {
    assert_features_are_refused("", &["there is no column `test`"]);
    assert_features_are_refused("\n\n", &["there is no column `test`"]);
    let project = project_with(&Tables::usual()).file("features.csv", "test,run_time\n");
    assert_refuses(&train(&project, "nod", &QUICK), &["no test was measured", "features"]);
    assert_outcomes_are_refused("", &["outcomes.csv: there is no column `test`"]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let project = project_with(&Tables::usual());
    fs::write(project.path().join("features.csv"), [0xff, 0xfe, 0x00]).expect("it is written");
    assert_refuses(&train(&project, "nod", &QUICK), &["features.csv: ", "UTF-8"]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_column() {
    let tables = Tables::usual();
    let project = project_with(&tables)
        .file("features.csv", &format!("\u{feff}{}", tables.features()))
        .file("outcomes.csv", &format!("\u{feff}{}", tables.outcomes()));
    assert_says(&train(&project, "nod", &QUICK), 0, &["30 NOD flaky of 240 tests"]);
}

#[test]
fn a_file_that_is_not_there_and_a_folder_are_refused() {
    let project = project_with(&Tables::usual());
    fs::remove_file(project.path().join("outcomes.csv")).expect("it was there");
    assert_refuses(&train(&project, "nod", &QUICK), &["outcomes.csv: ", "No such file"]);
    fs::create_dir(project.path().join("outcomes.csv")).expect("a folder");
    assert_refuses(&train(&project, "nod", &QUICK), &["outcomes.csv: "]);
}

#[test]
fn parquet_is_refused_with_what_to_give_instead() {
    let project = project_with(&Tables::usual()).file("features.csv", "PAR1\u{15}\u{4}PAR1");
    assert_refuses(&train(&project, "nod", &QUICK), &["features.csv: ", "comma-separated values"]);
}

#[test]
fn impossible_outcomes_are_refused_with_their_line() {
    let head = "project,test,baseline_runs,baseline_failures";
    let wrong = |line: &str| format!("{head}\nalder,a,3,0\nalder,b,{line}\n");
    let said = "line 3: it failed 4 times in 3 baseline runs";
    assert_outcomes_are_refused(&wrong("3,4"), &["outcomes.csv: ", said]);
    let said = "line 3: `baseline_runs` and `baseline_failures` belong together";
    assert_outcomes_are_refused(&wrong("3,"), &[said]);
    assert_outcomes_are_refused(&wrong("3,-1"), &["line 3: "]);
    assert_outcomes_are_refused(&wrong("3"), &["line 3: it has 3 cells, and the first line has 4"]);
}

#[test]
fn outcomes_of_unknown_columns_are_refused() {
    assert_outcomes_are_refused("test,colour\na,red\n", &["outcomes.csv: ", "colour"]);
    let head = "project,baseline_runs,baseline_failures\nalder,3,0\n";
    assert_outcomes_are_refused(head, &["outcomes.csv: ", "test"]);
}

#[test]
fn features_and_outcomes_belong_together() {
    for option in ["--features", "--outcomes"] {
        let project = project_with(&Tables::usual());
        let arguments = ["train", "forest", "--problem", "nod", option, "features.csv"];
        assert_says(&finish(&mut project.flakeproof(&arguments)), 2, &["required"]);
    }
}

#[test]
fn an_unknown_problem_is_refused_with_those_that_are_known() {
    let ran = train(&project(), "flaky", &[]);
    assert_says(&ran, 2, &["nod-vs-victim", "polluter"]);
}

#[test]
fn a_model_that_cannot_be_written_says_where_to_go() {
    let project = project_with(&Tables::usual()).file("models", "a file");
    let ran = train(&project, "nod", &["-o", "models/nod", "--trees", "5"]);
    assert_says(&ran, 6, &["models/nod cannot be written", "next: ", "`-o`"]);
}

#[test]
fn tests_of_one_kind_teach_nothing() {
    let project = project_with(&Tables::usual().with_nod_at(&[]));
    let said = ["0 of 240 tests are positive", "add tests of the kind that is missing"];
    assert_refuses(&train(&project, "nod", &[]), &said);
    assert_refuses(&evaluate(&project, "nod", &[]), &said);
    let all: Vec<usize> = (0..240).collect();
    let project = project_with(&Tables::usual().with_nod_at(&all));
    assert_refuses(&train(&project, "nod", &[]), &["240 of 240 tests are positive"]);
}

#[test]
fn outcomes_of_other_tests_are_no_help() {
    let tables = Tables::usual();
    let others = tables.outcomes().replace("tests/", "spec/");
    let project = project_with(&tables).file("outcomes.csv", &others);
    let said = [
        "none of the 240 measured tests has outcomes",
        "tests/test_alder.py::test_0",
        "spelled alike",
    ];
    assert_refuses(&train(&project, "nod", &[]), &said);
}

#[test]
fn what_was_not_observed_cannot_be_learned() {
    let tables = Tables::usual();
    let mut outcomes = String::new();
    for line in tables.outcomes().lines() {
        let cells: Vec<&str> = line.split(',').take(4).collect();
        let _ = writeln!(outcomes, "{}", cells.join(","));
    }
    let project = project_with(&tables).file("outcomes.csv", &outcomes);
    for problem in ["victim", "nod-vs-victim"] {
        let ran = train(&project, problem, &[]);
        assert_refuses(&ran, &["do not tell how they fared in shuffled orders", "--outcomes"]);
    }
    assert_refuses(&train(&project, "polluter", &[]), &["do not tell whether they pollute"]);
    assert_says(&train(&project, "nod", &["--trees", "5"]), 0, &[]);
}

#[test]
fn no_trees_and_more_than_fit_are_refused() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40));
    for trees in ["0", "18446744073709551615"] {
        assert_says(&train(&project, "nod", &["--trees", trees]), 2, &["--trees", "1..=10000"]);
    }
}

#[test]
fn a_hundred_thousand_tests_are_learned_from() {
    let project = project_with(&Tables::of(&["huge"], 100_000));
    let ran = train(&project, "nod", &["--trees", "5", "--folds", "2", "--balance", "none"]);
    assert_says(&ran, 0, &["12500 NOD flaky of 100000 tests", "2 random folds"]);
}
