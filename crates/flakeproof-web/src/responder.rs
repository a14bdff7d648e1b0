//! From a request to its answer.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode, header};
use serde_json::{Value, json};

use crate::answer::{Answer, Body, BodyKind, Problem};
use crate::gate::Gate;
use crate::listing::Choice;
use crate::open_api::api_page;
use crate::source::{Live, Snapshot, json_body};
use crate::{Route, Source, encoding, open_api};

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
            Route::TestLink => Answer::elsewhere(format!("/#test={}", encoding::encoded(&id))),
            Route::Page => Answer::found(self.live.latest()?.page()?),
            Route::Overview => Answer::found(self.live.latest()?.whole()),
            Route::Tests => tests(&*self.live.latest()?, request.uri.query().unwrap_or_default())?,
            Route::Test => Answer::found(self.live.latest()?.test(&id).ok_or_else(no_such_test)?),
            Route::Runs => list(&*self.live.latest()?, "runs"),
            Route::Outages => list(&*self.live.latest()?, "outages"),
            Route::Health => {
                self.live.latest()?;
                Answer::found(json_body(&json!({ "status": "ok" })))
            }
        })
    }
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
