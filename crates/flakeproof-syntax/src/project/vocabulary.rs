//! The words functions are made of, for models.

use super::index::Project;
use crate::flow::Declared;
use crate::words::{self, Comments};

impl Project {
    /// The words of a function's text, names cut into their parts, comments left out, as they
    /// stand: `readJson(order)` is `read`, `Json`, `order`.
    pub fn body_words(&self, declared: Declared) -> impl Iterator<Item = &str> {
        let unit = self.unit(declared);
        let function = self.function(declared);
        unit.zip(function).into_iter().flat_map(|(unit, function)| {
            words::of_code(unit.text_of(function.span), Comments::from(unit.language))
        })
    }
}
