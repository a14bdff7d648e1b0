//! A wheel: the program as a script of a Python distribution without any Python in it.

use std::io::{Cursor, Write as _};

use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::NamedFile;
use super::contents::{Contents, Inside};
use super::platform::Platform;

/// The wheel of a platform.
pub(super) fn wheel(contents: &Contents, platform: &Platform) -> Result<NamedFile, String> {
    let version = &contents.version;
    let tag = format!("py3-none-{}", platform.wheel_tag(&contents.program));
    let (data, about) =
        (format!("flakeproof-{version}.data"), format!("flakeproof-{version}.dist-info"));
    let script = format!("{data}/scripts/{}", platform.program());
    let mut inside = vec![
        Inside::program(script, &contents.program),
        Inside::text(format!("{about}/METADATA"), metadata(contents)),
        Inside::text(
            format!("{about}/WHEEL"),
            format!(
                "Wheel-Version: 1.0\nGenerator: flakeproof-xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"
            ),
        ),
    ];
    inside.extend(contents.licences.iter().map(|licence| {
        Inside::text(format!("{about}/licenses/{}", licence.path), licence.bytes.clone())
    }));
    let record = record(&inside, &about);
    inside.push(Inside::text(format!("{about}/RECORD"), record));
    let name = format!("flakeproof-{version}-{tag}.whl");
    Ok(NamedFile { name, bytes: zipped(&inside).map_err(|error| error.to_string())? })
}

fn metadata(contents: &Contents) -> Vec<u8> {
    let head = format!(
        "Metadata-Version: 2.4\nName: flakeproof\nVersion: {}\n\
         Summary: Find, predict, explain and triage tests that pass and fail on the same code\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\n\
         License-File: LICENSE-MIT\nRequires-Python: >=3.6\n\
         Description-Content-Type: text/markdown\n\n",
        contents.version
    );
    [head.as_bytes(), &contents.readme].concat()
}

/// What an installer checks every file against.
fn record(inside: &[Inside], about: &str) -> Vec<u8> {
    let lines = inside.iter().map(|file| {
        let digest = url_safe(&Sha256::digest(&file.bytes));
        format!("{},sha256={digest},{}\n", file.path, file.bytes.len())
    });
    let own = format!("{about}/RECORD,,\n");
    lines.chain([own]).collect::<String>().into_bytes()
}

fn zipped(inside: &[Inside]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for file in inside {
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(DateTime::default())
            .unix_permissions(mode);
        archive.start_file(&file.path, options)?;
        archive.write_all(&file.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Base 64 in the alphabet for addresses, without padding.
fn url_safe(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let number = part.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte))
            << (8 * (3 - part.len()));
        for at in 0..=part.len() {
            text.push(char::from(ALPHABET[(number >> (18 - 6 * at)) as usize & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_as_installers_expect() {
        assert_eq!(url_safe(b"Man"), "TWFu");
        assert_eq!(url_safe(b"Ma"), "TWE");
        assert_eq!(url_safe(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn every_file_but_the_record_itself_has_its_digest() {
        let inside = [Inside::text("a.dist-info/WHEEL", "x")];
        let record = String::from_utf8(record(&inside, "a.dist-info")).expect("a text");
        let digest = "LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE";
        assert_eq!(record, format!("a.dist-info/WHEEL,sha256={digest},1\na.dist-info/RECORD,,\n"));
    }
}
