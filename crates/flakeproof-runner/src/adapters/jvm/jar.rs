//! Which files a jar holds, read from the directory at its end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

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
