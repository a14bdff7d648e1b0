//! Talking to the agents inside the users' runtimes.

mod hub;
pub mod protocol;

pub(crate) use hub::{Arrival, Connection, Hub};
