//! Coverage reports with one fact on a line: `lcov.info`, and the profile of `go test
//! -coverprofile`.
//!
//! Functions of lcov come as `FN:first,name`, with their end as `FN:first,last,name`, or in two
//! parts as `FNL:index,first[,last]` and `FNA:index,count,name`. Go writes files as import paths;
//! `go.mod` says which of them are the project's own. Its blocks are smaller than functions, and
//! count as such.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::covered::{CoveredFile, Error, Extent, Files, Function, place};

/// `lcov.info`: records of a file each, one fact on a line.
pub(super) fn read_lcov(input: impl BufRead, folder: &Path) -> Result<Files, Error> {
    let mut files = Files::new();
    let mut record: Option<LcovRecord> = None;
    let mut number = 0;
    for line in input.lines() {
        let line = line?;
        number += 1;
        let odd = || Error::at(number, line.clone());
        match (line.trim_end().split_once(':'), &mut record) {
            (Some(("SF", file)), None) => {
                record = Some(LcovRecord { file: file.to_owned(), ..LcovRecord::default() });
            }
            (Some(("SF", _)), Some(_)) => return Err(odd()),
            (Some((key, value)), Some(record)) => record.add(key, value).ok_or_else(odd)?,
            (None, _) if line.trim_end() == "end_of_record" => {
                let whole = record.take().ok_or_else(odd)?;
                whole.finish(folder, &mut files);
            }
            _ => {}
        }
    }
    match record {
        Some(_) => Err(Error::at(number, "it ends inside of a record")),
        None => Ok(files),
    }
}

#[derive(Default)]
struct LcovRecord {
    file: String,
    covered: CoveredFile,
    /// Functions by name or index, and how often they ran.
    functions: HashMap<String, Function>,
}

impl LcovRecord {
    /// Take in one fact; `None` where it is not understood.
    fn add(&mut self, key: &str, value: &str) -> Option<()> {
        let mut parts = value.split(',');
        match key {
            "DA" => {
                let (line, count) = (parts.next()?.parse().ok()?, ran(parts.next()?)?);
                *self.covered.lines.entry(line).or_default() |= count;
            }
            "FN" => {
                let (first, rest) = value.split_once(',')?;
                let ended = rest
                    .split_once(',')
                    .and_then(|(last, name)| Some((last.parse::<u32>().ok()?, name)));
                let (last, name) = match ended {
                    Some((last, name)) => (Some(last), name),
                    None => (None, rest),
                };
                self.define(name, first.parse().ok()?, last);
            }
            "FNDA" => {
                let (count, name) = value.split_once(',')?;
                let ran = ran(count)?;
                if let Some(function) = self.functions.get_mut(name) {
                    function.ran |= ran;
                }
            }
            "FNL" => {
                let index = parts.next()?.to_owned();
                let first = parts.next()?.parse().ok()?;
                self.define(&index, first, parts.next().and_then(|last| last.parse().ok()));
            }
            "FNA" => {
                let (index, count) = (parts.next()?, ran(parts.next()?)?);
                self.functions.get_mut(index)?.ran |= count;
            }
            _ => {}
        }
        Some(())
    }

    /// Two functions of one name, as instances of a template: one that ran is enough.
    fn define(&mut self, name: &str, first: u32, last: Option<u32>) {
        let new = Function { first, last, ran: false };
        match self.functions.get(name) {
            Some(before) if before.first != first => {
                self.functions.insert(format!("{name}@{first}"), Function { ran: true, ..new });
                if let Some(before) = self.functions.get_mut(name) {
                    before.ran = true;
                }
            }
            Some(_) => {}
            None => drop(self.functions.insert(name.to_owned(), new)),
        }
    }

    fn finish(mut self, folder: &Path, files: &mut Files) {
        let Some(path) = place(&self.file, folder) else { return };
        self.covered.functions.extend(self.functions.into_values());
        let file = files.entry(path).or_default();
        for (line, ran) in self.covered.lines {
            *file.lines.entry(line).or_default() |= ran;
        }
        for function in self.covered.functions {
            let same = file.functions.iter_mut().find(|it| it.first == function.first);
            match same {
                Some(same) => same.ran |= function.ran,
                None => file.functions.push(function),
            }
        }
    }
}

/// Whether a count says that something ran; some tools write fractions.
fn ran(count: &str) -> Option<bool> {
    count.trim().parse::<f64>().ok().map(|count| count > 0.0)
}

/// How deep folders are looked into.
const DEEPEST: usize = 30;

/// A profile of `go test -coverprofile`: blocks with how often they ran.
pub(super) fn read_go(input: impl BufRead, folder: &Path, extent: Extent) -> Result<Files, Error> {
    let modules = modules_around(folder);
    let mut files = Files::new();
    let mut has_mode = false;
    for (number, line) in (1..).zip(input.lines()) {
        let line = line?;
        if line.starts_with("mode:") {
            has_mode = true;
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let odd = || Error::at(number, line.clone());
        let (file, rest) = line.rsplit_once(':').ok_or_else(odd)?;
        let block = block_of(rest).ok_or_else(odd)?;
        let Some(path) = path_of(file, &modules, folder) else { continue };
        let covered = files.entry(path).or_default();
        // The same block comes once for each package that was tested.
        let same = |it: &&mut Function| it.first == block.first && it.last == block.last;
        match covered.functions.iter_mut().rev().take(64).find(same) {
            Some(same) => same.ran |= block.ran,
            None => covered.functions.push(block),
        }
    }
    if !has_mode {
        return Err(Error::at(0, "it is no profile: the first line has no mode"));
    }
    if files.is_empty() {
        // A program that panics or exits leaves nothing but the mode, whatever ran before.
        return Err(Error::at(1, "it has no block: its program may have died before it wrote any"));
    }
    if extent == Extent::WholeProgram {
        add_what_is_not_linked(&mut files, folder, 0);
    }
    Ok(files)
}

/// Files with functions that have no block are no part of the test's program. A file without
/// functions never has a block, and so nothing is known about it.
fn add_what_is_not_linked(files: &mut Files, folder: &Path, depth: usize) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_passed_over = name.starts_with(['.', '_']) || name == "vendor" || name == "testdata";
        if path.is_dir() && !path.is_symlink() {
            // Another module is not covered by `./...`.
            if !is_passed_over && depth < DEEPEST && !path.join("go.mod").exists() {
                add_what_is_not_linked(files, &path, depth + 1);
            }
        } else if name.ends_with(".go") && !name.ends_with("_test.go") && !is_passed_over {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let (true, Some(path)) = (has_function(&text), place(&name, folder)) {
                files.entry(path).or_insert_with(|| CoveredFile {
                    is_known_to_be_idle: true,
                    ..CoveredFile::default()
                });
            }
        }
    }
}

/// Whether a function with statements is certain: its head on one line, something on the next.
fn has_function(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_in_comment = text.contains("/*");
    !is_in_comment
        && lines.windows(2).any(|pair| {
            let body = pair[1].trim();
            pair[0].starts_with("func ")
                && pair[0].trim_end().ends_with('{')
                && !body.is_empty()
                && !body.starts_with("//")
                && !body.starts_with('}')
        })
}

/// A block as it is written: `12.3,15.4 2 1`.
fn block_of(text: &str) -> Option<Function> {
    let mut words = text.split(' ');
    let (from, to) = words.next()?.split_once(',')?;
    let line = |place: &str| place.split('.').next()?.parse::<u32>().ok();
    let count: u64 = words.nth(1)?.parse().ok()?;
    Some(Function { first: line(from)?, last: Some(line(to)?), ran: count > 0 })
}

/// Modules that may own files, with their folders: those above and directly below.
fn modules_around(folder: &Path) -> Vec<(String, PathBuf)> {
    let below = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = below.map(|entry| entry.path()).filter(|path| path.is_dir());
    let folders = folder.ancestors().map(Path::to_path_buf).chain(below);
    let mut modules: Vec<(String, PathBuf)> = folders
        .filter_map(|folder| {
            let text = std::fs::read_to_string(folder.join("go.mod")).ok()?;
            let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
            let name = line.split("//").next()?.trim().trim_matches('"').to_owned();
            Some((name, folder))
        })
        .collect();
    // The longest name that fits is the module.
    modules.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    modules
}

fn path_of(file: &str, modules: &[(String, PathBuf)], folder: &Path) -> Option<String> {
    if Path::new(file).is_absolute() || file.starts_with('.') {
        return place(file, folder);
    }
    modules.iter().find_map(|(name, folder)| {
        let inside = file.strip_prefix(name.as_str())?.strip_prefix('/')?;
        place(inside, folder)
    })
}
