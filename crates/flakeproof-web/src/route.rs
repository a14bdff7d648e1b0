//! The addresses that the server knows, a closed set, and what each is for, in words: for the API's
//! description and for the page that shows it.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::{listing, request};

/// The name of the only parameter that is part of a path.
pub(crate) const ID: &str = "id";

/// An address that the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The report as a page.
    Page,
    /// What is new, as a JSON Feed.
    JsonFeed,
    /// What is new, as an Atom feed.
    AtomFeed,
    /// A test, as a link into the page.
    TestLink,
    /// The API's description as a page.
    ApiPage,
    /// The API's description for programs.
    OpenApi,
    /// All that is known, each test in short.
    Overview,
    /// A choice of the tests.
    Tests,
    /// One test in full.
    Test,
    /// The runs of the history.
    Runs,
    /// Runs in which many tests failed together.
    Outages,
    /// Tests that fail together.
    Clusters,
    /// Whether the history can be read.
    Health,
}

impl Route {
    /// Every address.
    pub const ALL: [Self; 13] = [
        Self::Page,
        Self::JsonFeed,
        Self::AtomFeed,
        Self::TestLink,
        Self::ApiPage,
        Self::OpenApi,
        Self::Overview,
        Self::Tests,
        Self::Test,
        Self::Runs,
        Self::Outages,
        Self::Clusters,
        Self::Health,
    ];

    /// The address, with `{id}` where a test's id stands.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Page => "/",
            Self::JsonFeed => "/feed.json",
            Self::AtomFeed => "/feed.atom",
            Self::TestLink => "/tests/{id}",
            Self::ApiPage => "/api",
            Self::OpenApi => "/api/openapi.json",
            Self::Overview => "/api/v1/overview",
            Self::Tests => "/api/v1/tests",
            Self::Test => "/api/v1/tests/{id}",
            Self::Runs => "/api/v1/runs",
            Self::Outages => "/api/v1/outages",
            Self::Clusters => "/api/v1/clusters",
            Self::Health => "/health",
        }
    }

    /// What a path as it was sent means, and the test it names.
    ///
    /// An id is everything after the address, so that it may have slashes and dots in it: it is looked
    /// up among the tests and never in a file system.
    pub(crate) fn parse(path: &str) -> Option<(Self, Option<Cow<'_, str>>)> {
        let named = |route: &Self| {
            let start = route.path().strip_suffix("{id}")?;
            let id = path.strip_prefix(start).filter(|id| !id.is_empty())?;
            Some((*route, Some(request::decoded(id)?)))
        };
        let plain = Self::ALL.iter().find(|route| route.path() == path);
        plain.map(|route| (*route, None)).or_else(|| Self::ALL.iter().find_map(named))
    }
}

/// What an address is for.
pub(crate) struct Description {
    /// In a few words.
    pub(crate) summary: &'static str,
    /// What can be asked.
    pub(crate) parameters: Vec<Parameter>,
    /// What comes back.
    pub(crate) reply: Reply,
}

/// Something that can be asked.
pub(crate) struct Parameter {
    /// Its name in the address.
    pub(crate) name: &'static str,
    /// What it means.
    pub(crate) what: &'static str,
    /// Its JSON schema.
    pub(crate) schema: Value,
}

/// What comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A page.
    Page,
    /// A hint to look elsewhere.
    Elsewhere,
    /// A feed of this media type.
    Feed(&'static str),
    /// A document with this schema.
    Document(&'static str),
}

/// The media type of a JSON Feed.
pub(crate) const JSON_FEED: &str = "application/feed+json";
/// The media type of an Atom feed.
pub(crate) const ATOM_FEED: &str = "application/atom+xml";

impl Description {
    /// What an address is for.
    pub(crate) fn new(route: Route) -> Self {
        let (summary, reply) = match route {
            Route::Page => ("The report as a page", Reply::Page),
            Route::JsonFeed => ("What is new, as a JSON Feed", Reply::Feed(JSON_FEED)),
            Route::AtomFeed => ("What is new, as an Atom feed", Reply::Feed(ATOM_FEED)),
            Route::TestLink => ("A link to one test on the page", Reply::Elsewhere),
            Route::ApiPage => ("This page", Reply::Page),
            Route::OpenApi => ("This description for programs", Reply::Document("OpenApi")),
            Route::Overview => {
                ("All that is known, each test in short", Reply::Document("Overview"))
            }
            Route::Tests => ("A choice of the tests, page by page", Reply::Document("TestList")),
            Route::Test => ("One test in full", Reply::Document("Test")),
            Route::Runs => ("The runs of the history, oldest first", Reply::Document("RunList")),
            Route::Outages => {
                ("Runs in which many tests failed together", Reply::Document("OutageList"))
            }
            Route::Clusters => {
                ("Tests that fail together beyond chance", Reply::Document("ClusterList"))
            }
            Route::Health => ("Whether the history can be read", Reply::Document("Health")),
        };
        let parameters = match route {
            Route::TestLink | Route::Test => vec![id_parameter()],
            Route::Tests => choice_parameters(),
            Route::Page
            | Route::JsonFeed
            | Route::AtomFeed
            | Route::ApiPage
            | Route::OpenApi
            | Route::Overview
            | Route::Runs
            | Route::Outages
            | Route::Clusters
            | Route::Health => Vec::new(),
        };
        Self { summary, parameters, reply }
    }
}

fn id_parameter() -> Parameter {
    let what = "The test's id, percent-encoded";
    Parameter { name: ID, what, schema: json!({ "type": "string", "minLength": 1 }) }
}

fn choice_parameters() -> Vec<Parameter> {
    let standings = listing::standing_words();
    let sorts = listing::sort_words();
    vec![
        Parameter {
            name: "standing",
            what: "Only tests of these standings, separated by commas",
            schema: json!({ "type": "array", "items": { "enum": standings } }),
        },
        Parameter {
            name: "q",
            what: "Only tests whose id has all these words, in capital or small letters",
            schema: json!({ "type": "string" }),
        },
        Parameter {
            name: "owner",
            what: "Only tests that this user or team owns",
            schema: json!({ "type": "string" }),
        },
        Parameter {
            name: "sort",
            what: "What to sort by: ids upwards, all else from the greatest down",
            schema: json!({ "enum": sorts, "default": "id" }),
        },
        Parameter {
            name: "limit",
            what: "How many tests to show",
            schema: json!({ "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }),
        },
        Parameter {
            name: "after",
            what: "Go on after this test: `next` of the page before",
            schema: json!({ "type": "string" }),
        },
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_may_have_slashes_brackets_and_dots() {
        let (route, id) = Route::parse("/api/v1/tests/tests/../a.py%3A%3Ax%5B%2F%5D").unwrap();
        assert_eq!((route, id.unwrap().as_ref()), (Route::Test, "tests/../a.py::x[/]"));
    }

    #[test]
    fn an_address_is_known_only_as_a_whole() {
        for path in
            ["", "//", "/api/", "/api/v1", "/tests/", "/api/v1/tests/", "/tests/%ff", "/x", "*"]
        {
            assert_eq!(Route::parse(path), None, "{path}");
        }
        for route in Route::ALL {
            assert_eq!(Route::parse(route.path()).unwrap().0, route);
        }
    }

    proptest! {
        #[test]
        fn every_id_is_found_again(id in ".+") {
            let path = format!("/api/v1/tests/{}", request::encoded(&id));
            prop_assert_eq!(Route::parse(&path), Some((Route::Test, Some(id.into()))));
        }
    }
}
