//! How often each line of one file changed, followed back commit by commit.
//!
//! This is what `git log -L n,n:file` does for one line, done for all lines at once. Each line is
//! followed as a set of ranges. A commit whose hunk overlaps them counts, and from there on the
//! hunk's whole old side is followed: a line that was rewritten is the continuation of every line
//! it replaced. Lines that were rewritten by the same hunk have the same past and share one set.
//!
//! `git log -p -U0`, read: what each commit did to which lines of which file.
//!
//! Only headers are read. Inside a hunk every line starts with `+`, `-` or `\`, so that nothing in
//! a file can be taken for a header; between commits stands a line with a zero byte.

use super::listing::RepositoryPath;
use super::patch::unquoted;

/// Lines from `start` up to, and without, `end`; counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    fn length(self) -> i64 {
        i64::from(self.end) - i64::from(self.start)
    }

    /// An empty span overlaps only what reaches beyond it on both sides.
    fn overlaps(self, other: Self) -> bool {
        self.end > other.start && other.end > self.start
    }

    fn shifted(self, offset: i64) -> Self {
        let shift = |line: u32| u32::try_from(i64::from(line) + offset).unwrap_or(0);
        Self { start: shift(self.start), end: shift(self.end) }
    }
}

/// A place where the content of a file differs between a commit and its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The lines in the parent.
    pub(super) old: Span,
    /// The lines that took their place.
    pub(super) new: Span,
}

impl Hunk {
    /// How much further down lines after this hunk are in the parent.
    fn offset(&self) -> i64 {
        self.old.length() - self.new.length()
    }
}

/// The lines of one present file on their way back through the history.
#[derive(Debug)]
pub(super) struct LineLog {
    /// How often each line changed so far.
    changes: Vec<u32>,
    /// Lines that did not change yet: where they are now, and which they are at present.
    unchanged: Vec<(u32, u32)>,
    /// Lines that changed and have something before them.
    changed: Vec<Family>,
}

/// Lines that share a past.
#[derive(Debug)]
struct Family {
    /// Sorted, and no two touch each other.
    spans: Vec<Span>,
    /// Which they are at present.
    lines: Vec<u32>,
}

impl LineLog {
    /// A file of this many lines, before anything is known of its history.
    pub(super) fn new(lines: u32) -> Self {
        let unchanged = (0..lines).map(|line| (line, line)).collect();
        Self { changes: vec![0; lines as usize], unchanged, changed: Vec::new() }
    }

    /// Go back over edits that no commit has: lines that they made have no history.
    pub(super) fn undo_edits(&mut self, hunks: &[Hunk]) {
        let unchanged = std::mem::take(&mut self.unchanged);
        split(unchanged, hunks, |_, _| {}, |line| self.unchanged.push(line));
    }

    /// Go back over one commit.
    pub(super) fn undo_commit(&mut self, hunks: &[Hunk]) {
        let mut families: Vec<Family> = std::mem::take(&mut self.changed)
            .into_iter()
            .filter_map(|family| self.undo_for(family, hunks))
            .collect();
        let mut rewritten: Vec<Vec<u32>> = vec![Vec::new(); hunks.len()];
        let unchanged = std::mem::take(&mut self.unchanged);
        split(
            unchanged,
            hunks,
            |hunk, line| rewritten[hunk].push(line),
            |line| self.unchanged.push(line),
        );
        for (hunk, lines) in hunks.iter().zip(rewritten) {
            lines.iter().for_each(|line| self.changes[*line as usize] += 1);
            if !lines.is_empty() && hunk.old.length() > 0 {
                families.push(Family { spans: vec![hunk.old], lines });
            }
        }
        self.changed = merged(families);
    }

    /// How often each line changed, from the first line on.
    pub(super) fn into_changes(self) -> Vec<u32> {
        self.changes
    }

    /// The family as it was before a commit, if it was there.
    fn undo_for(&mut self, family: Family, hunks: &[Hunk]) -> Option<Family> {
        let touched = touched(&family.spans, hunks);
        if !touched.is_empty() {
            family.lines.iter().for_each(|line| self.changes[*line as usize] += 1);
        }
        let rest = shifted(&without(&family.spans, &touched), hunks);
        let before = union(rest, touched.iter().map(|hunk| hunk.old));
        (!before.is_empty()).then_some(Family { spans: before, lines: family.lines })
    }
}

/// Part single lines into those that a hunk made and those that were there before, moved to where
/// they were.
fn split(
    lines: Vec<(u32, u32)>,
    hunks: &[Hunk],
    mut made: impl FnMut(usize, u32),
    mut kept: impl FnMut((u32, u32)),
) {
    let (mut next, mut offset) = (0, 0);
    for (at, line) in lines {
        while hunks.get(next).is_some_and(|hunk| hunk.new.end <= at) {
            offset += hunks[next].offset();
            next += 1;
        }
        match hunks.get(next) {
            Some(hunk) if hunk.new.start <= at => made(next, line),
            _ => kept((Span { start: at, end: at }.shifted(offset).start, line)),
        }
    }
}

/// The hunks that git takes to touch a set of spans.
///
/// git compares a hunk only with the first span that does not end before the hunk's start. So a
/// hunk that begins where one span ends is not seen to reach into the next; this is kept, to
/// count what git counts.
fn touched(spans: &[Span], hunks: &[Hunk]) -> Vec<Hunk> {
    let mut spans = spans.iter().copied().peekable();
    let mut found = Vec::new();
    for hunk in hunks {
        while spans.next_if(|span| hunk.new.start > span.end).is_some() {}
        match spans.peek() {
            Some(span) if hunk.new.overlaps(*span) => found.push(*hunk),
            Some(_) => {}
            None => break,
        }
    }
    found
}

/// The parts of spans that no hunk made.
fn without(spans: &[Span], hunks: &[Hunk]) -> Vec<Span> {
    let mut rest = Vec::new();
    let mut next = 0;
    for span in spans {
        let mut start = span.start;
        while start < span.end {
            while hunks.get(next).is_some_and(|hunk| start >= hunk.new.end) {
                next += 1;
            }
            let Some(hunk) = hunks.get(next).filter(|hunk| hunk.new.start < span.end) else {
                rest.push(Span { start, end: span.end });
                break;
            };
            if start < hunk.new.start {
                rest.push(Span { start, end: hunk.new.start });
            }
            start = hunk.new.end;
        }
    }
    rest
}

/// Where spans were before the hunks above them.
fn shifted(spans: &[Span], hunks: &[Hunk]) -> Vec<Span> {
    let mut above = hunks.iter().peekable();
    let mut offset = 0;
    spans
        .iter()
        .map(|span| {
            while let Some(hunk) = above.next_if(|hunk| hunk.new.start <= span.start) {
                offset += hunk.offset();
            }
            span.shifted(offset)
        })
        .collect()
}

fn union(mut spans: Vec<Span>, more: impl Iterator<Item = Span>) -> Vec<Span> {
    spans.extend(more);
    spans.retain(|span| span.start < span.end);
    spans.sort_unstable();
    let mut union: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match union.last_mut() {
            Some(last) if last.end >= span.start => last.end = last.end.max(span.end),
            _ => union.push(span),
        }
    }
    union
}

/// Families whose past is the same become one.
fn merged(mut families: Vec<Family>) -> Vec<Family> {
    families.sort_unstable_by(|a, b| a.spans.cmp(&b.spans));
    families.dedup_by(|other, kept| {
        let is_same = other.spans == kept.spans;
        if is_same {
            kept.lines.append(&mut other.lines);
        }
        is_same
    });
    families
}

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

    fn hunk(old: (u32, u32), new: (u32, u32)) -> Hunk {
        let span = |(start, end)| Span { start, end };
        Hunk { old: span(old), new: span(new) }
    }

    fn changes(lines: u32, commits: &[&[Hunk]]) -> Vec<u32> {
        let mut log = LineLog::new(lines);
        commits.iter().for_each(|hunks| log.undo_commit(hunks));
        log.into_changes()
    }

    #[test]
    fn a_line_that_was_rewritten_has_the_past_of_all_it_replaced() {
        // Two lines became one; before that, the second of them was changed; then all was new.
        let commits: [&[Hunk]; 3] =
            [&[hunk((1, 3), (1, 2))], &[hunk((2, 3), (2, 3))], &[hunk((0, 0), (0, 4))]];
        assert_eq!(changes(3, &commits), [1, 3, 1]);
    }

    #[test]
    fn lines_move_with_what_is_added_and_removed_above_them() {
        let commits: [&[Hunk]; 2] = [&[hunk((0, 0), (0, 2))], &[hunk((0, 1), (0, 1))]];
        assert_eq!(changes(4, &commits), [1, 1, 1, 0]);
    }

    #[test]
    fn a_deletion_inside_what_is_followed_counts_and_beside_it_does_not() {
        let rewrite: &[Hunk] = &[hunk((0, 2), (0, 1))];
        let inside: &[Hunk] = &[hunk((1, 2), (1, 1))];
        assert_eq!(changes(2, &[rewrite, inside]), [2, 0]);
        assert_eq!(changes(2, &[inside]), [0, 0]);
    }

    #[test]
    fn what_an_edit_made_has_no_history() {
        let mut log = LineLog::new(3);
        log.undo_edits(&[hunk((1, 2), (1, 2))]);
        log.undo_commit(&[hunk((0, 0), (0, 3))]);
        assert_eq!(log.into_changes(), [1, 0, 1]);
    }

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
