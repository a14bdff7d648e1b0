//! What an interpreter touched that is not there any more to tell.

use std::collections::BTreeSet;
use std::path::Path;

use flakeproof_core::{BlindSpot, Dependencies};

/// Read the notes that the agent's probe wrote as it went; `None` if it wrote none.
pub(super) fn read(folder: &Path) -> Option<Dependencies> {
    let notes = std::fs::read(folder.join("touched")).ok()?;
    Some(parse(&String::from_utf8_lossy(&notes), |path| {
        let real = std::fs::canonicalize(path).ok();
        real.map_or_else(|| path.to_owned(), |real| real.to_string_lossy().into_owned())
    }))
}

/// The dependencies in `kind value` lines; the last line may be torn by the process's end.
fn parse(notes: &str, real_path: impl Fn(&str) -> String) -> Dependencies {
    let mut found = Dependencies::default();
    let complete = notes.rfind('\n').map_or("", |end| &notes[..end]);
    let mut programs = BTreeSet::new();
    let mut libraries = BTreeSet::new();
    for (kind, value) in complete.lines().filter_map(|line| line.split_once(' ')) {
        match kind {
            "code" => drop(found.code.insert(real_path(value))),
            "opened" => drop(found.opened.insert(real_path(value))),
            "listed" => drop(found.listed.insert(real_path(value))),
            "variable" => drop(found.variables.insert(value.to_owned())),
            "native" => drop(libraries.insert(value.to_owned())),
            // A kind that is not known here cannot be followed either.
            _ => drop(programs.insert(value.to_owned())),
        }
    }
    let processes = programs.into_iter().map(|program| BlindSpot::Process { program });
    let native = libraries.into_iter().map(|library| BlindSpot::NativeCode { library });
    found.blind_spots = processes.chain(native).collect();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_left_out() {
        let found = parse("code /a.py\nopened /b c.txt\nprogram node\ncode /tor", str::to_owned);
        assert_eq!(found.code, BTreeSet::from(["/a.py".to_owned()]));
        assert_eq!(found.opened, BTreeSet::from(["/b c.txt".to_owned()]));
        assert_eq!(found.blind_spots, [BlindSpot::Process { program: "node".into() }]);
    }
}
