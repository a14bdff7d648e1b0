//! Talking to the agents inside the users' runtimes.

mod hub;
pub mod protocol;
mod unpack;

pub(crate) use hub::{Arrival, Connection, Hub};
pub(crate) use unpack::{AgentFile, cache_folder, unpack};
