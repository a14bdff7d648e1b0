//! Turns away text that nests so deeply that parsing it would cost too much.
//!
//! The parser tries the readings of an open bracket side by side; thousands of open `<` cost it
//! the square of their number in memory, in a single step that cannot be interrupted. Counting
//! bytes first is cheap. Brackets in strings and comments are counted too, so the bounds are far
//! above anything in real code.

use crate::tree::line;

/// Round, square and curly brackets open at the same time.
const MOST_BRACKETS: usize = 10_000;
/// Angle brackets open at the same time within one statement.
const MOST_ANGLES: usize = 1_000;

/// The line on which a text first nests too deeply to be parsed.
pub(crate) fn too_deep(text: &str) -> Option<u32> {
    let mut brackets = 0_usize;
    let mut angles = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b'{' => {
                brackets += 1;
                angles = 0;
            }
            b'}' => {
                brackets = brackets.saturating_sub(1);
                angles = 0;
            }
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            b';' => angles = 0,
            _ => continue,
        }
        if brackets > MOST_BRACKETS || angles > MOST_ANGLES {
            return Some(line(text[..at].matches('\n').count()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_code_is_never_too_deep() {
        assert_eq!(too_deep(&"for (int i = 0; i < n; i++) { f(a[i] << 2); }\n".repeat(5000)), None);
    }

    #[test]
    fn the_line_that_goes_too_far_is_named() {
        assert_eq!(too_deep(&"(\n".repeat(10_001)), Some(10_001));
        assert_eq!(too_deep(&"a<".repeat(1_001)), Some(1));
    }
}
