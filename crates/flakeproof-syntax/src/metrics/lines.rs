//! Lines with code and lines with comments, by where the comments stand.

use std::ops::Range;

/// The lines of a test, by what is on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineCounts {
    /// All lines.
    pub(super) all: u32,
    /// Lines with something other than comments on them.
    pub(super) source: u32,
    /// Lines that comments cover.
    pub(super) comments: u32,
}

/// Count the lines of a text, given the bytes of its comments in order.
pub(super) fn count(text: &str, comments: &[Range<usize>]) -> LineCounts {
    let mut counts = LineCounts::default();
    let mut code = String::new();
    let mut from = 0;
    for comment in comments {
        code.push_str(text.get(from..comment.start).unwrap_or_default());
        let comment_text = text.get(comment.clone()).unwrap_or_default();
        counts.comments += to_u32(comment_text.trim_end().lines().count());
        code.extend(comment_text.chars().filter(|&letter| letter == '\n'));
        from = comment.end.max(from);
    }
    code.push_str(text.get(from..).unwrap_or_default());
    counts.all = to_u32(text.lines().count());
    counts.source = to_u32(code.lines().filter(|line| !line.trim().is_empty()).count());
    counts
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_code_and_comment_is_both() {
        let text = "a; // one\n\n/* two\n three */ b;\n// four\n";
        let comments = [3..9, 11..27, 31..38];
        let expected = LineCounts { all: 5, source: 2, comments: 4 };
        assert_eq!(count(text, &comments), expected);
    }
}
