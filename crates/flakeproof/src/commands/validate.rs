//! `flakeproof validate`: what is wrong with reports.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flakeproof_core::{ExitCode, Outcome};
use flakeproof_runner::reports::{
    Counts, Format, Identity, Places, ReportIssue, ReportedTest, Severity, declared_otherwise,
    read_each,
};

use super::ingest::report_files::{self, Input};
use crate::cli::{ListFormat, ValidateArguments};
use crate::problem::Problem;
use crate::view::{self, Position, ReportProblem, ValidatedReport};

/// How much is read at once.
const AT_ONCE: usize = 256 * 1024;

/// Run the command.
pub(crate) fn run(typed: &ValidateArguments) -> Result<ExitCode, Problem> {
    let found = report_files::find(&typed.files)?;
    let mut reports = Vec::with_capacity(found.files.len());
    for input in &found.files {
        let validated = validated(input);
        let unreadable = |error| report_files::unreadable(Path::new(&input.name), &error);
        reports
            .push(ValidatedReport { name: input.name.clone(), ..validated.map_err(unreadable)? });
    }
    match typed.output_format {
        ListFormat::Text => view::validated(&reports),
        ListFormat::Json => view::validated_json(&reports),
    }
    let is_clean = reports.iter().all(|report| report.problems.is_empty());
    Ok(if is_clean { ExitCode::Clean } else { ExitCode::Failures })
}

fn validated(input: &Input) -> io::Result<ValidatedReport> {
    let open = || input.open().map(|file| BufReader::with_capacity(AT_ONCE, file));
    let format = Format::detect(open()?.fill_buf()?);
    let mut looked = Looked::default();
    let issues = read_each(open()?, None, &mut |test| looked.look(&test))?;
    let declared = declared_otherwise(open()?, looked.counts)?;
    let is_by_line = matches!(format, Format::Tap | Format::GoJson);
    let mut problems: Vec<ReportProblem> = Vec::new();
    let text = Lines::find(open()?, issues.iter().chain(&declared).map(|issue| issue.position))?;
    for issue in issues.into_iter().chain(declared) {
        let ReportIssue { severity, position, what } = issue;
        let place = match is_by_line {
            true => Position::Line(position),
            false => Position::Byte(position, text.line_of(position)),
        };
        problems.push(ReportProblem { severity, place: Some(place), what });
    }
    problems.extend(text.problems(format));
    problems.extend(looked.problems());
    Ok(ValidatedReport { name: String::new(), format, counts: looked.counts, problems })
}

/// What the tests of a report have in common.
#[derive(Default)]
struct Looked {
    counts: Counts,
    nameless: u64,
    timed: u64,
    timeless: u64,
    seen: HashMap<u64, ()>,
    twice: Vec<String>,
    twice_count: u64,
    places: Places,
}

impl Looked {
    fn look(&mut self, test: &ReportedTest) {
        /// So many ids are named.
        const MOST: usize = 5;
        self.counts.tests += 1;
        self.counts.failed += u64::from(test.outcome.is_failure());
        self.counts.skipped += u64::from(test.outcome == Outcome::Skipped);
        self.nameless += u64::from(test.name.trim().is_empty() && test.id.is_none());
        self.timed += u64::from(test.duration.is_some());
        self.timeless += u64::from(test.duration.is_none() && test.outcome != Outcome::Skipped);
        let id = Identity::assign(test, None, &mut self.places).id;
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        if self.seen.insert(hasher.finish(), ()).is_some() {
            self.twice_count += 1;
            if self.twice.len() < MOST {
                self.twice.push(id.to_string());
            }
        }
    }

    fn problems(&self) -> Vec<ReportProblem> {
        let mut problems = Vec::new();
        let mut add = |severity, what: String| {
            problems.push(ReportProblem { severity, place: None, what });
        };
        if self.counts.tests == 0 {
            add(Severity::Serious, "the report holds no test".to_owned());
        }
        if self.nameless > 0 {
            let what = format!("{} no name and cannot be told apart", tests(self.nameless));
            add(Severity::Serious, what);
        }
        if self.twice_count > 0 {
            let named = self.twice.join("`, `");
            let what = format!(
                "{} more than once under the same id and count as one test, which fails if any does: \
                 `{named}`",
                if self.twice_count == 1 { "1 test occurs" } else { "some tests occur" }
            );
            add(Severity::Note, what);
        }
        if self.timeless > 0 && self.timed > 0 {
            add(Severity::Note, format!("{} no time", tests(self.timeless)));
        }
        problems
    }
}

fn tests(number: u64) -> String {
    if number == 1 { "1 test has".to_owned() } else { format!("{number} tests have") }
}

/// The lines of a file at some positions, and whether it is the text it says it is.
struct Lines {
    /// Position and line, in order.
    known: Vec<(u64, u64)>,
    broken: Option<u64>,
    declared: Option<String>,
    has_nul: bool,
}

impl Lines {
    fn find(mut input: impl BufRead, positions: impl Iterator<Item = u64>) -> io::Result<Self> {
        let mut wanted: Vec<u64> = positions.collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();
        let mut lines = Self { known: Vec::new(), broken: None, declared: None, has_nul: false };
        let (mut offset, mut line, mut rest) = (0_u64, 1_u64, Vec::new());
        loop {
            let piece = input.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            if offset == 0 {
                lines.declared = declared_encoding(piece);
            }
            let end = offset + piece.len() as u64;
            let mut from = 0;
            while let Some(at) = wanted.next_if(|at| *at < end) {
                let to = at.saturating_sub(offset) as usize;
                line += newlines(&piece[from..to.max(from)]);
                from = to.max(from);
                lines.known.push((at, line));
            }
            line += newlines(&piece[from..]);
            lines.look_at(piece, offset, &mut rest);
            offset = end;
            let count = piece.len();
            input.consume(count);
        }
        if !rest.is_empty() {
            lines.broken.get_or_insert(offset);
        }
        lines.known.extend(wanted.map(|at| (at, line)));
        Ok(lines)
    }

    /// Whether a piece is UTF-8; `rest` is half a character at the end of the one before.
    fn look_at(&mut self, piece: &[u8], offset: u64, rest: &mut Vec<u8>) {
        self.has_nul |= piece.contains(&0);
        let joined;
        let (text, start) = match rest.is_empty() {
            true => (piece, offset),
            false => {
                let start = offset - rest.len() as u64;
                joined = [&rest[..], piece].concat();
                (&joined[..], start)
            }
        };
        let found = std::str::from_utf8(text);
        let left = match found {
            Err(error) if error.error_len().is_none() => text[error.valid_up_to()..].to_vec(),
            Err(error) => {
                self.broken.get_or_insert(start + error.valid_up_to() as u64);
                Vec::new()
            }
            Ok(_) => Vec::new(),
        };
        *rest = left;
    }

    fn line_of(&self, position: u64) -> u64 {
        let at = self.known.binary_search_by_key(&position, |(at, _)| *at);
        at.ok().and_then(|at| self.known.get(at)).map_or(1, |(_, line)| *line)
    }

    fn problems(&self, format: Format) -> Vec<ReportProblem> {
        let mut problems = Vec::new();
        let mut add = |place, what: String| {
            problems.push(ReportProblem { severity: Severity::Note, place, what });
        };
        if let Some(at) = self.broken {
            let place = Some(Position::Byte(at, 0));
            add(place, "bytes from here on are not UTF-8; they are replaced".to_owned());
        }
        let other = self.declared.as_deref().filter(|it| {
            format == Format::Junit && !["utf-8", "utf8", "us-ascii", "ascii"].contains(it)
        });
        if let Some(other) = other {
            add(None, format!("the report declares the encoding {other}; it is read as UTF-8"));
        }
        if self.has_nul {
            add(None, "the report holds NUL bytes, which no text does".to_owned());
        }
        problems
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The encoding that an XML declaration names, in lower case.
fn declared_encoding(beginning: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(beginning.get(..200.min(beginning.len()))?).into_owned();
    let declaration = text.split("?>").next().filter(|it| it.contains("<?xml"))?;
    let value = declaration.split("encoding=").nth(1)?;
    let quote = value.chars().next()?;
    value.split(quote).nth(1).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_lines_wherever_the_pieces_end() {
        let text = b"one\ntwo\nthree\n";
        for capacity in 1..20 {
            let input = BufReader::with_capacity(capacity, &text[..]);
            let lines = Lines::find(input, [0, 4, 9, 14].into_iter()).unwrap();
            let found: Vec<u64> = [0, 4, 9, 14].map(|at| lines.line_of(at)).to_vec();
            assert_eq!(found, [1, 2, 3, 4], "{capacity}");
        }
    }

    #[test]
    fn characters_may_be_cut_by_pieces_and_broken_ones_are_found() {
        for capacity in 1..8 {
            let whole = BufReader::with_capacity(capacity, "aé€😀".as_bytes());
            assert_eq!(Lines::find(whole, [].into_iter()).unwrap().broken, None);
            let broken = BufReader::with_capacity(capacity, &b"ab\xff\xfecd"[..]);
            assert_eq!(Lines::find(broken, [].into_iter()).unwrap().broken, Some(2), "{capacity}");
        }
    }

    #[test]
    fn encodings_are_read_from_the_declaration() {
        let text = b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>";
        assert_eq!(declared_encoding(text).as_deref(), Some("iso-8859-1"));
        assert_eq!(declared_encoding(b"<a encoding='x'/>"), None);
    }
}
