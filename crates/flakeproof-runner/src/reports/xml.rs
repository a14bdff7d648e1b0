//! XML cut into tags and text, in bounded memory and without giving up.
//!
//! Reports contain what tests print: megabytes of it, broken characters, bare ampersands, and the
//! end is missing where the runner was killed. A conforming parser stops there, and holds a text
//! of any size in memory. This one goes on, cuts what is too long, and knows no document types:
//! the five entities of XML and numbered characters are resolved, everything else stays as it is.

use std::borrow::Cow;
use std::io::{self, BufRead};

use super::reported::LONGEST_TEXT;

/// The most bytes of one tag with its attributes, and of one piece of text.
const LONGEST_PIECE: usize = 4 * LONGEST_TEXT;

/// The input, cut into pieces.
#[derive(Debug)]
pub(crate) struct Pieces<R> {
    input: R,
    offset: u64,
    buffer: Vec<u8>,
    /// A tag that closes itself was handed out as open.
    is_to_be_closed: bool,
    cut: u64,
}

/// A piece of the input.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    /// A tag that opens an element.
    Open(Tag<'a>),
    /// The element that was opened last is closed, or one that nobody opened.
    Close,
    /// Text between tags.
    Text(Cow<'a, str>),
}

/// Whether the text between tags is wanted; skipping it is faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    Wanted,
    Skipped,
}

impl<R: BufRead> Pieces<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, offset: 0, buffer: Vec::new(), is_to_be_closed: false, cut: 0 }
    }

    /// How many bytes were read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// How many pieces were too long.
    pub(crate) fn cut(&self) -> u64 {
        self.cut
    }

    /// The next piece, or `None` at the end.
    pub(crate) fn next(&mut self, texts: Texts) -> io::Result<Option<Piece<'_>>> {
        if std::mem::take(&mut self.is_to_be_closed) {
            return Ok(Some(Piece::Close));
        }
        loop {
            self.buffer.clear();
            let Some(first) = self.peek()? else { return Ok(None) };
            if first != b'<' {
                self.take_text(texts)?;
                if texts == Texts::Wanted {
                    return Ok(Some(Piece::Text(unescaped(&self.buffer))));
                }
                continue;
            }
            match self.take_markup()? {
                Markup::Open => return Ok(Some(Piece::Open(self.tag()))),
                Markup::Close => return Ok(Some(Piece::Close)),
                Markup::Data if texts == Texts::Wanted => {
                    return Ok(Some(Piece::Text(String::from_utf8_lossy(&self.buffer))));
                }
                Markup::Data | Markup::Nothing => {}
            }
        }
    }

    fn tag(&mut self) -> Tag<'_> {
        if self.buffer.last() == Some(&b'/') {
            self.buffer.pop();
            self.is_to_be_closed = true;
        }
        Tag::parse(&self.buffer)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.offset += count as u64;
    }

    /// Text up to the next tag.
    fn take_text(&mut self, texts: Texts) -> io::Result<()> {
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Ok(());
            }
            let end = piece.iter().position(|byte| *byte == b'<');
            let count = end.unwrap_or(piece.len());
            if texts == Texts::Wanted {
                self.cut += keep(&mut self.buffer, &piece[..count]);
            }
            self.consume(count);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// What begins with `<`, into the buffer without its marks.
    fn take_markup(&mut self) -> io::Result<Markup> {
        self.consume(1);
        match self.peek()? {
            Some(b'!') => {
                self.consume(1);
                self.take_declaration()
            }
            Some(b'?') => self.take_until(b"?>").map(|_| Markup::Nothing),
            Some(b'/') => self.take_until(b">").map(|_| Markup::Close),
            _ => self.take_tag(),
        }
    }

    /// A comment, text that is not marked up, or a document type, which nobody follows.
    fn take_declaration(&mut self) -> io::Result<Markup> {
        match self.peek()? {
            Some(b'-') => self.take_until(b"-->").map(|_| Markup::Nothing),
            Some(b'[') => {
                let is_whole = self.take_until(b"]]>")?;
                let from = self.buffer.iter().skip(1).position(|byte| *byte == b'[');
                self.buffer.drain(..from.map_or(0, |at| at + 2));
                if is_whole {
                    self.buffer.truncate(self.buffer.len().saturating_sub(3));
                }
                Ok(Markup::Data)
            }
            _ => {
                self.skip_document_type()?;
                Ok(Markup::Nothing)
            }
        }
    }

    /// Everything up to a terminator, with it; whether it came and fits into the buffer.
    fn take_until(&mut self, terminator: &[u8]) -> io::Result<bool> {
        let mut last = [0; 2];
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Ok(false);
            }
            let end = piece.iter().position(|byte| *byte == b'>');
            let count = end.map_or(piece.len(), |at| at + 1);
            let before = &piece[..count - usize::from(end.is_some())];
            for byte in &before[before.len().saturating_sub(2)..] {
                last = [last[1], *byte];
            }
            let cut = keep(&mut self.buffer, &piece[..count]);
            self.cut += cut;
            self.consume(count);
            if end.is_some() {
                if last.ends_with(&terminator[..terminator.len() - 1]) {
                    return Ok(self.buffer.ends_with(terminator));
                }
                last = [last[1], b'>'];
            }
        }
    }

    /// A tag up to the `>` that is not part of a value.
    fn take_tag(&mut self) -> io::Result<Markup> {
        let mut quote = None;
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                // Half a tag tells nothing for sure.
                return Ok(Markup::Nothing);
            }
            let end = end_of_tag(piece, &mut quote);
            self.cut += keep(&mut self.buffer, &piece[..end.unwrap_or(piece.len())]);
            let count = end.map_or(piece.len(), |at| at + 1);
            self.consume(count);
            if end.is_some() {
                return Ok(Markup::Open);
            }
        }
    }

    /// A document type may hold declarations between brackets.
    fn skip_document_type(&mut self) -> io::Result<()> {
        let mut depth = 0_u32;
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Ok(());
            }
            let end = piece.iter().position(|byte| {
                match byte {
                    b'[' | b'<' => depth = depth.saturating_add(1),
                    b']' => depth = depth.saturating_sub(1),
                    b'>' if depth == 0 => return true,
                    b'>' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                false
            });
            let count = end.map_or(piece.len(), |at| at + 1);
            self.consume(count);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

enum Markup {
    Open,
    Close,
    Data,
    Nothing,
}

/// Where a tag ends; remembers in which quotes the input stands.
fn end_of_tag(piece: &[u8], quote: &mut Option<u8>) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = piece.get(from..)?;
        let at = match *quote {
            Some(mark) => rest.iter().position(|byte| *byte == mark)?,
            None => rest.iter().position(|byte| matches!(byte, b'>' | b'"' | b'\''))?,
        };
        match (*quote, rest[at]) {
            (Some(_), _) => *quote = None,
            (None, b'>') => return Some(from + at),
            (None, mark) => *quote = Some(mark),
        }
        from += at + 1;
    }
}

/// Append within the limit; 1 if something did not fit.
fn keep(buffer: &mut Vec<u8>, more: &[u8]) -> u64 {
    let room = LONGEST_PIECE.saturating_sub(buffer.len());
    buffer.extend_from_slice(&more[..room.min(more.len())]);
    u64::from(more.len() > room)
}

/// A tag that opens an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag<'a> {
    content: &'a [u8],
}

impl<'a> Tag<'a> {
    /// A tag without its brackets.
    pub(super) fn parse(content: &'a [u8]) -> Self {
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

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// The pieces as text, read through a small buffer so that every mark is cut somewhere.
    fn pieces(text: &[u8], capacity: usize) -> Vec<String> {
        let mut pieces = Pieces::new(BufReader::with_capacity(capacity, text));
        let mut all = Vec::new();
        while let Some(piece) = pieces.next(Texts::Wanted).unwrap() {
            all.push(match piece {
                Piece::Open(tag) => {
                    let mut line = format!("<{}", String::from_utf8_lossy(tag.name()));
                    for (name, value) in tag.attributes() {
                        line += &format!(" {}={value}", String::from_utf8_lossy(name));
                    }
                    line
                }
                Piece::Close => "/".to_owned(),
                Piece::Text(text) => format!("'{text}'"),
            });
        }
        all
    }

    #[test]
    fn tags_attributes_and_text_are_told_apart() {
        let text = br#"<?xml version="1.0"?><!-- a > b --><!DOCTYPE a [<!ENTITY e "x">]>
            <n:a  x="1 &gt; 0" y = 'two' z/>t &amp; &e; &#65;&#x42; &<![CDATA[<b>]] > ]]></a>"#;
        for capacity in 1..64 {
            let is_blank = |piece: &String| piece.trim_matches(['\'', ' ', '\n']).is_empty();
            let mut found = pieces(text, capacity);
            found.retain(|piece| !is_blank(piece));
            let joined = found.join("|");
            assert!(joined.contains("<a x=1 > 0 y=two|/|'t & &e; AB &'|'<b>]] > '|/"), "{joined}");
        }
    }

    #[test]
    fn a_value_may_hold_what_ends_a_tag() {
        assert_eq!(pieces(b"<a m=\"x > y\" n='\"'>", 8), ["<a m=x > y n=\""]);
    }

    #[test]
    fn half_a_file_gives_what_was_whole() {
        assert_eq!(pieces(b"<a><b x='1'>text<c y='", 8), ["<a", "<b x=1", "'text'"]);
        assert_eq!(pieces(b"<a><![CDATA[half", 8), ["<a", "'half'"]);
    }

    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        let text = [b"<a>".to_vec(), vec![b'x'; LONGEST_PIECE + 9], b"</a>".to_vec()].concat();
        let mut pieces = Pieces::new(&text[..]);
        let mut longest = 0;
        while let Some(piece) = pieces.next(Texts::Wanted).unwrap() {
            if let Piece::Text(text) = piece {
                longest = text.len();
            }
        }
        assert_eq!((longest, pieces.cut()), (LONGEST_PIECE, 1));
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end_in_the_same_pieces(
            bytes in proptest::collection::vec(
                prop_oneof![4 => proptest::sample::select(b"<>/!?-[]=\"'& \nabCDATA;".to_vec()), 1 => any::<u8>()],
                0..200,
            ),
            capacity in 1_usize..40,
        ) {
            // Text may be split in any way, so it is joined.
            let joined = |all: Vec<String>| all.concat().replace("''", "");
            prop_assert_eq!(joined(pieces(&bytes, capacity)), joined(pieces(&bytes, 4096)));
        }
    }
}
