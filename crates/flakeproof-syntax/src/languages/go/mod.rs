//! Go: `go test`, and suites of testify and gocheck.

mod expressions;
mod flow;
mod outline;

use crate::language::{Grammar, Rules};

pub(crate) const GO: Rules = Rules {
    grammars: &[("go", Grammar { name: "go", load: || tree_sitter_go::LANGUAGE.into() })],
    may_hold_tests: outline::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};
