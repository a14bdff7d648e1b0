//! Compares our static features with those of radon and ast, on every test of a folder.
//!
//! ```text
//! python evaluation/features/static.py FOLDER > expected.jsonl
//! cargo run --release -p flakeproof-syntax --example compare_static_features FOLDER expected.jsonl
//! ```

#[path = "../tests/static_features/agreement.rs"]
mod agreement;

use std::io::Write;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, expected] = arguments.as_slice() else {
        return Err(std::io::Error::other("give a folder and the file of what is expected"));
    };
    let agreement = agreement::compare(Path::new(folder), &std::fs::read_to_string(expected)?);
    let mut output = std::io::stdout().lock();
    for difference in &agreement.differing {
        writeln!(output, "{difference}")?;
    }
    let compared = agreement.equal + agreement.differing.len();
    let share = 100.0 * agreement.equal as f64 / compared.max(1) as f64;
    writeln!(output, "{} of {compared} tests are equal ({share:.3} %)", agreement.equal)?;
    writeln!(output, "{} more functions are named like tests", agreement.other_functions)
}
