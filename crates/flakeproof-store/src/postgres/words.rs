//! What the tables hold as text: words of ours, JSON, and texts of others, which may have a NUL.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::connection::{Done, Fault};

/// Stands for a NUL if a `0` follows, and for itself if a `1` does. It is no character of any text.
const ESCAPE: char = '\u{10FFFF}';

/// A text as PostgreSQL takes it, which has no NUL in any text.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\0' => kept.extend([ESCAPE, '0']),
            ESCAPE => kept.extend([ESCAPE, '1']),
            other => kept.push(other),
        }
    }
    Cow::Owned(kept)
}

/// The text that was kept.
pub(super) fn given(kept: String) -> String {
    if !kept.contains(ESCAPE) {
        return kept;
    }
    let mut text = String::with_capacity(kept.len());
    let mut letters = kept.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ESCAPE if letters.next() == Some('0') => text.push('\0'),
            other => text.push(other),
        }
    }
    text
}

/// A value as JSON text, whose own escapes leave no NUL.
pub(super) fn json(value: &impl Serialize) -> Done<String> {
    serde_json::to_string(value).map_err(|error| Fault::Refused(error.to_string()))
}

/// The value of JSON text.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Done<T> {
    serde_json::from_str(text).map_err(|error| Fault::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_comes_back_and_none_has_a_nul(
            parts in prop::collection::vec(
                prop_oneof![Just("\0".to_owned()), Just(ESCAPE.to_string()), ".*", Just("01".to_owned())],
                0..8,
            ),
        ) {
            let text = parts.concat();
            let held = kept(&text).into_owned();
            prop_assert!(!held.contains('\0'));
            prop_assert_eq!(given(held), text);
        }
    }
}
