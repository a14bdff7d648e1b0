//! What each address is for, in words: for the API's description and for the page that shows it.

use serde_json::{Value, json};

use crate::{Route, listing};

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
    /// A document with this schema.
    Document(&'static str),
}

impl Description {
    /// What an address is for.
    pub(crate) fn of(route: Route) -> Self {
        let (summary, reply) = match route {
            Route::Page => ("The report as a page", Reply::Page),
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
            Route::Health => ("Whether the history can be read", Reply::Document("Health")),
        };
        let parameters = match route {
            Route::TestLink | Route::Test => vec![id()],
            Route::Tests => choice(),
            Route::Page
            | Route::ApiPage
            | Route::OpenApi
            | Route::Overview
            | Route::Runs
            | Route::Outages
            | Route::Health => Vec::new(),
        };
        Self { summary, parameters, reply }
    }
}

/// The name of the only parameter that is part of a path.
pub(crate) const ID: &str = "id";

fn id() -> Parameter {
    let what = "The test's id, percent-encoded";
    Parameter { name: ID, what, schema: json!({ "type": "string", "minLength": 1 }) }
}

fn choice() -> Vec<Parameter> {
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
