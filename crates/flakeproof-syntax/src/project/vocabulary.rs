//! The words functions are made of, for models.

use super::index::Project;
use crate::flow::Declared;
use crate::words::{Comments, Token, parts, tokens};

impl Project {
    /// The words of a function's text, names cut into their parts, comments left out, as they
    /// stand: `readJson(order)` is `read`, `Json`, `order`.
    pub fn body_words(&self, declared: Declared) -> impl Iterator<Item = &str> {
        let unit = self.unit(declared);
        let function = self.function(declared);
        unit.zip(function).into_iter().flat_map(|(unit, function)| {
            words_of(unit.text_of(function.span), Comments::from(unit.language))
        })
    }
}

/// The words of a piece of code.
pub(crate) fn words_of(text: &str, comments: Comments) -> impl Iterator<Item = &str> {
    tokens(text, comments)
        .filter_map(|token| match token {
            Token::Name(text) | Token::Number(text) | Token::Text(text) => Some(parts(text)),
            Token::Symbol(_) => None,
        })
        .flatten()
}
