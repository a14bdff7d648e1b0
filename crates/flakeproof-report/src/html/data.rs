//! The data inside the page: JSON that can stand in an HTML element.

use std::collections::BTreeMap;

use flakeproof_core::Overview;
use serde::Serialize;

use super::columns::{RunColumns, STANDINGS, TestColumns};
use super::details::Detail;
use crate::Error;
use crate::overview::TestView;
use crate::words;

/// All that the page's script reads.
#[derive(Serialize)]
struct PageData<'a> {
    project: &'a str,
    made: &'a str,
    /// What each standing means, in the order of their numbers.
    standings: [&'static str; 6],
    runs: RunColumns<'a>,
    /// Runs in which many tests failed together, as indices.
    outages: Vec<u32>,
    tests: TestColumns<'a>,
    /// By the test's row.
    details: BTreeMap<usize, Detail<'a>>,
}

/// The data as JSON without any character that HTML or JavaScript would read as its own.
pub(super) fn embedded(overview: &Overview, views: &[TestView<'_>]) -> Result<String, Error> {
    let detail = |(row, view)| Some((row, Detail::of(view)?));
    let data = PageData {
        project: &overview.project,
        made: &overview.made,
        standings: STANDINGS.map(words::standing),
        runs: RunColumns::of(&overview.timeline.runs),
        outages: overview.scores.outages.iter().map(|outage| outage.run).collect(),
        tests: TestColumns::of(views, &overview.timeline.runs),
        details: views.iter().enumerate().filter_map(detail).collect(),
    };
    Ok(harmless(&serde_json::to_string(&data)?))
}

/// In JSON these characters only ever stand inside strings, where they can be written otherwise.
fn harmless(json: &str) -> String {
    let mut harmless = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                harmless.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => harmless.push(character),
        }
    }
    harmless
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_embedded_reads_back_and_has_nothing_that_html_reads(text in ".*") {
            let json = serde_json::to_string(&text).unwrap();
            let embedded = harmless(&json);
            let is_read = |c| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
            prop_assert!(!embedded.contains(is_read));
            prop_assert_eq!(serde_json::from_str::<String>(&embedded).unwrap(), text);
        }
    }

    #[test]
    fn an_element_cannot_be_ended_from_inside() {
        assert_eq!(harmless("</script>&\u{2028}"), r"\u003c/script\u003e\u0026\u2028");
    }
}
