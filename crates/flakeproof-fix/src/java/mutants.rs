//! Small faults in Java code that still compile.

use std::ops::RangeInclusive;

use tree_sitter::Node;

use super::file::JavaFile;
use crate::NotEditable;
use crate::mutants::Mutant;

/// Faults within these lines of a file, those that a test most likely notices first.
pub(crate) fn mutants(
    path: &str,
    text: &str,
    lines: &[RangeInclusive<u32>],
) -> Result<Vec<Mutant>, NotEditable> {
    let file = JavaFile::parse(path, text)?;
    let mut found: Vec<(u8, Mutant)> = Vec::new();
    let mut waiting = vec![file.root()];
    while let Some(node) = waiting.pop() {
        let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
        if lines.iter().any(|it| it.contains(&line))
            && let Some((rank, part, is)) = fault(node, &file)
        {
            let range = part.byte_range();
            let text = format!("{}{is}{}", &file.text[..range.start], &file.text[range.end..]);
            let first = |it: &str| it.lines().next().unwrap_or_default().trim().to_owned();
            let was = first(file.text_of(part));
            let is = if is == ";" { "nothing".to_owned() } else { first(&is) };
            found.push((rank, Mutant { path: file.path.clone(), line, was, is, text }));
        }
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
    }
    found.sort_by_key(|(rank, mutant)| (*rank, mutant.line));
    Ok(found.into_iter().map(|(_, mutant)| mutant).collect())
}

fn fault<'t>(node: Node<'t>, file: &JavaFile) -> Option<(u8, Node<'t>, String)> {
    match node.kind() {
        "return_statement" => {
            let value = node.named_child(0).filter(|it| !it.kind().ends_with("comment"))?;
            let (text, of_type) = (file.text_of(value), type_given_by(node, file)?);
            let is =
                match of_type {
                    "boolean" => format!("!({text})"),
                    "byte" | "short" | "int" | "long" | "float" | "double" | "char" => {
                        if text == "0" { "1".to_owned() } else { "0".to_owned() }
                    }
                    _ if text == "null" => return None,
                    _ => "null".to_owned(),
                };
            Some((0, value, is))
        }
        "if_statement" => {
            let condition = node.child_by_field_name("condition")?;
            Some((1, condition, format!("(!{})", file.text_of(condition))))
        }
        "expression_statement" => {
            let call = node.named_child(0).filter(|it| it.kind() == "method_invocation")?;
            // The first statement of a constructor must stay.
            let is_own = matches!(file.part(call, "name"), "this" | "super");
            (!is_own).then(|| (2, node, ";".to_owned()))
        }
        _ => None,
    }
}

/// The type that a method gives whose statement this is; `None` in a lambda expression.
fn type_given_by<'f>(statement: Node<'_>, file: &'f JavaFile) -> Option<&'f str> {
    let mut around = statement.parent();
    while let Some(node) = around {
        match node.kind() {
            "method_declaration" => return Some(file.part(node, "type")),
            "lambda_expression" | "class_body" => return None,
            _ => around = node.parent(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_lie_in_the_lines_that_ran_and_compile() {
        let text = "class A {\n  boolean a(int x) {\n    if (x > 1) {\n      log(x);\n    }\n    return x \
                    == 1;\n  }\n  String b() {\n    return \"b\";\n  }\n}\n";
        let found = mutants("A.java", text, &[2..=6]).unwrap();
        let said: Vec<_> = found.iter().map(|it| (it.line, it.is.as_str())).collect();
        assert_eq!(said, [(6, "!(x == 1)"), (3, "(!(x > 1))"), (4, "nothing")]);
        assert!(found[2].text.contains("{\n      ;\n    }"));
    }
}
