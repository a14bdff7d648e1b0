//! A tag of XML, taken apart, and text without entities.

use std::borrow::Cow;

/// A tag that opens an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag<'a> {
    content: &'a [u8],
}

impl<'a> Tag<'a> {
    /// A tag without its brackets.
    pub(super) fn of(content: &'a [u8]) -> Self {
        Self { content }
    }

    /// The element's name, without a prefix.
    pub(crate) fn name(self) -> &'a [u8] {
        let end = self.content.iter().position(|byte| is_space_or(*byte, b'/'));
        let name = &self.content[..end.unwrap_or(self.content.len())];
        let prefix = name.iter().position(|byte| *byte == b':');
        &name[prefix.map_or(0, |at| at + 1)..]
    }

    /// Names and values of the attributes, as far as they can be told apart.
    pub(crate) fn attributes(self) -> impl Iterator<Item = (&'a [u8], Cow<'a, str>)> {
        let end = self.content.iter().position(|byte| is_space_or(*byte, b'/'));
        let mut rest = &self.content[end.unwrap_or(self.content.len())..];
        std::iter::from_fn(move || next_attribute(&mut rest))
    }

    /// The value of one attribute.
    pub(crate) fn attribute(self, name: &str) -> Option<Cow<'a, str>> {
        self.attributes().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }
}

fn is_space_or(byte: u8, other: u8) -> bool {
    byte == other || byte.is_ascii_whitespace()
}

fn next_attribute<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], Cow<'a, str>)> {
    loop {
        let start = rest.iter().position(|byte| !is_space_or(*byte, b'/'))?;
        *rest = &rest[start..];
        let end = rest.iter().position(|byte| is_space_or(*byte, b'='));
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        let after = after.trim_ascii_start();
        *rest = after;
        let Some(value) = after.strip_prefix(b"=") else {
            // A name without a value; a stray mark must not stop us.
            *rest = if name.is_empty() { after.get(1..)? } else { after };
            continue;
        };
        let value = value.trim_ascii_start();
        let (value, left) = match value.split_first() {
            Some((quote @ (b'"' | b'\''), inner)) => {
                let end = inner.iter().position(|byte| byte == quote).unwrap_or(inner.len());
                (&inner[..end], inner.get(end + 1..).unwrap_or_default())
            }
            _ => value
                .split_at(value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len())),
        };
        *rest = left;
        return Some((name, unescaped(value)));
    }
}

/// Text with the entities of XML resolved; what is none stays as it is.
pub(super) fn unescaped(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if !text.contains('&') {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // No entity is longer than `&#x10FFFF;`.
        let end = rest.bytes().take(10).position(|byte| byte == b';');
        match end.and_then(|end| Some((entity(&rest[..end])?, end))) {
            Some((character, end)) => {
                plain.push(character);
                rest = &rest[end + 1..];
            }
            None => plain.push('&'),
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
