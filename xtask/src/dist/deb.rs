//! A Debian package: an `ar` archive of a version, a control archive and a data archive. The format of
//! `ar` is a header of sixty bytes a file, so no library is taken for it.

use std::collections::BTreeSet;

use super::NamedFile;
use super::archive::tar_gz;
use super::contents::{Contents, Inside};
use super::platform::Platform;

/// The package, for platforms that Debian has.
pub(super) fn package(
    contents: &Contents,
    platform: &Platform,
) -> Result<Option<NamedFile>, String> {
    let Some(architecture) = platform.debian else { return Ok(None) };
    let mut data = vec![Inside::program("./usr/bin/flakeproof", &contents.program)];
    let licences: Vec<&[u8]> = contents.licences.iter().map(|it| it.bytes.as_slice()).collect();
    data.push(Inside::text("./usr/share/doc/flakeproof/copyright", licences.join(&b'\n')));
    let manual = contents.manual.iter();
    data.extend(manual.map(|page| {
        Inside::text(format!("./usr/share/man/man1/{}", page.path), page.bytes.clone())
    }));
    let completions = contents.completions.iter();
    data.extend(completions.map(|it| Inside::text(format!("./{}", it.path), it.bytes.clone())));
    let kilobytes: usize = data.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let (major, minor) = glibc(platform, &contents.program);
    let control = format!(
        "Package: flakeproof\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: The flakeproof authors <flakeproof@example.org>\n\
         Installed-Size: {kilobytes}\nDepends: libc6 (>= {major}.{minor})\nRecommends: git, strace\n\
         Section: devel\nPriority: optional\n\
         Description: find, predict, explain and triage flaky tests\n \
         Reruns what fails in the ways that tell something, and answers for every failure:\n \
         flaky, real, unrelated or unknown, with the evidence.\n",
        version = contents.version,
    );
    let control = tar_gz(&[Inside::text("./control", control)])?;
    let bytes = ar(&[
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", &control),
        ("data.tar.gz", &tar_gz(&with_folders(data))?),
    ]);
    let name = format!("flakeproof_{}_{architecture}.deb", contents.version);
    Ok(Some(NamedFile { name, bytes }))
}

/// The version of glibc that the wheel's tag also names.
fn glibc(platform: &Platform, program: &[u8]) -> (String, String) {
    let tag = platform.wheel_tag(program);
    let mut words = tag.split('_').skip(1).map(str::to_owned);
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

/// With all folders above the files, which dpkg makes only where a package has them.
fn with_folders(files: Vec<Inside>) -> Vec<Inside> {
    let above = |path: &str| -> Vec<String> {
        path.match_indices('/').map(|(at, _)| path[..=at].to_owned()).collect()
    };
    let folders: BTreeSet<String> = files.iter().flat_map(|file| above(&file.path)).collect();
    folders.into_iter().map(|path| Inside::text(path, "")).chain(files).collect()
}

fn ar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in files {
        let size = bytes.len();
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 100_644);
        archive.extend(header.as_bytes());
        archive.extend(*bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_comes_before_what_is_in_it() {
        let files = vec![Inside::program("./usr/bin/it", b""), Inside::text("./usr/share/a", "")];
        let paths: Vec<String> = with_folders(files).into_iter().map(|it| it.path).collect();
        let wanted =
            ["./", "./usr/", "./usr/bin/", "./usr/share/", "./usr/bin/it", "./usr/share/a"];
        assert_eq!(paths, wanted);
    }

    #[test]
    fn every_file_of_an_archive_begins_at_an_even_place() {
        let archive = ar(&[("a", b"odd"), ("b", b"even")]);
        let header = |at: usize| String::from_utf8_lossy(&archive[at..at + 60]).into_owned();
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 4);
        assert!(header(8).starts_with("a  ") && header(8).ends_with("3         `\n"));
        assert!(header(72).starts_with("b  ") && header(72).contains("100644  4 "));
    }
}
