//! `git log -p -U0`, read: what each commit did to which lines of which file.
//!
//! Only headers are read. Inside a hunk every line starts with `+`, `-` or `\`, so that nothing in
//! a file can be taken for a header; between commits stands a line with a zero byte.

use super::line_log::{Hunk, Span};
use super::patch::unquoted;
use super::path::RepositoryPath;

/// The format of a commit, as `git log` is asked for it.
pub(super) const COMMIT: &str = "--format=%x00";

/// What one commit did to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// Its path before; `None` if it is new.
    pub(super) old: Option<RepositoryPath>,
    /// Its path after; `None` if it is gone.
    pub(super) new: Option<RepositoryPath>,
    /// Where its lines differ, from the top down.
    pub(super) hunks: Vec<Hunk>,
}

/// The commits in the order in which git printed them. A diff without commits is one.
pub(super) fn parse_history(printed: &[u8]) -> Vec<Vec<FilePatch>> {
    let mut commits = vec![Vec::new()];
    let mut is_at_head = false;
    for line in printed.split(|byte| *byte == b'\n') {
        if line == b"\0" {
            commits.push(Vec::new());
            continue;
        }
        let Some(files) = commits.last_mut() else { continue };
        if line.starts_with(b"diff --git ") {
            files.push(FilePatch::default());
            is_at_head = true;
        } else if let Some(file) = files.last_mut() {
            if let Some(hunk) = line.strip_prefix(b"@@ ") {
                is_at_head = false;
                file.hunks.extend(parse_hunk(hunk));
            } else if is_at_head {
                file.read_header(line);
            }
        }
    }
    commits
}

impl FilePatch {
    fn read_header(&mut self, line: &[u8]) {
        let after = |prefix: &[u8]| line.strip_prefix(prefix);
        if let Some(name) = after(b"--- ") {
            self.old = parse_name(name, b"a/");
        } else if let Some(name) = after(b"+++ ") {
            self.new = parse_name(name, b"b/");
        } else if let Some(name) = after(b"rename from ") {
            self.old = parse_name(name, b"");
        } else if let Some(name) = after(b"rename to ") {
            self.new = parse_name(name, b"");
        }
    }
}

/// `-12,3 +11,0 @@ …` as lines counted from 0. Where a count is 0, the number names the line above.
fn parse_hunk(hunk: &[u8]) -> Option<Hunk> {
    let mut fields = hunk.split(|byte| *byte == b' ');
    let old = parse_span(fields.next()?.strip_prefix(b"-")?)?;
    let new = parse_span(fields.next()?.strip_prefix(b"+")?)?;
    Some(Hunk { old, new })
}

fn parse_span(span: &[u8]) -> Option<Span> {
    let span = std::str::from_utf8(span).ok()?;
    let (first, count) = span.split_once(',').unwrap_or((span, "1"));
    let (first, count): (u32, u32) = (first.parse().ok()?, count.parse().ok()?);
    let start = if count == 0 { first } else { first.checked_sub(1)? };
    Some(Span { start, end: start.checked_add(count)? })
}

fn parse_name(name: &[u8], prefix: &[u8]) -> Option<RepositoryPath> {
    if let Some(quoted) = name.strip_prefix(b"\"") {
        let path = unquoted(quoted.strip_suffix(b"\"")?)?;
        return path.strip_prefix(prefix).map(RepositoryPath::new);
    }
    if name == b"/dev/null" {
        return None;
    }
    // git marks the end of a name with spaces by a tab; a tab in a name is quoted.
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    name.strip_prefix(prefix).map(RepositoryPath::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commits_files_renames_and_hunks_are_told_apart() {
        let printed = "\0\n\ndiff --git a/a b/b\nsimilarity index 90%\nrename from a\n\
            rename to b\n--- a/a\n+++ b/b\n@@ -1,2 +1 @@ def f():\n--- x\n+++ y\n@@ -5 +3,0 @@\n-z\n\
            \0\n\ndiff --git a/c b/c\nnew file mode 100644\n--- /dev/null\n+++ b/c\n@@ -0,0 +1,2 @@\n";
        let commits = parse_history(printed.as_bytes());
        let span = |start, end| Span { start, end };
        assert_eq!(commits.len(), 3);
        let renamed = &commits[1][0];
        assert_eq!(renamed.old, Some("a".into()));
        assert_eq!(renamed.new, Some("b".into()));
        let first = Hunk { old: span(0, 2), new: span(0, 1) };
        let second = Hunk { old: span(4, 5), new: span(3, 3) };
        assert_eq!(renamed.hunks, [first, second]);
        let added = &commits[2][0];
        assert_eq!((&added.old, &added.new), (&None, &Some("c".into())));
        assert_eq!(added.hunks, [Hunk { old: span(0, 0), new: span(0, 2) }]);
    }

    #[test]
    fn a_rename_without_a_change_has_names_only() {
        let printed =
            "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to \"\\tb\"\n";
        let commits = parse_history(printed.as_bytes());
        let expected =
            FilePatch { old: Some("a".into()), new: Some("\tb".into()), hunks: Vec::new() };
        assert_eq!(commits, [vec![expected]]);
    }

    proptest! {
        #[test]
        fn no_output_makes_the_parser_panic(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "diff --git ", "\n", "@@ ", " @@", "-1", "+0", ",", "0", "+++ ", "--- ", "b/",
                    "\"", "\\", "3", "rename to ", "\t", "4294967295", "ü", " ", "\0",
                ]),
                0..40,
            ),
        ) {
            let _ = parse_history(pieces.concat().as_bytes());
        }
    }
}
