//! What V8 itself writes for `NODE_V8_COVERAGE`: a file for each process, with the ranges of each script
//! and how often they ran.
//!
//! Ranges count units of UTF-16 in the script as it ran. Where that is not the file, because somebody
//! translated it first, nothing is said about its lines: the range of a whole script tells its length.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;

use super::covered::{CoveredFile, Error, Files, Function, place};

#[derive(Deserialize)]
struct V8Report {
    result: Vec<Script>,
}

#[derive(Deserialize)]
struct Script {
    url: String,
    functions: Vec<ScriptFunction>,
}

#[derive(Deserialize)]
struct ScriptFunction {
    ranges: Vec<Range>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

/// The scripts that the processes of one run loaded, wherever they lie.
pub(super) fn read_v8(reports: &Path, folder: &Path) -> Result<Files, Error> {
    let mut files = Files::new();
    for entry in std::fs::read_dir(reports)? {
        let report = File::open(entry?.path())?;
        let report: V8Report = serde_json::from_reader(BufReader::new(report))
            .map_err(|error| Error::at(error.column() as u64, error.to_string()))?;
        for script in report.result {
            let Some(path) = script.url.strip_prefix("file://").and_then(|it| place(it, folder))
            else {
                continue;
            };
            let covered = files.entry(path.clone()).or_default();
            match is_own(&path, folder) {
                true => {
                    script.add_to(covered, &std::fs::read_to_string(&path).unwrap_or_default());
                }
                // Nobody asks which lines of a package ran.
                false => covered.is_ambiguous = true,
            }
        }
    }
    Ok(files)
}

/// Whether a file is one of the project's own.
fn is_own(path: &str, folder: &Path) -> bool {
    let is_package = |inside: &Path| inside.components().any(|it| it.as_os_str() == "node_modules");
    Path::new(path).strip_prefix(folder).is_ok_and(|inside| !is_package(inside))
}

impl Script {
    fn add_to(&self, covered: &mut CoveredFile, text: &str) {
        let starts = line_starts(text);
        let length = text.encode_utf16().count();
        let whole = self.functions.first().and_then(|function| function.ranges.first());
        if whole.is_none_or(|range| (range.start_offset, range.end_offset) != (0, length)) {
            covered.is_ambiguous = true;
            return;
        }
        let line_of = |offset: usize| starts.partition_point(|start| *start <= offset);
        let mut ran: BTreeMap<u32, bool> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if !line.trim().is_empty() {
                ran.insert(number, true);
            }
        }
        // The outer ones come first, and what is inside of them corrects them.
        for range in self.functions.iter().flat_map(|function| &function.ranges) {
            let (first, last) = (line_of(range.start_offset), line_of(range.end_offset));
            for line in first..=last {
                let begin = starts.get(line - 1).copied().unwrap_or_default();
                let end = starts.get(line).copied().unwrap_or(length).saturating_sub(1);
                let is_inside = begin >= range.start_offset && end <= range.end_offset;
                if let (true, Some(ran)) = (is_inside, ran.get_mut(&number(line))) {
                    *ran = range.count > 0;
                }
            }
        }
        for (line, ran) in ran {
            *covered.lines.entry(line).or_default() |= ran;
        }
        for function in self.functions.iter().skip(1) {
            let Some(range) = function.ranges.first() else { continue };
            let (first, last) =
                (number(line_of(range.start_offset)), number(line_of(range.end_offset)));
            covered.functions.push(Function { first, last: Some(last), ran: range.count > 0 });
        }
    }
}

fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Where each line begins, in units of UTF-16.
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut offset = 0;
    for character in text.chars() {
        offset += character.len_utf16();
        if character == '\n' {
            starts.push(offset);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "const a = '\u{1F600}';\nfunction idle() {\n  return 1;\n}\nif (a) {\n  go();\n}\n";

    fn lines_of(ranges: &[(usize, usize, u64)]) -> CoveredFile {
        let function = |&(start_offset, end_offset, count): &(usize, usize, u64)| ScriptFunction {
            ranges: vec![Range { start_offset, end_offset, count }],
        };
        let script =
            Script { url: String::new(), functions: ranges.iter().map(function).collect() };
        let mut covered = CoveredFile::default();
        script.add_to(&mut covered, TEXT);
        covered
    }

    #[test]
    fn what_is_inside_of_a_range_that_did_not_run_did_not_run() {
        let length = TEXT.encode_utf16().count();
        let start = TEXT.split("function").next().expect("it is there").encode_utf16().count();
        let end = start + "function idle() {\n  return 1;\n}".len();
        let covered = lines_of(&[(0, length, 1), (start, end, 0)]);
        let ran: Vec<u32> = covered.lines.iter().filter(|it| *it.1).map(|it| *it.0).collect();
        assert_eq!(ran, [1, 5, 6, 7]);
        assert_eq!(covered.functions.len(), 1);
        assert!(!covered.functions[0].ran);
    }

    #[test]
    fn a_script_that_is_not_its_file_says_nothing_about_lines() {
        let covered = lines_of(&[(0, 999, 1)]);
        assert!(covered.is_ambiguous && covered.lines.is_empty());
    }
}
