//! How long it takes to learn a whole set of tests and to predict each of them.
//!
//! ```text
//! cargo run --release -p flakeproof-learn --example whole_set -- tests.jsonl rarity
//! ```
//!
//! Learning is everything up to a model that answers: cutting, weighting, indexing, and choosing
//! thresholds on held-out tests. Predicting takes the tests as text again. The number of threads is
//! that of `RAYON_NUM_THREADS`.
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::time::Instant;

use flakeproof_core::Seed;
use flakeproof_learn::flast::{FlastParams, Recipe, TestText};
use flakeproof_learn::labelled::{self, LabelledTest};
use flakeproof_syntax::words::Comments;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, recipe] = &arguments[..] else { return Err("give a file and a recipe".into()) };
    let recipe = match recipe.as_str() {
        "rarity" => Recipe::rarity(),
        "paper" => Recipe::paper(),
        "white-space" => Recipe::white_space(),
        other => return Err(format!("there is no recipe {other}").into()),
    };
    let mut tests = labelled::read_json_lines(&std::fs::read_to_string(path)?)?;
    // The rows that others measured; see `reference.py`.
    tests.retain(|test| test.project != "google-jimfs");

    let begin = Instant::now();
    let model = params(recipe).fit(&tests)?;
    let neighbourhood = model.neighbourhood();
    let learned = begin.elapsed();
    let texts: Vec<TestText<'_>> = tests.iter().map(text).collect();
    let begin = Instant::now();
    let opinions = neighbourhood.ask_tests(&texts);
    let predicted = begin.elapsed();
    println!(
        "{{\"recipe\": \"{}\", \"threads\": {}, \"rows\": {}, \"train_s\": {:.3}, \"predict_s\": \
         {:.3}, \"index_bytes\": {}}}",
        model.about.recipe.name,
        rayon::current_num_threads(),
        opinions.len(),
        learned.as_secs_f64(),
        predicted.as_secs_f64(),
        neighbourhood.bytes()
    );
    Ok(())
}

fn params(recipe: Recipe) -> FlastParams {
    FlastParams {
        recipe,
        seed: Seed(1),
        hold_out: None,
        careful_precision: 0.9,
        name: String::new(),
    }
}

fn text(test: &LabelledTest) -> TestText<'_> {
    TestText { source: &test.source, class: &test.class, comments: Comments::Slashes }
}
