//! The little that has to be known of a compiled class: where it was written.
//!
//! Format: The Java Virtual Machine Specification, chapter 4.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// What a class file tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClassFile {
    /// The name of its source file, without a folder.
    pub(super) source: Option<String>,
    /// Whether a compiler may copy values or code of it into other classes.
    pub(super) is_copied: bool,
    /// The first line of each method, by name.
    pub(super) lines: BTreeMap<String, u32>,
}

const MAGIC: u32 = 0xcafe_babe;
const PRIVATE: u16 = 0x0002;
const SYNTHETIC: u16 = 0x1000;
/// Kotlin marks the variables of inlined functions by this, where they are written and copied.
const KOTLIN_INLINE: &str = "$i$f$";

/// Read a class file; `None` where it is none.
pub(super) fn read_class_file(bytes: &[u8]) -> Option<ClassFile> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.u4()? != MAGIC {
        return None;
    }
    reader.skip(4)?;
    let texts = constant_texts(&mut reader)?;
    let mut class = ClassFile {
        is_copied: texts.values().any(|text| text.starts_with(KOTLIN_INLINE)),
        ..ClassFile::default()
    };
    reader.skip(6)?;
    let interfaces = reader.u2()?;
    reader.skip(2 * usize::from(interfaces))?;
    for _ in 0..reader.u2()? {
        let access = reader.u2()?;
        reader.skip(4)?;
        let is_seen_by_others = access & (PRIVATE | SYNTHETIC) == 0;
        for (name, _) in attributes(&mut reader, &texts)? {
            class.is_copied |= is_seen_by_others && name == "ConstantValue";
        }
    }
    for _ in 0..reader.u2()? {
        reader.skip(2)?;
        let name = texts.get(&reader.u2()?).cloned().unwrap_or_default();
        reader.skip(2)?;
        let attributes = attributes(&mut reader, &texts)?;
        let code = attributes.iter().find(|(name, _)| name == "Code");
        if let Some(line) = code.and_then(|(_, code)| first_line(code, &texts)) {
            class.lines.entry(name).and_modify(|known| *known = line.min(*known)).or_insert(line);
        }
    }
    for (name, value) in attributes(&mut reader, &texts)? {
        if name == "SourceFile" {
            class.source = texts.get(&Reader { bytes: value, at: 0 }.u2()?).cloned();
        }
    }
    Some(class)
}

/// The texts of the constant pool, by number.
fn constant_texts(reader: &mut Reader<'_>) -> Option<BTreeMap<u16, String>> {
    let count = reader.u2()?;
    let mut texts = BTreeMap::new();
    let mut number = 1;
    while number < count {
        let tag = reader.u1()?;
        match tag {
            1 => {
                let length = usize::from(reader.u2()?);
                let text = String::from_utf8_lossy(reader.take(length)?).into_owned();
                texts.insert(number, text);
            }
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => reader.skip(4)?,
            5 | 6 => {
                reader.skip(8)?;
                // Long and double take two numbers.
                number = number.checked_add(1)?;
            }
            7 | 8 | 16 | 19 | 20 => reader.skip(2)?,
            15 => reader.skip(3)?,
            _ => return None,
        }
        number = number.checked_add(1)?;
    }
    Some(texts)
}

/// The attributes at this place, by name.
fn attributes<'a>(
    reader: &mut Reader<'a>,
    texts: &BTreeMap<u16, String>,
) -> Option<Vec<(String, &'a [u8])>> {
    let count = reader.u2()?;
    (0..count)
        .map(|_| {
            let name = texts.get(&reader.u2()?).cloned().unwrap_or_default();
            let length = usize::try_from(reader.u4()?).ok()?;
            Some((name, reader.take(length)?))
        })
        .collect()
}

/// The lowest line of a method's code.
fn first_line(code: &[u8], texts: &BTreeMap<u16, String>) -> Option<u32> {
    let mut reader = Reader { bytes: code, at: 4 };
    let length = usize::try_from(reader.u4()?).ok()?;
    reader.skip(length)?;
    let handlers = reader.u2()?;
    reader.skip(8 * usize::from(handlers))?;
    let attributes = attributes(&mut reader, texts)?;
    let tables = attributes.iter().filter(|(name, _)| name == "LineNumberTable");
    let lines = tables.flat_map(|(_, table)| table.get(2..).unwrap_or_default().chunks_exact(4));
    lines.map(|entry| u32::from(u16::from_be_bytes([entry[2], entry[3]]))).min()
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(drop)
    }

    fn u1(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u2(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u4(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// The most bytes that the last record of a jar takes: it ends with a comment.
const LAST_RECORD: u64 = 22 + 65_535;
const END_OF_DIRECTORY: [u8; 4] = *b"PK\x05\x06";
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";

/// The names of all files in a jar; empty where it cannot be read.
pub(super) fn names(jar: &Path) -> Vec<String> {
    directory(jar).map(|bytes| names_in(&bytes)).unwrap_or_default()
}

/// The directory of a jar.
fn directory(jar: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(jar).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(LAST_RECORD))).ok()?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).ok()?;
    let at = end.windows(4).rposition(|window| window == END_OF_DIRECTORY)?;
    let length = number(&end, at + 12, 4)?;
    let start = number(&end, at + 16, 4)?;
    if start.checked_add(length)? > size {
        return None;
    }
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn names_in(directory: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    while directory.get(at..at + 4) == Some(&DIRECTORY_ENTRY) {
        let length = |offset| number(directory, at + offset, 2).and_then(|it| it.try_into().ok());
        let (Some(name), Some(extra), Some(comment)) = (length(28), length(30), length(32)) else {
            break;
        };
        let (name, extra, comment): (usize, usize, usize) = (name, extra, comment);
        let Some(text) = directory.get(at + 46..at + 46 + name) else { break };
        names.push(String::from_utf8_lossy(text).into_owned());
        at += 46 + name + extra + comment;
    }
    names
}

/// A number of some bytes, lowest first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// A class with a constant of this access, written in `Limits.java`.
    fn class_with_constant(access: u16) -> Vec<u8> {
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend([0, 0, 0, 52]);
        let texts = ["SourceFile", "Limits.java", "ConstantValue", "MOST", "I"];
        bytes.extend(6_u16.to_be_bytes());
        for text in texts {
            bytes.push(1);
            bytes.extend(u16::try_from(text.len()).expect("short").to_be_bytes());
            bytes.extend(text.bytes());
        }
        let numbers = |numbers: &[u16]| {
            numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>()
        };
        // Access, this, super, no interfaces; one field with one attribute of two bytes.
        bytes.extend(numbers(&[0, 0, 0, 0, 1, access, 4, 5, 1, 3, 0, 2, 0]));
        // No methods; the source file.
        bytes.extend(numbers(&[0, 1, 1, 0, 2, 2]));
        bytes
    }

    #[test]
    fn a_constant_that_others_can_see_is_copied() {
        let class = read_class_file(&class_with_constant(0x0019)).expect("a class");
        assert_eq!(class.source.as_deref(), Some("Limits.java"));
        assert!(class.is_copied);
        assert!(!read_class_file(&class_with_constant(0x001a)).expect("a class").is_copied);
    }

    #[test]
    fn something_else_is_no_class() {
        assert_eq!(read_class_file(b"not a class"), None);
        assert_eq!(read_class_file(&class_with_constant(1)[..40]), None);
    }

    proptest! {
        #[test]
        fn a_damaged_class_does_no_harm(at in 8_usize..90, byte: u8) {
            let mut bytes = class_with_constant(1);
            if let Some(damaged) = bytes.get_mut(at) {
                *damaged = byte;
            }
            read_class_file(&bytes);
        }
    }

    /// A jar with these empty files, as far as its directory goes.
    fn jar(names: &[&str]) -> Vec<u8> {
        let mut bytes = b"content".to_vec();
        let start = bytes.len();
        for name in names {
            let mut entry = [0; 46];
            entry[..4].copy_from_slice(&DIRECTORY_ENTRY);
            entry[28] = u8::try_from(name.len()).expect("names are short");
            bytes.extend(entry);
            bytes.extend(name.bytes());
        }
        let length = bytes.len() - start;
        let mut end = [0; 22];
        end[..4].copy_from_slice(&END_OF_DIRECTORY);
        end[12] = u8::try_from(length).expect("few names");
        end[16] = u8::try_from(start).expect("little content");
        bytes.extend(end);
        bytes
    }

    #[test]
    fn the_names_in_a_jar_are_read_from_its_end() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(&jar(&["org/junit/Test.class", "b"])).expect("it is written");
        assert_eq!(names(file.path()), ["org/junit/Test.class", "b"]);
        assert!(names(Path::new("/nowhere.jar")).is_empty());
    }

    proptest! {
        #[test]
        fn a_broken_directory_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            names_in(&[&DIRECTORY_ENTRY[..], &bytes].concat());
        }
    }
}
