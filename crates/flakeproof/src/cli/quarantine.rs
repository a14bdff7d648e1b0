//! `flakeproof quarantine`: what can be typed, and the file that it reads, checks and adds to.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand};
use flakeproof_core::{Quarantine, QuarantineEntry};
use jiff::civil::Date;
use jiff::{ToSpan, Zoned};
use serde::{Deserialize, Serialize};

use super::ListFormat;
use crate::problem::Problem;
use crate::settings::StoreName;

/// Keep known flaky tests from failing the build, for a while and on the record.
///
/// Entries live in `flakeproof-quarantine.toml` beside the project's configuration, to be reviewed like
/// code. A quarantined test still runs under `flakeproof run`; its failure is excused unless it fails
/// every time.
#[derive(Debug, Args)]
pub(crate) struct QuarantineArguments {
    #[command(subcommand)]
    pub(crate) action: QuarantineAction,
}

/// What to do with the quarantine.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineAction {
    Add(QuarantineAdd),
    Remove(QuarantineRemove),
    List(QuarantineList),
    Check(QuarantineCheck),
}

/// Put a test into quarantine.
#[derive(Debug, Args)]
pub(crate) struct QuarantineAdd {
    /// The test's id, or the end of one that the history has; `test_x[*]` is `test_x` with every
    /// parameter.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Who will mend it [default: you, as git knows you].
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// Where it is followed up.
    #[arg(long, value_name = "URL")]
    pub(crate) issue: Option<String>,
    /// The only branch on which it holds; `*` stands for anything.
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// The last day, or the number of days from today.
    #[arg(long, value_name = "DAY|Nd", default_value = "30d")]
    pub(crate) expires: LastDay,
}

/// Take a test out of quarantine.
#[derive(Debug, Args)]
pub(crate) struct QuarantineRemove {
    /// The id of an entry, or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
}

/// List what is in quarantine.
#[derive(Debug, Args)]
pub(crate) struct QuarantineList {
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

/// Check the quarantine: fail on expired entries, and name those that the evidence says are mended.
#[derive(Debug, Args)]
pub(crate) struct QuarantineCheck {
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
}

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
    pub(crate) fn read(project: &Path) -> Result<Self, Problem> {
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
        let block = toml::to_string(&Content { test: vec![entry] });
        let block = block.map_err(|error| self.cannot_be_written(&error))?;
        let before = std::fs::read_to_string(&self.path).unwrap_or_else(|_| HEAD.to_owned());
        let text = format!("{}\n\n{block}", before.trim_end());
        std::fs::write(&self.path, text).map_err(|error| self.cannot_be_written(&error))
    }

    /// Remove the entries with this id; what people wrote around them stays as it is.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Problem> {
        let text = std::fs::read_to_string(&self.path);
        let text = text.map_err(|error| self.cannot_be_written(&error))?;
        let is_kept: Vec<bool> = self.entries.iter().map(|entry| entry.id != id).collect();
        let rest = without_entries(&text, &is_kept);
        let left: Option<Content> = toml::from_str(&rest).ok();
        let kept = self.entries.iter().filter(|entry| entry.id != id);
        if !left.is_some_and(|left| left.test.iter().eq(kept)) {
            return Err(Problem::usage(
                format!("the entry of `{id}` cannot be told from what is around it"),
                format!("remove it by hand from {}", self.path.display()),
            ));
        }
        std::fs::write(&self.path, rest).map_err(|error| self.cannot_be_written(&error))
    }

    fn cannot_be_written(&self, why: &dyn std::fmt::Display) -> Problem {
        Problem::broken(format!("{} cannot be written: {why}", self.path.display()), "check it")
    }
}

/// The file's text without some of its entries. Comments above an entry stay: nobody knows whether they
/// are its own.
fn without_entries(text: &str, is_kept: &[bool]) -> String {
    let mut entry = None;
    let mut rest = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let begins = line.trim() == "[[test]]";
        if begins {
            entry = Some(entry.map_or(0, |at: usize| at + 1));
        }
        let is_blank = line.trim().is_empty();
        let is_comment = line.trim_start().starts_with('#');
        let is_of_kept = entry.is_none_or(|at| is_kept.get(at).copied().unwrap_or(true));
        let doubles_a_gap = is_blank && (rest.is_empty() || rest.ends_with("\n\n"));
        if is_of_kept || is_comment || (is_blank && !doubles_a_gap) {
            rest.push_str(line);
        }
    }
    rest
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
        QuarantineFile::read(folder.path()).unwrap().add(entry("a")).unwrap();
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap() + "# keep me\n";
        std::fs::write(&path, text).unwrap();
        QuarantineFile::read(folder.path()).unwrap().add(entry("b[*]")).unwrap();
        let read = QuarantineFile::read(folder.path()).unwrap();
        assert_eq!(read.entries, [entry("a"), entry("b[*]")]);
        assert!(std::fs::read_to_string(&path).unwrap().contains("# keep me"));
    }

    #[test]
    fn what_is_removed_is_gone_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = || QuarantineFile::read(folder.path()).unwrap();
        for id in ["a", "b", "a", "c"] {
            file().add(entry(id)).unwrap();
        }
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("[[test]]", "# keep me\n[[test]]", 4)).unwrap();
        file().remove("a").unwrap();
        assert_eq!(file().entries, [entry("b"), entry("c")]);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("# keep me").count(), 4);
        assert!(text.starts_with(HEAD), "{text}");
    }

    #[test]
    fn what_cannot_be_told_apart_is_left_to_people() {
        let folder = tempfile::tempdir().unwrap();
        let confusing = entry("a");
        let reason = "reason = \"\"\"\n[[test]]\n\"\"\"";
        let block = toml::to_string(&Content { test: vec![confusing, entry("b")] }).unwrap();
        let text = block.replacen("reason = 'the \"port\" is taken'", reason, 1);
        assert_ne!(text, block);
        let path = folder.path().join(NAME);
        std::fs::write(&path, &text).unwrap();
        let problem = QuarantineFile::read(folder.path()).unwrap().remove("b").unwrap_err();
        assert!(problem.next.contains("by hand"), "{problem:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn a_day_that_is_none_is_named_with_its_entry() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = QuarantineEntry { expires: "soon".into(), ..entry("a") };
        QuarantineFile::read(folder.path()).unwrap().add(wrong).unwrap();
        let problem = QuarantineFile::read(folder.path()).unwrap_err();
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
