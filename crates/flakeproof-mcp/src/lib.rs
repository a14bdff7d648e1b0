//! `flakeproof mcp`: what is known about flaky tests, and experiments with them, for coding agents.
//!
//! A server of the Model Context Protocol, over standard input and output or over HTTP. Its tools are a
//! closed set ([`Tool`]); all they say and do comes from a [`Project`], which the program fills. Asynchronous
//! code stays behind [`serve_stdio`] and [`HttpServer::serve`].
//!
//! What this room promises: nothing runs unless the user allowed it ([`Permissions`]); an experiment ends with
//! the call that asked for it, with its client and with the server; answers are short, and what tests wrote
//! is marked as data in them ([`UntrustedText`]).

mod answer;
mod asked;
mod cursor;
mod experiment;
mod handler;
mod http;
mod known;
mod project;
mod prompt;
mod reported;
mod resource;
mod shutdown;
mod stdio;
mod tool;
mod untrusted;

pub use answer::{
    CauseAnswer, ExplainAnswer, HuntAnswer, ListAnswer, ListedAs, ListedTest, PredictAnswer,
    ProposeAnswer, ReproAnswer, RunAnswer, TriageAnswer, VerifyAnswer,
};
pub use asked::{
    CauseInput, Experiment, ExplainInput, HuntInput, ListInput, PredictInput, ProposeInput,
    ReproInput, RunInput, TriageInput, VerifyInput,
};
pub use experiment::{Ended, Stop};
pub use http::{HttpServer, HttpSettings, TokenCheck};
pub use project::{Answered, Explained, Permissions, Predicted, Project, Trouble};
pub use shutdown::{Shutdown, Stopper, shutdown};
pub use stdio::serve_stdio;
pub use tool::Tool;
pub use untrusted::UntrustedText;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Others could reach the server, and nothing keeps them out.
    #[error("{address} can be reached from other machines, and there is no token")]
    Exposed {
        /// The address that was asked for.
        address: std::net::SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: std::net::SocketAddr,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The operating system refuses what a server needs.
    #[error("cannot run a server")]
    Run(#[from] std::io::Error),
    /// The client did not begin as the protocol has it.
    #[error("the client did not introduce itself: {0}")]
    Greeting(String),
}
