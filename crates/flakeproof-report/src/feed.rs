//! What is new, as a feed that readers and chats subscribe to: [JSON Feed 1.1](https://www.jsonfeed.org/version/1.1/)
//! and [Atom](https://www.rfc-editor.org/rfc/rfc4287).
//!
//! An item has the same id in both, and in every feed of the project that tells it, so that no reader
//! shows it twice. The same [items](NewsItem) are what a webhook is told.

use flakeproof_core::{News, NewsKind, Overview, TestId};
use serde::Serialize;

use crate::overview::TestView;
use crate::{Error, Renderer, words};

/// So many items are in a feed; whoever looks less often than that reads the report.
const MOST: usize = 100;

/// Renders what is new as a JSON Feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JsonFeed;

/// Renders what is new as an Atom feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AtomFeed;

/// Something new, as it is told to people and programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewsItem {
    /// What tells it from every other item of any project.
    pub id: String,
    /// What happened, in one line.
    pub title: String,
    /// What else is known, in a few lines.
    pub content_text: String,
    /// When it happened.
    pub date_published: String,
    /// The kind of news, and what owners are called.
    pub tags: Vec<String>,
    /// The same for programs.
    #[serde(rename = "_flakeproof")]
    pub facts: NewsFacts,
}

/// An item for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewsFacts {
    /// What happened: `new-flaky`, `broken` or `quarantine-ended`.
    pub kind: &'static str,
    /// The test.
    pub test: TestId,
    /// Who owns it.
    pub owners: Vec<String>,
}

/// A JSON Feed.
#[derive(Serialize)]
struct JsonFeedDocument<'a> {
    version: &'static str,
    title: String,
    description: &'static str,
    items: &'a [NewsItem],
}

const DESCRIPTION: &str = "New flaky tests, broken tests and quarantines that are over";

impl Renderer<Overview> for JsonFeed {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        let document = JsonFeedDocument {
            version: "https://jsonfeed.org/version/1.1",
            title: title(overview),
            description: DESCRIPTION,
            items: &latest(overview),
        };
        let mut bytes = serde_json::to_vec_pretty(&document)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

impl Renderer<Overview> for AtomFeed {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        let items = latest(overview);
        // A feed without items is as old as its making.
        let updated = items.first().map_or(&overview.made, |item| &item.date_published);
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
        xml.push_str("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
        element(&mut xml, "  ", "id", &urn(&overview.project, "feed"));
        element(&mut xml, "  ", "title", &title(overview));
        element(&mut xml, "  ", "subtitle", DESCRIPTION);
        element(&mut xml, "  ", "updated", updated);
        xml.push_str("  <author>\n");
        element(&mut xml, "    ", "name", "flakeproof");
        xml.push_str("  </author>\n");
        items.iter().for_each(|item| entry(&mut xml, item));
        xml.push_str("</feed>\n");
        Ok(xml.into_bytes())
    }
}

/// All that is new, the latest first.
#[must_use]
pub fn news_items(overview: &Overview) -> Vec<NewsItem> {
    News::all(overview).iter().map(|news| NewsItem::new(overview, news)).collect()
}

fn latest(overview: &Overview) -> Vec<NewsItem> {
    News::all(overview).iter().take(MOST).map(|news| NewsItem::new(overview, news)).collect()
}

fn title(overview: &Overview) -> String {
    format!("{}: flaky and broken tests", overview.project)
}

impl NewsItem {
    fn new(overview: &Overview, news: &News) -> Self {
        let view = view(overview, &news.test);
        let owners = view.owners;
        let test = news.test.shown();
        let title = match news.kind {
            NewsKind::NewFlaky => format!("flaky: {test}"),
            NewsKind::Broken => format!("broken: {test}"),
            NewsKind::QuarantineEnded => format!("the quarantine is over: {test}"),
        };
        let mut tags = vec![news.kind.word().to_owned()];
        tags.extend(owners.iter().cloned());
        Self {
            id: urn(&overview.project, &news.key),
            title,
            content_text: content(overview, news, &view),
            date_published: news.at.clone(),
            tags,
            facts: NewsFacts {
                kind: news.kind.word(),
                test: news.test.clone(),
                owners: owners.to_vec(),
            },
        }
    }
}

/// What is known about a test, but for its runs.
fn view<'a>(overview: &'a Overview, test: &'a TestId) -> TestView<'a> {
    TestView {
        id: test,
        score: overview.scores.find(test),
        marks: &[],
        detail: overview.details.get(test),
        owners: overview.owners.get(test).map_or(&[], Vec::as_slice),
        formerly: &[],
    }
}

/// What is known about the test of an item, each fact on a line.
fn content(overview: &Overview, news: &News, view: &TestView<'_>) -> String {
    let mut lines = Vec::new();
    let entries = || overview.details.values().filter_map(|detail| detail.quarantine.as_ref());
    if news.kind == NewsKind::QuarantineEnded {
        for entry in entries().filter(|entry| *entry.id == *news.test.as_str()).take(1) {
            lines.push(format!(
                "It held until {} for {}: {}. Its failures count again.",
                entry.expires, entry.owner, entry.reason
            ));
        }
    }
    let score = view.telling();
    lines.extend(score.and_then(words::since).map(|since| words::sentence(&since)));
    lines.extend(score.map(|score| words::sentence(&words::score(score))));
    let message = view.last_failure().map(|failure| words::excerpt(failure.message.trim()));
    lines.extend(message.map(|message| format!("Its last failure: {message}")));
    let owners = view.owners.join(" ");
    lines.extend((!owners.is_empty()).then(|| format!("Owned by {owners}.")));
    let cluster = overview.clusters.iter().find(|it| it.tests.contains(view.id));
    lines.extend(cluster.map(|it| words::sentence(&words::cluster(it))));
    let explain = ["flakeproof", "explain", news.test.as_str()].map(str::to_owned);
    lines.push(format!("More: {}", words::command(&explain)));
    lines.join("\n")
}

/// A name for what a key of a project tells (RFC 9562, version 8): equal keys have equal names.
fn urn(project: &str, key: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(project.as_bytes()).update(b"\0").update(key.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("urn:uuid:{}", parts.join("-"))
}

fn entry(xml: &mut String, item: &NewsItem) {
    xml.push_str("  <entry>\n");
    element(xml, "    ", "id", &item.id);
    element(xml, "    ", "title", &item.title);
    element(xml, "    ", "updated", &item.date_published);
    element(xml, "    ", "published", &item.date_published);
    for tag in &item.tags {
        xml.push_str(&format!("    <category term=\"{}\"/>\n", escaped(tag)));
    }
    xml.push_str(&format!(
        "    <content type=\"text\">{}</content>\n  </entry>\n",
        escaped(&item.content_text)
    ));
}

fn element(xml: &mut String, indent: &str, name: &str, text: &str) {
    xml.push_str(&format!("{indent}<{name}>{}</{name}>\n", escaped(text)));
}

/// Foreign text in XML, without what XML 1.0 cannot hold.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character.is_control() => {}
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    fn atom(overview: &Overview) -> String {
        String::from_utf8(AtomFeed.render(overview).unwrap()).unwrap()
    }

    fn json(overview: &Overview) -> serde_json::Value {
        serde_json::from_slice(&JsonFeed.render(overview).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_feeds_are_as_reviewed() {
        let mut overview = sample::overview();
        let held = overview.details.get_mut(sample::WORST).unwrap();
        held.quarantine.as_mut().unwrap().expires = "2026-11-10".into();
        insta::assert_snapshot!(
            "json_feed",
            serde_json::to_string_pretty(&json(&overview)).unwrap()
        );
        insta::assert_snapshot!("atom_feed", atom(&overview));
    }

    #[test]
    fn an_item_keeps_its_id_whatever_else_is_found_out() {
        let ids = |overview: &Overview| -> Vec<String> {
            let items = news_items(overview);
            items.into_iter().map(|item| format!("{} {}", item.facts.test, item.id)).collect()
        };
        let mut later = sample::overview();
        let before = ids(&later);
        later.made = "2026-11-20T00:00:00Z".into();
        later.owners.clear();
        later.clusters.clear();
        for score in &mut later.scores.tests {
            score.last_failed = None;
        }
        assert_eq!(ids(&later), before);
        let mut elsewhere = sample::overview();
        elsewhere.project = "another".into();
        assert!(ids(&elsewhere).iter().all(|id| !before.contains(id)));
    }

    #[test]
    fn nothing_new_is_a_feed_without_items() {
        let mut overview = sample::overview();
        overview.scores = flakeproof_core::Scores::default();
        overview.details.clear();
        assert_eq!(json(&overview)["items"], serde_json::json!([]));
        assert!(atom(&overview).contains("<updated>2026-11-16T02:00:00Z</updated>"));
    }

    proptest! {
        #[test]
        fn no_text_of_a_test_adds_an_element(text in "[<>&\"'/a-z\u{0}-\u{1f}\u{fffe}-]{0,40}") {
            let with = |text: &str| {
                let mut overview = sample::overview();
                overview.project = text.into();
                let detail = overview.details.get_mut(sample::WORST).unwrap();
                detail.failures[0].message = format!("x{text}");
                overview.owners.insert(sample::WORST.into(), vec![format!("@{text}")]);
                atom(&overview)
            };
            let (hostile, plain) = (with(&text), with("plain"));
            prop_assert_eq!(hostile.matches('<').count(), plain.matches('<').count());
            prop_assert!(!hostile.contains(|c: char| c.is_control() && !"\n\t".contains(c)));
        }
    }
}
