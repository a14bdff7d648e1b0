//! How a runner is asked for its tests, told which to run, and understood: as data.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::coverage::CoverageFormat;
use crate::reports::{Format, ReportedTest};
use crate::shell::shell;
use crate::system::shell_line;

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
    /// Whether `list` takes as long as a run of the suite does, above all to build it, and a report of a
    /// run that ends well has all tests: it tells of a process that ends itself before its last test.
    #[serde(skip)]
    pub is_list_dear: bool,
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
    /// Where in a process the tests begin, where the files that they open are followed.
    #[serde(skip)]
    pub(crate) tests_begin: Option<Beginning>,
    /// Whether its tests examine servers, as those in a browser do.
    #[serde(skip)]
    pub(crate) examines_servers: bool,
    /// What a person types to run `{test}` [default: `run`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_for: Option<CommandText>,
}

/// Where in a process of the runner the tests begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// In a program that was built of them, whose name ends like this.
    InProgram(&'static str),
    /// When their file is read; from then on source files are read to be run.
    WithTheirFile,
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
            is_list_dear: false,
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
            tests_begin: None,
            examines_servers: false,
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

/// Values of placeholders; each is a list of words.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Vec<(&'static str, Vec<String>)>);

impl Values {
    /// Add the words of a placeholder.
    pub(super) fn with(mut self, name: &'static str, words: Vec<String>) -> Self {
        self.0.push((name, words));
        self
    }

    /// The words of a command.
    pub(super) fn fill(&self, command: &CommandText) -> Vec<String> {
        match command {
            CommandText::Line(line) => {
                let line = self.filled(line, shell);
                shell_line(line)
            }
            CommandText::Words(words) => {
                words.iter().flat_map(|word| self.fill_word(word)).collect()
            }
        }
    }

    /// The command as a person types it.
    pub(super) fn typed(&self, command: &CommandText) -> String {
        match command {
            CommandText::Line(line) => self.filled(line, shell),
            CommandText::Words(_) => shell(&self.fill(command)),
        }
    }

    /// A path with the placeholders in it.
    pub(super) fn path(&self, path: &str) -> String {
        self.filled(path, |words| words.join(" "))
    }

    /// A placeholder alone becomes as many words as it has; inside of a word it is one.
    fn fill_word(&self, word: &str) -> Vec<String> {
        let alone = word.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let found = self.0.iter().find(|(name, _)| Some(*name) == alone);
        match found {
            Some((_, words)) => words.clone(),
            None => vec![self.filled(word, |words| words.join(" "))],
        }
    }

    /// One pass: what is filled in is not looked at again.
    fn filled(&self, text: &str, join: impl Fn(&[String]) -> String) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        'places: while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            for (name, words) in &self.0 {
                let after = rest[1..].strip_prefix(name).and_then(|it| it.strip_prefix('}'));
                if let Some(after) = after {
                    filled.push_str(&join(words));
                    rest = after;
                    continue 'places;
                }
            }
            filled.push('{');
            rest = &rest[1..];
        }
        filled + rest
    }
}

/// The names of all fields, as placeholders have them.
const NAMES: [&str; 6] = ["file", "class", "suite", "name", "title", "id"];

/// What is known of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::adapters) struct Fields {
    pub(in crate::adapters) file: String,
    pub(super) class: String,
    pub(super) suite: String,
    pub(super) name: String,
    /// Class and name, as people read them.
    pub(in crate::adapters) title: String,
    /// The runner's own id.
    pub(super) id: String,
}

impl Fields {
    /// What a report tells of a test; files inside of the folder are relative to it.
    pub(super) fn read(test: &ReportedTest, profile: &Profile, folder: &Path) -> Self {
        let name = match &profile.parts_after {
            Some(mark) => test.name.split(mark.as_str()).next().unwrap_or(&test.name),
            None => &test.name,
        };
        let title = match test.class.is_empty() {
            true => name.to_owned(),
            false => format!("{} > {name}", test.class),
        };
        Self {
            file: test.file.as_deref().map(|file| relative(file, folder)).unwrap_or_default(),
            class: test.class.clone(),
            suite: test.suite.clone(),
            name: name.to_owned(),
            title,
            id: test.id.clone().unwrap_or_default(),
        }
    }

    /// What an id tells of a test, by the template that ids are made with.
    pub(super) fn of_id(id: &str, template: &str) -> Self {
        let mut fields = Self { name: id.to_owned(), title: id.to_owned(), ..Self::default() };
        let mut pattern = format!("^{}$", regex::escape(template));
        for name in NAMES {
            // A field that occurs twice would be two groups of one name.
            pattern = pattern.replacen(&format!("\\{{{name}\\}}"), &format!("(?<{name}>.*?)"), 1);
        }
        let found = Regex::new(&pattern).ok().and_then(|pattern| {
            let captures = pattern.captures(id)?;
            let part = |name| captures.name(name).map(|part| part.as_str().to_owned());
            Some(NAMES.map(part))
        });
        if let Some([file, class, suite, name, title, own]) = found {
            fields = Self {
                file: file.unwrap_or_default(),
                class: class.unwrap_or_default(),
                suite: suite.unwrap_or_default(),
                name: name.or_else(|| title.clone()).unwrap_or_else(|| id.to_owned()),
                title: title.unwrap_or_else(|| id.to_owned()),
                id: own.unwrap_or_default(),
            };
        }
        fields
    }

    /// The id that a template makes of them.
    pub(super) fn test_id(&self, template: &str) -> String {
        self.filled(template, Escape::None, "")
    }

    /// A template with the fields in it.
    pub(super) fn filled(&self, template: &str, escape: Escape, test: &str) -> String {
        let full = self.title.replace(" > ", " ");
        let values: [(&str, &str); 10] = [
            ("file", &self.file),
            ("class", &self.class),
            ("suite", &self.suite),
            ("name", &self.name),
            ("title", &self.title),
            ("id", &self.id),
            ("full", &full),
            ("levels", &self.title),
            ("either", &full),
            ("test", test),
        ];
        let mut text = String::with_capacity(template.len() + 40);
        let mut rest = template;
        'places: while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            for (name, value) in values {
                let after = rest[1..].strip_prefix(name).and_then(|it| it.strip_prefix('}'));
                if let Some(after) = after {
                    match escape {
                        Escape::Regex if name == "levels" => {
                            let levels: Vec<String> =
                                value.split(" > ").map(regex::escape).collect();
                            text.push_str(&levels.join("|"));
                        }
                        Escape::Regex if name == "either" && full != self.name => {
                            let names = [&full, &self.name].map(|name| regex::escape(name));
                            text.push_str(&names.join("|"));
                        }
                        Escape::None => text.push_str(value),
                        Escape::Regex => text.push_str(&regex::escape(value)),
                    }
                    rest = after;
                    continue 'places;
                }
            }
            text.push('{');
            rest = &rest[1..];
        }
        text + rest
    }
}

fn relative(file: &str, folder: &Path) -> String {
    let path = Path::new(file);
    let inside = path.strip_prefix(folder).ok().map(Path::to_path_buf).or_else(|| {
        let folder = folder.canonicalize().ok()?;
        path.strip_prefix(folder).ok().map(Path::to_path_buf)
    });
    inside.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_placeholder_is_words_or_part_of_one() {
        let values = Values::default().with("tests", words(&["a b", "c"])).with("none", Vec::new());
        let command = CommandText::Words(words(&["run", "{none}", "{tests}", "--only={tests}"]));
        assert_eq!(values.fill(&command), words(&["run", "a b", "c", "--only=a b c"]));
    }

    #[test]
    fn the_shell_gets_what_it_cannot_misread() {
        let values = Values::default().with("tests", words(&["it's; rm x", "{tests}"]));
        let line = CommandText::Line("run {tests} | awk '{print}' ${HOME}".into());
        let filled = r"run 'it'\''s; rm x' '{tests}' | awk '{print}' ${HOME}";
        assert_eq!(values.fill(&line), words(&["sh", "-c", filled]));
        assert_eq!(values.typed(&line), filled);
    }

    #[test]
    fn an_id_and_its_fields_belong_together() {
        let fields = Fields::of_id("spec/a.js::adds", "{file}::{name}");
        assert_eq!((&*fields.file, &*fields.name), ("spec/a.js", "adds"));
        assert_eq!(fields.test_id("{file}::{name}"), "spec/a.js::adds");
        let other = Fields::of_id("com.acme.Foo#bar", "{class}#{name}");
        assert_eq!((&*other.class, &*other.name), ("com.acme.Foo", "bar"));
        assert_eq!(Fields::of_id("plain", "{class}#{name}").name, "plain");
    }

    #[test]
    fn a_test_is_asked_for_by_its_whole_title_or_by_its_name() {
        let inner = Fields {
            title: "outer > adds 1+1".into(),
            name: "adds 1+1".into(),
            ..Fields::default()
        };
        let filled = inner.filled("{either}", Escape::Regex, "");
        assert_eq!(filled, r"outer adds 1\+1|adds 1\+1");
        let top = Fields { title: "adds".into(), name: "adds".into(), ..Fields::default() };
        assert_eq!(top.filled("{either}", Escape::Regex, ""), "adds");
    }

    #[test]
    fn only_known_placeholders_are_filled() {
        let fields = Fields { name: "a.b".into(), ..Fields::default() };
        assert_eq!(fields.filled("^{name}$ {print} {", Escape::Regex, ""), r"^a\.b$ {print} {");
        let tricky = Fields { name: "{class}".into(), class: "C".into(), ..Fields::default() };
        assert_eq!(tricky.filled("{name}", Escape::None, ""), "{class}");
    }
}
