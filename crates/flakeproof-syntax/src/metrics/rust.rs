//! Rust's words. What stands in a macro is nothing but tokens to the grammar: operators there are
//! told by what stands beside them.

use tree_sitter::Node;

use super::tabled::{Assertion, Import, Vocabulary};
use crate::outline::Reading;
use crate::tree::{Agenda, children, text_of};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    statements: &[],
    blocks: &["block", "declaration_list", "else_clause"],
    definitions: &["function_item", "impl_item", "mod_item", "trait_item"],
    branches: &[
        "for_expression",
        "if_expression",
        "loop_expression",
        "match_arm",
        "while_expression",
    ],
    is_otherwise: |node, text| {
        let pattern = node.child_by_field_name("pattern");
        let pattern = pattern.map_or("", |pattern| text_of(pattern, text));
        node.kind() == "match_arm" && pattern.split_whitespace().next() == Some("_")
    },
    operations: &["binary_expression", "compound_assignment_expr", "unary_expression"],
    token_trees: &["token_tree"],
    parentheses: &["parenthesized_expression"],
    members: &[("field_expression", "field"), ("scoped_identifier", "name")],
    names: &["identifier", "type_identifier"],
    literals: &[
        "boolean_literal",
        "char_literal",
        "float_literal",
        "integer_literal",
        "raw_string_literal",
        "self",
        "string_literal",
    ],
    comments: &["block_comment", "line_comment"],
    assertion,
    imports: &["use_declaration"],
    import_scopes: &["source_file", "mod_item", "declaration_list"],
    external,
};

/// `assert!` and its like are part of the language, and branches as `assert` is in Python.
fn assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    if node.kind() != "macro_invocation" {
        return None;
    }
    let path = text_of(node.child_by_field_name("macro")?, text);
    let name = path.rsplit("::").next().unwrap_or(path);
    let asserts =
        ["assert", "debug_assert", "prop_assert"].iter().any(|prefix| name.starts_with(prefix));
    (asserts || name == "panic").then_some(Assertion::Statement)
}

/// The names that a `use` binds, from crates other than Rust's own and the file's.
///
/// A crate that is only named in a path (`serde_json::to_string`) is not seen: it cannot be told
/// from a module of the project.
fn external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let Some(argument) = node.child_by_field_name("argument") else { return Vec::new() };
    let mut imports = Vec::new();
    let mut agenda = Agenda::new();
    agenda.push([(argument, None)]);
    while let Some((node, package)) = agenda.next() {
        let text = text_of(node, reading.text);
        let first = text.trim_start_matches("::").split("::").next().unwrap_or(text).trim();
        let package = package.or(Some(first));
        match node.kind() {
            "scoped_use_list" => {
                let list = node.child_by_field_name("list");
                agenda.push(list.map(|list| (list, package)));
            }
            "use_list" => {
                agenda.push(children(node).into_iter().filter(Node::is_named).map(|child| {
                    // The list outermost in `use {a::b, c}` has no crate in front of it.
                    (child, package.filter(|package| !package.starts_with('{')))
                }));
            }
            "use_as_clause" | "identifier" | "scoped_identifier" | "self" => {
                let named = node.child_by_field_name("alias").or(node.child_by_field_name("name"));
                let name = named.map_or(text, |name| text_of(name, reading.text));
                imports.extend(package.map(|package| {
                    let name = if name == "self" { package } else { name };
                    Import { name, package }
                }));
            }
            _ => {}
        }
    }
    let own = reading.layout.crate_of(reading.path).map(|(name, _)| name);
    imports.retain(|import| {
        let is_standard = ["std", "core", "alloc", "proc_macro", "test"].contains(&import.package);
        let is_own = ["crate", "self", "super"].contains(&import.package);
        !is_standard && !is_own && Some(import.package) != own
    });
    imports
}
