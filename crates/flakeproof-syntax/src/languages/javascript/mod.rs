//! JavaScript and TypeScript: Jest, Vitest, Mocha, Playwright, `node:test`, Bun and Deno.
//!
//! A test is a call there, not a function: `it("adds", () => …)` inside `describe("sums", …)`.

mod assertions;
mod calls;
mod expressions;
mod flow;
mod imports;
mod outline;
mod statements;
mod suites;
mod verb;

use super::{Grammar, Rules};

pub(super) const JAVASCRIPT: Rules = Rules {
    grammars: &[("js", PLAIN), ("jsx", PLAIN), ("mjs", PLAIN), ("cjs", PLAIN)],
    may_hold_tests,
    outline: outline::outline,
    read_calls: calls::read_calls,
    lower: Some(flow::lower),
};

pub(super) const TYPESCRIPT: Rules = Rules {
    grammars: &[("ts", TYPED), ("tsx", TYPED_JSX), ("mts", TYPED), ("cts", TYPED)],
    may_hold_tests,
    outline: outline::outline,
    read_calls: calls::read_calls,
    lower: Some(flow::lower),
};

const PLAIN: Grammar =
    Grammar { name: "javascript", load: || tree_sitter_javascript::LANGUAGE.into() };
const TYPED: Grammar =
    Grammar { name: "typescript", load: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into() };
const TYPED_JSX: Grammar =
    Grammar { name: "tsx", load: || tree_sitter_typescript::LANGUAGE_TSX.into() };

fn may_hold_tests(path: &str, text: &str) -> bool {
    ["it", "test", "specify"].iter().any(|word| text.contains(word)) && is_test_file(path, text)
}

/// Whether a file is one that runners look at, by its name or by what it imports.
fn is_test_file(path: &str, text: &str) -> bool {
    const FOLDERS: [&str; 6] = ["__tests__", "test", "tests", "e2e", "spec", "cypress"];
    const MODULES: [&str; 6] =
        ["vitest", "@jest/globals", "mocha", "node:test", "@playwright/test", "bun:test"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    [".test.", ".spec.", "_test.", "-test."].iter().any(|mark| name.contains(mark))
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
        || text.contains("Deno.test")
        || MODULES.iter().any(|module| imports(text, module))
}

fn imports(text: &str, module: &str) -> bool {
    text.match_indices(module).any(|(at, _)| {
        let is_quote = |letter: Option<char>| matches!(letter, Some('"' | '\'' | '`'));
        is_quote(text[..at].chars().next_back())
            && is_quote(text[at + module.len()..].chars().next())
    })
}
