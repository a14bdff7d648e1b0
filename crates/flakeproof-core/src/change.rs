//! What changed since a test last passed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The difference between the code now and the code at [`Base`], uncommitted edits included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What the code is compared with.
    pub base: Base,
    /// The absolute path of the repository; the files' paths are relative to it.
    pub root: String,
    /// The files that differ, sorted by path.
    pub files: Vec<ChangedFile>,
}

/// The revision a change is measured from, and how it is known that the test passed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// The test passed there, and the history has the run.
    PassOnRecord {
        /// The revision checked out at that run.
        revision: String,
    },
    /// You named it. What surrounded a pass there is not known.
    Named {
        /// The revision as it was typed.
        revision: String,
    },
    /// Where the branch left the default branch. Nobody knows that the test passed there.
    MergeBase {
        /// The revision.
        revision: String,
        /// The default branch.
        branch: String,
    },
    /// The commit before the one checked out, where that is on the default branch itself. Nobody
    /// knows that the test passed there.
    Parent {
        /// The revision.
        revision: String,
    },
}

impl Base {
    /// Whether the test is known to have passed at this revision, so that a failure without
    /// contact to the change must come from something else than the code.
    #[must_use]
    pub fn is_known_to_pass(&self) -> bool {
        match self {
            Self::PassOnRecord { .. } => true,
            Self::Named { .. } | Self::MergeBase { .. } | Self::Parent { .. } => false,
        }
    }

    /// The revision, shortened for people where it is a full hash.
    #[must_use]
    pub fn revision(&self) -> &str {
        shortened(self.full_revision())
    }

    /// The revision as it is known.
    #[must_use]
    pub fn full_revision(&self) -> &str {
        match self {
            Self::PassOnRecord { revision }
            | Self::Named { revision }
            | Self::MergeBase { revision, .. }
            | Self::Parent { revision } => revision,
        }
    }
}

fn shortened(revision: &str) -> &str {
    let is_hash = revision.len() >= 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { &revision[..10] } else { revision }
}

/// One file of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path, relative to the repository.
    pub path: String,
    /// What happened to it.
    pub status: ChangeStatus,
    /// The lines that differ, as they are numbered now. An empty range is a deletion between its
    /// `first` line and the next. `None` where the lines are not known.
    pub lines: Option<Vec<LineRange>>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeStatus {
    /// Its content differs.
    Modified,
    /// It was not there before.
    Added,
    /// It is not there any more.
    Deleted,
    /// It is not an ordinary file: a submodule, a symbolic link, a change of mode.
    Special,
}

/// Lines `first..first + count` of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line, counted from 1.
    pub first: u32,
    /// How many lines; 0 is a deletion between `first` and the line after it.
    pub count: u32,
}

/// The code at the time of a run: a revision, and what differed from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeState {
    /// The revision checked out; `None` outside a repository or before the first commit.
    pub revision: Option<String>,
    /// The branch checked out, if one is.
    pub branch: Option<String>,
    /// Files that differed from the revision, with a digest of their content ("" if deleted).
    pub edited: BTreeMap<String, String>,
    /// Whether `edited` is complete; a tree with too many edits is not listed.
    pub is_complete: bool,
}
