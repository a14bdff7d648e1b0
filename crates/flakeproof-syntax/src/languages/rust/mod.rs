//! Rust: `cargo test`, and the attributes that end in it.

mod expressions;
mod flow;
mod outline;
mod statements;

use crate::language::{Grammar, Rules};

pub(crate) const RUST: Rules = Rules {
    grammars: &[("rs", Grammar { name: "rust", load: || tree_sitter_rust::LANGUAGE.into() })],
    may_hold_tests: outline::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};
