//! How much of a report is kept.

/// The most bytes of a name, of a class or of a path.
pub(crate) const LONGEST_NAME: usize = 4 * 1024;

/// The most bytes of a failure's text, or of what a test printed.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;

/// How deep elements may be nested and still be told apart.
pub(crate) const DEEPEST: usize = 200;

/// The most attempts, or properties, of one test.
pub(crate) const MOST_PARTS: usize = 100;

/// Append to a text up to a limit; say whether something was left out.
pub(crate) fn append(text: &mut String, more: &str, limit: usize) -> bool {
    let room = limit.saturating_sub(text.len());
    text.push_str(more.get(..end_within(more, room)).unwrap_or_default());
    more.len() > room
}

/// Shorten a text to a limit; say whether something was left out.
pub(crate) fn cut(text: &mut String, limit: usize) -> bool {
    let is_long = text.len() > limit;
    text.truncate(end_within(text, limit));
    is_long
}

/// The largest end of a whole character within a limit.
fn end_within(text: &str, limit: usize) -> usize {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut_in_half() {
        let mut text = String::from("aé");
        assert!(cut(&mut text, 2));
        assert_eq!(text, "a");
        assert!(append(&mut text, "ü!", 2));
        assert_eq!(text, "a");
    }
}
