//! How a runner is asked for its tests, told which to run, and understood: as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::coverage::CoverageFormat;
use crate::reports::Format;

/// Runners that a project describes in its configuration file, by name.
pub type Profiles = BTreeMap<String, Profile>;

/// A runner, described.
///
/// In commands, `{command}` is what the user typed, `{tests}` are the tests to run, `{test}` is the
/// only one, `{result}` a file for the report and `{coverage}` one for the coverage. `{file}`,
/// `{class}`, `{suite}` and `{name}` are those of the only test; `{files}`, `{classes}` and
/// `{suites}` those of all, each once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Profile {
    /// The beginning of the commands that this is for, so that nobody has to name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Prints all tests. Without it, everything is run once and the report tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<CommandText>,
    /// What `list` prints.
    #[serde(default)]
    pub list_format: ListFormat,
    /// Runs the tests `{tests}`, or the test `{test}`.
    pub run: CommandText,
    /// Runs the whole suite [default: `run` with no tests].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<CommandText>,
    /// The format of the report.
    pub result: Format,
    /// The report's file or folder, where the command itself decides; without one it is
    /// `{result}`, or what the command prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_path: Option<String>,
    /// A test's id, made of the fields of the report: `{file}`, `{class}`, `{suite}`, `{name}`,
    /// `{title}` (class and name), `{id}`.
    #[serde(default = "usual_id")]
    pub id: String,
    /// Everything of a reported name from here on belongs to a part of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_after: Option<String>,
    /// A test in `{tests}`, made of the same fields, `{test}`, `{full}` (class and name with
    /// spaces), `{levels}` (each level of the title as an alternative) and `{either}` (`{full}` or
    /// `{name}`, as alternatives).
    #[serde(default = "usual_format")]
    pub format: String,
    /// The same for a test that its process does not report on when it is asked for by `format`,
    /// as old versions of a runner need it.
    #[serde(skip)]
    pub older_format: Option<String>,
    /// Whether what is put into `format` is escaped.
    #[serde(default)]
    pub escape: Escape,
    /// What stands between two of `{tests}`; without it each is a word of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<String>,
    /// Whether all tests run in one process.
    #[serde(default)]
    pub one_process: bool,
    /// Whether tests run in the order of `{tests}`.
    #[serde(default)]
    pub order: bool,
    /// Measures what tests run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What a person types to run `{test}` [default: `run`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_for: Option<CommandText>,
}

/// A command with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandText {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

impl Default for CommandText {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl CommandText {
    /// Whether a placeholder occurs in it.
    pub(super) fn uses(&self, placeholder: &str) -> bool {
        match self {
            Self::Line(line) => line.contains(placeholder),
            Self::Words(words) => words.iter().any(|word| word.contains(placeholder)),
        }
    }
}

/// What a command that lists tests prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// An id on each line.
    #[default]
    Lines,
    /// A report in any format, of which the tests count and not their outcomes.
    Report,
    /// What `go test -list . -json` prints.
    GoList,
}

/// What is done to a name before it is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Escape {
    /// Nothing.
    #[default]
    None,
    /// It is made a regular expression that matches it.
    Regex,
}

/// How coverage is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Coverage {
    /// The format of the coverage report.
    pub format: CoverageFormat,
    /// Its file, where the command itself decides; without one it is `{coverage}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether the report names every function that is part of the test's program, ran or not, so
    /// that a file with functions that is not named is no part of it. Only of use for Go.
    #[serde(default, rename = "complete")]
    pub is_complete: bool,
    /// Runs the tests and measures [default: the runner's `run`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<CommandText>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            command: None,
            list: None,
            list_format: ListFormat::Lines,
            run: CommandText::default(),
            all: None,
            result: Format::Junit,
            result_path: None,
            id: usual_id(),
            parts_after: None,
            format: usual_format(),
            older_format: None,
            escape: Escape::None,
            separator: None,
            one_process: false,
            order: false,
            coverage: None,
            command_for: None,
        }
    }
}

fn usual_id() -> String {
    "{title}".to_owned()
}

fn usual_format() -> String {
    "{test}".to_owned()
}

impl Profile {
    /// Whether several tests can share a process and keep their order.
    pub(super) fn keeps_order(&self) -> bool {
        self.one_process && self.order && self.run.uses("{tests}")
    }

    /// Whether two processes would write to the same file.
    pub(super) fn has_fixed_files(&self) -> bool {
        let coverage = self.coverage.as_ref().and_then(|coverage| coverage.path.as_ref());
        let paths = self.result_path.iter().chain(coverage);
        paths.into_iter().any(|path| !path.contains("{result}") && !path.contains("{coverage}"))
    }

    /// The command that runs the whole suite.
    pub(super) fn command_for_all(&self) -> &CommandText {
        self.all.as_ref().unwrap_or(&self.run)
    }
}
