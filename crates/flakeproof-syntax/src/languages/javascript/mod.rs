//! JavaScript and TypeScript: Jest, Vitest, Mocha, Playwright, `node:test`, Bun and Deno.
//!
//! A test is a call there, not a function: `it("adds", () => …)` inside `describe("sums", …)`.

mod expressions;
mod flow;
mod outline;
mod statements;
mod suites;

use crate::language::{Grammar, Rules};

pub(crate) const JAVASCRIPT: Rules = Rules {
    grammars: &[("js", PLAIN), ("jsx", PLAIN), ("mjs", PLAIN), ("cjs", PLAIN)],
    may_hold_tests: outline::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};

pub(crate) const TYPESCRIPT: Rules = Rules {
    grammars: &[("ts", TYPED), ("tsx", TYPED_JSX), ("mts", TYPED), ("cts", TYPED)],
    may_hold_tests: outline::may_hold_tests,
    outline: outline::outline,
    read_calls: outline::read_calls,
    lower: Some(flow::lower),
};

const PLAIN: Grammar =
    Grammar { name: "javascript", load: || tree_sitter_javascript::LANGUAGE.into() };
const TYPED: Grammar =
    Grammar { name: "typescript", load: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into() };
const TYPED_JSX: Grammar =
    Grammar { name: "tsx", load: || tree_sitter_typescript::LANGUAGE_TSX.into() };
