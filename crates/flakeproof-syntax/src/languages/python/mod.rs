//! Python: pytest and unittest.

mod expressions;
mod flow;
mod outline;

use crate::language::{Grammar, Rules};

pub(crate) const PYTHON: Rules = Rules {
    grammars: &[("py", Grammar { name: "python", load: || tree_sitter_python::LANGUAGE.into() })],
    may_hold_tests: outline::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};
