//! `flakeproof serve`: the pages of a report and a JSON API over the live history.
//!
//! The server only reads. It answers `GET` and `HEAD`, turns no path into a file name, and gets all it
//! shows from a [`Source`], which the program fills from a history opened for reading. On a loopback
//! address it answers only to loopback names; bound elsewhere it refuses to start without a
//! [`Token`].
//!
//! A [`Webhook`] is the other direction: what is new, sent to an address of the user's, signed.
//!
//! Beside that for coding agents this is the only room that speaks HTTP, and has asynchronous code, which
//! stays behind [`Server::serve`]. Routes are a closed set ([`Route`]), so they are an enum and not a framework's
//! table: the description of the API cannot miss one.

mod answer;
mod gate;
mod listing;
mod open_api;
mod request;
mod route;
mod server;
mod source;
mod token;
mod webhook;

pub use open_api::open_api;
pub use route::Route;
pub use server::{Error, Limits, Server, Settings, Shutdown, Stopper, shutdown};
pub use source::{Source, SourceError, Stamp};
pub use token::{Token, TokenError};
pub use webhook::{Delivery, Secret, Tries, Webhook, WebhookError};
