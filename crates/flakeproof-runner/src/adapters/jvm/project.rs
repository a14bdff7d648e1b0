//! What is known about a project once its tests are collected.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{CollectionProblem, Location, Suite, SuiteTest, TestId};

use super::Session;
use super::built::Built;
use super::launch::{self, peak_memory, say_goodbye};
use super::ready::ReadyModule;
use super::sources::{Sources, class_in};
use super::touched::Compiled;
use crate::adapter::{Granularity, Result};
use crate::agent::protocol::{Collected, Hello};

/// How long a JVM that only collected may take to end.
const GOODBYE: Duration = Duration::from_secs(5);

/// A project whose tests are known.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) modules: Vec<ReadyModule>,
    tests: HashMap<TestId, TestPlace>,
    pub(super) sources: Sources,
    /// How the first collecting JVM introduced itself.
    pub(super) hello: Hello,
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
    /// Collect the tests of all modules, each in a JVM that is thrown away.
    pub(super) fn collect(session: &Session, built: Built) -> Result<(Self, Suite)> {
        let sources = Sources::below(&session.root);
        let mut project = Self {
            modules: Vec::new(),
            tests: HashMap::new(),
            sources,
            hello: Hello::default(),
            peak: 0,
        };
        let mut collections = Vec::new();
        for module in built.modules {
            let ready = ReadyModule::new(session, module)?;
            let mut started = launch::start(session, &ready, Granularity::Off, 1)?;
            let mut collected = started.collect(session, None, None)?;
            collected.tests.retain(|test| ready.module.selection.holds(&test.id));
            let pid = started.connection.hello.pid;
            project.peak = project.peak.max(peak_memory(pid).unwrap_or_default());
            if project.modules.is_empty() {
                project.hello = started.connection.hello.clone();
            }
            say_goodbye(&mut started.connection, GOODBYE);
            project.modules.push(ready);
            collections.push(collected);
        }
        let mut suite = project.suite(&session.root, collections);
        let left_out = built.left_out.into_iter();
        suite.problems.extend(left_out.map(|(place, text)| CollectionProblem { place, text }));
        Ok((project, suite))
    }

    /// The suite of all modules; ids that two modules have get the module before them.
    fn suite(&mut self, root: &Path, collections: Vec<Collected>) -> Suite {
        let labels = labels(&self.modules);
        let twice = in_several(&collections);
        let mut suite = Suite::default();
        for (at, collected) in collections.into_iter().enumerate() {
            for test in collected.tests {
                let id = match twice.contains(&test.id) {
                    true => TestId::from(format!("{}/{}", labels[at], test.id)),
                    false => TestId::from(test.id.as_str()),
                };
                let place =
                    TestPlace { module: at, plain: test.id, handle: test.path.unwrap_or_default() };
                let location = self.location(&place, root);
                suite.tests.push(SuiteTest { id: id.clone(), location });
                self.tests.insert(id, place);
            }
            suite.problems.extend(collected.problems);
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

    /// The source file of a class that a module compiles, relative to the root.
    pub(super) fn source_of_class(&self, at: usize, class: &str, root: &Path) -> Option<String> {
        let module = &self.modules.get(at)?.module;
        let (folder, compiled) = class_in(class, module.class_folders())?;
        self.sources.of(class, &compiled, folder).first().map(|path| relative(path, root))
    }

    fn location(&self, place: &TestPlace, root: &Path) -> Option<Location> {
        let module = &self.modules.get(place.module)?.module;
        let (folder, class) = class_in(place.class(), module.class_folders())?;
        let files = self.sources.of(place.class(), &class, folder);
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
fn in_several(collections: &[Collected]) -> BTreeSet<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for collected in collections {
        let own: BTreeSet<&str> = collected.tests.iter().map(|test| &*test.id).collect();
        for id in own {
            *seen.entry(id).or_default() += 1;
        }
    }
    seen.into_iter().filter(|(_, count)| *count > 1).map(|(id, _)| id.to_owned()).collect()
}
