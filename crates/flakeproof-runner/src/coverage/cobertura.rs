//! Cobertura XML: classes with their file, their methods and lines.

use std::io::BufRead;
use std::path::Path;

use super::covered::{Covered, Error, Files, Function, place};
use crate::reports::xml::{Piece, Pieces, Tag, Texts};

pub(super) fn read(input: impl BufRead, folder: &Path) -> Result<Files, Error> {
    let mut reader = Reader::default();
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
struct Reader {
    files: Files,
    /// Folders that file names may be relative to.
    sources: Vec<String>,
    is_in_source: bool,
    has_root: bool,
    depth: usize,
    /// The class that is open, with its depth.
    class: Option<(String, Covered, usize)>,
    /// The method that is open, with its depth.
    method: Option<(Function, usize)>,
}

impl Reader {
    fn open(&mut self, tag: Tag<'_>) -> Option<()> {
        match tag.name() {
            b"coverage" => self.has_root = true,
            b"source" => self.is_in_source = true,
            b"class" => {
                let file = tag.attribute("filename").unwrap_or_default().into_owned();
                self.class = Some((file, Covered::default(), self.depth));
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

    fn keep(&mut self, file: &str, covered: Covered, folder: &Path) {
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
