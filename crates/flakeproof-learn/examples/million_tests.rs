//! How long one prediction takes against very many known tests, on one thread.
//!
//! ```text
//! cargo run --release -p flakeproof-learn --example million_tests -- tests.jsonl 1000000
//! ```
//!
//! The tests of the file are repeated until there are enough, each copy with noise: a tenth of its
//! words is replaced by words of its own, and it belongs to a project of its own, so that copies
//! are neither equal nor of one class. Then tests of the file, each with other noise, are asked.
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::time::Instant;

use flakeproof_core::Seed;
use flakeproof_learn::Chance;
use flakeproof_learn::flast::{Corpus, Neighbourhood, Recipe, TestText};
use flakeproof_learn::labelled::{self, LabelledTest};
use flakeproof_syntax::words::Comments;

const QUERIES: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, count] = &arguments[..] else { return Err("give a file and a number".into()) };
    let count: usize = count.parse()?;
    let tests = labelled::read_json_lines(&std::fs::read_to_string(path)?)?;
    let known: Vec<LabelledTest> = (0..count).map(|number| copy(&tests, number, "known")).collect();

    let begin = Instant::now();
    let recipe = Recipe::rarity();
    let corpus = Corpus::of_tests(&known, recipe.cut);
    let cut = begin.elapsed();
    drop(known);
    let begin = Instant::now();
    let neighbourhood = Neighbourhood::of_all(&corpus, &recipe, Seed(1));
    let placed = begin.elapsed();

    // One thread, one test at a time, in random order: no query profits from the one before.
    let mut order: Vec<usize> = (0..tests.len()).collect();
    Chance::new(Seed(2)).shuffle(&mut order);
    let mut asker = neighbourhood.asker();
    let mut times: Vec<f64> = order
        .iter()
        .take(QUERIES)
        .map(|number| {
            let test = copy(&tests, *number, "asked");
            let text =
                TestText { source: &test.source, class: &test.class, comments: Comments::Slashes };
            let begin = Instant::now();
            let opinion = asker.ask(&text);
            assert!(!opinion.neighbours.is_empty() || test.source.is_empty());
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let mean: f64 = times.iter().sum::<f64>() / f64::from(u32::try_from(times.len())?);
    println!(
        "{{\"tests\": {count}, \"cut_seconds\": {:.2}, \"place_seconds\": {:.2}, \
         \"index_bytes\": {}, \"queries\": {}, \"milliseconds\": {{\"mean\": {mean:.3}, \
         \"median\": {:.3}, \"p95\": {:.3}, \"p99\": {:.3}, \"max\": {:.3}}}}}",
        cut.as_secs_f64(),
        placed.as_secs_f64(),
        neighbourhood.bytes(),
        times.len(),
        at(50),
        at(95),
        at(99),
        at(100)
    );
    Ok(())
}

/// A test of the file with a tenth of its words replaced.
fn copy(tests: &[LabelledTest], number: usize, what: &str) -> LabelledTest {
    let original = &tests[number % tests.len()];
    let round = number / tests.len();
    let mut chance = Chance::new(Seed(7).split(&format!("{what} {number}")));
    let words: Vec<String> = original
        .source
        .split_whitespace()
        .map(|word| {
            if chance.unit() < 0.1 {
                format!("noise{}", chance.below(200_000))
            } else {
                word.to_owned()
            }
        })
        .collect();
    LabelledTest {
        project: format!("{} {round}", original.project),
        source: words.join(" "),
        ..original.clone()
    }
}
