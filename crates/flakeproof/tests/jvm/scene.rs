//! Maven projects, and the adapter on them.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flakeproof_core::{Execution, Isolation, Seed, TestId};
use flakeproof_runner::adapters::RunRequest;
use flakeproof_runner::adapters::jvm::JvmAdapter;
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result, Then};

macro_rules! dependency {
    ($group:literal, $name:literal, $version:literal) => {
        concat!(
            "<dependency><groupId>",
            $group,
            "</groupId><artifactId>",
            $name,
            "</artifactId><version>",
            $version,
            "</version><scope>test</scope></dependency>"
        )
    };
}

/// The limit of one test.
const LIMIT: Duration = Duration::from_secs(20);

/// The usual command.
const MAVEN: [&str; 3] = ["mvn", "-q", "test"];

pub(crate) const JUNIT4: &str = dependency!("junit", "junit", "4.13.2");
pub(crate) const JUPITER: &str = dependency!("org.junit.jupiter", "junit-jupiter", "5.10.2");
pub(crate) const TESTNG: &str = dependency!("org.testng", "testng", "7.5.1");

/// What is not installed, if anything.
pub(crate) fn missing() -> Option<&'static str> {
    let starts = |program: &str| Command::new(program).arg("-version").output().is_ok();
    ["mvn", "javac"].into_iter().find(|program| !starts(program))
}

/// A project on disk.
pub(crate) struct MavenProject {
    folder: tempfile::TempDir,
}

/// What is set apart from the usual in a POM.
#[derive(Clone, Copy)]
pub(crate) struct Pom<'a> {
    pub(crate) dependencies: &'a str,
    pub(crate) surefire: &'a str,
    pub(crate) configuration: &'a str,
    pub(crate) more: &'a str,
}

impl Default for Pom<'_> {
    fn default() -> Self {
        Self { dependencies: JUNIT4, surefire: "3.2.5", configuration: "", more: "" }
    }
}

impl Pom<'_> {
    fn text(self, name: &str) -> String {
        let Self { dependencies, surefire, configuration, more } = self;
        format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>acme</groupId>\
             <artifactId>{name}</artifactId><version>1</version>{more}\
             <properties><maven.compiler.source>8</maven.compiler.source>\
             <maven.compiler.target>8</maven.compiler.target>\
             <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\
             <dependencies>{dependencies}</dependencies><build><plugins><plugin>\
             <artifactId>maven-surefire-plugin</artifactId><version>{surefire}</version>\
             <configuration>{configuration}</configuration></plugin></plugins></build></project>"
        )
    }
}

impl MavenProject {
    pub(crate) fn new(pom: Pom<'_>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }.pom("", pom)
    }

    /// The POM of a module.
    pub(crate) fn pom(self, module: &str, pom: Pom<'_>) -> Self {
        let name = if module.is_empty() { "project" } else { module };
        self.file(&Path::new(module).join("pom.xml").to_string_lossy(), &pom.text(name))
    }

    /// A class of a module, in the package `acme`.
    pub(crate) fn class(self, path: &str, text: &str) -> Self {
        self.file(&format!("{path}.java"), &format!("package acme;\n{text}"))
    }

    /// A test class of the project itself, with the imports of JUnit 4.
    pub(crate) fn test(self, name: &str, body: &str) -> Self {
        let text = format!("import org.junit.*;\npublic class {name} {{\n{body}\n}}\n",);
        self.class(&format!("src/test/java/acme/{name}"), &text)
    }

    pub(crate) fn file(self, path: &str, content: &str) -> Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("below the project")).expect("a folder");
        std::fs::write(path, content).expect("it is written");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn adapter(&self, command: &[&str]) -> JvmAdapter {
        let adapter = JvmAdapter::new(RunRequest {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            folder: self.path().to_path_buf(),
            adapter: None,
            timeout: Some(LIMIT),
            run: "jvm".into(),
            seed: Seed(1),
            is_output_shown: false,
            profiles: flakeproof_runner::adapters::command::Profiles::default(),
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::NewOrKept,
            cancel: Cancel::never(),
            in_force: flakeproof_runner::levers::InForce::default(),
        });
        adapter.expect("a temporary folder and a socket")
    }

    /// What is wrong with a project: what happened, what to do, and details.
    pub(crate) fn trouble(&self, arguments: &[&str]) -> String {
        match self.adapter(&[&MAVEN, arguments].concat()).discover() {
            Err(Error::Explained { what, next, details, .. }) => {
                format!("{what}\n{next}\n{details}")
            }
            Err(error) => error.to_string(),
            Ok(suite) => format!("it is collected: {:?}", suite.ids()),
        }
    }

    /// Whether Maven is started to collect the tests.
    pub(crate) fn is_built(&self) -> bool {
        let adapter = self.adapter(&MAVEN);
        adapter.discover().expect("it is collected");
        !adapter.output().is_empty()
    }

    /// Collect it with Maven.
    pub(crate) fn collect(self, arguments: &[&str]) -> Scene {
        self.collect_by(&[&MAVEN, arguments].concat())
    }

    /// Collect it with any command.
    pub(crate) fn collect_by(self, command: &[&str]) -> Scene {
        let adapter = self.adapter(command);
        let suite = adapter.discover().expect("the project is collected");
        assert_eq!(suite.problems, [], "everything can be collected");
        let tests = suite.ids();
        Scene { project: self, adapter, tests }
    }
}

/// A project that was collected.
pub(crate) struct Scene {
    pub(crate) project: MavenProject,
    pub(crate) adapter: JvmAdapter,
    pub(crate) tests: Vec<TestId>,
}

impl Scene {
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.tests.iter().map(TestId::as_str).collect()
    }

    pub(crate) fn id(&self, ending: &str) -> TestId {
        let found = self.tests.iter().find(|test| test.as_str().ends_with(ending));
        found.expect("a test with this ending is collected").clone()
    }

    pub(crate) fn open(&self, how: Isolation) -> Box<dyn Environment> {
        self.adapter.open(how).expect("it opens")
    }

    /// Run an order in a new environment: each test's method and outcome.
    pub(crate) fn outcomes(&self, endings: &[&str]) -> Vec<String> {
        let order: Vec<TestId> = endings.iter().map(|ending| self.id(ending)).collect();
        let mut environment = self.open(Isolation::Spawn);
        let executions = run(&mut *environment, &order).expect("no trouble but a test's");
        environment.close().expect("it ends");
        executions.iter().map(told).collect()
    }
}

/// Announce an order and run it.
pub(crate) fn run(environment: &mut dyn Environment, order: &[TestId]) -> Result<Vec<Execution>> {
    environment.expect(order, Then::End)?;
    order.iter().map(|test| environment.run(test, Probe::attempt(1))).collect()
}

/// A test's method and outcome: `adds passed`.
pub(crate) fn told(execution: &Execution) -> String {
    let id = execution.test.as_str();
    let method = id.split_once('#').map_or(id, |(_, method)| method);
    format!("{method} {}", execution.outcome)
}

/// A scene that several claims share. It is dropped by hand: nothing of it may be left behind.
pub(crate) struct Shared(Mutex<Option<Arc<Scene>>>);

impl Shared {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The scene, made when it is first asked for.
    pub(crate) fn get(&self, make: fn() -> Scene) -> Arc<Scene> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(held.get_or_insert_with(|| Arc::new(make())))
    }

    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
