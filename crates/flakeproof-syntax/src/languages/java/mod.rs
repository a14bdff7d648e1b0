//! Java: JUnit 3, 4 and 5, and TestNG.

mod expressions;
mod flow;
mod outline;
mod statements;

use super::junit;
use crate::language::{Grammar, Rules};

pub(crate) const JAVA: Rules = Rules {
    grammars: &[("java", Grammar { name: "java", load: || tree_sitter_java::LANGUAGE.into() })],
    may_hold_tests: junit::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};
