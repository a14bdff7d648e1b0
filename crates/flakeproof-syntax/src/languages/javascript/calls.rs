//! The calls of JavaScript and TypeScript.

use tree_sitter::Node;

use crate::outline::{Call, Through};
use crate::tree::text_of;

/// Reads what a node calls. A function that is handed over counts as called: it mostly is.
pub(super) fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    match node.kind() {
        "call_expression" => {
            let Some(function) = node.child_by_field_name("function") else { return };
            match function.kind() {
                "identifier" => {
                    calls.push(Call { name: text_of(function, text), through: Through::Name });
                }
                "member_expression" => {
                    let object = function.child_by_field_name("object");
                    let property = function.child_by_field_name("property");
                    if let (Some("this"), Some(name)) = (object.map(|n| n.kind()), property) {
                        calls.push(Call { name: text_of(name, text), through: Through::Itself });
                    }
                }
                _ => {}
            }
        }
        "arguments" => {
            let mut cursor = node.walk();
            let names = node.children(&mut cursor).filter(|child| child.kind() == "identifier");
            calls.extend(
                names.map(|name| Call { name: text_of(name, text), through: Through::Name }),
            );
        }
        _ => {}
    }
}
