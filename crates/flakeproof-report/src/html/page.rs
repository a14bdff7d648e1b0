//! The page: the frame, the looks, the data and the script in one file.

use flakeproof_core::Overview;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::data::embedded;
use super::frame::Frame;
use crate::failure_groups::failure_groups;
use crate::overview::views;
use crate::{Error, Renderer};

/// What the page may do: nothing but look as it says and run what is in it.
///
/// A server that sends the page with other headers needs no more than this.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// Renders one self-contained HTML file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Html;

impl Renderer<Overview> for Html {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        page(overview).map(String::into_bytes)
    }
}

const TEMPLATE: &str = include_str!("assets/page.html");
/// In this order, each overruling what stands before it.
const STYLES: [&str; 6] = [
    include_str!("assets/page.css"),
    include_str!("assets/first.css"),
    include_str!("assets/table.css"),
    include_str!("assets/hunt.css"),
    include_str!("assets/panel.css"),
    include_str!("assets/media.css"),
];
/// Before anything is drawn, so that no page flashes in the other theme.
const THEME: &str = include_str!("assets/theme.js");
/// In this order, each using what stands before it.
const SCRIPTS: [&str; 6] = [
    include_str!("assets/data.js"),
    include_str!("assets/draw.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/test.js"),
    include_str!("assets/table.js"),
    include_str!("assets/start.js"),
];

/// The overview as one self-contained HTML file.
///
/// # Errors
///
/// When the template or the JSON writer refuses a value.
pub fn page(overview: &Overview) -> Result<String, Error> {
    let views = views(overview);
    let groups = failure_groups(&views);
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    engine.set_syntax(
        syntax.keep_trailing_newline(true).trim_blocks(true).lstrip_blocks(true).build()?,
    );
    engine.add_template("page", TEMPLATE)?;
    let frame = engine.get_template("page")?.render(context! {
        policy => CONTENT_SECURITY_POLICY,
        frame => Serde(Frame::new(overview, &views, &groups)),
    })?;
    Ok(filled(&frame, &embedded(overview, &views, &groups)?))
}

/// The frame with what is too large, or too trusted, to go through the template. The places are
/// comments, which no escaped text can contain.
fn filled(frame: &str, data: &str) -> String {
    let script = format!("'use strict';\n{{\n{}}}\n", SCRIPTS.concat());
    let parts = [
        ("<!-- theme -->", format!("<script>\n{THEME}</script>")),
        ("<!-- style -->", format!("<style>\n{}</style>", STYLES.concat())),
        ("<!-- data -->", format!("<script type=\"application/json\" id=\"data\">{data}</script>")),
        ("<!-- script -->", format!("<script>\n{script}</script>")),
    ];
    let mut page = String::with_capacity(frame.len() + data.len() + 100_000);
    let mut rest = frame;
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(&part);
        rest = after;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Scores, Timeline};
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    fn empty() -> Overview {
        Overview {
            timeline: Timeline::default(),
            scores: Scores::default(),
            owners: std::collections::BTreeMap::new(),
            formerly: std::collections::BTreeMap::new(),
            clusters: Vec::new(),
            details: std::collections::BTreeMap::new(),
            hunt: None,
            notices: Vec::new(),
            ..sample::overview()
        }
    }

    /// What stands outside the style and the script, which other tests and a browser look at.
    fn frame_of(page: &str) -> String {
        let mut frame = page.to_owned();
        for part in [STYLES.concat(), THEME.to_owned()] {
            frame = frame.replace(&part, "…");
        }
        let (before, rest) = frame.split_once("'use strict'").expect("the page has a script");
        let (_, after) = rest.split_once("</script>").expect("the script ends");
        format!("{before}…</script>{after}")
    }

    #[test]
    fn the_whole_frame_and_its_data_are_as_reviewed() {
        insta::assert_snapshot!(frame_of(&page(&sample::overview()).unwrap()));
    }

    #[test]
    fn nothing_known_is_a_page_with_the_next_command() {
        let page = page(&empty()).unwrap();
        for words in ["Nothing is known yet", "flakeproof ingest", "flakeproof hunt"] {
            assert!(page.contains(words), "{words}");
        }
    }

    #[test]
    fn nothing_is_fetched_from_anywhere() {
        let page = page(&sample::overview()).unwrap();
        let frame = frame_of(&page);
        for word in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest", "sendBeacon"] {
            assert!(!page.contains(word), "{word}");
        }
        assert_eq!(frame.matches("href=").count(), frame.matches("href=\"#").count() + 1);
        assert!(page.contains("default-src &#x27;none&#x27;"), "{}", &page[..600]);
    }

    #[test]
    fn the_script_only_ever_sets_text() {
        for script in SCRIPTS {
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]
            {
                assert!(!script.contains(word), "{word}");
            }
            assert!(!script.contains("</") && script.ends_with('\n'));
        }
    }

    /// A page on which every foreign text is this one.
    fn page_of(text: &str) -> String {
        let mut overview = sample::overview();
        overview.project = text.into();
        overview.notices[0].what = text.into();
        overview.notices[0].next = text.into();
        for run in &mut overview.timeline.runs {
            (run.job, run.branch, run.revision) =
                (Some(text.into()), Some(text.into()), Some(text.into()));
        }
        let mut detail = overview.details[sample::WORST].clone();
        detail.failures[0].message = text.into();
        detail.reproduce = Some(text.into());
        overview.details.insert(format!("t::{text}").into(), detail);
        let summary = overview.hunt.as_mut().and_then(|hunt| hunt.summary.as_mut());
        summary.into_iter().for_each(|it| it.cost.stages[0].stage = text.into());
        page(&overview).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_text_adds_an_element(text in "[<>&\"'/!a-z\u{2028}-]{0,40}") {
            let tags = |page: &str| page.matches('<').count();
            prop_assert_eq!(tags(&page_of(&text)), tags(&page_of("plain")));
        }
    }

    #[test]
    fn a_hostile_name_stays_text() {
        let hostile = "t::</script><script>alert(1)</script>\"'\u{202e}<!-- data -->&lt;";
        let mut overview = sample::overview();
        overview.project = hostile.into();
        overview.notices[0].what = hostile.into();
        let detail = overview.details[sample::ONLY_HUNTED].clone();
        overview.details.insert(hostile.into(), detail);
        for run in &mut overview.timeline.runs {
            run.job = Some(hostile.into());
        }
        let page = page(&overview).unwrap();
        assert!(!page.contains("<script>alert"));
        assert_eq!(page.matches("<script").count(), 3);
        assert_eq!(page.matches("</script>").count(), 3);
        let (frame, _) = page.split_once("id=\"data\"").unwrap();
        assert!(!frame.contains('\u{202e}') && frame.contains("⟨U+202E⟩"));
        assert!(page.contains("\\u003c/script\\u003e"));
    }

    #[test]
    fn ten_thousand_tests_in_five_hundred_runs_are_a_page_that_can_be_sent() {
        let page = page(&sample::large_overview(10_000, 500)).unwrap();
        assert!(page.len() < 10_000_000, "{} bytes", page.len());
    }
}
