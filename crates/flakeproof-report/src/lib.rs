//! Findings in, bytes out.
//!
//! A [`Renderer`] turns [`Findings`](flakeproof_core::Findings) into the bytes of one format:
//! [`Json`] for programs, [`JunitXml`] for continuous integration servers,
//! [`GithubAnnotations`] and [`GithubSummary`] for GitHub Actions. [`words`] says in English what
//! the findings mean, for every format that people read.
//!
//! This crate does no I/O and reads no clock and no environment variables: the same findings give
//! the same bytes, whether they come from a run or from the history.

mod github;
mod json;
mod junit;
mod renderer;
#[cfg(test)]
mod sample;
pub mod words;

pub use github::{GithubAnnotations, GithubSummary};
pub use json::{Json, json_schema};
pub use junit::JunitXml;
pub use renderer::{Error, Renderer};
