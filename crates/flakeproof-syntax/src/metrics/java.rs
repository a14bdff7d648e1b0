//! Java's words, with those of JUnit, TestNG, AssertJ, Hamcrest, Truth and Mockito.

use tree_sitter::Node;

use super::tabled::{Assertion, Import, Vocabulary};
use crate::outline::Reading;
use crate::tree::{child_of_kind, text_of};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    statements: &[
        "assert_statement",
        "break_statement",
        "class_declaration",
        "continue_statement",
        "do_statement",
        "enhanced_for_statement",
        "expression_statement",
        "for_statement",
        "if_statement",
        "labeled_statement",
        "local_variable_declaration",
        "method_declaration",
        "record_declaration",
        "return_statement",
        "switch_expression",
        "synchronized_statement",
        "throw_statement",
        "try_statement",
        "try_with_resources_statement",
        "while_statement",
        "yield_statement",
    ],
    blocks: &[],
    definitions: &["class_body", "class_declaration", "record_declaration"],
    branches: &[
        "catch_clause",
        "do_statement",
        "enhanced_for_statement",
        "for_statement",
        "if_statement",
        "switch_label",
        "ternary_expression",
        "while_statement",
    ],
    is_otherwise: |node, text| {
        node.kind() == "switch_label" && text_of(node, text).contains("default")
    },
    operations: &[
        "assignment_expression",
        "binary_expression",
        "instanceof_expression",
        "unary_expression",
        "update_expression",
    ],
    token_trees: &[],
    parentheses: &["parenthesized_expression"],
    members: &[("field_access", "field"), ("method_invocation", "name")],
    names: &["identifier", "type_identifier"],
    literals: &[
        "binary_integer_literal",
        "character_literal",
        "decimal_floating_point_literal",
        "decimal_integer_literal",
        "false",
        "hex_floating_point_literal",
        "hex_integer_literal",
        "null_literal",
        "octal_integer_literal",
        "string_literal",
        "this",
        "true",
    ],
    comments: &["block_comment", "line_comment"],
    assertion,
    imports: &["import_declaration"],
    import_scopes: &["program"],
    external,
};

fn assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    match node.kind() {
        "assert_statement" => Some(Assertion::Statement),
        "method_invocation" => {
            let name = text_of(node.child_by_field_name("name")?, text);
            let asserts =
                name.starts_with("assert") || name.starts_with("verify") || name == "fail";
            asserts.then_some(Assertion::Call)
        }
        _ => None,
    }
}

/// What an import names, from packages other than those of Java itself and of the file.
///
/// A library is told by at most three parts of a package: `org.mockito`, `com.google.common`.
fn external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let imported = child_of_kind(node, &["scoped_identifier"]);
    let Some(path) = imported.map(|path| text_of(path, reading.text)) else { return Vec::new() };
    let package = library(path);
    let is_standard = ["java.", "javax.", "jdk.", "sun.", "com.sun."]
        .iter()
        .any(|prefix| path.starts_with(prefix));
    let own = child_of_kind(reading.root, &["package_declaration"])
        .and_then(|declaration| child_of_kind(declaration, &["scoped_identifier", "identifier"]))
        .map(|name| library(text_of(name, reading.text)));
    let name = path.rsplit('.').next().unwrap_or(path);
    match is_standard || own == Some(package) {
        true => Vec::new(),
        false => vec![Import { name, package }],
    }
}

fn library(path: &str) -> &str {
    let is_package = |part: &&str| !part.starts_with(char::is_uppercase);
    let parts = path.split('.').take_while(is_package).take(3);
    let length = parts.map(|part| part.len() + 1).sum::<usize>();
    path.get(..length.saturating_sub(1)).unwrap_or(path)
}
