//! Findings and predictions in, bytes out.
//!
//! A [`Renderer`] turns [`Findings`](flakeproof_core::Findings), what a run found out,
//! [`HuntFindings`](flakeproof_core::HuntFindings), what a hunt found out,
//! [`FixFindings`](flakeproof_core::FixFindings), whether a test is mended,
//! [`PatchFindings`](flakeproof_core::PatchFindings), what mends it, or
//! [`Predictions`](flakeproof_core::Predictions), what a model says without a run, into the bytes
//! of one format: [`Json`] for programs, [`GithubSummary`] for runs and hunts and, except for hunts,
//! [`GithubAnnotations`] for GitHub Actions. Findings can also be [`JunitXml`], for continuous
//! integration servers, and predictions [`Sarif`], for tools that show code. [`words`] says in
//! English what they mean, for every format that people read. A [`graph`] of one test can be drawn
//! as JSON, [`Dot`](graph::Dot) and [`Svg`](svg::Svg).
//!
//! An [`Overview`](flakeproof_core::Overview), all that is known about a project's tests, is one
//! self-contained [`page`], [`Json`] (and a [`TestDocument`] for one test), a comment on a pull
//! request ([`OverviewMarkdown`]), a [`GithubSummary`], and for GitLab a [`GitlabNote`] and
//! [`GitlabCodeQuality`]. What is new in it is a feed ([`JsonFeed`], [`AtomFeed`]).
//!
//! This crate does no I/O and reads no clock and no environment variables: the same subject gives
//! the same bytes, whether it comes from a run or from the history.

mod failure_groups;
mod feed;
mod github;
mod gitlab;
pub mod graph;
mod html;
mod json;
mod junit;
mod markdown;
mod overview;
mod renderer;
#[cfg(test)]
mod sample;
mod sarif;
pub mod svg;
pub mod words;

pub use feed::{AtomFeed, JsonFeed, NewsFacts, NewsItem, news_items};
pub use github::{GithubAnnotations, GithubSummary};
pub use gitlab::{GitlabCodeQuality, GitlabNote};
pub use html::{CONTENT_SECURITY_POLICY, Html, page};
pub use json::{
    ClusterDocument, Json, OverviewDocument, TestDocument, cause_schema, fix_schema, graph_schema,
    hunt_schema, json_schema, overview_document, overview_schema, prediction_schema, test_document,
    test_schema, verify_schema,
};
pub use junit::JunitXml;
pub use markdown::OverviewMarkdown;
pub use renderer::{Error, Renderer};
pub use sarif::Sarif;
