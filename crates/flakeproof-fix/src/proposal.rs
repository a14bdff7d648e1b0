//! A patch that is not proven yet: files as they would be, and the idea behind it.

use similar::TextDiff;

/// A patch that is not proven yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What it does and why, in one sentence.
    pub idea: String,
    /// The files as they would be.
    pub files: Vec<PatchedFile>,
}

/// A file before and after a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedFile {
    /// Its path, relative to the project's root, with `/` between the parts.
    pub path: String,
    /// Its text as it is.
    pub before: String,
    /// Its text as it would be.
    pub after: String,
}

impl Proposal {
    /// All its files as one unified diff, as `git apply` takes it.
    #[must_use]
    pub fn diff(&self) -> String {
        self.files.iter().map(PatchedFile::diff).collect()
    }
}

impl PatchedFile {
    /// The change as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        let diff = TextDiff::from_lines(self.before.as_str(), self.after.as_str());
        let (before, after) = (format!("a/{}", self.path), format!("b/{}", self.path));
        diff.unified_diff().context_radius(3).header(&before, &after).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_names_its_file_and_shows_what_is_around() {
        let file = PatchedFile {
            path: "t.py".into(),
            before: "a\nb\nc".into(),
            after: "a\nx\nb\nc".into(),
        };
        let expected = "--- a/t.py\n+++ b/t.py\n@@ -1,3 +1,4 @@\n a\n+x\n b\n c\n\
                        \\ No newline at end of file\n";
        assert_eq!(file.diff(), expected);
    }
}
