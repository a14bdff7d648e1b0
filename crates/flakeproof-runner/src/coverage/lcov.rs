//! `lcov.info`: records of a file each, one fact on a line.
//!
//! Functions come as `FN:first,name`, with their end as `FN:first,last,name`, or in two parts as
//! `FNL:index,first[,last]` and `FNA:index,count,name`.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use super::covered::{Covered, Error, Files, Function, place};

pub(super) fn read(input: impl BufRead, folder: &Path) -> Result<Files, Error> {
    let mut files = Files::new();
    let mut record: Option<Record> = None;
    let mut number = 0;
    for line in input.lines() {
        let line = line?;
        number += 1;
        let odd = || Error::at(number, line.clone());
        match (line.trim_end().split_once(':'), &mut record) {
            (Some(("SF", file)), None) => {
                record = Some(Record { file: file.to_owned(), ..Record::default() });
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
struct Record {
    file: String,
    covered: Covered,
    /// Functions by name or index, and how often they ran.
    functions: HashMap<String, Function>,
}

impl Record {
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
