//! What a test does, whatever it looks like: its syntax tree without comments, white space and its own name.
//!
//! Two tests with the same structure are the same source but for where they stand and what they are
//! called. A file that cannot be read as a whole gives none: nothing is guessed.

use std::ops::Range;

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::{Finder, Layout, SourceFile};

/// A test and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestStructure {
    /// Its id.
    pub id: TestId,
    /// Its own name.
    pub name: String,
    /// What it does: equal for equal source.
    pub structure: String,
}

impl Finder {
    /// The structures of the tests of a file; none if the file does not follow its grammar throughout.
    pub fn structures(&mut self, file: &SourceFile<'_>, layout: &Layout) -> Vec<TestStructure> {
        let Ok(tree) = self.tree(file) else { return Vec::new() };
        let found = self.find(file, layout);
        let structure = |test: &crate::TestSource<'_>| TestStructure {
            id: test.id.clone(),
            name: test.name.clone(),
            structure: written(tree.root_node(), file.text, &test.span, &test.name),
        };
        found.tests.iter().map(structure).collect()
    }
}

/// The nodes within a span, each with its kind and, where it has no parts, its text.
fn written(root: Node<'_>, text: &str, span: &Range<usize>, name: &str) -> String {
    let mut written = String::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_within = span.start <= node.start_byte() && node.end_byte() <= span.end;
        let is_beside = node.end_byte() <= span.start || span.end <= node.start_byte();
        let is_comment = node.is_extra() && node.kind().contains("comment");
        let is_read = !is_comment && (is_within || !is_beside);
        if is_read && is_within {
            written.push('(');
            written.push_str(node.kind());
            if node.child_count() == 0 {
                let leaf = text.get(node.byte_range()).unwrap_or_default();
                written.push(' ');
                written.push_str(if leaf == name { "\u{b7}" } else { leaf });
            }
        }
        if is_read && cursor.goto_first_child() {
            continue;
        }
        loop {
            let node = cursor.node();
            let is_within = span.start <= node.start_byte() && node.end_byte() <= span.end;
            let is_comment = node.is_extra() && node.kind().contains("comment");
            if is_within && !is_comment {
                written.push(')');
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return written;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structures(path: &str, text: &str) -> Vec<TestStructure> {
        Finder::default().structures(&SourceFile { path, text }, &Layout::default())
    }

    fn only(path: &str, text: &str) -> String {
        let mut found = structures(path, text);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0).structure
    }

    #[test]
    fn comments_white_space_and_the_own_name_do_not_count() {
        let one = only("test_a.py", "def test_one():\n    x = f(1)\n    assert x == 2\n");
        let other = "# of old\nimport os\n\nclass TestX:\n  def test_other(self):\n    # why\n    x  =  \
                     f( 1 )\n\n    assert x == 2  # here\n";
        let moved =
            "# top\n\ndef test_two():\n    # why\n    x = f( 1 )\n\n    assert x == 2  # yes\n";
        assert_eq!(one, only("tests/test_b.py", moved));
        assert_ne!(one, only("tests/test_b.py", other), "it takes an argument more");
        let java = |name: &str, body: &str| {
            let text = format!(
                "import org.junit.Test;\npublic class ATest {{\n  @Test public void {name}() {{ {body} \
                 }}\n}}\n"
            );
            only("src/test/java/ATest.java", &text)
        };
        assert_eq!(java("adds", "f(1);"), java("sums", "/* one */ f( 1 ); // two\n"));
        assert_ne!(java("adds", "f(1);"), java("adds", "f(2);"));
    }

    #[test]
    fn what_is_in_a_block_is_not_what_comes_after_it() {
        let inside = only("test_a.py", "def test_a():\n    if x:\n        f()\n        g()\n");
        let after = only("test_a.py", "def test_a():\n    if x:\n        f()\n    g()\n");
        assert_ne!(inside, after);
    }

    #[test]
    fn a_file_with_an_error_tells_nothing() {
        assert_eq!(structures("test_a.py", "def test_a(:\n    f()\n"), []);
    }
}
