//! Small faults put into code, to see whether a test still notices them.

use std::ops::RangeInclusive;

use tree_sitter::Node;

use crate::NotEditable;
use crate::python::PythonFile;

/// Code with one small fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The file.
    pub path: String,
    /// The line of the fault, counted from 1.
    pub line: u32,
    /// What is there, in one line.
    pub was: String,
    /// What is there with the fault.
    pub is: String,
    /// All of the file with the fault.
    pub text: String,
}

/// Faults within these lines of a file, those that a test most likely notices first.
///
/// # Errors
/// When the file does not parse.
pub fn mutants(
    path: &str,
    text: &str,
    lines: &[RangeInclusive<u32>],
) -> Result<Vec<Mutant>, NotEditable> {
    if path.ends_with(".java") {
        return crate::java::mutants(path, text, lines);
    }
    let file = PythonFile::parse(path, text)?;
    let mut found: Vec<(u8, Mutant)> = Vec::new();
    let mut waiting = vec![file.root()];
    while let Some(node) = waiting.pop() {
        let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
        if lines.iter().any(|it| it.contains(&line)) {
            found.extend(fault(node, &file, line));
        }
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
    }
    found.sort_by_key(|(rank, mutant)| (*rank, mutant.line));
    Ok(found.into_iter().map(|(_, mutant)| mutant).collect())
}

fn fault(node: Node<'_>, file: &PythonFile, line: u32) -> Option<(u8, Mutant)> {
    let (rank, part, is) = match node.kind() {
        "return_statement" => {
            let value = node.named_child(0)?;
            if matches!(value.kind(), "none" | "comment") {
                return None;
            }
            (0, value, "None".to_owned())
        }
        "if_statement" | "elif_clause" => {
            let condition = node.child_by_field_name("condition")?;
            (1, condition, format!("not ({})", file.text_of(condition)))
        }
        "assignment" => {
            let value = node.child_by_field_name("right")?;
            if value.kind() == "none" {
                return None;
            }
            (2, value, "None".to_owned())
        }
        _ => return None,
    };
    let range = part.byte_range();
    let text = format!("{}{is}{}", &file.text[..range.start], &file.text[range.end..]);
    let was = file.text_of(part).lines().next().unwrap_or_default().trim().to_owned();
    let is = is.lines().next().unwrap_or_default().to_owned();
    Some((rank, Mutant { path: file.path.clone(), line, was, is, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_lie_in_the_lines_that_ran() {
        let text =
            "def a(x):\n    if x:\n        y = 1\n    return x\n\n\ndef b():\n    return 2\n";
        let found = mutants("a.py", text, &[2..=4]).unwrap();
        let said: Vec<_> = found.iter().map(|it| (it.line, it.is.as_str())).collect();
        assert_eq!(said, [(4, "None"), (2, "not (x)"), (3, "None")]);
        assert!(found[1].text.contains("if not (x):"));
    }
}
