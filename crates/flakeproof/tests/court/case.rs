//! A case of the court, read from its Markdown file.
//!
//! A case reads like documentation: a claim as its title, why in a few lines, then what there is
//! (`## Before`), what is done (`## Change`), and what must come of it (`## Expected`). The format
//! is described in `examples/court/README.md`; what does not follow it is an error with its line.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A small project, a change to it, and the verdict it must get.
#[derive(Debug)]
pub(crate) struct Case {
    /// The claim.
    pub(crate) title: String,
    /// What makes the project.
    pub(crate) before: Vec<Step>,
    /// What makes the change.
    pub(crate) change: Vec<Step>,
    /// What is run at the end, however the case went.
    pub(crate) after: Vec<Step>,
    /// What must come of it.
    pub(crate) expected: Expected,
}

/// One thing that is done in the project's folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Write a file.
    Write {
        /// Its path in the project.
        path: String,
        /// All of it.
        content: String,
    },
    /// Run a script.
    Run(String),
    /// Remove a file.
    Delete(String),
}

/// What must come of a case, and how it is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Expected {
    /// The command that runs the tests.
    pub(crate) command: Words,
    /// Whether the program runs before the change, so that there is a record.
    #[serde(default)]
    pub(crate) history: bool,
    /// How often it runs before the change.
    #[serde(default = "once")]
    pub(crate) before_runs: u32,
    /// How it may end before the change.
    #[serde(default = "clean")]
    pub(crate) before_exit: Allowed<i32>,
    /// The command before the change, where it is another one.
    pub(crate) before_command: Option<Words>,
    /// The folder before the change, where it is another one.
    pub(crate) before_folder: Option<String>,
    /// Arguments of the program before the change.
    #[serde(default)]
    pub(crate) before_arguments: Vec<String>,
    /// Variables before the change.
    #[serde(default)]
    pub(crate) before_environment: BTreeMap<String, String>,
    /// Whether the change is committed.
    #[serde(default)]
    pub(crate) commit: bool,
    /// How often the program runs after the change; the last run counts.
    #[serde(default = "once")]
    pub(crate) runs: u32,
    /// The folder in which it runs.
    #[serde(default)]
    pub(crate) folder: String,
    /// Arguments of the program after the change.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Variables after the change.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Whether the command itself must fail after the change.
    #[serde(default = "yes")]
    pub(crate) plain: bool,
    /// Where the project lies.
    #[serde(default)]
    pub(crate) place: Place,
    /// How the program may end.
    pub(crate) exit: Allowed<i32>,
    /// What must be printed.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// What must not be printed.
    #[serde(default)]
    pub(crate) never_says: Vec<String>,
    /// The verdicts that each failing test may get.
    #[serde(default)]
    pub(crate) verdicts: BTreeMap<String, Allowed<Word>>,
}

/// Where a project lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// Where projects of users lie: not in the folder for temporary files.
    #[default]
    Home,
    /// In the folder for temporary files, as some CI systems do.
    Tmp,
}

/// A command, as a line or as a list of words.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Words {
    /// Separated by blanks.
    Line(String),
    /// Already separated.
    List(Vec<String>),
}

impl Words {
    /// The words.
    pub(crate) fn list(&self) -> Vec<String> {
        match self {
            Self::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
            Self::List(words) => words.clone(),
        }
    }
}

/// One value, or any of several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Allowed<T> {
    /// Only this one.
    One(T),
    /// Any of these.
    Any(Vec<T>),
}

impl<T: PartialEq> Allowed<T> {
    /// Whether this value is allowed.
    pub(crate) fn has(&self, value: &T) -> bool {
        match self {
            Self::One(one) => one == value,
            Self::Any(any) => any.contains(value),
        }
    }
}

/// What a report says about a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Word {
    /// No verdict: it did not fail.
    #[serde(rename = "passed")]
    Passed,
    /// The report does not know it: something ended the suite before.
    #[serde(rename = "not run")]
    NotRun,
    #[serde(rename = "flaky")]
    Flaky,
    #[serde(rename = "flaky, new with this change", alias = "newly_flaky")]
    NewlyFlaky,
    #[serde(rename = "real")]
    Real,
    #[serde(rename = "unrelated")]
    Unrelated,
    #[serde(rename = "unknown")]
    Unknown,
}

impl Word {
    /// The verdict of a report in JSON.
    pub(crate) fn of(verdict: &serde_json::Value) -> Option<Self> {
        match verdict {
            serde_json::Value::Null => Some(Self::Passed),
            other => serde_json::from_value(other.clone()).ok(),
        }
    }
}

fn once() -> u32 {
    1
}

fn clean() -> Allowed<i32> {
    Allowed::One(0)
}

fn yes() -> bool {
    true
}

impl Case {
    /// Read a case.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let mut title = String::new();
        let mut section = String::new();
        let mut sections: BTreeMap<String, Vec<Step>> = BTreeMap::new();
        let mut expected = None;
        while let Some((number, line)) = lines.next() {
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            if let Some(claim) = line.strip_prefix("# ") {
                claim.trim().clone_into(&mut title);
            } else if let Some(name) = line.strip_prefix("## ") {
                name.trim().clone_into(&mut section);
                if !["Before", "Change", "Expected", "After"].contains(&section.as_str()) {
                    return Err(wrong("not one of Before, Change, Expected and After"));
                }
                sections.entry(section.clone()).or_default();
            } else if let Some(path) = line.strip_prefix("deleted: ") {
                let steps = sections.entry(section.clone()).or_default();
                steps.push(Step::Delete(path.trim().trim_matches('`').to_owned()));
            } else if line.starts_with("```") {
                let ticks = line.len() - line.trim_start_matches('`').len();
                let (fence, info) = line.split_at(ticks);
                let mut content = String::new();
                loop {
                    let (_, line) = lines.next().ok_or_else(|| wrong("the block has no end"))?;
                    if line == fence {
                        break;
                    }
                    content.push_str(line);
                    content.push('\n');
                }
                match (section.as_str(), info.split_once(' '), info) {
                    ("", _, _) => {}
                    ("Expected", None, "toml") => {
                        let read = toml::from_str(&content);
                        expected = Some(read.map_err(|error| wrong(&error.to_string()))?);
                    }
                    (_, None, "sh") => {
                        sections.entry(section.clone()).or_default().push(Step::Run(content));
                    }
                    ("Before" | "Change", Some((_, path)), _) => {
                        let path = path.trim().to_owned();
                        let steps = sections.entry(section.clone()).or_default();
                        steps.push(Step::Write { path, content });
                    }
                    _ => return Err(wrong("the block has no place here")),
                }
            }
        }
        let mut take = |name: &str| sections.remove(name);
        let before = take("Before").ok_or("there is no `## Before`")?;
        let change = take("Change").ok_or("there is no `## Change`")?;
        let after = take("After").unwrap_or_default();
        let expected = expected.ok_or("there is no block of TOML in `## Expected`")?;
        match title.is_empty() {
            true => Err("there is no title".to_owned()),
            false => Ok(Self { title, before, change, after, expected }),
        }
    }
}

#[test]
fn a_case_is_files_scripts_and_what_must_come_of_them() {
    let text = "# A claim\n\nWhy.\n\n## Before\n\n```python a.py\nx = 1\n```\n\n```sh\ntrue\n```\n\n\
                ## Change\n\ndeleted: `a.py`\n\n## Expected\n\n```toml\ncommand = \"pytest -q\"\n\
                exit = [0, 1]\n\n[verdicts]\n\"a.py::b\" = [\"real\", \"flaky, new with this change\"]\n```\n";
    let case = Case::parse(text).expect("it follows the format");
    assert_eq!(case.title, "A claim");
    let file = Step::Write { path: "a.py".into(), content: "x = 1\n".into() };
    assert_eq!(case.before, [file, Step::Run("true\n".into())]);
    assert_eq!(case.change, [Step::Delete("a.py".into())]);
    assert_eq!(case.expected.command.list(), ["pytest", "-q"]);
    assert!(case.expected.exit.has(&1) && !case.expected.exit.has(&2));
    assert!(case.expected.verdicts["a.py::b"].has(&Word::NewlyFlaky));
}

#[test]
fn what_is_wrong_with_a_case_is_told_with_its_line() {
    let wrong = |text: &str| Case::parse(text).expect_err("it does not follow the format");
    assert!(wrong("# A\n\n## Bfore\n").starts_with("line 3: "));
    assert!(wrong("# A\n\n## Before\n\n```python a.py\n").starts_with("line 5: "));
    assert!(wrong("# A\n## Before\n## Change\n").contains("Expected"));
    let unknown_key = "# A\n## Before\n## Change\n## Expected\n```toml\nexitt = 1\n```\n";
    assert!(wrong(unknown_key).contains("exitt"));
}
