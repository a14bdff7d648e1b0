//! `flakeproof train forest`: from tables to a model.

use std::fs;

use crate::program::{
    assert_refuses, assert_says, finish, flakeproof, project, project_with, train,
};
use crate::tables::{PROJECTS, Tables};

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
