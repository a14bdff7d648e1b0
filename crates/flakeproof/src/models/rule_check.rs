//! What rules find in tests, beside what a model says: a rule that is on makes a test a suspect.

use std::path::Path;

use flakeproof_core::{ModelFacts, Notice, Prediction, Predictions, RuleFacts, RuleFinding};
use flakeproof_syntax::Language;
use flakeproof_syntax::rules::{self, Rule, RuleSet};

use super::test_reader::TestReader;
use crate::cli::RuleArguments;
use crate::problem::Problem;
use crate::settings::ConfigurationFile;
use crate::source::source_tests::SourceTest;

/// The rules that were asked for: on the command line, else in the configuration.
pub(crate) fn chosen(typed: &RuleArguments, folder: &Path) -> Result<RuleSet, Problem> {
    let file = ConfigurationFile::find(None, folder)?;
    let or_file = |typed: &[String], file: &[String]| {
        if typed.is_empty() { file.to_vec() } else { typed.to_vec() }
    };
    let select = or_file(&typed.select, &file.predict().select);
    let ignore = or_file(&typed.ignore, &file.predict().ignore);
    RuleSet::choose(&select, &ignore).map_err(|error| {
        Problem::usage(error, "the book lists all rules; see `--select`, `--ignore` and [predict]")
    })
}

/// Predictions that no model made.
pub(crate) fn without_model(tests: &[SourceTest]) -> Predictions {
    let prediction = |test: &SourceTest| Prediction {
        id: test.id.clone(),
        file: test.file.clone(),
        line: test.first_line,
        end_line: test.last_line,
        language: test.language.name().to_owned(),
        probability: f64::NAN,
        flaky: false,
        rules: Vec::new(),
        known: None,
        category: None,
        neighbours: Vec::new(),
        reasons: Vec::new(),
        paths: Vec::new(),
    };
    Predictions {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: ModelFacts {
            name: "none".to_owned(),
            kind: "rules".to_owned(),
            recipe: "none".to_owned(),
            tests: 0,
            flaky: 0,
            projects: 0,
            data: String::new(),
            held_out: "none".to_owned(),
            precision: None,
            recall: None,
            threshold: "none".to_owned(),
        },
        tests: tests.iter().map(prediction).collect(),
        rules: Vec::new(),
        notices: Vec::new(),
    }
}

/// Add what rules find. The predictions are those of the reader's tests, in their order.
pub(crate) fn add(predictions: &mut Predictions, reader: &TestReader<'_>, rules: &RuleSet) {
    let tests = reader.tests;
    let finding = |it: &rules::Finding| RuleFinding {
        id: it.rule.id().to_owned(),
        line: it.line,
        message: it.message.clone(),
    };
    let found = reader
        .findings()
        .iter()
        .map(|found| found.iter().filter(|it| rules.has(it.rule)).map(finding).collect::<Vec<_>>());
    for (test, found) in predictions.tests.iter_mut().zip(found) {
        test.flaky |= !found.is_empty();
        let cause = found.first().and_then(|it| it.id.parse::<Rule>().ok()).and_then(Rule::cause);
        test.category = cause.map(str::to_owned).or(test.category.take());
        test.rules = found;
    }
    let facts = |rule: &Rule| RuleFacts {
        id: rule.id().to_owned(),
        name: rule.name().to_owned(),
        summary: rule.summary().to_owned(),
        advice: rule.advice().to_owned(),
    };
    let is_met = |rule: &&Rule| {
        predictions.tests.iter().any(|test| test.rules.iter().any(|it| it.id == rule.id()))
    };
    predictions.rules = Rule::ALL.iter().filter(is_met).map(facts).collect();
    let mut unknown: Vec<&str> = tests
        .iter()
        .map(|test| test.language)
        .filter(|language| !rules::knows(*language))
        .map(Language::name)
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        predictions.notices.push(Notice {
            what: format!(
                "no rule looked at tests in {}: their files cannot be followed yet",
                unknown.join(", ")
            ),
            next: "take nothing from the silence of rules there".to_owned(),
        });
    }
}

/// Whether the model inside the program has learned from tests like those in this language.
pub(crate) fn is_seen(language: Language) -> bool {
    matches!(language, Language::Java | Language::Kotlin)
}

/// Take back what the model inside the program says of languages it has not seen: there, rules alone
/// decide.
pub(crate) fn rules_only_where_unseen(predictions: &mut Predictions, tests: &[SourceTest]) {
    let mut languages: Vec<&str> = Vec::new();
    for (prediction, test) in predictions.tests.iter_mut().zip(tests) {
        if is_seen(test.language) {
            continue;
        }
        prediction.flaky = false;
        prediction.category = None;
        languages.push(test.language.name());
    }
    languages.sort_unstable();
    languages.dedup();
    if languages.is_empty() {
        return;
    }
    predictions.notices.retain(|notice| !notice.what.contains("learned from Java"));
    predictions.notices.insert(0, Notice {
        what: format!(
            "rules only for {}: the model inside flakeproof learned from Java, and nobody measured it there",
            languages.join(", ")
        ),
        next: "train a model on your own tests to have one speak, too".to_owned(),
    });
}
