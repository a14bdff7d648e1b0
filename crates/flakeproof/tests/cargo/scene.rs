//! A throw-away cargo project, and what runs on it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use flakeproof_core::{Execution, Isolation, Outcome, Seed, TestId};
use flakeproof_runner::adapters::RunRequest;
use flakeproof_runner::adapters::cargo::CargoAdapter;
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result};
use flakeproof_testkit::surroundings;
use serde_json::Value;

/// A project in a temporary folder.
pub(crate) struct Crate {
    folder: tempfile::TempDir,
}

/// The manifest of a package without dependencies.
pub(crate) fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
}

impl Crate {
    /// A package `demo` whose library is this.
    pub(crate) fn new(library: &str) -> Self {
        Self::empty().file("Cargo.toml", &manifest("demo")).file("src/lib.rs", library)
    }

    /// Nothing yet.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// Add a file.
    pub(crate) fn file(self, path: &str, content: &str) -> Self {
        self.write(path, content);
        self
    }

    /// Add or replace a file of a project in use.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path().join(path);
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("a folder can be made");
        std::fs::write(path, content).expect("a file can be written");
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Commit everything, and give the revision.
    pub(crate) fn commit(&self) {
        let git = |arguments: &[&str]| {
            let status = Command::new("git")
                .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
                .args(arguments)
                .current_dir(self.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .status();
            assert!(status.expect("git starts").success(), "{arguments:?}");
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "change"]);
    }

    /// `cargo test` with its own folder for what it builds, and these options.
    fn command(&self, options: &[&str]) -> Vec<String> {
        let target = self.path().join("target").to_string_lossy().into_owned();
        let mut command = vec!["cargo".into(), "test".into(), "--target-dir".into(), target];
        command.extend(options.iter().map(|&option| option.to_owned()));
        command
    }

    /// `cargo nextest run`, in the same way.
    pub(crate) fn nextest(&self) -> Vec<String> {
        let mut command = self.command(&[]);
        command.splice(1..2, ["nextest".to_owned(), "run".to_owned()]);
        command
    }

    /// The adapter on this project.
    pub(crate) fn adapter(&self, options: &[&str]) -> CargoAdapter {
        self.adapter_for(self.command(options))
    }

    /// The adapter of another command on this project.
    pub(crate) fn adapter_for(&self, command: Vec<String>) -> CargoAdapter {
        let request = RunRequest {
            command,
            folder: self.path().to_path_buf(),
            adapter: None,
            timeout: Some(Duration::from_secs(60)),
            run: "cargo".into(),
            seed: Seed(1),
            is_output_shown: false,
            profiles: flakeproof_runner::adapters::command::Profiles::default(),
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::New,
            cancel: Cancel::never(),
            in_force: flakeproof_runner::levers::InForce::default(),
        };
        CargoAdapter::new(request).expect("a temporary folder and a socket")
    }

    /// The project after discovery.
    pub(crate) fn found(self, options: &[&str]) -> Scene {
        let adapter = self.adapter(options);
        self.found_by(adapter)
    }

    /// The same by an adapter of its own.
    pub(crate) fn found_by(self, adapter: CargoAdapter) -> Scene {
        let tests = adapter.discover().expect("the tests are found").ids();
        Scene { adapter, tests, project: self }
    }

    /// Why nothing is found.
    pub(crate) fn refusal(&self, options: &[&str]) -> Error {
        self.adapter(options).discover().expect_err("nothing is found")
    }

    /// A command of the program in this project.
    pub(crate) fn flakeproof(&self, options: &[&str], cargo: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flakeproof"));
        command.args(options).arg("--").args(self.command(cargo)).current_dir(self.path());
        surroundings::plain(&mut command);
        command
    }

    /// `flakeproof run OPTIONS -- cargo test …`: its exit code, its JSON report and what it
    /// printed.
    pub(crate) fn run(&self, options: &[&str], cargo: &[&str]) -> Run {
        let outside = tempfile::tempdir().expect("a temporary folder");
        let report = outside.path().join("report.json");
        let reporter = format!("json={}", report.display());
        let mut all = vec!["run", "--reporter", &reporter];
        all.extend(options);
        let output = self.flakeproof(&all, cargo).output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
        Run {
            code: output.status.code(),
            json: json.unwrap_or(Value::Null),
            text: text(&output.stdout) + &text(&output.stderr),
        }
    }
}

/// A run of the program.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    json: Value,
    pub(crate) text: String,
}

impl Run {
    /// What the report says about a test.
    pub(crate) fn test(&self, id: &str) -> &Value {
        let tests = self.json["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
        let found = tests.iter().find(|test| test["id"] == id);
        found.unwrap_or_else(|| panic!("no test {id} in the report\n{}", self.text))
    }

    /// Outcome, verdict and kind of a test.
    pub(crate) fn told(&self, id: &str) -> [&str; 3] {
        let test = self.test(id);
        ["outcome", "verdict", "kind"].map(|key| test[key].as_str().unwrap_or("-"))
    }

    /// Stages, isolations and outcomes of all attempts at a test.
    pub(crate) fn attempts(&self, id: &str) -> Vec<String> {
        let word = |it: &Value, key: &str| it[key].as_str().unwrap_or("?").to_owned();
        let attempts = self.test(id)["attempts"].as_array().cloned().unwrap_or_default();
        attempts
            .iter()
            .map(|it| ["stage", "isolation", "outcome"].map(|key| word(it, key)).join(" "))
            .collect()
    }
}

/// A project whose tests are known.
pub(crate) struct Scene {
    pub(crate) adapter: CargoAdapter,
    pub(crate) tests: Vec<TestId>,
    pub(crate) project: Crate,
}

impl Scene {
    /// Whether the toolchain allows unstable options by itself.
    pub(crate) fn is_nightly(&self) -> bool {
        self.adapter.can().runner.contains("nightly")
    }

    pub(crate) fn open(&self, how: Isolation) -> Box<dyn Environment> {
        self.adapter.open(how).expect("it opens")
    }

    /// The ids as text.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.tests.iter().map(TestId::as_str).collect()
    }

    /// The ids that end like these.
    pub(crate) fn order(&self, endings: &[&str]) -> Vec<TestId> {
        let of = |ending: &&str| {
            let found = self.tests.iter().find(|test| test.as_str().ends_with(*ending));
            found.unwrap_or_else(|| panic!("no test {ending}")).clone()
        };
        endings.iter().map(of).collect()
    }

    /// Run a test alone in a process of its own.
    pub(crate) fn alone(&self, ending: &str) -> Execution {
        let test = self.order(&[ending]).remove(0);
        self.open(Isolation::Spawn).run(&test, Probe::attempt(1)).expect("it runs")
    }
}

/// Run tests as they were announced; give their outcomes.
pub(crate) fn outcomes(
    environment: &mut dyn Environment,
    order: &[TestId],
) -> Result<Vec<Outcome>> {
    environment.expect(order, flakeproof_runner::Then::End)?;
    order.iter().map(|test| Ok(environment.run(test, Probe::attempt(1))?.outcome)).collect()
}
