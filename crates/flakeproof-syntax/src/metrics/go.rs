//! Go's words, with those of `testing`, testify and Gomega.

use tree_sitter::Node;

use super::tabled::{Assertion, Import, Vocabulary};
use crate::outline::Reading;
use crate::tree::text_of;

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    statements: &[
        "assignment_statement",
        "break_statement",
        "const_declaration",
        "continue_statement",
        "dec_statement",
        "defer_statement",
        "expression_statement",
        "expression_switch_statement",
        "fallthrough_statement",
        "for_statement",
        "go_statement",
        "goto_statement",
        "if_statement",
        "inc_statement",
        "labeled_statement",
        "return_statement",
        "select_statement",
        "send_statement",
        "short_var_declaration",
        "type_declaration",
        "type_switch_statement",
        "var_declaration",
    ],
    blocks: &[],
    definitions: &[],
    branches: &[
        "communication_case",
        "expression_case",
        "for_statement",
        "if_statement",
        "type_case",
    ],
    is_otherwise: |_, _| false,
    operations: &[
        "assignment_statement",
        "binary_expression",
        "dec_statement",
        "inc_statement",
        "unary_expression",
    ],
    token_trees: &[],
    parentheses: &["expression_list", "parenthesized_expression"],
    members: &[("selector_expression", "field")],
    names: &["identifier", "package_identifier"],
    literals: &[
        "false",
        "float_literal",
        "imaginary_literal",
        "int_literal",
        "interpreted_string_literal",
        "nil",
        "raw_string_literal",
        "rune_literal",
        "true",
    ],
    comments: &["comment"],
    assertion,
    imports: &["import_spec"],
    import_scopes: &["source_file", "import_declaration", "import_spec_list"],
    external,
};

fn assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    let asserts = match function.kind() {
        "identifier" => matches!(text_of(function, text), "Expect" | "Eventually" | "Consistently"),
        "selector_expression" => {
            let of = text_of(function.child_by_field_name("operand")?, text);
            let method = text_of(function.child_by_field_name("field")?, text);
            matches!(of, "assert" | "require")
                || [".Require()", ".Assert()"].iter().any(|suite| of.ends_with(suite))
                || (is_testing(of) && is_failure(method))
        }
        _ => false,
    };
    asserts.then_some(Assertion::Call)
}

/// Whether a value is a `testing.T` or its like, by its usual names.
fn is_testing(name: &str) -> bool {
    matches!(name, "t" | "b" | "f" | "tb" | "tt" | "c") || name.ends_with(".T()")
}

fn is_failure(method: &str) -> bool {
    matches!(method, "Error" | "Errorf" | "Fail" | "FailNow" | "Fatal" | "Fatalf" | "Assert")
}

/// What an import names, from modules other than Go's own, which have no dot before the first
/// slash, and the file's.
///
/// A module is told by three parts of its path: `github.com/stretchr/testify`.
fn external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let Some(path) = node.child_by_field_name("path") else { return Vec::new() };
    let path = text_of(path, reading.text).trim_matches(['"', '`']);
    let host = path.split('/').next().unwrap_or(path);
    let own = reading.layout.go_module(reading.path).map(|(module, _)| module);
    let is_own = own.is_some_and(|own| {
        path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if is_own || !host.contains('.') {
        return Vec::new();
    }
    let parts = if host == "gopkg.in" { 2 } else { 3 };
    let end = path.match_indices('/').nth(parts - 1).map_or(path.len(), |(at, _)| at);
    let name = node
        .child_by_field_name("name")
        .map_or_else(|| package_name(path), |name| text_of(name, reading.text));
    vec![Import { name, package: &path[..end] }]
}

/// The name that a path usually binds: its last part, without a version.
fn package_name(path: &str) -> &str {
    let is_version = |part: &&str| {
        part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let last = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
    let last = last.split(".v").next().unwrap_or(last);
    last.strip_prefix("go-").unwrap_or(last).trim_end_matches("-go").trim_end_matches(".go")
}
