//! Archives with the same bytes each time, and the tarball.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::NamedFile;
use super::contents::{Contents, Inside};
use super::platform::Platform;

/// The program with its manual, in a folder of its own.
pub(super) fn tarball(contents: &Contents, platform: &Platform) -> Result<NamedFile, String> {
    let folder = format!("flakeproof-{}-{}", contents.version, platform.target);
    let mut inside = vec![
        Inside::program(format!("{folder}/{}", platform.program()), &contents.program),
        Inside::text(format!("{folder}/README.md"), contents.readme.clone()),
    ];
    let under = |place: &str, files: &[Inside]| -> Vec<Inside> {
        let moved = files.iter().map(|file| {
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            Inside { path: format!("{folder}/{place}{name}"), ..file.clone() }
        });
        moved.collect()
    };
    inside.extend(under("", &contents.licences));
    inside.extend(under("man/", &contents.manual));
    inside.extend(under("completions/", &contents.completions));
    Ok(NamedFile { name: format!("{folder}.tar.gz"), bytes: tar_gz(&inside)? })
}

/// A compressed archive of files, and of folders, whose paths end with a slash, in which nothing tells when or by whom it was made.
pub(super) fn tar_gz(inside: &[Inside]) -> Result<Vec<u8>, String> {
    let mut archive = tar::Builder::new(Vec::new());
    for file in inside {
        let is_folder = file.path.ends_with('/');
        let mut header = tar::Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(if file.is_program || is_folder { 0o755 } else { 0o644 });
        header.set_entry_type(match is_folder {
            true => tar::EntryType::Directory,
            false => tar::EntryType::Regular,
        });
        let added = archive.append_data(&mut header, &file.path, file.bytes.as_slice());
        added.map_err(|error| format!("{}: {error}", file.path))?;
    }
    let bytes = archive.into_inner().map_err(|error| error.to_string())?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&bytes).map_err(|error| error.to_string())?;
    packed.finish().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn an_archive_is_the_same_each_time_and_keeps_who_may_run() {
        let inside =
            [Inside::program("bin/it", b"program"), Inside::text("share/text", b"text".to_vec())];
        let (one, other) = (tar_gz(&inside).expect("bytes"), tar_gz(&inside).expect("bytes"));
        assert_eq!(one, other);
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(one.as_slice()));
        let mut seen = Vec::new();
        for entry in archive.entries().expect("entries") {
            let mut entry = entry.expect("an entry");
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("its text");
            let path = entry.path().expect("its path").display().to_string();
            seen.push((path, entry.header().mode().expect("a mode"), text));
        }
        let wanted = [("bin/it", 0o755, "program"), ("share/text", 0o644, "text")];
        assert_eq!(seen, wanted.map(|(path, mode, text)| (path.into(), mode, text.into())));
    }
}
