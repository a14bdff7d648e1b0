//! What differs from the revision checked out: `git status` and `git ls-files`, read.
//!
//! The second is asked because the first keeps quiet about files that the user told git to
//! trust (`--assume-unchanged`, `--skip-worktree`), and about files that were edited within a second
//! after git saw them and had their time set back: it compares times by whole seconds, though it writes
//! them down to the nanosecond. Nor does it see what a filter removes. Edits there are edits all the same.

use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::change::NoChange;
use super::program::{Failure, ask};
use super::repository::Repository;
use crate::system::{IndexTimes, bytes_of, path_of, times_in_index};

/// The files of a work tree that differ from HEAD, or may.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// HEAD, unless there is no commit.
    pub(super) revision: Option<String>,
    /// The branch, unless HEAD is detached.
    pub(super) branch: Option<String>,
    /// Files known to git that differ, staged or not.
    pub(super) edited: BTreeSet<RepositoryPath>,
    /// Files unknown to git and not ignored; a nested repository is one entry.
    pub(super) untracked: BTreeSet<RepositoryPath>,
    /// Files that git was told not to look at, and those of whose edit it cannot know.
    pub(super) unwatched: BTreeSet<RepositoryPath>,
}

impl Listing {
    /// List the work tree now.
    pub(super) fn ask(repository: &Repository) -> Result<Self, Failure> {
        let status = [
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--no-renames",
            "--untracked-files=all",
            "--ignored=no",
            "--ignore-submodules=none",
        ];
        let root = repository.root();
        let mut listing = parse_status(&ask(root, &status)?).ok_or(Failure::Unreadable)?;
        // What `--debug` prints may change at any time, and without it only the times are unknown.
        let with_times = ask(root, &["ls-files", "-v", "-z", "--debug"]).ok();
        let entries = match with_times.as_deref().and_then(parse_entries) {
            Some(entries) => entries,
            None => {
                parse_tags(&ask(root, &["ls-files", "-v", "-z"])?).ok_or(Failure::Unreadable)?
            }
        };
        for IndexEntry { path, distrust, changed } in entries {
            if path.is_own() {
                continue;
            }
            let is_unwatched = match (distrust, path.beneath(root).symlink_metadata()) {
                (Some(Distrust::AssumedUnchanged), _) | (Some(Distrust::Skipped), Ok(_)) => true,
                (Some(Distrust::Skipped), Err(_)) | (None, Err(_)) => false,
                (None, Ok(now)) => {
                    let is_known = listing.edited.contains(&path);
                    !is_known && changed.is_some_and(|then| then.is_just_before(&now))
                }
            };
            if is_unwatched {
                listing.unwatched.insert(path);
            }
        }
        listing.unwatched.extend(edited_behind_filters(root)?);
        Ok(listing)
    }

    /// Every path of the listing.
    pub(super) fn paths(&self) -> BTreeSet<&RepositoryPath> {
        self.edited.iter().chain(&self.untracked).chain(&self.unwatched).collect()
    }
}

/// Files that a filter cleans on their way to git, and that are not what it writes on the way back: git does not see
/// what it removes. What git-lfs keeps elsewhere is compared whole.
fn edited_behind_filters(root: &Path) -> Result<Vec<RepositoryPath>, Failure> {
    // It is no error if there is none.
    let filters = ask(root, &["config", "--get-regexp", r"^filter\..*\.clean$"]);
    let filters = filters.map(|it| String::from_utf8_lossy(&it).into_owned()).unwrap_or_default();
    if filters.lines().all(|line| line.starts_with("filter.lfs.")) {
        return Ok(Vec::new());
    }
    let known = ["ls-files", "-z", "--", ":(exclude,attr:!filter)", ":(exclude,attr:filter=lfs)"];
    let listed = ask(root, &known)?;
    let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let is_edited = |path: &RepositoryPath| {
        let written = ask(root, &["cat-file", "--filters", &format!(":{}", path.text())]);
        let now = std::fs::read(path.beneath(root));
        matches!((written, now), (Ok(written), Ok(now)) if written != now)
    };
    Ok(paths.map(RepositoryPath::new).filter(is_edited).collect())
}

/// Why git does not look at a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distrust {
    /// The user promised not to edit it.
    AssumedUnchanged,
    /// It need not be in the work tree: in a sparse checkout most are not.
    Skipped,
}

/// Read `git status --porcelain=v2 --branch -z`; `None` if that is not what it is.
fn parse_status(printed: &[u8]) -> Option<Listing> {
    let mut listing = Listing::default();
    let mut records = printed.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        let (kind, rest) = split_at_space(record)?;
        let path = match kind {
            b"#" => {
                read_header(rest, &mut listing);
                continue;
            }
            b"!" => continue,
            b"?" => {
                insert(&mut listing.untracked, RepositoryPath::new(rest));
                continue;
            }
            b"1" => after_fields(rest, 7)?,
            b"u" => after_fields(rest, 9)?,
            // A rename although none were asked for: both names differ.
            b"2" => {
                insert(&mut listing.edited, RepositoryPath::new(records.next()?));
                after_fields(rest, 8)?
            }
            _ => return None,
        };
        insert(&mut listing.edited, RepositoryPath::new(path));
    }
    Some(listing)
}

fn read_header(header: &[u8], listing: &mut Listing) {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    match split_at_space(header) {
        Some((b"branch.oid", value)) => {
            listing.revision = (value != b"(initial)").then(|| text(value));
        }
        Some((b"branch.head", value)) => {
            listing.branch = (value != b"(detached)").then(|| text(value));
        }
        // Headers are an open set by git's own documentation.
        Some(_) | None => {}
    }
}

fn insert(paths: &mut BTreeSet<RepositoryPath>, path: RepositoryPath) {
    if !path.is_own() {
        paths.insert(path);
    }
}

fn split_at_space(record: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = record.iter().position(|byte| *byte == b' ')?;
    Some((&record[..space], &record[space + 1..]))
}

fn after_fields(record: &[u8], fields: usize) -> Option<&[u8]> {
    (0..fields).try_fold(record, |rest, _| Some(split_at_space(rest)?.1))
}

/// A file of the index.
#[derive(Debug, PartialEq, Eq)]
struct IndexEntry {
    path: RepositoryPath,
    /// Why git does not look at it, if it does not.
    distrust: Option<Distrust>,
    /// When it was last changed, as git saw it.
    changed: Option<ChangeTime>,
}

/// When the content or anything else of a file was changed, which nobody can set; and the time of its
/// content, which everybody can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChangeTime {
    seconds: i64,
    nanoseconds: i64,
    modified: i64,
}

impl ChangeTime {
    /// Whether a file was changed after this within the same second, and its time was set back, which git
    /// does not see. Where the time is that of the change, git looks into the file. Who wrote no nanoseconds
    /// cannot tell.
    fn is_just_before(self, now: &Metadata) -> bool {
        let Some(IndexTimes { changed: (seconds, nanoseconds), modified }) = times_in_index(now)
        else {
            return false;
        };
        self.nanoseconds != 0
            && seconds == self.seconds
            && nanoseconds != self.nanoseconds
            && modified == self.modified
            && modified < seconds
            && now.is_file()
    }
}

/// Read `git ls-files -v -z`; `None` if that is not what it is.
fn parse_tags(printed: &[u8]) -> Option<Vec<IndexEntry>> {
    let records = printed.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    records.map(|record| entry(record, None)).collect()
}

/// Read `git ls-files -v -z --debug`: after each path, five lines about its entry.
fn parse_entries(printed: &[u8]) -> Option<Vec<IndexEntry>> {
    let mut entries = Vec::new();
    let mut rest = printed;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (record, after) = (&rest[..end], &rest[end + 1..]);
        let mut lines = after.splitn(6, |byte| *byte == b'\n');
        let mut time = |name: &str| {
            let text = std::str::from_utf8(lines.next()?).ok()?.trim().strip_prefix(name)?;
            let (seconds, nanoseconds) = text.split_once(':')?;
            Some((seconds.parse::<i64>().ok()?, nanoseconds.parse::<i64>().ok()?))
        };
        let (seconds, nanoseconds) = time("ctime: ")?;
        let (modified, _) = time("mtime: ")?;
        let changed = ChangeTime { seconds, nanoseconds, modified };
        entries.push(entry(record, Some(changed))?);
        let last = lines.nth(2)?;
        if !std::str::from_utf8(last).ok()?.contains("flags:") {
            return None;
        }
        rest = lines.next()?;
    }
    Some(entries)
}

fn entry(record: &[u8], changed: Option<ChangeTime>) -> Option<IndexEntry> {
    let [tag, b' ', path @ ..] = record else { return None };
    let distrust = match tag {
        b'S' | b's' => Some(Distrust::Skipped),
        tag if tag.is_ascii_lowercase() => Some(Distrust::AssumedUnchanged),
        _ => None,
    };
    Some(IndexEntry { path: RepositoryPath::new(path), distrust, changed })
}

impl Repository {
    /// The paths of all files in the index, relative to the root.
    ///
    /// # Errors
    /// When git cannot tell.
    pub fn tracked_files(&self) -> Result<HashSet<String>, NoChange> {
        self.listed(&["ls-files", "-z"]).map(|paths| paths.into_iter().collect())
    }

    /// All files and folders that git was told to ignore; `None` where there are more than so many.
    ///
    /// # Errors
    /// When git cannot tell.
    pub fn ignored_files(&self, most: usize) -> Result<Option<Vec<PathBuf>>, NoChange> {
        let question =
            ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let mut files = Vec::new();
        for path in self.listed(&question)? {
            walk(&self.root().join(path), most, &mut files);
        }
        Ok((files.len() <= most).then_some(files))
    }

    fn listed(&self, question: &[&str]) -> Result<Vec<String>, NoChange> {
        let listed = ask(self.root(), question)
            .map_err(|failure| NoChange::GitFailed { reason: failure.reason() })?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }
}

/// Add what is at a path, and below it, as long as there is room for it.
fn walk(path: &Path, most: usize, files: &mut Vec<PathBuf>) {
    if files.len() > most {
        return;
    }
    let is_folder = path.symlink_metadata().is_ok_and(|it| it.is_dir());
    match std::fs::read_dir(path) {
        Ok(entries) if is_folder => {
            // Its own time tells of a file that is gone.
            files.push(path.to_path_buf());
            entries.filter_map(Result::ok).for_each(|it| walk(&it.path(), most, files));
        }
        _ => files.push(path.to_path_buf()),
    }
}

/// The folder in which flakeproof keeps its own files, which are never part of a change.
const OWN_FOLDER: &[u8] = b".flakeproof";

/// A path relative to the root of a repository, exactly as git has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RepositoryPath(Vec<u8>);

impl RepositoryPath {
    /// A path as git printed it. A nested repository is printed as a folder, with a slash at the
    /// end that is no part of its name.
    pub(super) fn new(printed: &[u8]) -> Self {
        Self(printed.strip_suffix(b"/").unwrap_or(printed).to_vec())
    }

    /// A path below the root.
    pub(super) fn of(below: &Path) -> Self {
        Self::new(&bytes_of(below.as_os_str()))
    }

    /// Where the file is.
    pub(super) fn beneath(&self, root: &Path) -> PathBuf {
        root.join(path_of(&self.0))
    }

    /// The path as text. Different paths can have the same text unless [`is_text`](Self::is_text).
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// Whether the text is this path and no other. A path that is not UTF-8 has the replacement
    /// character in its text, so one that really has that character is not told from it.
    pub(super) fn is_text(&self) -> bool {
        std::str::from_utf8(&self.0).is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }

    /// Whether this is one of flakeproof's own files.
    pub(super) fn is_own(&self) -> bool {
        self.0.split(|byte| *byte == b'/').any(|part| part == OWN_FOLDER)
    }
}

impl From<&str> for RepositoryPath {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<RepositoryPath> {
        names.iter().map(|name| RepositoryPath::from(*name)).collect()
    }

    #[test]
    fn every_kind_of_record_is_read() {
        let printed = b"# branch.oid 1234\0# branch.head main\0# stash 2\0\
            1 .M N... 100644 100644 100644 aa bb with space.py\0\
            2 R. N... 100644 100644 100644 aa bb R100 new\nname.py\0old.py\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both.py\0\
            ? nested/\0! ignored.py\0? .flakeproof/history.db\0";
        let listing = parse_status(printed).unwrap();
        assert_eq!(listing.revision.as_deref(), Some("1234"));
        assert_eq!(listing.branch.as_deref(), Some("main"));
        let edited = paths(&["with space.py", "new\nname.py", "old.py", "both.py"]);
        assert_eq!(listing.edited, edited);
        assert_eq!(listing.untracked, paths(&["nested"]));
    }

    #[test]
    fn a_record_of_an_unknown_kind_is_not_skipped_over() {
        assert_eq!(parse_status(b"9 what is this\0"), None);
        assert_eq!(parse_status(b"1 .M N... too short\0"), None);
        assert_eq!(parse_tags(b"Hno-space\0"), None);
    }

    #[test]
    fn entries_have_the_time_of_their_last_change() {
        let about = "  ctime: 17:5\n  mtime: 1:2\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: 3\tflags: 0\n";
        let printed = format!("H two\nlines.py\0{about}h b.py\0{about}");
        let entries = parse_entries(printed.as_bytes()).unwrap();
        let changed = Some(ChangeTime { seconds: 17, nanoseconds: 5, modified: 1 });
        let path = RepositoryPath::from("two\nlines.py");
        assert_eq!(entries[0], IndexEntry { path, distrust: None, changed });
        assert_eq!(entries[1].distrust, Some(Distrust::AssumedUnchanged));
        assert_eq!(parse_entries(b"H a.py\0  something else\n"), None);
    }

    proptest! {
        #[test]
        fn no_output_makes_the_parsers_panic(
            printed in prop::collection::vec(
                prop::sample::select(b"12u?!# \0/.HhSs\xffa".to_vec()), 0..80,
            ),
        ) {
            let _ = parse_status(&printed);
            let _ = parse_tags(&printed);
            let _ = parse_entries(&printed);
        }

        #[test]
        fn an_untracked_path_comes_back_whatever_it_contains(name in "[^\0]{1,20}[^\0/]") {
            prop_assume!(!RepositoryPath::from(name.as_str()).is_own());
            let printed = format!("? {name}\0");
            let listing = parse_status(printed.as_bytes()).unwrap();
            prop_assert_eq!(listing.untracked, paths(&[&name]));
        }
    }

    #[test]
    fn flakeproofs_folder_is_its_own_at_any_depth_and_by_whole_name_only() {
        assert!(RepositoryPath::from(".flakeproof/history.db").is_own());
        assert!(RepositoryPath::from("services/api/.flakeproof/x/y").is_own());
        assert!(!RepositoryPath::from(".flakeproof.toml").is_own());
        assert!(!RepositoryPath::from("flakeproof/a.py").is_own());
    }

    #[test]
    fn a_path_that_is_not_utf8_says_so() {
        let path = RepositoryPath::new(b"caf\xe9.py");
        assert!(!path.is_text());
        assert_eq!(path.text(), "caf\u{fffd}.py");
        assert!(!RepositoryPath::from(path.text().as_str()).is_text());
    }
}
