//! Rust: `cargo test`, and the attributes that end in it.

mod assertions;
mod control;
mod expressions;
mod flow;
mod imports;
mod macros;
mod outline;
mod patterns;
mod statements;

use super::{Grammar, Rules};

pub(super) const RULES: Rules = Rules {
    grammars: &[("rs", Grammar { name: "rust", load: || tree_sitter_rust::LANGUAGE.into() })],
    may_hold_tests: outline::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};
