//! A throw-away project, and the real program run on it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::surroundings;

/// A project in a temporary folder.
#[derive(Debug)]
pub struct Project {
    folder: tempfile::TempDir,
    program: PathBuf,
    python: PathBuf,
}

impl Project {
    /// An empty project, for the program at this path and the usual interpreter.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
        Self { folder, program: program.into(), python: crate::python::usual() }
    }

    /// The same project with another interpreter.
    #[must_use]
    pub fn with_python(mut self, python: PathBuf) -> Self {
        self.python = python;
        self
    }

    /// Add or replace a file.
    #[must_use]
    pub fn file(self, path: &str, content: &str) -> Self {
        self.write(path, content);
        self
    }

    /// Add or replace a file of a project that is in use.
    pub fn write(&self, path: &str, content: &str) {
        let path = self.path().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{error}"));
        }
        std::fs::write(&path, content)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Make it a git repository, or commit what changed since.
    pub fn commit(&self) -> String {
        if !self.path().join(".git").exists() {
            self.git(&["init", "-q", "-b", "main"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Run git in the project.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap_or_else(|error| panic!("git: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The project's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The interpreter, as text for a command line.
    #[must_use]
    pub fn python(&self) -> String {
        self.python.to_string_lossy().into_owned()
    }

    /// A `flakeproof` command in this project, with none of our own settings in its way.
    #[must_use]
    pub fn flakeproof(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.program);
        command.args(arguments);
        command
    }

    /// `python -m pytest ARGUMENTS` in this project, in the same surroundings.
    #[must_use]
    pub fn pytest(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.python);
        command.args(["-m", "pytest"]).args(arguments);
        command
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        surroundings::plain(&mut command).current_dir(self.path());
        command.env_remove("PYTHONPATH").env_remove("PYTHONHASHSEED");
        command
    }

    /// `flakeproof run OPTIONS -- python -m pytest ARGUMENTS`, with its JSON report.
    #[must_use]
    pub fn run(&self, options: &[&str], arguments: &[&str]) -> Ran {
        self.run_with(options, arguments, &[])
    }

    /// The same, with environment variables.
    #[must_use]
    pub fn run_with(
        &self,
        options: &[&str],
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Ran {
        let outside = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
        let report = outside.path().join("report.json");
        let reporter = format!("json={}", report.display());
        let python = self.python();
        let output = self
            .flakeproof(&["run", "--reporter", &reporter])
            .args(options)
            .args(["--", &python, "-m", "pytest"])
            .args(arguments)
            .envs(variables.iter().copied())
            .output()
            .unwrap_or_else(|error| panic!("flakeproof does not start: {error}"));
        let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
        Ran { output, json: json.unwrap_or(Value::Null) }
    }
}

/// A run of the program that ended.
#[derive(Debug)]
pub struct Ran {
    /// Exit status, stdout and stderr.
    pub output: Output,
    /// The JSON report, or null.
    pub json: Value,
}

impl Ran {
    /// The exit code.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// Everything that was printed.
    #[must_use]
    pub fn text(&self) -> String {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        text(&self.output.stdout) + &text(&self.output.stderr)
    }

    /// What the report says about the test whose id ends like this.
    #[must_use]
    pub fn test(&self, ending: &str) -> &Value {
        let tests = self.json["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
        tests
            .iter()
            .find(|test| test["id"].as_str().is_some_and(|id| id.ends_with(ending)))
            .unwrap_or_else(|| panic!("no test {ending} in the report\n{}", self.text()))
    }

    /// The outcome of the first execution of a test.
    #[must_use]
    pub fn outcome(&self, ending: &str) -> &str {
        self.test(ending)["outcome"].as_str().unwrap_or_default()
    }

    /// The verdict on a test's failure, or `none`.
    #[must_use]
    pub fn verdict(&self, ending: &str) -> &str {
        self.test(ending)["verdict"].as_str().unwrap_or("none")
    }

    /// The stages and outcomes of all executions of a test: `first failed, immediate passed`.
    #[must_use]
    pub fn attempts(&self, ending: &str) -> String {
        let attempts = self.test(ending)["attempts"].as_array().cloned().unwrap_or_default();
        let word = |attempt: &Value, key: &str| attempt[key].as_str().unwrap_or("?").to_owned();
        attempts
            .iter()
            .map(|it| {
                let isolation = match word(it, "isolation").as_str() {
                    "same" => String::new(),
                    other => format!("({other})"),
                };
                format!("{}{isolation} {}", word(it, "stage"), word(it, "outcome"))
            })
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Run a command to its end; what it prints on stdout is its JSON, where it is some.
///
/// # Panics
/// When it does not start.
pub fn finish(command: &mut Command) -> Ran {
    let output = command.output().expect("flakeproof starts");
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ran { output, json }
}

/// A command started by another one, in its folder and with its variables.
#[must_use]
pub fn started_by(starter: &[&str], command: &Command) -> Command {
    let mut whole = Command::new(starter[0]);
    whole.args(&starter[1..]).arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        whole.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    whole
}

/// It ends with this code and says all of this, with no panic or type of ours.
///
/// # Panics
/// When it does not.
#[track_caller]
pub fn assert_says(ran: &Ran, code: i32, words: &[&str]) {
    let text = ran.text();
    assert_eq!(ran.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    for ours in ["panicked at", "RUST_BACKTRACE", "Error {", "Os {"] {
        assert!(!text.contains(ours), "`{ours}` is in:\n{text}");
    }
}
