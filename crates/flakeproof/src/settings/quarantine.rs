//! The quarantine file: read, checked, and added to.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use flakeproof_core::{Quarantine, QuarantineEntry};
use jiff::civil::Date;
use jiff::{ToSpan, Zoned};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// What the file is called, in the project's folder.
pub(crate) const NAME: &str = "flakeproof-quarantine.toml";

/// What a new file starts with.
const HEAD: &str = "\
# Tests whose failures do not fail the build for a while. They still run, and one that fails every
# time counts. Add one with `flakeproof quarantine add`; `flakeproof quarantine check` tells which
# are expired, and which can go because the evidence says that they are mended.
";

/// The file's content.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    test: Vec<QuarantineEntry>,
}

/// The quarantine file of a project, there or not.
#[derive(Debug, Clone)]
pub(crate) struct QuarantineFile {
    pub(crate) path: PathBuf,
    pub(crate) entries: Vec<QuarantineEntry>,
}

impl QuarantineFile {
    /// Read the file of a project; without one, nothing is in quarantine.
    pub(crate) fn of(project: &Path) -> Result<Self, Problem> {
        let path = project.join(NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Problem::usage(
                    format!("{} cannot be read: {error}", path.display()),
                    "check its permissions",
                ));
            }
        };
        let content: Content = toml::from_str(&text).map_err(|error| {
            Problem::usage(
                format!("{} is not valid", path.display()),
                "mend the marked line; `flakeproof quarantine add` writes entries that are",
            )
            .with_details(error.to_string())
        })?;
        for entry in &content.test {
            for day in [&entry.added, &entry.expires] {
                day.parse::<Date>().map_err(|_| {
                    Problem::usage(
                        format!("`{day}` is not a day, in the entry for `{}`", entry.id),
                        format!("write it as 2026-11-30 in {}", path.display()),
                    )
                })?;
            }
        }
        Ok(Self { path, entries: content.test })
    }

    /// The quarantine as it is today on a branch.
    pub(crate) fn today(self, branch: Option<&str>) -> Quarantine {
        Quarantine { entries: self.entries, today: today(), branch: branch.map(str::to_owned) }
    }

    /// Add an entry at the end; what people wrote into the file stays as it is.
    pub(crate) fn add(&self, entry: QuarantineEntry) -> Result<(), Problem> {
        let cannot = |why: String| {
            Problem::broken(format!("{} cannot be written: {why}", self.path.display()), "check it")
        };
        let block = toml::to_string(&Content { test: vec![entry] });
        let block = block.map_err(|error| cannot(error.to_string()))?;
        let before = std::fs::read_to_string(&self.path).unwrap_or_else(|_| HEAD.to_owned());
        let text = format!("{}\n\n{block}", before.trim_end());
        std::fs::write(&self.path, text).map_err(|error| cannot(error.to_string()))
    }
}

/// The day, here.
pub(crate) fn today() -> String {
    Zoned::now().date().to_string()
}

/// The last day of an entry: a day, or so many days from today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastDay(pub(crate) String);

impl FromStr for LastDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice =
            || format!("`{text}` is neither a day (2026-11-30) nor a number of days (30d)");
        let days = text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
        let day = match days {
            Some(days) if (0..=3650).contains(&days) => {
                Zoned::now().date().checked_add(days.days()).map_err(|_| advice())?
            }
            Some(_) => return Err(advice()),
            None => text.parse::<Date>().map_err(|_| advice())?,
        };
        Ok(Self(day.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> QuarantineEntry {
        QuarantineEntry {
            id: id.into(),
            owner: "ann".into(),
            reason: "the \"port\" is taken".into(),
            issue: None,
            branch: Some("main".into()),
            added: "2026-11-15".into(),
            expires: "2026-12-15".into(),
        }
    }

    #[test]
    fn what_is_added_is_read_back_and_comments_stay() {
        let folder = tempfile::tempdir().unwrap();
        QuarantineFile::of(folder.path()).unwrap().add(entry("a")).unwrap();
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap() + "# keep me\n";
        std::fs::write(&path, text).unwrap();
        QuarantineFile::of(folder.path()).unwrap().add(entry("b[*]")).unwrap();
        let read = QuarantineFile::of(folder.path()).unwrap();
        assert_eq!(read.entries, [entry("a"), entry("b[*]")]);
        assert!(std::fs::read_to_string(&path).unwrap().contains("# keep me"));
    }

    #[test]
    fn a_day_that_is_none_is_named_with_its_entry() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = QuarantineEntry { expires: "soon".into(), ..entry("a") };
        QuarantineFile::of(folder.path()).unwrap().add(wrong).unwrap();
        let problem = QuarantineFile::of(folder.path()).unwrap_err();
        assert!(problem.what.contains("`soon`") && problem.what.contains("`a`"), "{problem:?}");
    }

    #[test]
    fn a_last_day_is_a_day_or_a_number_of_days() {
        assert_eq!("2026-12-01".parse(), Ok(LastDay("2026-12-01".into())));
        assert_eq!("0d".parse(), Ok(LastDay(today())));
        assert!("d".parse::<LastDay>().is_err());
        assert!("99999d".parse::<LastDay>().is_err());
    }
}
