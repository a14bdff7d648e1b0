//! `git diff -U0`, read: which lines of which file differ.
//!
//! Headers are read, and removed lines only to see whether a whole block may have gone. Inside a
//! hunk every line starts with `+`, `-` or `\`, so a line that starts with `diff ` or `@@ ` is a
//! header whatever the files contain.

use std::collections::BTreeMap;

use flakeproof_core::{ChangeStatus, LineRange};

use super::listing::RepositoryPath;

/// The lines that differ, per file, as they are numbered on the new side.
///
/// A file whose lines are not known (binary, deleted, a header that is not understood) is not in
/// the map.
pub(super) fn parse_patch(printed: &[u8]) -> BTreeMap<RepositoryPath, Vec<LineRange>> {
    let mut sections = Vec::new();
    for line in printed.split(|byte| *byte == b'\n') {
        if line.starts_with(b"diff ") {
            sections.push(Section::default());
        } else if let Some(section) = sections.last_mut() {
            section.read(line);
        }
    }
    let mut files = BTreeMap::new();
    for section in sections {
        let Some(path) = section.path else { continue };
        // Two sections are a change of type, which has no lines.
        let lines = if files.contains_key(&path) { None } else { section.lines };
        files.insert(path, lines);
    }
    files
        .into_iter()
        .filter_map(|(path, lines)| Some((path, lines.filter(|lines| !lines.is_empty())?)))
        .collect()
}

/// What is printed about one file.
struct Section {
    path: Option<RepositoryPath>,
    /// `None` once a hunk was not understood.
    lines: Option<Vec<LineRange>>,
    /// Whether no hunk has begun, so that `+++` is a header and not an added line.
    is_at_its_head: bool,
}

impl Default for Section {
    fn default() -> Self {
        Self { path: None, lines: Some(Vec::new()), is_at_its_head: true }
    }
}

impl Section {
    fn read(&mut self, line: &[u8]) {
        if let Some(hunk) = line.strip_prefix(b"@@ ") {
            self.is_at_its_head = false;
            match (parse_hunk(hunk), &mut self.lines) {
                (Some(range), Some(lines)) => lines.push(range),
                (_, lines) => *lines = None,
            }
        } else if let Some(name) = line.strip_prefix(b"+++ ").filter(|_| self.is_at_its_head) {
            self.path = parse_name(name);
        } else if !self.is_at_its_head
            && line.strip_prefix(b"-").is_some_and(may_open_or_close_a_block)
        {
            self.lines = None;
        }
    }
}

/// Whether a line that is gone may have been more than part of one function's body: a function
/// that is not there any more is in no range of the new side.
fn may_open_or_close_a_block(line: &[u8]) -> bool {
    let has = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    let is_indented = line.first().is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    !is_indented
        || [&b"def "[..], b"class ", b"@", b"lambda", b"\"\"\"", b"'''"].into_iter().any(has)
}

/// `-12,3 +11,0 @@ …` as the lines of the new side.
fn parse_hunk(hunk: &[u8]) -> Option<LineRange> {
    let mut fields = hunk.split(|byte| *byte == b' ');
    let (old, new) = (fields.next()?, fields.next()?);
    if !old.starts_with(b"-") || fields.next()? != b"@@" {
        return None;
    }
    let range = std::str::from_utf8(new.strip_prefix(b"+")?).ok()?;
    let (first, count) = range.split_once(',').unwrap_or((range, "1"));
    let (first, count): (u32, u32) = (first.parse().ok()?, count.parse().ok()?);
    first.checked_add(count)?;
    Some(LineRange { first, count })
}

/// `b/path`, or `"b/pa\tth"` where the path has characters that git quotes.
fn parse_name(name: &[u8]) -> Option<RepositoryPath> {
    if let Some(quoted) = name.strip_prefix(b"\"") {
        let path = unquoted(quoted.strip_suffix(b"\"")?)?;
        return path.strip_prefix(b"b/").map(RepositoryPath::new);
    }
    // git marks the end of a name with spaces by a tab; a tab in a name is quoted.
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    name.strip_prefix(b"b/").map(RepositoryPath::new)
}

pub(super) fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = text.iter().copied();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        plain.push(match bytes.next()? {
            b'a' => 0x07,
            b'b' => 0x08,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'r' => b'\r',
            sign @ (b'"' | b'\\') => sign,
            digit @ b'0'..=b'3' => octal([digit, bytes.next()?, bytes.next()?])?,
            _ => return None,
        });
    }
    Some(plain)
}

fn octal(digits: [u8; 3]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Which file.
    pub(super) path: RepositoryPath,
    /// In what way.
    pub(super) status: ChangeStatus,
    /// Whether git did not look at the content: it may be the same, only touched.
    pub(super) is_unverified: bool,
}

/// Read `git diff --raw -z --no-renames`; `None` if that is not what it is.
pub(super) fn parse_raw(printed: &[u8]) -> Option<Vec<Difference>> {
    let mut differences = Vec::new();
    let mut records = printed.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        if record.is_empty() {
            // Only the end of the last record may be empty.
            return records.next().is_none().then_some(differences);
        }
        let entry = Entry::parse(record)?;
        let path = records.next().filter(|path| !path.is_empty())?;
        differences.push(Difference {
            path: RepositoryPath::new(path),
            status: entry.status(),
            is_unverified: entry.is_unverified(),
        });
    }
    Some(differences)
}

/// `:100644 100644 <hash> <hash> M`
struct Entry<'a> {
    old_mode: &'a str,
    new_mode: &'a str,
    new_hash: &'a str,
    letter: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(record: &'a [u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(record).ok()?.strip_prefix(':')?.split(' ');
        let (old_mode, new_mode) = (fields.next()?, fields.next()?);
        let (_old_hash, new_hash) = (fields.next()?, fields.next()?);
        let letter = fields.next()?;
        // A rename or a copy would have two paths.
        let is_one_path = ["M", "A", "D", "T", "U", "X"].contains(&letter);
        let entry = Self { old_mode, new_mode, new_hash, letter };
        (fields.next().is_none() && is_one_path).then_some(entry)
    }

    fn status(&self) -> ChangeStatus {
        let is_ordinary = |mode: &str| mode == "100644" || mode == "100755";
        match self.letter {
            "M" if is_ordinary(self.new_mode) && self.old_mode == self.new_mode => {
                ChangeStatus::Modified
            }
            "A" if is_ordinary(self.new_mode) => ChangeStatus::Added,
            "D" if is_ordinary(self.old_mode) => ChangeStatus::Deleted,
            _ => ChangeStatus::Special,
        }
    }

    fn is_unverified(&self) -> bool {
        let has_no_hash = self.new_hash.bytes().all(|byte| byte == b'0');
        self.letter == "M" && self.old_mode == self.new_mode && has_no_hash
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(first: u32, count: u32) -> LineRange {
        LineRange { first, count }
    }

    fn lines_of(printed: &str, path: &str) -> Option<Vec<LineRange>> {
        parse_patch(printed.as_bytes()).remove(&RepositoryPath::from(path))
    }

    #[test]
    fn hunks_are_ranges_of_the_new_side_and_a_deletion_is_empty() {
        let printed = "diff --git a/a b/a\n--- a/a\n+++ b/a\n\
            @@ -1 +1 @@ def f():\n- x\n+ y\n@@ -5,2 +4,0 @@\n- p\n- q\n@@ -9,0 +8,3 @@\n+r\n+s\n+t\n";
        let expected = vec![range(1, 1), range(4, 0), range(8, 3)];
        assert_eq!(lines_of(printed, "a"), Some(expected));
    }

    #[test]
    fn a_function_that_is_gone_leaves_no_lines_to_trust() {
        for gone in ["x = 1", "    def f():", "    @cached", "    \"\"\"end"] {
            let printed =
                format!("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-{gone}\n+    y\n");
            assert_eq!(lines_of(&printed, "a"), None, "{gone}");
        }
    }

    #[test]
    fn content_that_looks_like_a_header_is_content() {
        let printed = "diff --git a/a b/a\n--- a/a\n+++ b/a\n\
            @@ -1 +1,2 @@\n- -- a/old\n+++ b/other\n+@@ -1 +7 @@\n";
        assert_eq!(lines_of(printed, "a"), Some(vec![range(1, 2)]));
        assert_eq!(lines_of(printed, "other"), None);
    }

    #[test]
    fn the_lines_of_a_binary_or_deleted_file_and_of_a_change_of_type_are_not_known() {
        let binary = "diff --git a/a b/a\nindex 1..2\nBinary files a/a and b/a differ\n";
        assert_eq!(lines_of(binary, "a"), None);
        let deleted = "diff --git a/a b/a\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        assert!(parse_patch(deleted.as_bytes()).is_empty());
        let one = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n";
        assert_eq!(lines_of(&one.repeat(2), "a"), None);
    }

    #[test]
    fn a_hunk_that_is_not_understood_makes_all_lines_of_the_file_unknown() {
        let printed = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n@@ -1 +99999999999 @@\n";
        assert_eq!(lines_of(printed, "a"), None);
    }

    #[test]
    fn names_are_unquoted() {
        let name = |text: &str| parse_name(text.as_bytes());
        assert_eq!(name("b/with space\t"), Some(RepositoryPath::from("with space")));
        let odd = "\"b/tab\\t quote\\\" back\\\\ line\\n \\303\\274\"";
        assert_eq!(name(odd), Some(RepositoryPath::from("tab\t quote\" back\\ line\n ü")));
        assert_eq!(name("\"b/open"), None);
        assert_eq!(name("\"b/\\q\""), None);
        assert_eq!(name("\"b/\\777\""), None);
    }

    proptest! {
        #[test]
        fn no_output_makes_the_parser_panic(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "diff --git ", "\n", "@@ ", " @@", "-1", "+1", ",", "0", "+++ ", "b/", "\"",
                    "\\", "3", "a", "\t", "4294967295", "ü", " ",
                ]),
                0..40,
            ),
        ) {
            let _ = parse_patch(pieces.concat().as_bytes());
        }

        #[test]
        fn no_bytes_make_the_parser_panic(printed in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_patch(&printed);
            let _ = unquoted(&printed);
        }
    }

    #[test]
    fn only_an_ordinary_file_that_stays_one_is_modified() {
        let status = |modes_and_letter: [&str; 3]| {
            let [old, new, letter] = modes_and_letter;
            let printed = format!(":{old} {new} 12ab 0000 {letter}\0some file\0");
            parse_raw(printed.as_bytes()).unwrap()[0].status
        };
        assert_eq!(status(["100644", "100644", "M"]), ChangeStatus::Modified);
        assert_eq!(status(["100755", "100755", "M"]), ChangeStatus::Modified);
        assert_eq!(status(["000000", "100644", "A"]), ChangeStatus::Added);
        assert_eq!(status(["100644", "000000", "D"]), ChangeStatus::Deleted);
        assert_eq!(status(["100644", "100755", "M"]), ChangeStatus::Special);
        assert_eq!(status(["120000", "120000", "M"]), ChangeStatus::Special);
        assert_eq!(status(["000000", "120000", "A"]), ChangeStatus::Special);
        assert_eq!(status(["160000", "160000", "M"]), ChangeStatus::Special);
        assert_eq!(status(["160000", "000000", "D"]), ChangeStatus::Special);
        assert_eq!(status(["100644", "120000", "T"]), ChangeStatus::Special);
        assert_eq!(status(["000000", "000000", "U"]), ChangeStatus::Special);
    }

    #[test]
    fn what_is_not_understood_is_not_skipped_over() {
        assert_eq!(parse_raw(b""), Some(vec![]));
        assert_eq!(parse_raw(b":100644 100644 a b R100\0old\0new\0"), None);
        assert_eq!(parse_raw(b":100644 100644 a b M\0"), None);
        assert_eq!(parse_raw(b"\0:100644 100644 a b M\0path\0"), None);
    }

    proptest! {
        #[test]
        fn no_raw_output_makes_the_parser_panic(
            printed in prop::collection::vec(
                prop::sample::select(b":0016 abMADTU\0\xff".to_vec()), 0..80,
            ),
        ) {
            let _ = parse_raw(&printed);
        }

        #[test]
        fn every_path_comes_back_whatever_it_contains(
            names in prop::collection::vec("[^\0]{0,20}[^\0/]", 0..5),
        ) {
            let printed: String =
                names.iter().map(|name| format!(":100644 100644 a b M\0{name}\0")).collect();
            let paths: Vec<_> =
                parse_raw(printed.as_bytes()).unwrap().into_iter().map(|one| one.path).collect();
            let expected: Vec<_> =
                names.iter().map(|name| RepositoryPath::from(name.as_str())).collect();
            prop_assert_eq!(paths, expected);
        }
    }
}
