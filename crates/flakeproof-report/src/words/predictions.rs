//! What predictions mean: how probable, why, like what, what to do about it, and what the model's
//! word is worth.
//!
//! The set of categories is open: a model may be trained on data with categories of its own. Those
//! keep their name, and get the advice that always holds.

use flakeproof_core::{ModelFacts, Prediction, SimilarTest};

use super::findings::{counted, percent};

/// How many similar tests a sentence names.
const SIMILAR_NAMED: usize = 2;

/// The sentence for a test that is called flaky.
///
/// It says "may be" at every probability: nothing was run.
#[must_use]
pub fn suspicion(test: &Prediction) -> String {
    if let Some(first) = test.rules.first() {
        let more = match test.rules.len() {
            1 => String::new(),
            many => format!(" (and {} more)", many - 1),
        };
        return format!(
            "may be flaky by {} in line {}: {}{more}",
            first.id, first.line, first.message
        );
    }
    if let Some(known) = &test.known {
        return format!("is known to be flaky ({known})");
    }
    let probability = percent(test.probability);
    match &test.category {
        Some(why) => {
            format!(
                "may be flaky with a probability of {probability}, because of {}",
                category(why)
            )
        }
        None => format!("may be flaky with a probability of {probability}"),
    }
}

/// Why a test is called flaky, in a word: the first rule, what is known, or the probability.
#[must_use]
pub fn ground(test: &Prediction) -> String {
    match (test.rules.first(), &test.known) {
        (Some(rule), _) => rule.id.clone(),
        (None, Some(known)) => known.clone(),
        (None, None) => percent(test.probability),
    }
}

/// The sentence for the known flaky tests that are nearest to a test; nothing if none is near.
#[must_use]
pub fn nearest_flaky(test: &Prediction) -> Option<String> {
    let nearest: Vec<_> = flaky_neighbours(test).take(SIMILAR_NAMED).map(similar).collect();
    let noun = match nearest.len() {
        0 => return None,
        1 => "test",
        _ => "tests",
    };
    Some(format!("is most like the known flaky {noun} {}", nearest.join(" and ")))
}

/// A known test, the project it belongs to, and how similar it is.
#[must_use]
pub fn similar(known: &SimilarTest) -> String {
    format!("{} of {} (similarity {:.2})", known.id, known.project, known.similarity)
}

/// The sentence for a model: what it learnt from, and how often it was right on what it had not
/// seen.
#[must_use]
pub fn model(model: &ModelFacts) -> String {
    format!(
        "predicted by the model {} ({}, {}), which knows {} ({} flaky) of {}; {}; nothing was \
         run, so this is no proof",
        model.name,
        model.kind,
        model.recipe,
        counted(model.tests, "test"),
        model.flaky,
        counted(model.projects, "project"),
        measured(model),
    )
}

/// The known flaky tests among a test's neighbours, the nearest first.
pub(crate) fn flaky_neighbours(test: &Prediction) -> impl Iterator<Item = &SimilarTest> {
    test.neighbours.iter().filter(|known| known.flaky)
}

fn measured(model: &ModelFacts) -> String {
    let figures: Vec<_> = [("precision", model.precision), ("recall", model.recall)]
        .into_iter()
        .filter_map(|(name, share)| share.map(|share| format!("its {name} is {}", percent(share))))
        .collect();
    let threshold = &model.threshold;
    if figures.is_empty() {
        return format!("how often it is right at the threshold {threshold} was not measured");
    }
    format!("{} on {}, at the threshold {threshold}", figures.join(" and "), held_out(model))
}

fn held_out(model: &ModelFacts) -> String {
    match model.held_out.as_str() {
        "test" => "tests it had not seen".to_owned(),
        "class" => "test classes it had not seen".to_owned(),
        "project" => "projects it had not seen".to_owned(),
        other => format!("data it had not seen (held out by {other})"),
    }
}

/// What makes a test of this category flaky, to stand behind "because of".
///
/// ```
/// use flakeproof_report::words;
///
/// assert_eq!(words::category("async_wait"), "an asynchronous wait (async_wait)");
/// assert_eq!(words::category("moonlight"), "moonlight");
/// ```
#[must_use]
pub fn category(category: &str) -> String {
    match reason_and_advice(category) {
        Some((reason, _)) => format!("{reason} ({category})"),
        None => category.to_owned(),
    }
}

/// What to do about a test that is flaky for this reason, in the imperative.
#[must_use]
pub fn advice(category: Option<&str>) -> &'static str {
    match category.and_then(reason_and_advice) {
        Some((_, advice)) => advice,
        None => {
            "run it many times, alone and among the other tests in random order, until it fails"
        }
    }
}

/// The reason and the advice for the categories that published data sets use.
fn reason_and_advice(category: &str) -> Option<(&'static str, &'static str)> {
    let known = match category {
        "async_wait" => (
            "an asynchronous wait",
            "wait for the event itself, with a generous deadline, instead of for a fixed time",
        ),
        "test_order_dependency" => (
            "the order of the tests",
            "run it alone and the suite in random order, then reset the state that it shares with \
             other tests",
        ),
        "unordered_collections" => (
            "the order of an unordered collection",
            "compare without regard to order, or sort before you compare",
        ),
        "time" => (
            "the time or the date",
            "give the code a clock and a time zone that the test sets, and let no assertion depend \
             on how fast it runs",
        ),
        "concurrency" => (
            "a race between threads or tasks",
            "join every thread or task before you assert, and guard what they share; a race \
             detector names the place",
        ),
        "network" => (
            "the network",
            "replace the remote service by a fake in the test's own process, on a port that the \
             system chooses",
        ),
        "randomness" => (
            "random values",
            "set the seed of every generator and print it on failure, or assert what holds for \
             every value",
        ),
        "resource_leak" => (
            "a resource that is not given back",
            "close files, connections, threads and processes when the test ends, also when it fails",
        ),
        "test_case_timeout" => (
            "a deadline that is too tight",
            "find out which step is slow, give it less to do, and set the deadline well above the \
             slowest run",
        ),
        "floating_point" => (
            "the rounding of floating-point numbers",
            "compare with a tolerance that fits the size of the numbers, and fix the order of sums",
        ),
        "platform_dependency" => (
            "the platform it runs on",
            "set what differs between machines (locale, encoding, line ends, paths, versions) in \
             the test itself",
        ),
        "io" => (
            "files or streams",
            "give the test a temporary folder of its own, and flush and close what it writes before \
             it reads it back",
        ),
        "too_restrictive_range" => (
            "a range that leaves valid values out",
            "work out which values the code may return, and widen the range to all of them",
        ),
        _ => return None,
    };
    Some(known)
}

#[cfg(test)]
mod tests {
    use flakeproof_core::RuleFinding;

    use super::*;
    use crate::sample;

    #[test]
    fn a_suspicion_names_probability_and_reason() {
        let mut test = sample::suspects(1).tests.remove(0);
        assert_eq!(suspicion(&test), "may be flaky with a probability of 50 %");
        test.category = Some("io".into());
        assert_eq!(
            suspicion(&test),
            "may be flaky with a probability of 50 %, because of files or streams (io)"
        );
    }

    #[test]
    fn a_rule_speaks_before_what_is_known_and_that_before_the_model() {
        let mut test = sample::suspects(1).tests.remove(0);
        assert_eq!(ground(&test), "50 %");
        test.known = Some("victim".into());
        assert_eq!(suspicion(&test), "is known to be flaky (victim)");
        let message = "port 8080 may be taken".to_owned();
        test.rules = vec![RuleFinding { id: "FP040".into(), line: 7, message }];
        assert_eq!(ground(&test), "FP040");
        assert_eq!(suspicion(&test), "may be flaky by FP040 in line 7: port 8080 may be taken");
    }

    #[test]
    fn only_flaky_neighbours_are_named_and_at_most_two() {
        let mut test = sample::suspects(1).tests.remove(0);
        assert_eq!(nearest_flaky(&test), None);
        let known = |id: &str, flaky| SimilarTest {
            id: id.into(),
            project: "p".into(),
            similarity: 0.5,
            flaky,
            category: None,
            shared: Vec::new(),
        };
        test.neighbours = vec![known("a", false), known("b", true)];
        let one = "is most like the known flaky test b of p (similarity 0.50)";
        assert_eq!(nearest_flaky(&test).as_deref(), Some(one));
        test.neighbours.extend([known("c", true), known("d", true)]);
        let two = "is most like the known flaky tests b of p (similarity 0.50) and c of p \
                   (similarity 0.50)";
        assert_eq!(nearest_flaky(&test).as_deref(), Some(two));
    }

    #[test]
    fn a_model_says_how_often_it_is_right_or_that_nobody_knows() {
        let mut facts = sample::predictions().model;
        assert_eq!(
            model(&facts),
            "predicted by the model built-in (flast, rarity), which knows 1200 tests (480 flaky) of \
             31 projects; its precision is 71 % and its recall is 58 % on projects \
             it had not seen, at the threshold balanced; nothing was run, so this is no proof"
        );
        facts.recall = None;
        assert!(model(&facts).contains("; its precision is 71 % on projects it had not seen, at"));
        facts.precision = None;
        assert!(
            model(&facts)
                .contains("; how often it is right at the threshold balanced was not measured;")
        );
    }

    #[test]
    fn every_published_category_has_advice_of_its_own() {
        let categories = [
            "async_wait",
            "test_order_dependency",
            "unordered_collections",
            "time",
            "concurrency",
            "network",
            "randomness",
            "resource_leak",
            "test_case_timeout",
            "floating_point",
            "platform_dependency",
            "io",
            "too_restrictive_range",
        ];
        let mut told: Vec<_> = categories.iter().map(|it| advice(Some(it))).collect();
        told.push(advice(None));
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), categories.len() + 1);
    }

    #[test]
    fn a_category_that_nobody_knows_gets_the_advice_that_always_holds() {
        assert_eq!(advice(Some("moonlight")), advice(None));
    }
}
