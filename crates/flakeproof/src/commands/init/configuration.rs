//! The configuration file that a new user starts from.

use super::Draft;

/// Everything is commented out, so that it changes nothing until somebody wants it to.
const TEXT: &str = r#"# flakeproof: what is written here is the default; take the `#` away to change it.
# Every option of `flakeproof run --help` can stand here by its name.

# What a run with only flaky failures is: "pass" or "fail".
# flaky-result = "pass"
# What failures of tests are that are flaky since this change.
# new-flaky-result = "fail"

# Reruns of a failure: at once, after the last test, in fresh environments.
# retries = 1
# postponed = 1
# fresh = 2

# Failures that are never rerun, by their text: they are real.
# rerun-except = ["DataRace", "Segmentation fault"]

# Kill a test that runs longer.
# timeout = "60s"

# With `--profile ci`:
# [profile.ci]
# reporter = ["junit=flakeproof.xml", "markdown=flakeproof.md"]
"#;

/// The file.
pub(super) fn draft() -> Draft {
    Draft { path: "flakeproof.toml".into(), text: TEXT.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ConfigurationFile;

    /// The text, and the same with every key taken out of its comment.
    #[test]
    fn it_is_understood_as_it_is_and_with_all_comments_taken_away() {
        let keys = |line: &str| {
            let key =
                line.strip_prefix("# ").filter(|it| it.contains(" = ") || it.starts_with('['));
            key.unwrap_or(line).to_owned()
        };
        let opened: Vec<String> = TEXT.lines().map(keys).collect();
        for text in [TEXT.to_owned(), opened.join("\n")] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("flakeproof.toml"), &text).expect("it is written");
            let file = ConfigurationFile::find(None, folder.path());
            assert!(file.is_ok(), "{:?}\n{text}", file.err());
        }
        assert!(opened.iter().any(|line| line == "retries = 1"));
    }
}
