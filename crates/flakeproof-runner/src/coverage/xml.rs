//! Coverage reports in XML: Cobertura's and JaCoCo's.
//!
//! JaCoCo names files without their source folder, so the usual ones are tried. Code of a lambda is
//! a method of its own there and part of the method around it in the source, and counts as that.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::covered::{CoveredFile, Error, Files, Function, place};
use crate::reports::xml::{Piece, Pieces, Tag, Texts};

/// Cobertura: classes with their file, their methods and lines.
pub(super) fn read_cobertura(input: impl BufRead, folder: &Path) -> Result<Files, Error> {
    let mut reader = CoberturaReader::default();
    let mut pieces = Pieces::new(input);
    loop {
        let texts = if reader.is_in_source { Texts::Wanted } else { Texts::Skipped };
        let offset = pieces.offset();
        match pieces.next(texts)? {
            None => break,
            Some(Piece::Open(tag)) => {
                reader.depth += 1;
                reader.open(tag).ok_or_else(|| Error::at(offset, "a line without its number"))?;
            }
            Some(Piece::Close) => {
                reader.depth = reader.depth.saturating_sub(1);
                reader.close(folder);
            }
            Some(Piece::Text(text)) => {
                let text = text.trim();
                if !text.is_empty() {
                    reader.sources.push(text.to_owned());
                }
            }
        }
    }
    match reader.depth == 0 && reader.has_root {
        true => Ok(reader.files),
        false => Err(Error::at(pieces.offset(), "it is not written to its end")),
    }
}

#[derive(Default)]
struct CoberturaReader {
    files: Files,
    /// Folders that file names may be relative to.
    sources: Vec<String>,
    is_in_source: bool,
    has_root: bool,
    depth: usize,
    /// The class that is open, with its depth.
    class: Option<(String, CoveredFile, usize)>,
    /// The method that is open, with its depth.
    method: Option<(Function, usize)>,
}

impl CoberturaReader {
    fn open(&mut self, tag: Tag<'_>) -> Option<()> {
        match tag.name() {
            b"coverage" => self.has_root = true,
            b"source" => self.is_in_source = true,
            b"class" => {
                let file = tag.attribute("filename").unwrap_or_default().into_owned();
                self.class = Some((file, CoveredFile::default(), self.depth));
            }
            b"method" => {
                let function = Function { first: u32::MAX, last: None, ran: false };
                self.method = Some((function, self.depth));
            }
            b"line" => {
                let line: u32 = tag.attribute("number")?.trim().parse().ok()?;
                let ran = tag.attribute("hits")?.trim().parse::<f64>().ok()? > 0.0;
                if let Some((_, covered, _)) = &mut self.class {
                    *covered.lines.entry(line).or_default() |= ran;
                }
                if let Some((function, _)) = &mut self.method {
                    function.first = function.first.min(line);
                    function.last = Some(function.last.map_or(line, |last| last.max(line)));
                    function.ran |= ran;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn close(&mut self, folder: &Path) {
        self.is_in_source = false;
        let depth = self.depth;
        if let Some((function, _)) = self.method.take_if(|(_, at)| *at == depth + 1)
            && let Some((_, covered, _)) = &mut self.class
            && function.last.is_some()
        {
            covered.functions.push(function);
        }
        if let Some((file, covered, _)) = self.class.take_if(|(_, _, at)| *at == depth + 1) {
            self.keep(&file, covered, folder);
        }
    }

    fn keep(&mut self, file: &str, covered: CoveredFile, folder: &Path) {
        let places = self.sources.iter().map(|source| folder.join(source));
        let places = places.chain([folder.to_path_buf()]);
        let Some(path) = places.into_iter().find_map(|source| place(file, &source)) else { return };
        let kept = self.files.entry(path).or_default();
        for (line, ran) in covered.lines {
            *kept.lines.entry(line).or_default() |= ran;
        }
        kept.functions.extend(covered.functions);
    }
}

/// Where source files lie below a project or a module of it.
const SOURCE_FOLDERS: [&str; 8] = [
    "src/main/java",
    "src/main/kotlin",
    "src/main/scala",
    "src/main/groovy",
    "src/test/java",
    "src/test/kotlin",
    "src",
    "",
];

/// JaCoCo: packages with classes, whose methods have a first line and a count, and source files
/// with their lines.
pub(super) fn read_jacoco(input: impl BufRead, folder: &Path) -> Result<Files, Error> {
    let mut reader = JacocoReader::default();
    let mut pieces = Pieces::new(input);
    loop {
        let offset = pieces.offset();
        match pieces.next(Texts::Skipped)? {
            None => break,
            Some(Piece::Open(tag)) => {
                reader.depth += 1;
                reader.open(tag).ok_or_else(|| Error::at(offset, "a line without its number"))?;
            }
            Some(Piece::Close) => reader.close(),
            Some(Piece::Text(_)) => {}
        }
    }
    match reader.depth == 0 && reader.has_root {
        true => Ok(placed(reader.sources, folder)),
        false => Err(Error::at(pieces.offset(), "it is not written to its end")),
    }
}

#[derive(Default)]
struct JacocoReader {
    has_root: bool,
    depth: usize,
    package: String,
    /// The source file of the class that is open.
    class: String,
    /// The method that is open, with its depth.
    method: Option<(Function, usize)>,
    /// The source file that is open, by its key.
    source: String,
    sources: BTreeMap<String, CoveredFile>,
}

impl JacocoReader {
    fn open(&mut self, tag: Tag<'_>) -> Option<()> {
        let text = |name| tag.attribute(name).unwrap_or_default().into_owned();
        match tag.name() {
            b"report" => self.has_root = true,
            b"package" => self.package = text("name"),
            b"class" => self.class = self.key(&text("sourcefilename")),
            b"sourcefile" => {
                self.source = self.key(&text("name"));
                self.sources.entry(self.source.clone()).or_default();
            }
            b"method" => {
                let first = tag.attribute("line").and_then(|line| line.parse().ok());
                let is_lambda = text("name").starts_with("lambda$");
                self.method = first
                    .filter(|_| !is_lambda)
                    .map(|first| (Function { first, last: None, ran: false }, self.depth));
            }
            b"counter" => {
                let has_run = text("covered").parse::<u64>().is_ok_and(|count| count > 0);
                if let Some((function, _)) = &mut self.method {
                    function.ran |= has_run;
                }
            }
            b"line" => {
                let line: u32 = tag.attribute("nr")?.parse().ok()?;
                let ran = tag.attribute("ci")?.parse::<u64>().ok()? > 0;
                let source = self.sources.get_mut(&self.source)?;
                *source.lines.entry(line).or_default() |= ran;
            }
            _ => {}
        }
        Some(())
    }

    fn close(&mut self) {
        let depth = self.depth;
        if let Some((function, _)) = self.method.take_if(|(_, at)| *at == depth) {
            self.sources.entry(self.class.clone()).or_default().functions.push(function);
        }
        self.depth = depth.saturating_sub(1);
    }

    fn key(&self, file: &str) -> String {
        match self.package.is_empty() {
            true => file.to_owned(),
            false => format!("{}/{file}", self.package),
        }
    }
}

/// Find the files. One that may be two is both, and nothing is known of either.
fn placed(sources: BTreeMap<String, CoveredFile>, folder: &Path) -> Files {
    let below = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let modules: Vec<PathBuf> = below.map(|entry| entry.path()).filter(|it| it.is_dir()).collect();
    let modules: Vec<&Path> =
        std::iter::once(folder).chain(modules.iter().map(PathBuf::as_path)).collect();
    let mut files = Files::new();
    for (key, mut covered) in sources {
        let mut paths: Vec<String> = modules
            .iter()
            .flat_map(|module| SOURCE_FOLDERS.map(|source| module.join(source)))
            .filter_map(|source| place(&key, &source))
            .collect();
        paths.sort_unstable();
        paths.dedup();
        // A lambda that ran is inside of a method that may not have been called itself.
        mend_methods(&mut covered);
        if let [only] = &paths[..] {
            files.insert(only.clone(), covered);
        } else {
            for path in paths {
                files.insert(path, CoveredFile { is_ambiguous: true, ..CoveredFile::default() });
            }
        }
    }
    files
}

fn mend_methods(covered: &mut CoveredFile) {
    let mut starts: Vec<u32> = covered.functions.iter().map(|it| it.first).collect();
    starts.sort_unstable();
    for function in &mut covered.functions {
        let next = starts.iter().find(|start| **start > function.first).copied();
        let mut own = covered.lines.range(function.first..next.unwrap_or(u32::MAX));
        function.ran |= own.any(|(_, ran)| *ran);
    }
}
