//! Which packages a file or a test imports, and under which names.

use tree_sitter::Node;

use crate::metrics::vocabulary::Import;
use crate::tree::{Agenda, children, text_of};

/// The imports of a file outside of its functions and classes.
pub(super) fn of_file<'a>(root: Node<'_>, text: &'a str) -> Vec<Import<'a>> {
    let mut imports = Vec::new();
    let mut agenda = Agenda::new();
    agenda.push([(root, ())]);
    while let Some((node, ())) = agenda.next() {
        match node.kind() {
            "import_statement" | "import_from_statement" => {
                imports.extend(of_statement(node, text));
            }
            "module" | "block" | "if_statement" | "elif_clause" | "else_clause"
            | "try_statement" | "except_clause" | "finally_clause" | "with_statement"
            | "for_statement" | "while_statement" | "match_statement" | "case_clause" | "ERROR" => {
                agenda.descend(node, ());
            }
            _ => {}
        }
    }
    imports
}

/// What one statement imports. Relative imports bind no package from outside, and a `*` binds no
/// name that could be seen, which an empty name stands for.
pub(super) fn of_statement<'a>(node: Node<'_>, text: &'a str) -> Vec<Import<'a>> {
    let module = node.child_by_field_name("module_name");
    if module.is_some_and(|module| module.kind() == "relative_import") {
        return Vec::new();
    }
    let from = module.map(|module| first_part(text_of(module, text)));
    let mut imports = Vec::new();
    for child in children(node) {
        let (name, package) = match child.kind() {
            _ if module == Some(child) => continue,
            "dotted_name" => {
                let first = first_part(text_of(child, text));
                (first, from.unwrap_or(first))
            }
            "aliased_import" => {
                let field =
                    |field| child.child_by_field_name(field).map_or("", |node| text_of(node, text));
                (field("alias"), from.unwrap_or(first_part(field("name"))))
            }
            "wildcard_import" => ("", from.unwrap_or_default()),
            _ => continue,
        };
        imports.push(Import { name, package });
    }
    imports
}

fn first_part(module: &str) -> &str {
    module.split('.').next().unwrap_or(module).trim()
}
