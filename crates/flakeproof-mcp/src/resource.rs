//! Resources: the report, a test's history, and the rules of verdicts.

use flakeproof_core::{Overview, TestId};
use flakeproof_report::{OverviewMarkdown, Renderer, test_document};
use percent_encoding::percent_decode_str;
use rmcp::model::{Resource as Listed, ResourceContents, ResourceTemplate};

use crate::project::Trouble;

/// Something that a client can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// What is flaky now and what it costs.
    Report,
    /// When a failure is called what.
    Verdicts,
    /// All that is known about one test.
    Test(TestId),
}

const REPORT: &str = "flakeproof://report";
const VERDICTS: &str = "flakeproof://verdicts";
const TESTS: &str = "flakeproof://tests/";

/// The page of the book.
const RULES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/verdicts.md"));

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Those that have a place of their own.
pub(crate) fn listed() -> Vec<Listed> {
    vec![
        Listed::new(REPORT, "report")
            .with_title("What is flaky now")
            .with_description("The flaky and broken tests of this project and what they cost.")
            .with_mime_type(MARKDOWN),
        Listed::new(VERDICTS, "verdicts")
            .with_title("The rules of verdicts")
            .with_description("When a failure is called flaky, real, unrelated or unknown.")
            .with_mime_type(MARKDOWN),
    ]
}

/// Those that there are many of.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{TESTS}{{test}}"), "test")
            .with_title("A test's history")
            .with_description("All that is known about one test; its id is percent-encoded.")
            .with_mime_type(JSON),
    ]
}

impl Resource {
    /// What is at this address.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        match uri {
            REPORT => Some(Self::Report),
            VERDICTS => Some(Self::Verdicts),
            _ => {
                let id = percent_decode_str(uri.strip_prefix(TESTS)?).decode_utf8().ok()?;
                (!id.is_empty()).then(|| Self::Test(TestId::from(id.as_ref())))
            }
        }
    }

    /// Its contents; `overview` is asked only where something of it is needed.
    pub(crate) fn contents(
        &self,
        uri: &str,
        overview: impl FnOnce() -> Result<Overview, Trouble>,
    ) -> Result<ResourceContents, Trouble> {
        let (text, kind) = match self {
            Self::Verdicts => (RULES.to_owned(), MARKDOWN),
            Self::Report => {
                let bytes = OverviewMarkdown.render(&overview()?).map_err(|it| unwritten(&it))?;
                (String::from_utf8_lossy(&bytes).into_owned(), MARKDOWN)
            }
            Self::Test(id) => {
                let overview = overview()?;
                let document = test_document(&overview, id).ok_or_else(|| {
                    Trouble::new(
                        "no run and no hunt has seen this test",
                        "`list_flaky` shows the flaky tests that are known; ids are whole here",
                    )
                })?;
                (serde_json::to_string(&document).map_err(|it| unwritten(&it))?, JSON)
            }
        };
        Ok(ResourceContents::text(text, uri).with_mime_type(kind))
    }
}

fn unwritten(error: &dyn std::fmt::Display) -> Trouble {
    Trouble::new(format!("the report cannot be made: {error}"), "report this as a bug")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_what_it_names() {
        assert_eq!(Resource::parse("flakeproof://report"), Some(Resource::Report));
        let test = Resource::parse("flakeproof://tests/t.py%3A%3Atest_a%5B1%2F2%5D");
        assert_eq!(test, Some(Resource::Test("t.py::test_a[1/2]".into())));
        for nowhere in ["", "flakeproof://", "flakeproof://tests/", "file:///etc/passwd"] {
            assert_eq!(Resource::parse(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn the_rules_are_those_of_the_book() {
        let nothing = || Err(Trouble::new("not asked", ""));
        let contents = Resource::Verdicts.contents(VERDICTS, nothing).expect("they are embedded");
        let text = serde_json::to_string(&contents).expect("it is JSON");
        assert!(text.contains("Nothing is worse than calling a real failure flaky"), "{text}");
    }
}
