//! JSON documents with a list of tests in them, read test by test.
//!
//! The key of the list tells whose it is: `results.tests` is CTRF, `testResults` is jest and
//! vitest, `examples` is RSpec. Values are taken as they come: a field that holds a number where a
//! text was expected, or nothing at all, is no reason to lose the test it belongs to.

use std::fmt;
use std::io::{self, BufRead, BufReader};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json_skeleton::{CutStrings, Skeleton, Stop};
use super::json_tests::{CtrfTest, JestFile, RspecExample};
use super::reported::{Issues, MOST_PARTS, ReportedTest};

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
            if all.len() < super::reported::MOST_PARTS {
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

/// How often a document may lie within another: CTRF has one level.
const DEEPEST: u32 = 4;

/// Read a document, test by test.
pub(super) fn read_document(
    mut input: impl BufRead,
    issues: &mut Issues,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<()> {
    if input.fill_buf()?.starts_with(b"\xEF\xBB\xBF") {
        input.consume(3);
    }
    let mut strings = CutStrings::new(input);
    let buffered = BufReader::with_capacity(64 * 1024, &mut strings);
    let mut document =
        Document { text: Skeleton::new(buffered), sink, troubles: Vec::new(), lists: 0 };
    let ended = document.object(0);
    let Document { troubles, lists, .. } = document;
    let offset = strings.offset();
    for trouble in troubles {
        issues.serious(offset, trouble);
    }
    match ended {
        Err(Stop::Io(error)) => return Err(error),
        Err(Stop::Wrong(why)) => {
            issues.serious(offset, format!("what follows cannot be read: {why}"));
        }
        Ok(()) if lists == 0 => issues.serious(offset, "the document has no list of tests"),
        Ok(()) => {}
    }
    if strings.cut() > 0 {
        issues.note(offset, format!("{} texts were too long and are cut", strings.cut()));
    }
    Ok(())
}

/// A document, and what was found in it.
struct Document<'s, R> {
    text: Skeleton<R>,
    sink: &'s mut dyn FnMut(ReportedTest),
    troubles: Vec<String>,
    /// How many lists of tests were found.
    lists: u32,
}

/// Whose list of tests it is.
#[derive(Clone, Copy)]
enum Kind {
    Ctrf,
    Jest,
    Rspec,
}

impl Kind {
    fn of_key(key: &str) -> Option<Self> {
        match key {
            "tests" => Some(Self::Ctrf),
            "testResults" => Some(Self::Jest),
            "examples" => Some(Self::Rspec),
            _ => None,
        }
    }
}

impl<R: BufRead> Document<'_, R> {
    fn object(&mut self, depth: u32) -> Result<(), Stop> {
        self.text.expect(b'{')?;
        if self.text.takes(b'}')? {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            self.text.expect(b':')?;
            match (Kind::of_key(&key), self.text.peek()?) {
                (Some(kind), b'[') => self.list(kind)?,
                // Two levels of CTRF: the outer is another document with the inner key.
                (None, b'{') if key == "results" && depth < DEEPEST => self.object(depth + 1)?,
                _ => self.text.skip()?,
            }
            if !self.text.takes(b',')? {
                return self.text.expect(b'}');
            }
        }
    }

    fn key(&mut self) -> Result<String, Stop> {
        const WRONG: Stop = Stop::Wrong("a key is no text");
        let text = self.text.value()?.ok_or(WRONG)?;
        serde_json::from_slice(text).map_err(|_| WRONG)
    }

    fn list(&mut self, kind: Kind) -> Result<(), Stop> {
        self.lists += 1;
        self.text.expect(b'[')?;
        if self.text.takes(b']')? {
            return Ok(());
        }
        loop {
            match self.text.value()? {
                Some(item) => match tests_of(kind, item) {
                    Ok((tests, trouble)) => {
                        tests.into_iter().for_each(&mut self.sink);
                        self.tell(trouble);
                    }
                    Err(error) => self.tell(Some(format!("a test cannot be read: {error}"))),
                },
                None => self.tell(Some("a test is too large and is left out".to_owned())),
            }
            if !self.text.takes(b',')? {
                return self.text.expect(b']');
            }
        }
    }

    /// What would be too many is kept out where they become issues, too.
    fn tell(&mut self, trouble: Option<String>) {
        self.troubles.extend(trouble.filter(|_| self.troubles.len() < MOST_PARTS));
    }
}

/// The tests of one item, and what is wrong with it.
type Found = (Vec<ReportedTest>, Option<String>);

fn tests_of(kind: Kind, item: &[u8]) -> serde_json::Result<Found> {
    fn parsed<'i, T: Deserialize<'i>>(item: &'i [u8]) -> serde_json::Result<T> {
        serde_json::from_slice(item)
    }
    Ok(match kind {
        Kind::Ctrf => (vec![parsed::<CtrfTest>(item)?.reported()], None),
        Kind::Rspec => (vec![parsed::<RspecExample>(item)?.reported()], None),
        Kind::Jest => parsed::<JestFile>(item)?.reported(),
    })
}
