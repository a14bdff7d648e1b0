//! Why a jury suspects a test: what smells around it, and how data flows into its assertions.

use std::fmt::Write as _;

use flakeproof_core::{DataPath, DataStep, Prediction};

use super::styles::{CHANCE, DIM};

/// What around the test speaks for flakiness.
pub(super) fn reasons(text: &mut String, test: &Prediction) {
    if test.reasons.is_empty() {
        return;
    }
    let _ = writeln!(text, "       {DIM}because of{DIM:#}");
    for reason in &test.reasons {
        // Odds grow by this factor.
        let _ = writeln!(text, "         ×{:<4.1} {}", reason.weight.exp(), reason.what);
    }
}

/// The paths that count most, on the code itself.
pub(super) fn paths(text: &mut String, test: &Prediction, source: &str, most: usize) {
    for path in test.paths.iter().take(most) {
        let _ = writeln!(
            text,
            "       {DIM}value that flows into an assertion ({:.0} % of the attention){DIM:#}",
            100.0 * path.attention
        );
        flow(text, path, test, source);
    }
}

/// Each place the value comes by: the line of the test, the value marked, and what happens there.
fn flow(text: &mut String, path: &DataPath, test: &Prediction, source: &str) {
    for (at, step) in path.steps.iter().enumerate() {
        let own = step
            .line
            .checked_sub(test.line)
            .filter(|_| step.file == test.file)
            .and_then(|place| source.lines().nth(place as usize));
        let is_new = at == 0
            || (path.steps[at - 1].file.as_str(), path.steps[at - 1].line)
                != (step.file.as_str(), step.line);
        match own {
            Some(line) if is_new => {
                let line = line.replace('\t', " ");
                let _ = writeln!(text, "       {DIM}{:>4} │{DIM:#} {line}", step.line);
            }
            Some(_) => {}
            None if is_new => {
                let _ = writeln!(text, "       {DIM}     ╎ {}:{}{DIM:#}", step.file, step.line);
            }
            None => {}
        }
        let _ = writeln!(
            text,
            "       {DIM}     │{DIM:#}   {CHANCE}{}{CHANCE:#}{}",
            step.value,
            leads(step)
        );
    }
}

/// What is done with a value, and where that is declared.
fn leads(step: &DataStep) -> String {
    let operation = step.operation.as_ref().map(|it| format!(" {DIM}→{DIM:#} {it}"));
    let declared = step.declared.as_ref().map(|it| format!(" {DIM}({it}){DIM:#}"));
    operation.unwrap_or_default() + &declared.unwrap_or_default()
}
