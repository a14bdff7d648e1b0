//! The words of JavaScript and TypeScript, with those of Jest, Vitest, Chai, Playwright and
//! `node:assert`.

use tree_sitter::Node;

use super::tabled::{Assertion, Import, Vocabulary};
use crate::outline::Reading;
use crate::tree::{child_of_kind, for_each_below, text_of};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    statements: &[
        "break_statement",
        "class_declaration",
        "continue_statement",
        "debugger_statement",
        "do_statement",
        "expression_statement",
        "for_in_statement",
        "for_statement",
        "function_declaration",
        "generator_function_declaration",
        "if_statement",
        "interface_declaration",
        "labeled_statement",
        "lexical_declaration",
        "method_definition",
        "return_statement",
        "switch_statement",
        "throw_statement",
        "try_statement",
        "type_alias_declaration",
        "using_declaration",
        "variable_declaration",
        "while_statement",
        "with_statement",
    ],
    blocks: &[],
    definitions: &[
        "class",
        "class_declaration",
        "function_declaration",
        "generator_function_declaration",
    ],
    branches: &[
        "catch_clause",
        "do_statement",
        "for_in_statement",
        "for_statement",
        "if_statement",
        "switch_case",
        "ternary_expression",
        "while_statement",
    ],
    is_otherwise: |_, _| false,
    operations: &[
        "augmented_assignment_expression",
        "binary_expression",
        "unary_expression",
        "update_expression",
    ],
    token_trees: &[],
    parentheses: &["parenthesized_expression"],
    members: &[("member_expression", "property")],
    names: &["identifier", "shorthand_property_identifier", "type_identifier"],
    literals: &["false", "null", "number", "regex", "string", "this", "true", "undefined"],
    comments: &["comment", "html_comment"],
    assertion,
    imports: &[
        "call_expression",
        "import_statement",
        "lexical_declaration",
        "variable_declaration",
    ],
    import_scopes: &["program"],
    external,
};

/// The modules that Node brings along; `node:` before a name says so too.
const NODE: [&str; 41] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

fn assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    let name = text_of(function, text);
    let asserts = match function.kind() {
        "identifier" => name == "expect" || name == "fail" || name.starts_with("assert"),
        "member_expression" => {
            let object = text_of(function.child_by_field_name("object")?, text);
            let property = text_of(function.child_by_field_name("property")?, text);
            object == "assert"
                || object.ends_with(".assert")
                || object.ends_with(".should")
                || (object == "expect" && matches!(property, "soft" | "poll" | "fail"))
        }
        _ => false,
    };
    asserts.then_some(Assertion::Call)
}

fn external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    match node.kind() {
        "import_statement" => {
            let source = node.child_by_field_name("source");
            source.map_or_else(Vec::new, |source| bound(node, source, reading))
        }
        "call_expression" => loaded(node, reading.text)
            .and_then(|source| package(source, reading.text))
            .map_or_else(Vec::new, |package| vec![Import { name: "", package }]),
        _ => declared(node, reading),
    }
}

/// `const { a, b } = require("c")`.
fn declared<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let mut cursor = node.walk();
    let mut imports = Vec::new();
    for declarator in node.named_children(&mut cursor) {
        let (Some(pattern), Some(value)) =
            (declarator.child_by_field_name("name"), declarator.child_by_field_name("value"))
        else {
            continue;
        };
        let value = match value.kind() {
            // `require("c").d`, `await import("c")`
            "member_expression" => value.child_by_field_name("object").unwrap_or(value),
            "await_expression" => value.named_child(0).unwrap_or(value),
            _ => value,
        };
        if let Some(source) = loaded(value, reading.text) {
            imports.extend(bound(pattern, source, reading));
        }
    }
    imports
}

/// The string that `require` or `import` is called with.
fn loaded<'t>(call: Node<'t>, text: &str) -> Option<Node<'t>> {
    let function = call.child_by_field_name("function")?;
    let loads =
        call.kind() == "call_expression" && matches!(text_of(function, text), "require" | "import");
    let arguments = call.child_by_field_name("arguments").filter(|_| loads)?;
    child_of_kind(arguments, &["string"])
}

/// All names in a clause or pattern, bound to a package from outside.
fn bound<'a>(names: Node<'_>, source: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let Some(package) = package(source, reading.text) else { return Vec::new() };
    let mut imports = Vec::new();
    for_each_below(names, |node| {
        if matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern") {
            imports.push(Import { name: text_of(node, reading.text), package });
        }
    });
    imports
}

/// The package that a specifier names: `a` of `a/b`, `@a/b` of `@a/b/c`. Nothing for the project's
/// own files, whether by a relative path or by a usual alias, and for Node's modules.
fn package<'a>(source: Node<'_>, text: &'a str) -> Option<&'a str> {
    let specifier = text_of(source, text).trim_matches(['\'', '"']);
    let is_own = specifier.is_empty() || specifier.starts_with(['.', '/', '~', '#']);
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    let package = specifier.get(..end)?;
    let is_alias = package.starts_with("@/");
    let is_standard = specifier.starts_with("node:") || NODE.contains(&package);
    (!is_own && !is_alias && !is_standard).then_some(package)
}
