//! Values of JSON that are taken as they come.
//!
//! A field that holds a number where a text was expected, or nothing at all, is no reason to lose
//! the test it belongs to.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The texts in a value: one, those of a list, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Texts(pub(super) Vec<String>);

impl Texts {
    /// All in one, with this between them.
    pub(super) fn joined(self, between: &str) -> String {
        match <[String; 1]>::try_from(self.0) {
            Ok([only]) => only,
            Err(all) => all.join(between),
        }
    }

    /// All in one, if there is any.
    pub(super) fn some(self) -> Option<String> {
        Some(self.joined("\n")).filter(|text| !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Texts, E> {
        Ok(Texts(vec![value.to_string()]))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Texts, E> {
        Ok(Texts(vec![value.to_string()]))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Texts, E> {
        Ok(Texts(vec![value.to_string()]))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Texts, E> {
        Ok(Texts(vec![value.to_string()]))
    }

    fn visit_str<E>(self, value: &str) -> Result<Texts, E> {
        Ok(Texts(vec![value.to_owned()]))
    }

    fn visit_string<E>(self, value: String) -> Result<Texts, E> {
        Ok(Texts(vec![value]))
    }

    fn visit_unit<E>(self) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
        let mut all = Vec::new();
        while let Some(Texts(texts)) = items.next_element()? {
            if all.len() < super::limits::MOST_PARTS {
                all.extend(texts);
            }
        }
        Ok(Texts(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Texts, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Texts::default())
    }
}

/// The number in a value, if it is one or reads like one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

impl Number {
    /// The number as a line of a file.
    pub(super) fn line(self) -> Option<u32> {
        let number = self.0.filter(|number| (1.0..=f64::from(u32::MAX)).contains(number))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is in range"
        )]
        Some(number as u32)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Texts(texts) = Texts::deserialize(deserializer)?;
        Ok(Self(texts.first().and_then(|text| text.parse().ok())))
    }
}
