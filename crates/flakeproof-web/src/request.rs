//! From a request to its answer, and what the headers and addresses of a request say, decoded.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use flakeproof_report::{AtomFeed, JsonFeed};
use http_body_util::Full;
use hyper::header::{HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use crate::answer::{Answer, Body, BodyKind, Problem};
use crate::gate::Gate;
use crate::listing::Choice;
use crate::open_api::api_page;
use crate::route::{ATOM_FEED, JSON_FEED};
use crate::source::{Live, Snapshot, json_body};
use crate::{Route, Source, open_api};

/// Answers requests.
pub(crate) struct Responder<S> {
    gate: Gate,
    live: Live<S>,
    open_api: Arc<Body>,
    api_page: Arc<Body>,
}

impl<S: Source> Responder<S> {
    /// Answer whom the gate lets in with what the source has.
    pub(crate) fn new(gate: Gate, source: S) -> Self {
        let description = open_api();
        let text = format!("{description:#}\n").into_bytes();
        Self {
            gate,
            live: Live::new(source),
            api_page: Arc::new(Body::new(BodyKind::Page, api_page(&description).into_bytes())),
            open_api: Arc::new(Body::new(BodyKind::Json, text)),
        }
    }

    /// The response to a request.
    pub(crate) async fn respond(self: Arc<Self>, request: Parts) -> Response<Full<Bytes>> {
        let headers = request.headers.clone();
        let answer = match self.gate.check(&request) {
            Err(answer) => answer,
            // Reading the history and drawing it may take a while, and other requests must not wait.
            Ok(()) => tokio::task::spawn_blocking(move || self.answer(&request))
                .await
                .unwrap_or_else(|_| Err(Problem::broken("the answer could not be made")))
                .unwrap_or_else(|problem| problem.answer()),
        };
        answer.response(&headers)
    }

    fn answer(&self, request: &Parts) -> Result<Answer, Problem> {
        let path = request.uri.path();
        let (route, id) = Route::parse(path).ok_or_else(|| {
            let next = "open `/` for the report, or `/api` for what can be asked";
            Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address", next)
        })?;
        let id = id.unwrap_or_default();
        Ok(match route {
            Route::ApiPage => Answer::found(Arc::clone(&self.api_page)),
            Route::OpenApi => Answer::found(Arc::clone(&self.open_api)),
            Route::TestLink => Answer::elsewhere(format!("/#test={}", encoded(&id))),
            Route::Page => Answer::found(self.live.latest()?.page()?).with(header::LINK, feeds()),
            Route::JsonFeed => {
                Answer::found(self.live.latest()?.feed(&JsonFeed, BodyKind::JsonFeed)?)
            }
            Route::AtomFeed => {
                Answer::found(self.live.latest()?.feed(&AtomFeed, BodyKind::AtomFeed)?)
            }
            Route::Overview => Answer::found(self.live.latest()?.whole()),
            Route::Tests => tests(&*self.live.latest()?, request.uri.query().unwrap_or_default())?,
            Route::Test => Answer::found(self.live.latest()?.test(&id).ok_or_else(no_such_test)?),
            Route::Runs => list(&*self.live.latest()?, "runs"),
            Route::Clusters => list(&*self.live.latest()?, "clusters"),
            Route::Outages => list(&*self.live.latest()?, "outages"),
            Route::Health => {
                self.live.latest()?;
                Answer::found(json_body(&json!({ "status": "ok" })))
            }
        })
    }
}

/// Where a reader finds the feeds of the page.
fn feeds() -> String {
    let feed =
        |route: Route, kind| format!("<{}>; rel=\"alternate\"; type=\"{kind}\"", route.path());
    [feed(Route::JsonFeed, JSON_FEED), feed(Route::AtomFeed, ATOM_FEED)].join(", ")
}

fn no_such_test() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "no test with this id is in the history",
        "send the id percent-encoded; `/api/v1/tests?q=…` finds ids by a part of them",
    )
}

fn tests(snapshot: &Snapshot, query: &str) -> Result<Answer, Problem> {
    let (page, next) = Choice::parse(query)?.page_of(snapshot.list("tests"))?;
    let answer = Answer::found(json_body(&page));
    Ok(match next {
        Some(next) => {
            let link = format!("<{}?{next}>; rel=\"next\"", Route::Tests.path());
            answer.with(header::LINK, link)
        }
        None => answer,
    })
}

fn list(snapshot: &Snapshot, name: &str) -> Answer {
    let list: &[Value] = snapshot.list(name);
    Answer::found(json_body(&json!({ "schema": 1, name: list })))
}

/// What stays as it is within a part of an address.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &PLAIN).to_string()
}

/// A part of an address as text; `None` if it is no UTF-8.
pub(crate) fn decoded(part: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(part).decode_utf8().ok()
}

/// The names and values of a query, in its order; `None` if one is no UTF-8.
pub(crate) fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let text = |part: &str| decoded(&part.replace('+', " ")).map(Cow::into_owned);
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Some((text(name)?, text(value)?))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// Whether the client can unpack gzip, and wants it.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    listed(headers, header::ACCEPT_ENCODING).any(|word| {
        let (coding, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        coding.trim().eq_ignore_ascii_case("gzip")
            && weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0)
    })
}

/// Whether the client has the body with this name, packed or not.
pub(crate) fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    listed(headers, header::IF_NONE_MATCH).any(|word| {
        let name = word.strip_prefix("W/").unwrap_or(word).trim_matches('"');
        word == "*" || name.strip_suffix("-gzip").unwrap_or(name) == tag
    })
}

/// The words of a header that is a list.
fn listed(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn gzip_is_sent_only_to_those_who_ask_for_it() {
        for yes in ["gzip", "br, GZIP", "deflate,gzip;q=0.5"] {
            assert!(takes_gzip(&with(header::ACCEPT_ENCODING, yes)), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip;q=0.0", "gzipped", "identity"] {
            assert!(!takes_gzip(&with(header::ACCEPT_ENCODING, no)), "{no}");
        }
    }

    #[test]
    fn a_body_is_known_by_any_form_of_its_name() {
        for yes in ["\"a\"", "W/\"a\"", "\"b\", \"a-gzip\"", "*"] {
            assert!(has_tag(&with(header::IF_NONE_MATCH, yes), "a"), "{yes}");
        }
        assert!(!has_tag(&with(header::IF_NONE_MATCH, "\"ab\", \"\""), "a"));
    }

    #[test]
    fn a_query_is_split_before_it_is_decoded() {
        let pairs = pairs("q=a%26b+c&&limit=5&x").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs, [pair("q", "a&b c"), pair("limit", "5"), pair("x", "")]);
    }

    proptest! {
        #[test]
        fn every_text_survives_an_address(text in ".*") {
            let encoded = encoded(&text);
            prop_assert_eq!(decoded(&encoded).unwrap(), text);
        }
    }
}
