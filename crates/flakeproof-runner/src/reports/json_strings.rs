//! JSON whose strings are cut, so that none can fill the memory of who parses it.

use std::io::{self, BufRead, Read};

/// The longest string that passes, in bytes as they are written.
const LONGEST: usize = 256 * 1024;

/// Passes JSON on with every string cut to a limit.
#[derive(Debug)]
pub(super) struct CutStrings<R> {
    input: R,
    state: State,
    offset: u64,
}

/// Where in the JSON the input stands.
#[derive(Debug)]
struct State {
    /// Bytes of the string so far; `None` outside of one.
    inside: Option<usize>,
    escape: Escape,
    /// Whether the rest of this string is dropped.
    is_dropping: bool,
    cut: u64,
}

/// How far into an escape the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Begun,
    /// So many hexadecimal digits are to come.
    Digits(u8),
}

impl<R: BufRead> CutStrings<R> {
    pub(super) fn new(input: R) -> Self {
        let state = State { inside: None, escape: Escape::None, is_dropping: false, cut: 0 };
        Self { input, state, offset: 0 }
    }

    /// How many strings were too long.
    pub(super) fn cut(&self) -> u64 {
        self.state.cut
    }

    /// How many bytes were read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }
}

impl<R: BufRead> Read for CutStrings<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let piece = self.input.fill_buf()?;
            let count = piece.len().min(out.len());
            if count == 0 {
                return Ok(0);
            }
            let written = self.state.pass(&piece[..count], out);
            self.input.consume(count);
            self.offset += count as u64;
            if written > 0 {
                return Ok(written);
            }
        }
    }
}

impl State {
    /// Copy what passes; how much it was.
    fn pass(&mut self, piece: &[u8], out: &mut [u8]) -> usize {
        let (mut read, mut written) = (0, 0);
        while let Some(byte) = piece.get(read) {
            let run = self.plain_run(&piece[read..]);
            if run > 0 {
                out[written..written + run].copy_from_slice(&piece[read..read + run]);
                read += run;
                written += run;
                continue;
            }
            read += 1;
            if self.passes(*byte) {
                out[written] = *byte;
                written += 1;
            }
        }
        written
    }

    /// How many bytes pass as they are and change nothing about where the input stands.
    fn plain_run(&mut self, piece: &[u8]) -> usize {
        if self.escape != Escape::None || self.is_dropping {
            return 0;
        }
        let Some(length) = &mut self.inside else {
            return memchr::memchr(b'"', piece).unwrap_or(piece.len());
        };
        let run = memchr::memchr2(b'"', b'\\', piece).unwrap_or(piece.len());
        if *length + run > LONGEST {
            return 0;
        }
        *length += run;
        run
    }

    fn passes(&mut self, byte: u8) -> bool {
        let Some(length) = &mut self.inside else {
            self.inside = (byte == b'"').then_some(0);
            return true;
        };
        let is_whole_before = self.escape == Escape::None;
        self.escape = match (self.escape, byte) {
            (Escape::None, b'\\') => Escape::Begun,
            (Escape::Begun, b'u') => Escape::Digits(4),
            (Escape::Digits(left @ 2..), _) => Escape::Digits(left - 1),
            (Escape::None | Escape::Begun | Escape::Digits(_), _) => Escape::None,
        };
        if is_whole_before && byte == b'"' {
            self.inside = None;
            self.is_dropping = false;
            return true;
        }
        *length += 1;
        // Never between the parts of an escape or of a character.
        let is_boundary = is_whole_before && byte & 0xC0 != 0x80;
        if *length > LONGEST && is_boundary && !self.is_dropping {
            self.is_dropping = true;
            self.cut += 1;
        }
        !self.is_dropping
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn passed(text: &[u8], capacity: usize) -> (Vec<u8>, u64) {
        let mut cut = CutStrings::new(BufReader::with_capacity(capacity, text));
        let mut out = Vec::new();
        cut.read_to_end(&mut out).unwrap();
        (out, cut.cut())
    }

    #[test]
    fn a_long_string_is_cut_and_what_follows_is_whole() {
        for filling in ["x", "é", r"\n", r"\u00e9", r"\ud83d\ude00"] {
            let long = filling.repeat(LONGEST + 9);
            let text = format!(r#"{{"a":"{long}","b":"\"short\\"}}"#);
            let (out, cut) = passed(text.as_bytes(), 1000);
            assert_eq!(cut, 1);
            let is_pair = filling.starts_with(r"\ud");
            let parsed = serde_json::from_slice::<serde_json::Value>(&out);
            // Half of a pair of surrogates is the parser's to complain about.
            assert!(is_pair || parsed.is_ok(), "{filling}");
            assert!(out.ends_with(br#","b":"\"short\\"}"#));
            assert!(out.len() < LONGEST + 100);
        }
    }

    proptest! {
        #[test]
        fn what_is_short_passes_unchanged(text in r#"["\\a-cu0-9{}:, é]{0,80}"#, capacity in 1_usize..20) {
            let (out, cut) = passed(text.as_bytes(), capacity);
            prop_assert_eq!((out.as_slice(), cut), (text.as_bytes(), 0));
        }
    }
}
