//! Predictions, as a person reads them: each suspect in its code, beside what it resembles.

use std::collections::HashSet;
use std::fmt::Write as _;

use flakeproof_core::foreign_text::on_one_line;
use flakeproof_core::{
    DataPath, DataStep, ModelFacts, Notice, Prediction, Predictions, SimilarTest,
};
use flakeproof_report::words;
use flakeproof_syntax::words::parts;

use super::terminal::{self, CHANCE, DIM, GOOD, OPEN, STRONG, count};

/// Lines of code shown of a suspect: those that say most.
const LINES: usize = 6;
/// Flaky neighbours shown of a suspect.
const RESEMBLED: usize = 3;
/// Further suspects listed by name.
const LISTED: usize = 20;
/// Words shown of a neighbour.
const WORDS: usize = 8;

/// What the view needs besides the predictions.
pub(crate) struct Shown<'a> {
    /// The source of each test, in the order of the predictions.
    pub(crate) sources: Vec<&'a str>,
    /// How many suspects to show in full.
    pub(crate) most: usize,
    /// Whether the model knows nothing of this project.
    pub(crate) is_model_shipped: bool,
    /// Whether no model was asked.
    pub(crate) is_rules_only: bool,
    /// Whether stdout carries data.
    pub(crate) is_stdout_taken: bool,
}

/// Print the predictions: to stdout, or to stderr where stdout carries data.
pub(crate) fn predictions(predictions: &Predictions, shown: &Shown<'_>) {
    let text = rendered(predictions, shown);
    // A reader that went away has all it wanted.
    let _ = if shown.is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
}

/// Print all that is known about one test.
pub(crate) fn explanation(predictions: &Predictions, source: &str, is_model_shipped: bool) {
    let mut text = String::new();
    for test in &predictions.tests {
        suspect(&mut text, predictions, test, source, usize::MAX);
    }
    predictions.notices.iter().for_each(|it| notice(&mut text, it));
    model(&mut text, &predictions.model, is_model_shipped);
    let _ = terminal::out(&text);
}

/// Say on stderr what the reader should know.
pub(crate) fn notices(notices: &[Notice]) {
    let mut text = String::new();
    notices.iter().for_each(|it| notice(&mut text, it));
    let _ = terminal::err(&text);
}

fn rendered(predictions: &Predictions, shown: &Shown<'_>) -> String {
    let mut text = String::new();
    let with_sources = predictions.tests.iter().zip(&shown.sources);
    let mut suspects: Vec<(&Prediction, &&str)> =
        with_sources.filter(|(test, _)| test.flaky).collect();
    suspects.sort_by(|(a, _), (b, _)| {
        let by_rule = a.rules.is_empty().cmp(&b.rules.is_empty());
        by_rule.then(b.probability.total_cmp(&a.probability))
    });
    for (test, source) in suspects.iter().take(shown.most) {
        suspect(&mut text, predictions, test, source, RESEMBLED);
    }
    if suspects.len() > shown.most {
        let rest = &suspects[shown.most..];
        let _ = writeln!(text, "{DIM}and {} more:{DIM:#}", rest.len());
        for (test, _) in rest.iter().take(LISTED) {
            let _ = writeln!(text, "  {:>5}  {}", words::ground(test), test.id.shown());
        }
        if rest.len() > LISTED {
            let unlisted = rest.len() - LISTED;
            let _ =
                writeln!(text, "  {DIM}… and {unlisted}; `--reporter json=FILE` has all{DIM:#}");
        }
        text.push('\n');
    }
    predictions.notices.iter().for_each(|it| notice(&mut text, it));
    closing(&mut text, predictions, suspects.len());
    if shown.is_rules_only {
        let _ = writeln!(text, "{DIM}rules only: no model was asked{DIM:#}");
    } else {
        model(&mut text, &predictions.model, shown.is_model_shipped);
        if is_new_to_the_model(predictions) {
            let _ = writeln!(
                text,
                "{OPEN}it has far more suspects here than among the tests it knows: this code is new to it. \
                 Go by the order of its suspects, not by their number, or by rules alone \
                 (`--rules-only`){OPEN:#}"
            );
        }
    }
    text
}

/// In fewer tests than this, many suspects may be chance.
const TESTS_THAT_TELL: usize = 50;
/// So many times the share of flaky tests among those that the model knows is no project's share.
const FAR_MORE: f64 = 3.0;

/// Whether the model suspects so many tests that it cannot be right about most.
fn is_new_to_the_model(predictions: &Predictions) -> bool {
    let (tests, model) = (&predictions.tests, &predictions.model);
    let by_model = tests.iter().filter(|test| test.flaky && test.rules.is_empty()).count();
    are_too_many(by_model, tests.len(), ratio(model.flaky, model.tests))
}

/// Whether these are far more of all tests than is usual.
fn are_too_many(suspects: usize, tests: usize, usual: f64) -> bool {
    tests >= TESTS_THAT_TELL && ratio(suspects, tests) > FAR_MORE * usual
}

fn notice(text: &mut String, notice: &Notice) {
    let _ = writeln!(text, "{OPEN}note{OPEN:#}: {}\n      {}\n", notice.what, notice.next);
}

fn suspect(
    text: &mut String,
    predictions: &Predictions,
    test: &Prediction,
    source: &str,
    most: usize,
) {
    // What is known beats what is guessed.
    let (style, word) = match (&test.known, test.flaky) {
        (Some(_), true) => (CHANCE, "KNOWN  "),
        (Some(_), false) => (OPEN, "KNOWN  "),
        (None, true) => (CHANCE, "SUSPECT"),
        (None, false) => (GOOD, "FINE   "),
    };
    let likely = if test.is_judged() { percent(test.probability) } else { String::new() };
    let why = test.category.as_ref().map(|it| format!("  {OPEN}{}{OPEN:#}", spaced(it)));
    let _ = writeln!(
        text,
        "{style}{word}{style:#} {likely:>4}  {STRONG}{}{STRONG:#}{}",
        test.id.shown(),
        why.unwrap_or_default()
    );
    let _ = writeln!(text, "              {DIM}{}:{}{DIM:#}", test.file, test.line);
    if let Some(known) = &test.known {
        let _ = writeln!(text, "       {style}{known}{style:#} by what is on record of it");
    }
    rules(text, predictions, test, source);
    if !test.rules.is_empty() && most != usize::MAX {
        text.push('\n');
        return;
    }
    let flaky: Vec<&SimilarTest> = test.neighbours.iter().filter(|it| it.flaky).collect();
    let told: Vec<&SimilarTest> =
        if most == usize::MAX { test.neighbours.iter().collect() } else { flaky };
    let shared: HashSet<&str> =
        told.iter().take(most).flat_map(|it| it.shared.iter().map(String::as_str)).collect();
    frame(text, test.line, source, &shared);
    if !told.is_empty() {
        let _ = writeln!(text, "       {DIM}resembles{DIM:#}");
    }
    for neighbour in told.iter().take(most) {
        resembled(text, neighbour);
    }
    reasons(text, test);
    paths(text, test, if most == usize::MAX { most } else { 1 });
    text.push('\n');
}

/// What rules found: the rule, the line, what is wrong there and what to do.
fn rules(text: &mut String, predictions: &Predictions, test: &Prediction, source: &str) {
    for found in &test.rules {
        let facts = predictions.rule(&found.id);
        let name = facts.map_or("", |facts| facts.name.as_str());
        let _ = writeln!(
            text,
            "       {CHANCE}{} {name}{CHANCE:#} in line {}: {}",
            found.id, found.line, found.message
        );
        let at = found.line.checked_sub(test.line).map(|at| at as usize);
        if let Some(line) = at.and_then(|at| source.lines().nth(at)) {
            let _ = writeln!(
                text,
                "       {DIM}{:>4} │{DIM:#} {}",
                found.line,
                line.replace('\t', " ")
            );
        }
        if let Some(facts) = facts {
            let _ = writeln!(text, "            {DIM}{}{DIM:#}", facts.advice);
        }
    }
}

/// The lines of the test that hold most of the shared words, those words underlined.
fn frame(text: &mut String, first: u32, source: &str, shared: &HashSet<&str>) {
    let lines: Vec<(usize, &str, Vec<bool>)> =
        source.lines().enumerate().map(|(at, line)| (at, line, marks(line, shared))).collect();
    let weight = |marks: &[bool]| marks.iter().filter(|mark| **mark).count();
    let mut telling: Vec<usize> = (0..lines.len()).filter(|at| weight(&lines[*at].2) > 0).collect();
    telling.sort_by_key(|at| std::cmp::Reverse(weight(&lines[*at].2)));
    telling.truncate(LINES);
    telling.sort_unstable();
    let mut before = None;
    for at in telling {
        if before.is_some_and(|before| before + 1 < at) {
            let _ = writeln!(text, "       {DIM}   …{DIM:#}");
        }
        before = Some(at);
        let (_, line, marks) = &lines[at];
        let number = first as usize + at;
        let line = line.replace('\t', " ");
        let _ = writeln!(text, "       {DIM}{number:>4} │{DIM:#} {line}");
        let under: String = marks.iter().map(|mark| if *mark { '~' } else { ' ' }).collect();
        let _ = writeln!(text, "       {DIM}     │{DIM:#} {CHANCE}{}{CHANCE:#}", under.trim_end());
    }
}

/// For each character of a line whether it belongs to a shared word.
fn marks(line: &str, shared: &HashSet<&str>) -> Vec<bool> {
    let mut marks = vec![false; line.chars().count()];
    for part in parts(line) {
        if shared.contains(part.to_lowercase().as_str()) {
            let start = part.as_ptr() as usize - line.as_ptr() as usize;
            let from = line[..start].chars().count();
            marks[from..from + part.chars().count()].fill(true);
        }
    }
    marks
}

fn resembled(text: &mut String, neighbour: &SimilarTest) {
    let what = match (&neighbour.category, neighbour.flaky) {
        (Some(category), _) => format!("flaky, {}", spaced(category)),
        (None, true) => "flaky".to_owned(),
        (None, false) => "not flaky".to_owned(),
    };
    let style = if neighbour.flaky { CHANCE } else { GOOD };
    let _ = writeln!(
        text,
        "       {:>4} alike  {}{} {style}({what}){style:#}",
        percent(neighbour.similarity),
        if neighbour.project.is_empty() {
            String::new()
        } else {
            format!("{}: ", neighbour.project)
        },
        on_one_line(&neighbour.id)
    );
    if !neighbour.shared.is_empty() {
        let words: Vec<&str> = neighbour.shared.iter().take(WORDS).map(String::as_str).collect();
        let _ = writeln!(text, "                   {DIM}both have: {}{DIM:#}", words.join(", "));
    }
}

fn closing(text: &mut String, predictions: &Predictions, suspects: usize) {
    let tests = predictions.tests.len();
    if tests == 0 {
        let _ = writeln!(text, "no test was added or changed");
    } else if suspects == 0 {
        let _ = writeln!(text, "{GOOD}no suspect{GOOD:#} among {}", count(tests, "test"));
    } else {
        let suspects = count(suspects, "suspect");
        let _ = writeln!(text, "{CHANCE}{suspects}{CHANCE:#} among {}", count(tests, "test"));
    }
}

/// Which model spoke, and what its word is worth.
fn model(text: &mut String, model: &ModelFacts, is_shipped: bool) {
    let _ = writeln!(
        text,
        "{DIM}model: {}, {} flaky of {} known tests ({}) from {}{DIM:#}",
        model.name,
        model.flaky,
        model.tests,
        percent(ratio(model.flaky, model.tests)),
        count(model.projects, "project")
    );
    if let (Some(precision), Some(recall)) = (model.precision, model.recall) {
        let unit = match model.held_out.as_str() {
            "project" => "held-out projects",
            "class" => "held-out classes",
            _ => "held-out tests",
        };
        let _ = writeln!(
            text,
            "{DIM}on {unit}, {} of its suspects were flaky, and it found {} of the flaky tests; {}{DIM:#}",
            percent(precision),
            percent(recall),
            if is_shipped {
                "its threshold was chosen without them"
            } else {
                "its threshold was chosen there, so expect less"
            }
        );
    }
    if is_shipped {
        let _ = writeln!(
            text,
            "{DIM}it knows nothing of this project: after some `flakeproof run`s, `flakeproof train \
             flast --history` teaches it{DIM:#}"
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn spaced(category: &str) -> String {
    category.replace('_', " ")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn four_in_ten_suspects_are_too_many_where_one_in_twenty_is_usual() {
        assert!(are_too_many(1600, 3800, 0.056));
        assert!(!are_too_many(160, 1000, 0.056));
        assert!(!are_too_many(2, 3, 0.056), "of three tests two may well be flaky");
    }

    #[test]
    fn shared_words_are_underlined_in_the_lines_that_hold_them() {
        let source = "void waits() {\n  server.start();\n\n  Thread.sleep(WAIT_MS);\n}";
        let mut text = String::new();
        frame(&mut text, 41, source, &HashSet::from(["server", "sleep", "wait"]));
        let expected = [
            "         42 │   server.start();",
            "            │   ~~~~~~",
            "          …",
            "         44 │   Thread.sleep(WAIT_MS);",
            "            │          ~~~~~ ~~~~",
        ];
        let lines: Vec<String> = plain(&text).lines().map(str::to_owned).collect();
        assert_eq!(lines, expected);
    }
}
