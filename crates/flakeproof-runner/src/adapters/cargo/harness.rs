//! What the tests themselves are told: the options of Rust's own test harness.

/// Options of the harness that are followed by a value.
const WITH_VALUE: [&str; 7] =
    ["--color", "--format", "--logfile", "--shuffle-seed", "--skip", "--test-threads", "-Z"];

/// Options that are not passed on: how many tests run at a time, in which order and how that is
/// shown is decided here.
const OURS: [&str; 15] = [
    "--color",
    "--ensure-time",
    "--exact",
    "--format",
    "--ignored",
    "--include-ignored",
    "--logfile",
    "--no-capture",
    "--nocapture",
    "--quiet",
    "--report-time",
    "--show-output",
    "--shuffle",
    "--shuffle-seed",
    "--test-threads",
];

/// Which tests run that are marked `#[ignore]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    /// None of them.
    Skipped,
    /// Only they.
    Only,
    /// They as well.
    Included,
}

/// What stands after `--`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HarnessOptions {
    /// All of it, as it was typed.
    pub(super) typed: Vec<String>,
    /// Parts of names that select tests, or whole names.
    pub(super) filters: Vec<String>,
    /// Parts of names that leave tests out.
    pub(super) skipped: Vec<String>,
    pub(super) is_exact: bool,
    pub(super) ignored: Ignored,
    /// Whether the user only wants a list, or help.
    pub(super) prints_only: bool,
    /// What is passed on as it is.
    others: Vec<String>,
}

impl HarnessOptions {
    pub(super) fn parse(words: &[String]) -> Self {
        let mut options = Self {
            typed: words.to_vec(),
            filters: Vec::new(),
            skipped: Vec::new(),
            is_exact: false,
            ignored: Ignored::Skipped,
            prints_only: false,
            others: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let value = match WITH_VALUE.contains(&name) {
                true => joined.or_else(|| words.next().cloned()),
                false => None,
            };
            options.read(word, name, value);
        }
        options
    }

    fn read(&mut self, word: &str, name: &str, value: Option<String>) {
        match name {
            "--skip" => self.skipped.extend(value),
            "--exact" => self.is_exact = true,
            "--ignored" => self.ignored = Ignored::Only,
            "--include-ignored" => self.ignored = Ignored::Included,
            "--list" | "--help" | "-h" => self.prints_only = true,
            "-q" => {}
            _ if OURS.contains(&name) => {}
            _ if name.starts_with('-') => {
                self.others.push(name.to_owned());
                self.others.extend(value);
            }
            _ => self.filters.push(word.to_owned()),
        }
    }

    /// The arguments that select what the user's command selects.
    pub(super) fn selecting(&self, filters: &[String]) -> Vec<String> {
        let mut arguments = self.for_any();
        if self.is_exact {
            arguments.push("--exact".to_owned());
        }
        for skipped in &self.skipped {
            arguments.extend(["--skip".to_owned(), skipped.clone()]);
        }
        arguments.extend(filters.iter().cloned());
        arguments
    }

    /// The arguments that select these tests and no others.
    pub(super) fn naming<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut arguments = self.for_any();
        arguments.push("--exact".to_owned());
        arguments.extend(names.map(str::to_owned));
        arguments
    }

    /// The arguments that hold for any selection.
    pub(super) fn for_any(&self) -> Vec<String> {
        let mut arguments = self.others.clone();
        arguments.extend(self.ignored.option().map(str::to_owned));
        arguments
    }
}

impl Ignored {
    pub(super) fn option(self) -> Option<&'static str> {
        match self {
            Self::Skipped => None,
            Self::Only => Some("--ignored"),
            Self::Included => Some("--include-ignored"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_selects_is_told_from_what_shows() {
        let typed = "--nocapture --skip=a parse --test-threads 4 --ignored --format pretty --bench";
        let options = HarnessOptions::parse(&words(typed));
        assert_eq!(options.filters, words("parse"));
        assert_eq!(options.skipped, words("a"));
        assert_eq!(options.ignored, Ignored::Only);
        let selecting = options.selecting(&options.filters);
        assert_eq!(selecting, words("--bench --ignored --skip a parse"));
        let naming = options.naming(["m::x"].into_iter());
        assert_eq!(naming, words("--bench --ignored --exact m::x"));
    }
}
