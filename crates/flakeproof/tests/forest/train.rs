//! `flakeproof train forest`: from tables to a model. With few tests of one kind SMOTE makes do with the
//! neighbours there are, or says that it cannot. A forest that is not what was written is refused when
//! `explain` reads it.

use std::fs;
use std::path::PathBuf;

use flakeproof_testkit::Project;

use crate::explain::{give_forest, measured};
use crate::tables::{PROJECTS, Tables};
use crate::{
    assert_refuses, assert_says, evaluate, finish, flakeproof, project, project_with, train,
};

#[test]
fn a_forest_lies_where_explain_looks_and_out_of_gits_sight() {
    let project = project_with(&Tables::usual());
    let ran = train(&project, "nod", &[]);
    assert_says(&ran, 0, &[".flakeproof/nod.forest", "extra trees, 100 trees, SMOTE"]);
    assert!(project.path().join(".flakeproof/nod.forest").is_file());
    let ignore = fs::read_to_string(project.path().join(".flakeproof/.gitignore"));
    assert_eq!(ignore.expect("there is one"), "*\n");
}

#[test]
fn training_says_what_the_forest_is_worth_the_hardest_measure_first() {
    let ran = train(&project_with(&Tables::usual()), "nod", &[]);
    let said = ["30 NOD flaky of 240 tests from 6 projects", "flakeproof explain TEST"];
    assert_says(&ran, 0, &said);
    let text = ran.text();
    let (hardest, flattering) =
        (text.find("each project held out: MCC 0."), text.find("10 random folds"));
    assert!(hardest.is_some() && hardest < flattering, "{text}");
    assert!(text.matches("ROC AUC 0.").count() == 2, "{text}");
}

#[test]
fn training_says_where_to_stop_believing_the_forest() {
    let project = project_with(&Tables::usual());
    for (problem, said) in [
        ("nod", "thresholds: not NOD flaky below 0."),
        ("nod-vs-victim", "thresholds: "),
        ("victim", "threshold: a candidate victim from 0."),
        ("polluter", "threshold: a candidate polluter from 0."),
    ] {
        assert_says(&train(&project, problem, &["--trees", "20"]), 0, &[said]);
    }
    let few = project_with(&Tables::of(&PROJECTS[..1], 16));
    let ran = train(&few, "nod", &["--trees", "5", "--balance", "none"]);
    assert_says(&ran, 0, &["nobody knows what it is worth"]);
    assert!(!ran.text().contains("threshold"), "{}", ran.text());
}

#[test]
fn few_projects_are_measured_on_random_folds_alone() {
    let ran = train(&project_with(&Tables::of(&PROJECTS[..2], 40)), "nod", &["--folds", "5"]);
    assert_says(&ran, 0, &["5 random folds"]);
    assert!(!ran.text().contains("held out"), "{}", ran.text());
}

#[test]
fn a_forest_elsewhere_brings_no_folder_with_it() {
    let project = project_with(&Tables::usual());
    assert_says(&train(&project, "nod", &["-o", "models/own", "--trees", "5"]), 0, &["models/own"]);
    assert!(project.path().join("models/own").is_file());
    assert!(!project.path().join(".flakeproof").exists());
    assert!(!project.path().join("models/.gitignore").exists());
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_one_and_on_two_threads() {
    let project = project_with(&Tables::usual());
    let trained_on = |threads: &str, kind: &str, seed: &str| {
        let options = ["--problem", "nod", "--features", "features.csv", "-o", "m"];
        let mut command = project.flakeproof(&["train", "forest"]);
        command.args(options).args(["--outcomes", "outcomes.csv", "--forest", kind]);
        command.args(["--balance", "smote-tomek", "--seed", seed, "--trees", "20"]);
        assert_says(&finish(command.env("RAYON_NUM_THREADS", threads)), 0, &[]);
        fs::read(project.path().join("m")).expect("the model is written")
    };
    for kind in ["random-forest", "extra-trees"] {
        let one = trained_on("1", kind, "7");
        assert!(one == trained_on("2", kind, "7"), "{kind}: two threads give other bytes");
        assert!(one != trained_on("2", kind, "8"), "{kind}: another seed gives the same bytes");
    }
}

#[test]
fn kind_trees_and_balance_are_chosen() {
    let project = project_with(&Tables::usual());
    let kinds =
        [("random-forest", "random forest, 9 trees"), ("extra-trees", "extra trees, 9 trees")];
    let balances = [
        ("none", ", 30 NOD flaky of"),
        ("smote", ", SMOTE, "),
        ("smote-enn", ", SMOTE+ENN, "),
        ("smote-tomek", ", SMOTE+Tomek, "),
    ];
    for (kind, said) in kinds {
        for (balance, of_balance) in balances {
            let options = ["--forest", kind, "--trees", "9", "--balance", balance];
            assert_says(&train(&project, "nod", &options), 0, &[&format!("{said}{of_balance}")]);
        }
    }
}

#[test]
fn one_table_answers_all_four_problems() {
    let project = project_with(&Tables::usual());
    for (problem, said) in [
        ("nod", "extra trees, 100 trees, SMOTE, 30 NOD flaky of 240 tests"),
        ("nod-vs-victim", "random forest, 75 trees, SMOTE, 30 NOD flaky of 60 tests"),
        ("victim", "extra trees, 75 trees, SMOTE, 30 victim of 240 tests"),
        ("polluter", "random forest, 100 trees, SMOTE, 30 polluter of 240 tests"),
    ] {
        assert_says(&train(&project, problem, &[]), 0, &[said]);
        assert!(project.path().join(format!(".flakeproof/{problem}.forest")).is_file());
    }
}

#[test]
fn a_forest_learns_from_several_tables() {
    let (first, second) = (Tables::of(&PROJECTS[..3], 40), Tables::of(&PROJECTS[3..], 40));
    let project = project()
        .file("a.csv", &first.features())
        .file("b.csv", &second.features())
        .file("ao.csv", &first.outcomes())
        .file("bo.csv", &second.outcomes());
    let arguments = ["train", "forest", "--problem", "nod", "--trees", "5", "--features", "a.csv"];
    let ran =
        finish(project.flakeproof(&arguments).args(["b.csv", "--outcomes", "ao.csv", "bo.csv"]));
    assert_says(&ran, 0, &["30 NOD flaky of 240 tests from 6 projects"]);
}

#[test]
fn tests_whose_answer_is_not_known_are_left_out_and_counted() {
    let tables = Tables::usual();
    let known: Vec<String> = tables.outcomes().lines().take(201).map(str::to_owned).collect();
    let project = project_with(&tables).file("outcomes.csv", &known.join("\n"));
    let ran = train(&project, "nod", &["--trees", "5"]);
    assert_says(&ran, 0, &["of 200 tests from 5 projects", "40 measured tests left out"]);
}

#[test]
fn training_without_data_says_what_data_there_is() {
    let ran = flakeproof(&project(), &["train", "forest", "--problem", "nod"]);
    assert_refuses(&ran, &["nothing to learn from", "--features CSV --outcomes CSV", "--history"]);
    let ran = flakeproof(&project(), &["train", "forest", "--problem", "nod", "--history"]);
    assert_refuses(&ran, &["there is no history at", "flakeproof features"]);
}

#[test]
fn fewer_positives_than_neighbours_are_enough() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40).with_nod_at(&[1, 7, 30]));
    for balance in ["smote", "smote-enn", "smote-tomek"] {
        let options = ["--trees", "5", "--balance", balance];
        assert_says(&train(&project, "nod", &options), 0, &["3 NOD flaky of 40", "3 random folds"]);
    }
    let ran = evaluate(&project, "nod", &["--folds", "3", "--repeats", "1"]);
    assert_says(&ran, 0, &["all "]);
}

#[test]
fn two_positives_can_be_learned_from_but_not_measured() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40).with_nod_at(&[1, 7]));
    assert_says(&train(&project, "nod", &[]), 0, &["2 NOD flaky of 40", "nobody knows what it is"]);
    let ran = evaluate(&project, "nod", &["--folds", "2", "--repeats", "1"]);
    assert_refuses(&ran, &["the smaller class has 1 rows", "--balance none"]);
}

#[test]
fn one_positive_cannot_be_balanced_but_can_be_learned_from() {
    let project = project_with(&Tables::of(&PROJECTS[..1], 40).with_nod_at(&[7]));
    for balance in ["smote", "smote-enn", "smote-tomek"] {
        let ran = train(&project, "nod", &["--balance", balance]);
        assert_refuses(&ran, &["the smaller class has 1 rows", "`--balance none`"]);
    }
    let ran = train(&project, "nod", &["--balance", "none"]);
    assert_says(&ran, 0, &["1 NOD flaky of 40", "nobody knows what it is"]);
}

#[test]
fn balancing_that_drops_every_test_is_told_from_one_that_drops_none() {
    let mut features = String::from("test,run_time\n");
    let mut outcomes = String::from("test,baseline_runs,baseline_failures\n");
    for number in 0..4 {
        features += &format!("t{number},{number}\n");
        outcomes += &format!("t{number},3,{}\n", number % 2);
    }
    let project = project().file("features.csv", &features).file("outcomes.csv", &outcomes);
    let ran = train(&project, "nod", &["--balance", "smote-enn"]);
    assert_refuses(&ran, &["balancing dropped too many tests", "--balance smote"]);
    assert_says(&train(&project, "nod", &["--balance", "smote"]), 0, &[]);
}

#[test]
fn a_project_that_holds_nearly_all_positives_does_not_keep_a_forest_from_growing() {
    // With the first project held out there is one left, which SMOTE has no neighbour for.
    let project = project_with(&Tables::usual().with_nod_at(&[1, 7, 9, 30, 50]));
    let ran = train(&project, "nod", &["--trees", "5"]);
    assert_says(&ran, 0, &["5 NOD flaky of 240", "5 random folds"]);
}

#[test]
fn positives_of_one_project_alone_do_not_keep_a_forest_from_growing() {
    let project = project_with(&Tables::usual().with_nod_at(&[1, 7, 9, 30]));
    let ran = train(&project, "nod", &["--trees", "5"]);
    assert_says(&ran, 0, &["4 NOD flaky of 240", "4 random folds"]);
}

/// A project with a forest and features, the place of the forest, and its bytes.
fn whole() -> (Project, PathBuf, Vec<u8>) {
    let project = measured();
    give_forest(&project, "nod");
    let path = project.path().join(".flakeproof/nod.forest");
    let bytes = fs::read(&path).expect("the forest was trained");
    (project, path, bytes)
}

/// Asserts that `explain` refuses the project's forest in these words.
#[track_caller]
fn assert_is_refused(project: &Project, words: &[&str]) {
    let ran = flakeproof(project, &["explain", "test_one"]);
    let said = ["nod.forest cannot be used", "next: ", "flakeproof train forest"];
    assert_says(&ran, 2, &said);
    assert_says(&ran, 2, words);
}

#[test]
fn a_forest_that_is_cut_off_is_refused() {
    let (project, path, bytes) = whole();
    for end in [1, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..end]).expect("it is written");
        assert_is_refused(&project, &["cut off"]);
    }
}

#[test]
fn a_flipped_bit_is_noticed() {
    let (project, path, bytes) = whole();
    for at in [0, 3, 8, 60, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        fs::write(&path, damaged).expect("it is written");
        assert_is_refused(&project, &[]);
    }
}

#[test]
fn an_empty_file_and_a_text_are_no_forests() {
    let (project, path, _) = whole();
    fs::write(&path, "").expect("it is written");
    assert_is_refused(&project, &[]);
    fs::write(&path, "This is no forest, but a letter.\n".repeat(9)).expect("it is written");
    assert_is_refused(&project, &["no model"]);
}

#[test]
fn a_model_of_another_kind_is_named_as_such() {
    let (project, path, bytes) = whole();
    let mut lines = String::new();
    for number in 0..40 {
        let flaky = number % 4 == 0;
        let body = if flaky { "time.sleep(1)" } else { "parse(text)" };
        lines += &format!(
            "{{\"source\": \"def test_{number}(): {body}\", \"flaky\": {flaky}, \
             \"project\": \"p{}\"}}\n",
            number % 5
        );
    }
    project.write("tests.jsonl", &lines);
    let train = ["train", "flast", "--data", "tests.jsonl", "-o", ".flakeproof/nod.forest"];
    assert_says(&flakeproof(&project, &train), 0, &[]);
    assert_is_refused(&project, &["a model of kind `flast`, not `forest`"]);

    fs::remove_file(&path).expect("it was there");
    fs::write(project.path().join(".flakeproof/flast.model"), bytes).expect("it is written");
    let ran = flakeproof(&project, &["explain", "test_one"]);
    assert_says(&ran, 2, &["a model of kind `forest`, not `flast`", "next: "]);
}
