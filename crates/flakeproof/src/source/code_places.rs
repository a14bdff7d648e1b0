//! Where values and functions stand in the source of a project, line by line.

use std::collections::HashMap;
use std::ops::Range;

use flakeproof_syntax::flow::{Declared, Function, Role, Span, Unit};
use flakeproof_syntax::project::ProjectIndex;

/// The places of a project. Keeps where the lines of a file begin: use one for a whole answer.
pub(crate) struct CodePlaces<'p> {
    project: &'p ProjectIndex,
    lines: HashMap<u32, Vec<usize>>,
}

/// A piece of code on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodePlace<'p> {
    /// The file it is in.
    pub(crate) file: &'p str,
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// All of the line.
    pub(crate) text: &'p str,
    /// The bytes of it that are meant.
    pub(crate) marked: Range<usize>,
}

/// A function where it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration<'p> {
    /// Its name, with that of its class.
    pub(crate) name: String,
    /// The file it is in.
    pub(crate) file: &'p str,
    /// The line its name stands on.
    pub(crate) line: u32,
}

/// A function with a piece of code in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    /// `the test`, `Base.setUp`.
    pub(crate) name: String,
    /// Whether it runs because another function calls it.
    pub(crate) is_called: bool,
}

impl<'p> CodePlaces<'p> {
    /// The places of this project.
    pub(crate) fn in_project(project: &'p ProjectIndex) -> Self {
        Self { project, lines: HashMap::new() }
    }

    /// Where a piece of a file stands. Of a piece over several lines, the line it is known by.
    pub(crate) fn place(&mut self, unit: u32, span: Span) -> Option<CodePlace<'p>> {
        let file = self.project.units().get(unit as usize)?;
        let starts = self.lines.entry(unit).or_insert_with(|| line_starts(&file.text));
        let on_line = |line: u32| {
            let place = on_line(file, starts, line, span)?;
            (!place.marked.is_empty()).then_some(place)
        };
        let first = starts.partition_point(|start| *start <= span.start as usize);
        on_line(span.line).or_else(|| on_line(u32::try_from(first).ok()?))
    }

    /// Where a function is declared.
    pub(crate) fn declaration(&mut self, declared: Declared) -> Option<Declaration<'p>> {
        let unit = self.project.unit(declared)?;
        let function = self.project.function(declared)?;
        let starts = self.lines.entry(declared.unit).or_insert_with(|| line_starts(&unit.text));
        let at = name_begins(unit, function);
        let line = u32::try_from(starts.partition_point(|start| *start <= at)).ok()?;
        Some(Declaration { name: full_name(unit, function), file: &unit.path, line })
    }

    /// The function that a piece of a file is part of; none for a field.
    pub(crate) fn around(&self, unit: u32, span: Span) -> Option<Around> {
        let unit = self.project.units().get(unit as usize)?;
        let holds =
            |function: &&Function| (function.span.start..function.span.end).contains(&span.start);
        let length = |function: &&Function| function.span.end - function.span.start;
        let function = unit.functions.iter().filter(holds).min_by_key(length)?;
        Some(match function.role {
            Role::Test(_) => Around { name: "the test".to_owned(), is_called: false },
            Role::Before | Role::After | Role::Fixture => {
                Around { name: full_name(unit, function), is_called: false }
            }
            Role::Plain => Around { name: full_name(unit, function), is_called: true },
        })
    }
}

/// The name of a function with that of its class, where that is a name.
fn full_name(unit: &Unit, function: &Function) -> String {
    let owner = function.owner.and_then(|owner| unit.types.get(owner as usize));
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    match owner.map(|owner| owner.name.as_str()).filter(|name| is_name(name)) {
        Some(owner) if owner.rsplit('.').next() != Some(&function.name) => {
            format!("{owner}.{}", function.name)
        }
        Some(owner) => format!("new {owner}"),
        None if function.name.is_empty() => "a function without a name".to_owned(),
        None => function.name.clone(),
    }
}

/// The byte where the name of a function stands: after its annotations.
fn name_begins(unit: &Unit, function: &Function) -> usize {
    let marks = function.marks.iter().map(|mark| mark.end).max();
    let from = marks.unwrap_or_default().max(function.span.start) as usize;
    let rest = unit.text.get(from..function.span.end as usize).unwrap_or_default();
    from + rest.find(function.name.as_str()).unwrap_or_default()
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn on_line<'p>(file: &'p Unit, starts: &[usize], line: u32, span: Span) -> Option<CodePlace<'p>> {
    let begin = *starts.get((line as usize).checked_sub(1)?)?;
    let end = starts.get(line as usize).copied().unwrap_or(file.text.len());
    let text = file.text.get(begin..end)?.trim_end();
    let from = (span.start as usize).saturating_sub(begin);
    let to = (span.end as usize).saturating_sub(begin).min(text.len());
    let piece = text.get(from..to)?;
    let blank = piece.len() - piece.trim_start().len();
    let marked = from + blank..from + blank + piece.trim().len();
    Some(CodePlace { file: &file.path, line, text, marked })
}

#[cfg(test)]
mod tests {
    use flakeproof_syntax::{Finder, Layout, SourceFile};

    use super::*;

    fn project(path: &str, text: &str) -> ProjectIndex {
        let file = SourceFile { path, text };
        ProjectIndex::new(vec![Finder::default().lower(&file, &Layout::default()).unit])
    }

    #[test]
    fn a_piece_over_several_lines_is_marked_on_the_line_it_is_known_by() {
        let project = project("a.py", "x = basket\\\n    .total()\n");
        let span = Span { start: 4, end: 24, line: 2 };
        let place = CodePlaces::in_project(&project).place(0, span).expect("it is there");
        assert_eq!((place.line, place.text, place.marked), (2, "    .total()", 4..12));
        let ends_before = Span { start: 4, end: 10, line: 2 };
        let place = CodePlaces::in_project(&project).place(0, ends_before).expect("it is there");
        assert_eq!((place.line, place.marked), (1, 4..10));
    }

    #[test]
    fn a_function_is_declared_where_its_name_stands() {
        let text = "class Basket {\n  @Override\n  public int total() { return 1; }\n}\n";
        let project = project("Basket.java", text);
        let declared = Declared { unit: 0, function: 0 };
        let mut places = CodePlaces::in_project(&project);
        let found = places.declaration(declared).expect("it is there");
        assert_eq!(
            (found.name.as_str(), found.file, found.line),
            ("Basket.total", "Basket.java", 3)
        );
    }

    #[test]
    fn what_is_not_there_has_no_place() {
        let project = project("a.py", "x = 1\r\n");
        let mut places = CodePlaces::in_project(&project);
        assert_eq!(places.place(0, Span { start: 90, end: 99, line: 7 }), None);
        assert_eq!(places.place(9, Span::default()), None);
        let place = places.place(0, Span { start: 4, end: 7, line: 1 }).expect("it is there");
        assert_eq!((place.text, place.marked), ("x = 1", 4..5));
    }
}
