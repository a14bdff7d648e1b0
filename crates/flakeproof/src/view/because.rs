//! Why an ensemble suspects a test: what smells around it, and how data flows into its assertions.

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
pub(super) fn paths(text: &mut String, test: &Prediction, most: usize) {
    for path in test.paths.iter().take(most) {
        let _ = writeln!(
            text,
            "       {DIM}value that flows into an assertion ({:.0} % of the attention){DIM:#}",
            100.0 * path.attention
        );
        flow(text, path, &test.file);
    }
}

/// Each place the value comes by: its line, and below it the value and what happens to it there.
fn flow(text: &mut String, path: &DataPath, file: &str) {
    let (mut file, mut line) = (file, 0);
    for step in &path.steps {
        if step.file != file {
            let _ = writeln!(text, "       {DIM}     ╎ {}{DIM:#}", step.file);
        }
        if (step.file.as_str(), step.line) != (file, line) {
            let code = step.code.replace('\t', " ");
            let _ = writeln!(text, "       {DIM}{:>4} │{DIM:#} {code}", step.line);
        }
        (file, line) = (step.file.as_str(), step.line);
        let value = format!("{CHANCE}{}{CHANCE:#}{}", step.value, leads(step));
        let _ = writeln!(text, "       {DIM}     │{DIM:#}   {value}");
    }
}

/// What is done with a value, and where that is declared.
fn leads(step: &DataStep) -> String {
    let operation = step.operation.as_ref().map(|it| format!(" {DIM}→{DIM:#} {it}"));
    let declared = step.declared.as_ref().map(|it| format!(" {DIM}({it}){DIM:#}"));
    operation.unwrap_or_default() + &declared.unwrap_or_default()
}
