//! Foreign text for people to see as it is.
//!
//! A name may hold characters that turn the direction of what stands around it, or that show
//! nothing at all. Two ids must not look alike that are not, so those characters are named.

/// The text with its invisible and direction-turning characters named, such as `⟨U+202E⟩`.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

fn is_hidden(character: char) -> bool {
    let is_turning = matches!(
        character,
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'
    );
    is_turning || character == '\u{061C}' || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_direction_or_shows_nothing_is_named() {
        assert_eq!(visible("a\u{202E}b\u{200B}\n"), "a⟨U+202E⟩b⟨U+200B⟩⟨U+000A⟩");
        assert_eq!(visible("größe[测试]"), "größe[测试]");
    }
}
