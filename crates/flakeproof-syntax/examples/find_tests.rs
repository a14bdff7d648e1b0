//! Finds the tests of a folder: `cargo run --release --example find_tests -- DIR [--quiet]`.
//!
//! Prints one line per test (id, path, lines), then on stderr how fast that was.

#![expect(clippy::print_stderr, reason = "an example talks to a person")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use flakeproof_syntax::{Finder, Language, Layout, SourceFile, may_hold_tests};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let is_quiet = arguments.next().as_deref() == Some("--quiet");

    let mut files = Vec::new();
    let mut manifests = Vec::new();
    walk(&root, &root, &mut |path, full| {
        if Layout::is_manifest(&path) {
            manifests.push((path, read(full)));
        } else if let Some(language) = Language::of_path(&path) {
            let text = read(full);
            files.push((language, path, text));
        }
    })?;
    let layout = Layout::of_manifests(manifests.iter().map(|(p, t)| (p.as_str(), t.as_str())));

    let started = Instant::now();
    let bytes: usize = files.iter().map(|(_, _, text)| text.len()).sum();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| find(&files, &layout, &next, is_quiet))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let seconds = started.elapsed().as_secs_f64();

    let lines: usize = files.iter().map(|(_, _, text)| text.lines().count()).sum();
    let total = |of: fn(&Part) -> usize| parts.iter().map(of).sum::<usize>();
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    for part in &parts {
        std::io::stdout().write_all(part.report.as_bytes())?;
    }
    eprintln!(
        "{} files, {} lines, {:.1} MB in {seconds:.2} s on {threads} threads: {:.1} MB/s, {:.0} \
         lines/s; parsed {} files, {:.1} MB; {} tests, {} helpers, {} issues",
        files.len(),
        lines,
        megabytes(bytes),
        megabytes(bytes) / seconds,
        lines as f64 / seconds,
        total(|p| p.parsed_files),
        megabytes(total(|p| p.parsed_bytes)),
        total(|p| p.tests),
        total(|p| p.helpers),
        total(|p| p.issues),
    );
    Ok(())
}

#[derive(Default)]
struct Part {
    report: String,
    parsed_files: usize,
    parsed_bytes: usize,
    tests: usize,
    helpers: usize,
    issues: usize,
}

fn find(
    files: &[(Language, String, String)],
    layout: &Layout,
    next: &AtomicUsize,
    is_quiet: bool,
) -> Part {
    let mut part = Part::default();
    let mut finder = Finder::default();
    while let Some((language, path, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        if !may_hold_tests(*language, path, text) {
            continue;
        }
        let found = finder.find(&SourceFile { path, text }, layout);
        part.parsed_files += 1;
        part.parsed_bytes += text.len();
        part.tests += found.tests.len();
        part.issues += found.issues.len();
        part.helpers += found.tests.iter().map(|test| test.helpers.len()).sum::<usize>();
        if is_quiet {
            continue;
        }
        for issue in found.issues {
            part.report.push_str(&format!("! {path}: {issue}\n"));
        }
        for test in found.tests {
            let (first, last) = (test.lines.start(), test.lines.end());
            part.report.push_str(&format!("{}\t{path}\t{first}-{last}\n", test.id));
        }
    }
    part
}

fn read(path: &Path) -> String {
    std::fs::read(path).map_or_else(|_| String::new(), |b| String::from_utf8_lossy(&b).into_owned())
}

fn walk(root: &Path, folder: &Path, see: &mut impl FnMut(String, &Path)) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(root, &path, see)?;
        } else if kind.is_file() {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            see(relative.to_string_lossy().replace('\\', "/"), &path);
        }
    }
    Ok(())
}
