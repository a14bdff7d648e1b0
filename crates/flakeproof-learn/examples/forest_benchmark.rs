//! What forests, balancing and explanations cost, and how good they are, on a given table.
//!
//! ```text
//! cargo run --release -p flakeproof-learn --example forest_benchmark -- \
//!     TABLE random-forest|extra-trees TREES fit SEED smote|smote-enn|smote-tomek|none
//! … TABLE KIND TREES quality SEED SPLIT
//! … TABLE KIND TREES shap MODEL.json ROWS
//! ```
//!
//! `evaluation/forests/run` writes the files and reads what is printed: one line of JSON. The number
//! of threads is that of `RAYON_NUM_THREADS`.
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::error::Error;
use std::time::Instant;

use flakeproof_core::Seed;
use flakeproof_learn::balance::Balance;
use flakeproof_learn::evaluate::{Confusion, average_precision, brier, roc_auc};
use flakeproof_learn::forest::{Forest, ForestKind, ForestParams, Table};
use serde_json::{Value, json};

type Outcome = Result<Value, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [path, kind, trees, what, rest @ ..] = &words[..] else {
        return Err("give a table, a kind, a number of trees and what to measure".into());
    };
    let (table, positive) = read(path)?;
    let kind = match *kind {
        "random-forest" => ForestKind::RandomForest,
        "extra-trees" => ForestKind::ExtraTrees,
        other => return Err(format!("there is no kind {other}").into()),
    };
    let params = |seed| ForestParams { trees: 0, ..ForestParams::new(kind, seed) };
    let trees = trees.parse()?;
    let line = match (*what, rest) {
        ("fit", [seed, balance]) => {
            let params = ForestParams { trees, ..params(Seed(seed.parse()?)) };
            fit(&table, &positive, &params, balance_named(balance)?)?
        }
        ("quality", [seed, split]) => {
            let params = ForestParams { trees, ..params(Seed(seed.parse()?)) };
            quality(&table, &positive, &params, split)?
        }
        ("shap", [model, rows]) => explain(&table, model, rows.parse()?)?,
        _ => return Err("give fit, quality or shap with what each needs".into()),
    };
    println!("{line}");
    Ok(())
}

const TRIES: usize = 5;

/// Balance, grow and ask about all rows, each with its time.
fn fit(table: &Table, positive: &[bool], params: &ForestParams, balance: Balance) -> Outcome {
    let clock = Clock::start();
    let (grown, labels) = balance.apply(table, positive, params.seed)?;
    let balanced = clock.read();
    let forest = params.fit(&grown, &labels)?;
    let fitted = clock.read();
    let mut predicted = (f64::INFINITY, f64::INFINITY);
    let mut mean = 0.0;
    // The fastest of some tries, as on the other side: one try is too short to be measured well.
    for _ in 0..TRIES {
        let clock = Clock::start();
        let shares = forest.predict(table)?;
        let (passed, worked) = clock.read();
        predicted = (predicted.0.min(passed), predicted.1.min(worked));
        mean = shares.iter().sum::<f64>() / shares.len() as f64;
    }
    Ok(json!({
        "rows": grown.rows(), "nodes": forest.nodes(), "threads": rayon::current_num_threads(),
        "balance_s": balanced.0, "balance_cpu_s": balanced.1,
        "fit_s": fitted.0, "fit_cpu_s": fitted.1,
        "predict_s": predicted.0, "predict_cpu_s": predicted.1,
        "mean": mean,
    }))
}

/// Learn from some rows, after SMOTE, and ask about the others. The file has one byte for each row: 1
/// where it is asked.
fn quality(table: &Table, positive: &[bool], params: &ForestParams, split: &str) -> Outcome {
    let asked = std::fs::read(split)?;
    let rows = |wanted: u8| -> Vec<u32> {
        (0..).zip(&asked).filter(|(_, is)| **is == wanted).map(|(row, _)| row).collect()
    };
    let labels =
        |rows: &[u32]| -> Vec<bool> { rows.iter().map(|row| positive[*row as usize]).collect() };
    let (train, test) = (rows(0), rows(1));
    let learned = Balance::Smote.apply(&table.select(&train), &labels(&train), params.seed)?;
    let shares = params.fit(&learned.0, &learned.1)?.predict(&table.select(&test))?;
    let scored: Vec<(f64, bool)> = shares.into_iter().zip(labels(&test)).collect();
    let mut confusion = Confusion::default();
    // As scikit-learn's `predict`: the first class where both are equally likely.
    scored.iter().for_each(|(share, is)| confusion.count(*share > 0.5, *is));
    Ok(json!({
        "mcc": confusion.mcc(), "f1": confusion.f1(), "auc": roc_auc(&scored),
        "average_precision": average_precision(&scored, 1.0), "brier": brier(&scored),
    }))
}

/// Explain the first rows with a forest that scikit-learn grew.
fn explain(table: &Table, model: &str, rows: u32) -> Outcome {
    let forest = Forest::from_scikit_learn(&std::fs::read_to_string(model)?)?;
    let some = table.select(&(0..rows).collect::<Vec<_>>());
    let clock = Clock::start();
    let shap = forest.shap(&some)?;
    let explained = clock.read();
    let shares = forest.predict(&some)?;
    let off =
        |(row, share): (usize, &f64)| (shap.base + shap.row(row).iter().sum::<f64>() - share).abs();
    let off = shares.iter().enumerate().map(off).fold(0.0, f64::max);
    Ok(json!({
        "rows": rows, "nodes": forest.nodes(), "threads": rayon::current_num_threads(),
        "shap_s": explained.0, "shap_cpu_s": explained.1, "additivity": off, "base": shap.base,
        "probabilities": shares, "values": shap.values,
    }))
}

fn balance_named(name: &str) -> Result<Balance, Box<dyn Error>> {
    match name {
        "none" => Ok(Balance::None),
        "smote" => Ok(Balance::Smote),
        "smote-enn" => Ok(Balance::SmoteEnn),
        "smote-tomek" => Ok(Balance::SmoteTomek),
        other => Err(format!("there is no balance {other}").into()),
    }
}

/// A table as `reference.py` writes it: rows and columns as two numbers of 32 bits, the numbers row by
/// row, and one byte for each label.
fn read(path: &str) -> Result<(Table, Vec<bool>), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let (head, _) = bytes.as_chunks::<4>();
    let [rows, width] = [0, 1].map(|at| u32::from_le_bytes(head[at]) as usize);
    let cells: Vec<f32> =
        head[2..2 + rows * width].iter().map(|four| f32::from_le_bytes(*four)).collect();
    let labels = bytes[8 + 4 * rows * width..].iter().map(|label| *label == 1).collect();
    Ok((Table::from_rows(&cells.chunks(width).collect::<Vec<_>>())?, labels))
}

/// Time that passed, and time that all processors worked for this program.
struct Clock {
    begin: Instant,
    worked: f64,
}

impl Clock {
    fn start() -> Self {
        Self { begin: Instant::now(), worked: worked() }
    }

    fn read(&self) -> (f64, f64) {
        (self.begin.elapsed().as_secs_f64(), worked() - self.worked)
    }
}

/// User and system time so far in seconds, where the kernel tells it (Linux, in hundredths).
fn worked() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    ticks.iter().sum::<f64>() / 100.0
}
