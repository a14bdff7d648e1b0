//! The skeleton of a JSON document: its members are walked through one by one, and a value is kept
//! as bytes or passed over.
//!
//! The parser of `serde_json` is several times as fast on a slice as on a stream, where it takes
//! every byte by itself. So only the skeleton is read as a stream.

use std::io::{self, BufRead, Read};

/// A value that takes more bytes than this is passed over.
const LARGEST: usize = 64 << 20;

/// A JSON document, from the place on that was reached.
#[derive(Debug)]
pub(super) struct Skeleton<R> {
    input: R,
    value: Vec<u8>,
}

/// Why a document is not read any further.
#[derive(Debug)]
pub(super) enum Stop {
    /// It cannot be read.
    Io(io::Error),
    /// It is no JSON, or not all of it.
    Wrong(&'static str),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

const CUT: Stop = Stop::Wrong("it ends too early");

impl<R: BufRead> Skeleton<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, value: Vec::new() }
    }

    /// The next byte that is no white space; it is not taken.
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Err(CUT);
            }
            let blanks = piece.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = piece.get(blanks).copied();
            self.input.consume(blanks);
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    /// Take a byte if it is the next that is no white space.
    pub(super) fn takes(&mut self, wanted: u8) -> Result<bool, Stop> {
        let is_next = self.peek()? == wanted;
        if is_next {
            self.input.consume(1);
        }
        Ok(is_next)
    }

    /// Take a byte that must come next.
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.takes(wanted)? {
            Ok(())
        } else {
            Err(Stop::Wrong("a mark is not where it belongs"))
        }
    }

    /// The next value as it is written; `None` if it is too large.
    pub(super) fn value(&mut self) -> Result<Option<&[u8]>, Stop> {
        self.value.clear();
        self.scan(true)?;
        Ok((self.value.len() <= LARGEST).then_some(&self.value))
    }

    /// Pass over the next value.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        self.value.clear();
        self.scan(false)
    }

    fn scan(&mut self, is_kept: bool) -> Result<(), Stop> {
        let mut place = match self.peek()? {
            b'"' | b'{' | b'[' => Place { depth: 0, string: None, is_over: false },
            b',' | b':' | b'}' | b']' => return Err(Stop::Wrong("a value is missing")),
            _ => return self.scan_word(is_kept),
        };
        while !place.is_over {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Err(CUT);
            }
            let used = place.go(piece);
            // One byte more than the limit tells that there was more.
            let room = if is_kept { (LARGEST + 1).saturating_sub(self.value.len()) } else { 0 };
            self.value.extend_from_slice(&piece[..used.min(room)]);
            self.input.consume(used);
        }
        Ok(())
    }

    /// A number, or one of the words; whether it is one is the parser's to say.
    fn scan_word(&mut self, is_kept: bool) -> Result<(), Stop> {
        loop {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                return Err(CUT);
            }
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            let end = piece.iter().position(is_end);
            let used = end.unwrap_or(piece.len());
            if is_kept && self.value.len() <= LARGEST {
                self.value.extend_from_slice(&piece[..used]);
            }
            self.input.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

/// Where in a value the input stands.
struct Place {
    /// How many brackets are open.
    depth: u32,
    /// Within a string: whether the next byte is escaped.
    string: Option<bool>,
    is_over: bool,
}

impl Place {
    /// Go on until the value is over or the piece ends; how many bytes that is.
    fn go(&mut self, piece: &[u8]) -> usize {
        let mut used = 0;
        while !self.is_over && used < piece.len() {
            used += match self.string {
                Some(true) => {
                    self.string = Some(false);
                    1
                }
                Some(false) => self.go_in_string(&piece[used..]),
                None => self.go_outside(&piece[used..]),
            };
        }
        used
    }

    fn go_in_string(&mut self, piece: &[u8]) -> usize {
        let Some(at) = memchr::memchr2(b'"', b'\\', piece) else { return piece.len() };
        self.string = (piece[at] == b'\\').then_some(true);
        self.is_over = self.string.is_none() && self.depth == 0;
        at + 1
    }

    fn go_outside(&mut self, piece: &[u8]) -> usize {
        let is_mark = |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']');
        let Some(at) = piece.iter().position(is_mark) else { return piece.len() };
        match piece[at] {
            b'"' => self.string = Some(false),
            b'{' | b'[' => self.depth += 1,
            _ => {
                self.depth = self.depth.saturating_sub(1);
                self.is_over = self.depth == 0;
            }
        }
        at + 1
    }
}

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
    use serde_json::{Value, json};

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\{}\\[\\],: \n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c\"\\\\]{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_is_found_whole_and_what_follows_is_next(
            value in any_value(), is_pretty: bool, capacity in 1_usize..20,
        ) {
            let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
            let text = format!(" {text} ,7]");
            for is_kept in [true, false] {
                let input = BufReader::with_capacity(capacity, text.as_bytes());
                let mut skeleton = Skeleton::new(input);
                if is_kept {
                    let found = skeleton.value().unwrap().unwrap().to_vec();
                    prop_assert_eq!(serde_json::from_slice::<Value>(&found).unwrap(), value.clone());
                } else {
                    skeleton.skip().unwrap();
                }
                prop_assert!(skeleton.takes(b',').unwrap());
                prop_assert_eq!(skeleton.value().unwrap().unwrap(), b"7");
                skeleton.expect(b']').unwrap();
            }
        }
    }

    #[test]
    fn half_a_value_is_none() {
        let whole = json!({"a": ["b\\\"", {}]}).to_string();
        for end in 0..whole.len() {
            let mut skeleton = Skeleton::new(&whole.as_bytes()[..end]);
            assert!(matches!(skeleton.value(), Err(Stop::Wrong(_))), "{end}");
        }
    }

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
