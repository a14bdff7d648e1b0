//! A project: its modules, as the build tool tells them, and the tests that are collected in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::{CollectionProblem, Location, Suite, SuiteTest, TestId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::JvmSession;
use super::launch::{self, Purpose, ReadyModule, peak_memory, say_goodbye};
use super::maven::KeptBuild;
use super::selection::Selection;
use super::touched::{Compiled, Sources, class_in};
use crate::adapter::{Blame, Error, Result};
use crate::process::{Death, End, Instructions, USUAL_CAP, run_to_end};

/// How long a JVM that only collected may take to end.
const GOODBYE: Duration = Duration::from_secs(5);

/// A project whose tests are known.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) modules: Vec<ReadyModule>,
    tests: HashMap<TestId, TestPlace>,
    pub(super) sources: Sources,
    /// The version of Java, and the frameworks, as the first collecting JVM told them.
    pub(super) runtime: String,
    pub(super) framework: String,
    /// The most memory that a collecting JVM took, in bytes.
    pub(super) peak: u64,
}

/// Where a test is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestPlace {
    /// Its module, as a position in [`Project::modules`].
    pub(super) module: usize,
    /// Its id as the worker knows it, without a module.
    pub(super) plain: String,
    /// What the worker needs to run it.
    pub(super) handle: String,
}

impl TestPlace {
    /// Its class.
    pub(super) fn class(&self) -> &str {
        self.plain.split_once('#').map_or(&*self.plain, |(class, _)| class)
    }

    /// The class that its file is named after, which groups it with others.
    pub(super) fn top_class(&self) -> &str {
        let class = self.class();
        class.split('$').next().unwrap_or(class)
    }
}

impl Project {
    /// Collect the tests of all modules, each in a JVM that is thrown away; or take those that were found
    /// before in just this build.
    pub(super) fn collect(session: &JvmSession, built: Built) -> Result<(Self, Suite)> {
        let modules = built.modules.into_iter().map(|module| ReadyModule::new(session, module));
        let modules: Vec<ReadyModule> = modules.collect::<Result<_>>()?;
        let kept = built.kept.map(|kept| (kept, key_of(&modules)));
        let known = kept.as_ref().and_then(|(kept, key)| kept.recall(key));
        let known = known.and_then(|text| serde_json::from_str::<Collection>(&text).ok());
        let is_new = known.is_none();
        let collection = match known {
            Some(known) => known,
            None => Collection::by_jvms(session, &modules)?,
        };
        let mut project = Self {
            modules,
            tests: HashMap::new(),
            sources: Sources::below(&session.root),
            runtime: collection.runtime.clone(),
            framework: collection.framework.clone(),
            peak: collection.peak,
        };
        let mut suite = project.suite(&session.root, &collection.modules);
        if let Some((kept, key)) = kept.filter(|_| is_new && is_in_class_files(&suite))
            && let Ok(text) = serde_json::to_string(&collection)
        {
            kept.keep(&key, &text);
        }
        let left_out = built.left_out.into_iter();
        suite.problems.extend(left_out.map(|(place, text)| CollectionProblem { place, text }));
        Ok((project, suite))
    }

    /// The suite of all modules; ids that two modules have get the module before them.
    fn suite(&mut self, root: &Path, collections: &[ModuleTests]) -> Suite {
        let labels = labels(&self.modules);
        let twice = in_several(collections);
        let mut suite = Suite::default();
        for (at, collected) in collections.iter().enumerate() {
            for (id, handle) in &collected.tests {
                let place = TestPlace { module: at, plain: id.clone(), handle: handle.clone() };
                let id = match twice.contains(id) {
                    true => TestId::from(format!("{}/{id}", labels[at])),
                    false => TestId::from(id.as_str()),
                };
                let location = self.location(&place, root);
                suite.tests.push(SuiteTest { id: id.clone(), location });
                self.tests.insert(id, place);
            }
            suite.problems.extend(collected.problems.iter().cloned());
        }
        suite
    }

    /// Where a test is.
    pub(super) fn place(&self, test: &TestId) -> Option<&TestPlace> {
        self.tests.get(test)
    }

    /// What the classes of a module were compiled from, looked up when it is first needed.
    pub(super) fn compiled(&self, module: usize, root: &Path) -> Option<&Compiled> {
        Some(self.modules.get(module)?.compiled(root, &self.sources))
    }

    /// A source file as the worker names it (`com/acme/FooTest.java`), relative to the root.
    pub(super) fn source(&self, module: usize, named: &str, root: &Path) -> Option<String> {
        let (package, name) = named.rsplit_once('/').unwrap_or(("", named));
        let near = self.modules.get(module).map_or(root, |it| it.module.folder.as_path());
        let found = self.sources.find(&package.replace('/', "."), name, near);
        found.first().map(|path| relative(path, root))
    }

    /// The same with its whole path; what was generated, and is not found, lies nowhere below the module.
    pub(super) fn absolute_source(&self, module: usize, named: &str, root: &Path) -> String {
        let folder = self.modules.get(module).map_or(root, |it| it.module.folder.as_path());
        let found = self.source(module, named, root).map(|path| root.join(path));
        found.unwrap_or_else(|| folder.join(named)).to_string_lossy().into_owned()
    }

    /// The source file of a class that a module compiles, relative to the root.
    pub(super) fn source_of_class(&self, at: usize, class: &str, root: &Path) -> Option<String> {
        let module = &self.modules.get(at)?.module;
        let (folder, compiled) = class_in(class, module.class_folders())?;
        self.sources
            .files_of_class(class, &compiled, folder)
            .first()
            .map(|path| relative(path, root))
    }

    fn location(&self, place: &TestPlace, root: &Path) -> Option<Location> {
        let module = &self.modules.get(place.module)?.module;
        let (folder, class) = class_in(place.class(), module.class_folders())?;
        let files = self.sources.files_of_class(place.class(), &class, folder);
        let method = place.plain.split_once('#').map_or("", |(_, method)| method);
        let method = method.split(['(', '[', '{']).next().unwrap_or(method);
        let line = class.lines.get(method).copied();
        files.first().map(|file| Location { file: relative(file, root), line })
    }
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// A name for each module; where two have one folder, the second is counted.
fn labels(modules: &[ReadyModule]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for ready in modules {
        let name = if ready.module.name.is_empty() { "." } else { &ready.module.name };
        let mut label = name.to_owned();
        let mut count = 1;
        while labels.contains(&label) {
            count += 1;
            label = format!("{name}@{count}");
        }
        labels.push(label);
    }
    labels
}

/// Ids that more than one collection has.
fn in_several(collections: &[ModuleTests]) -> BTreeSet<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for collected in collections {
        let own: BTreeSet<&str> = collected.tests.iter().map(|(id, _)| id.as_str()).collect();
        for id in own {
            *seen.entry(id).or_default() += 1;
        }
    }
    seen.into_iter().filter(|(_, count)| *count > 1).map(|(id, _)| id.to_owned()).collect()
}

/// What the collecting JVMs told.
#[derive(Debug, Serialize, Deserialize)]
struct Collection {
    runtime: String,
    framework: String,
    /// The most memory that one of them took, in bytes.
    peak: u64,
    modules: Vec<ModuleTests>,
}

/// The tests of one module: id and handle.
#[derive(Debug, Serialize, Deserialize)]
struct ModuleTests {
    tests: Vec<(String, String)>,
    problems: Vec<CollectionProblem>,
}

impl Collection {
    fn by_jvms(session: &JvmSession, modules: &[ReadyModule]) -> Result<Self> {
        let mut all =
            Self { runtime: String::new(), framework: String::new(), peak: 0, modules: Vec::new() };
        for ready in modules {
            let mut started = launch::start(session, ready, Purpose::PLAIN)?;
            let mut collected = started.collect(session, None, None)?;
            collected.tests.retain(|test| ready.module.selection.holds(&test.id));
            let hello = &started.connection.hello;
            all.peak = all.peak.max(peak_memory(hello.pid).unwrap_or_default());
            if all.modules.is_empty() {
                (all.runtime, all.framework) = (hello.runtime.clone(), hello.framework.clone());
            }
            say_goodbye(&mut started.connection, GOODBYE);
            let tests = collected.tests.into_iter();
            all.modules.push(ModuleTests {
                tests: tests.map(|test| (test.id, test.path.unwrap_or_default())).collect(),
                problems: collected.problems,
            });
        }
        Ok(all)
    }
}

/// What a collection depends on besides the build.
fn key_of(modules: &[ReadyModule]) -> String {
    let workers = modules.iter().map(|ready| ready.archived()[0].to_string_lossy().into_owned());
    format!("tests {}", workers.collect::<Vec<_>>().join(" "))
}

/// Whether all tests are methods in class files: what else a collection finds may come from anywhere.
fn is_in_class_files(suite: &Suite) -> bool {
    let is_method = |test: &SuiteTest| {
        let has_line = test.location.as_ref().is_some_and(|place| place.line.is_some());
        has_line && !test.id.as_str().contains(['[', '(', '{'])
    };
    suite.problems.is_empty() && suite.tests.iter().all(is_method)
}

/// Lines of a broken build that are shown: Maven ends with advice of about ten.
const LAST_LINES: usize = 40;

/// What a build tool told about a project.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// In the build tool's order.
    pub(super) modules: Vec<Module>,
    /// Tests that cannot be run here: their module, and why.
    pub(super) left_out: Vec<(String, String)>,
    /// Where more can be kept about it, as long as nothing changes.
    pub(super) kept: Option<KeptBuild>,
}

/// Run a command of the build tool to its end and give what it printed.
pub(super) fn run_build(session: &JvmSession, command: Vec<String>) -> Result<String> {
    let instructions = Instructions {
        command,
        folder: session.request.folder.clone(),
        variables: std::collections::BTreeMap::new(),
        socket: session.hub.socket().to_path_buf(),
        guard_name: "guard-of-build".into(),
        is_shown: session.request.is_output_shown,
        kept: USUAL_CAP,
        in_force: session.request.in_force.clone(),
    };
    let ended = run_to_end(&session.hub, &instructions, None, &session.request.cancel, |_| {});
    let ended = match ended {
        Err(Error::CannotStart { cause, .. }) => return Err(cannot_start(session, &cause)),
        other => other?,
    };
    let output = without_colours(&format!("{}{}", ended.stdout, ended.stderr));
    session.keep_output(&output);
    match ended.how {
        End::Died(Death::Exit(0)) => Ok(output),
        End::Died(death) => Err(broken(session, &death.to_string(), &output)),
        End::TimedOut => Err(broken(session, "it took too long", &output)),
    }
}

fn cannot_start(session: &JvmSession, cause: &str) -> Error {
    let program = session.request.command.first().map_or("", String::as_str);
    Error::Explained {
        blame: Blame::Usage,
        what: format!("`{program}` cannot be started: {cause}"),
        next: "install the build tool, or use the project's wrapper (`./mvnw`, `./gradlew`)".into(),
        details: String::new(),
    }
}

fn broken(session: &JvmSession, status: &str, output: &str) -> Error {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let errors: Vec<&str> = lines.iter().copied().filter(|line| line.contains("ERROR")).collect();
    let shown = if errors.is_empty() { &lines } else { &errors };
    let shown = match errors.is_empty() {
        true => &shown[shown.len().saturating_sub(LAST_LINES)..],
        // Maven's errors come first, its advice last.
        false => &shown[..shown.len().min(LAST_LINES)],
    };
    Error::Explained {
        blame: Blame::Runner,
        what: format!(
            "`{}` failed before any test ran ({status})",
            session.request.command.join(" ")
        ),
        next: "run the same command without flakeproof, and mend what it says".into(),
        details: shown.join("\n"),
    }
}

/// A text without the codes that colour it on a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let code = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        plain + code.and_then(|at| part.get(at + 1..)).unwrap_or(part)
    })
}

/// The tests that a build tool would run in one kind of JVM, and that JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    /// Its folder below that of the command; empty for the project itself.
    pub(super) name: String,
    /// Where its JVM runs.
    pub(super) folder: PathBuf,
    /// The program that runs it.
    pub(super) java: PathBuf,
    /// Options of the JVM.
    pub(super) options: Vec<String>,
    /// System properties.
    pub(super) properties: BTreeMap<String, String>,
    /// Variables on top of our own; `None` removes one.
    pub(super) variables: BTreeMap<String, Option<String>>,
    /// Folders and jars with classes, in order.
    pub(super) class_path: Vec<PathBuf>,
    /// What runs the tests.
    pub(super) framework: Framework,
    /// Classes that may hold tests, in the build tool's order.
    pub(super) classes: Vec<String>,
    /// Tags, categories or groups to run; empty for all.
    pub(super) groups: String,
    /// Those not to run.
    pub(super) excluded_groups: String,
    /// Parameters of the framework.
    pub(super) parameters: BTreeMap<String, String>,
    /// The methods that were asked for.
    pub(super) selection: Selection,
    /// How many classes share a JVM.
    pub(super) sharing: Sharing,
}

/// What runs the tests of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    /// The JUnit Platform with its engines: Jupiter, Vintage and others.
    Platform,
    /// JUnit 4, and JUnit 3 through it.
    Junit4,
    /// TestNG.
    Testng,
}

/// How many classes share a JVM in the suite's own run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// All of a module.
    All,
    /// Each has one of its own.
    OneClass,
}

impl Module {
    /// What the worker is told about its suite.
    pub(super) fn settings(&self) -> serde_json::Value {
        json!({
            "framework": self.framework.word(),
            "classes": self.classes,
            "groups": self.groups,
            "excluded_groups": self.excluded_groups,
            "parameters": self.parameters,
            "methods": [],
            "attempt_property": "flakeproof.attempt",
        })
    }

    /// The folders of the class path: there lies what the project itself compiles.
    pub(super) fn class_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.class_path.iter().filter(|entry| entry.is_dir())
    }
}

impl Framework {
    /// The framework as the worker knows it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Junit4 => "junit4",
            Self::Testng => "testng",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_away_and_nothing_else() {
        assert_eq!(without_colours("\u{1b}[0m[\u{1b}[1;31mERROR\u{1b}[m] a [b]"), "[ERROR] a [b]");
        assert_eq!(without_colours("plain"), "plain");
    }
}
