//! A trained forest is kept with its thresholds, and a file without them is still a model.

use std::fmt::Write as _;

use flakeproof_core::{Feature, Features, Seed};
use flakeproof_learn::balance::Balance;
use flakeproof_learn::cannier::{
    Dataset, ForestModel, ForestModelParams, Pipeline, Problem, Suites, read_features,
    read_outcomes,
};

/// Sixty tests, of which each fourth is NOD flaky and slow, each fourth a fast victim.
fn trained(problem: Problem) -> ForestModel {
    let mut features = String::from("project,test,run_time\n");
    let mut outcomes = String::from(
        "project,test,baseline_runs,baseline_failures,shuffled_runs,shuffled_failures\n",
    );
    for number in 0..60 {
        let (seconds, fared) = match number % 4 {
            0 => (2.0, "20,5,20,5"),
            1 => (0.1, "20,0,20,3"),
            _ => (0.5, "20,0,20,0"),
        };
        let _ = writeln!(features, "p,t{number},{}", seconds + 0.001 * f64::from(number));
        let _ = writeln!(outcomes, "p,t{number},{fared}");
    }
    let measured = read_features(&features).expect("a good table");
    let known = read_outcomes(&outcomes).expect("a good table");
    let data = Dataset::join(problem, &measured, &known).expect("both kinds");
    let suites = Suites::of_features(&measured, &known);
    let pipeline = Pipeline { trees: 9, balance: Balance::None, ..Pipeline::best_for(problem) };
    let params = ForestModelParams { pipeline, folds: 5, seed: Seed(1), name: "own".to_owned() };
    params.fit(&data, &suites, &mut || {}).expect("it learns")
}

/// A model, written and read again.
fn kept(model: &ForestModel) -> ForestModel {
    let bytes = model.to_file().expect("it is written");
    // Arrays in a file lie on boundaries of words.
    let mut words = vec![0u64; bytes.len().div_ceil(size_of::<u64>())];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    ForestModel::of_file(&bytemuck::cast_slice(&words)[..bytes.len()]).expect("it is read")
}

#[test]
fn each_problem_has_thresholds_that_survive_its_file() {
    for problem in [Problem::Nod, Problem::NodVsVictim, Problem::Victim] {
        let model = trained(problem);
        let thresholds = model.thresholds().expect("tests were held out");
        assert_eq!(kept(&model).thresholds(), Some(thresholds), "{}", problem.word());
    }
}

#[test]
fn a_forest_that_is_always_right_leaves_nothing_to_rerun() {
    let model = trained(Problem::Nod);
    let thresholds = model.thresholds().expect("tests were held out");
    let answer = |seconds| {
        let mut features = Features::default();
        features.set(Feature::RunTime, Some(seconds));
        thresholds.region(model.answer(&features).expect("a small number"))
    };
    assert_eq!(thresholds.lower().to_bits(), thresholds.upper().to_bits());
    assert_eq!(answer(2.02), flakeproof_core::Region::Above);
    assert_eq!(answer(0.52), flakeproof_core::Region::Below);
}

#[test]
fn a_file_without_thresholds_is_a_model_without_thresholds() {
    let mut model = trained(Problem::Nod);
    model.about.thresholds = None;
    let bytes = model.to_file().expect("it is written");
    assert!(!String::from_utf8_lossy(&bytes).contains("thresholds"));
    assert_eq!(kept(&model).thresholds(), None);
}
