//! Our program inside the JVM, compiled by the project's own JDK against its own frameworks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::jdk::Jdk;
use super::{JvmSession, class_file};
use crate::adapter::{Blame, Error, Result};
use crate::folders::{AgentFile, cache_folder};
use crate::process::{Death, End, Ended, Instructions, USUAL_CAP, run_to_end};

/// How long a program of the JDK may take.
const LONGEST_TOOL: Duration = Duration::from_secs(300);

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        [$(AgentFile {
            path: concat!("flakeproof/agent/", $name),
            content: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../agents/junit/src/flakeproof/agent/", $name
            )),
        }),*]
    };
}

const SOURCES: &[AgentFile] = &sources![
    "Driver.java",
    "Drivers.java",
    "Execution.java",
    "Failure.java",
    "Failures.java",
    "Groups.java",
    "Json.java",
    "Link.java",
    "Main.java",
    "Output.java",
    "Phase.java",
    "Pieces.java",
    "Rehearsal.java",
    "Report.java",
    "Selection.java",
    "Settings.java",
    "Suite.java",
    "Test.java",
    "Warm.java",
    "Worker.java",
    "dynamic56/NoDynamicTestRuns.java",
    "dynamic58/NoDynamicTestRuns.java",
    "junit4/Categories.java",
    "junit4/Choice.java",
    "junit4/Junit4Driver.java",
    "junit4/Leaf.java",
    "junit4/Listener.java",
    "junit4/Phases.java",
    "junit4/TestClasses.java",
    "jupiter/NoTestRuns.java",
    "measure/Accounts.java",
    "measure/Agent.java",
    "measure/ClassEditor.java",
    "measure/CodeEditor.java",
    "measure/ConstantPool.java",
    "measure/LineProbes.java",
    "measure/Lines.java",
    "measure/Measure.java",
    "orders/Agent.java",
    "orders/Calls.java",
    "orders/ClassEditor.java",
    "orders/ConcurrentIterator.java",
    "orders/Edits.java",
    "orders/HashMapIterator.java",
    "orders/Inside.java",
    "orders/LateSpliterator.java",
    "orders/Orders.java",
    "orders/Permutation.java",
    "platform/Expansion.java",
    "platform/ExtensionLoader.java",
    "platform/Listener.java",
    "platform/MethodOrder.java",
    "platform/Name.java",
    "platform/Phases.java",
    "platform/Plan.java",
    "platform/PlatformDriver.java",
    "platform/PlatformProperties.java",
    "platform/Requests.java",
    "platform/Search.java",
    "platform/Session.java",
    "testng/Dependencies.java",
    "testng/Handle.java",
    "testng/Listener.java",
    "testng/Order.java",
    "testng/RealClass.java",
    "testng/Rows.java",
    "testng/Search.java",
    "testng/SilentRun.java",
    "testng/Suites.java",
    "testng/TestngDriver.java",
    "warm/Agent.java",
    "warm/EnvironmentLoader.java",
    "warm/Environments.java",
    "warm/JdkState.java",
    "warm/ReloadedPath.java",
    "warm/SystemLoader.java",
    "warm/inside/CommonPool.java",
    "warm/inside/Contents.java",
    "warm/inside/Leftovers.java",
    "warm/inside/Loggers.java",
    "warm/inside/Natives.java",
    "warm/inside/Picture.java",
    "warm/inside/PutBack.java",
    "warm/inside/StaticFields.java",
    "warm/inside/Statics.java",
    "warm/inside/Texts.java",
];

/// What makes a jar of the worker an agent, too, which lets it put back the JDK's own state.
const MANIFEST: &str = "Premain-Class: flakeproof.agent.warm.Agent\n";

/// A part of the worker in a jar of its own, which the JDK's own loader finds: classes that it edits
/// call it. Nothing else of the worker is in there.
#[derive(Debug, Clone, Copy)]
struct EditingAgent {
    jar: &'static str,
    /// What makes it an agent.
    manifest: &'static str,
    classes: &'static str,
}

/// The agent that shuffles orders.
const SHUFFLER: EditingAgent = EditingAgent {
    jar: "shuffler.jar",
    manifest: "Premain-Class: flakeproof.agent.orders.Agent\n\
               Can-Retransform-Classes: true\n\
               Boot-Class-Path: shuffler.jar\n",
    classes: "flakeproof/agent/orders",
};

/// The agent that follows the lines that run.
const MEASURER: EditingAgent = EditingAgent {
    jar: "measurer.jar",
    manifest: "Premain-Class: flakeproof.agent.measure.Agent\n\
               Can-Retransform-Classes: true\n\
               Boot-Class-Path: measurer.jar\n",
    classes: "flakeproof/agent/measure",
};

/// Tests for the archive of classes, and the part of the worker that they need.
const SAMPLES: [(&str, &str, &str); 3] = [
    ("jupiter", "JupiterSample", include_str!("samples/JupiterSample.java")),
    ("junit4", "Junit4Sample", include_str!("samples/Junit4Sample.java")),
    ("testng", "TestngSample", include_str!("samples/TestngSample.java")),
];

/// The worker, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Worker {
    /// Its jar; or a folder, where no jar can be made.
    pub(super) place: PathBuf,
    /// Classes with sample tests that it holds.
    pub(super) samples: Vec<String>,
}

impl Worker {
    /// The jar of the agent that shuffles orders, if it could be made.
    pub(super) fn shuffler(&self) -> Option<PathBuf> {
        self.agent(SHUFFLER)
    }

    /// The jar of the agent that follows the lines that run, if it could be made.
    pub(super) fn measurer(&self) -> Option<PathBuf> {
        self.agent(MEASURER)
    }

    fn agent(&self, agent: EditingAgent) -> Option<PathBuf> {
        let jar = self.place.parent()?.join(agent.jar);
        jar.is_file().then_some(jar)
    }
}

/// The worker for some frameworks.
///
/// It is kept in the user's cache under a digest of its source, the JDK and the frameworks, so that
/// it is compiled once.
pub(super) fn compiled(session: &JvmSession, jdk: &Jdk, frameworks: &Frameworks) -> Result<Worker> {
    let digest = digest(jdk, frameworks);
    let kept = cache_folder().map(|cache| cache.join("flakeproof/agents/jvm").join(&digest));
    let kept = kept.filter(|it| is_complete(it) || make(session, jdk, frameworks, it));
    let folder = match kept {
        Some(kept) => kept,
        None => {
            let folder = session.scratch.path().join(format!("worker-{digest}"));
            if !is_complete(&folder) {
                compile(session, jdk, frameworks, &folder)?;
            }
            folder
        }
    };
    let jar = folder.join("worker.jar");
    let samples = samples_for(frameworks).map(|(name, _)| format!("flakeproof.samples.{name}"));
    Ok(Worker {
        place: if jar.is_file() { jar } else { folder.join("classes") },
        samples: samples.collect(),
    })
}

fn is_complete(folder: &Path) -> bool {
    folder.join("complete").is_file() && folder.join("classes").is_dir()
}

/// Compile beside the final place and rename, so that two runs at once never see half a worker.
fn make(session: &JvmSession, jdk: &Jdk, frameworks: &Frameworks, folder: &Path) -> bool {
    let Some(parent) = folder.parent() else { return false };
    if std::fs::create_dir_all(parent).is_err() {
        return false;
    }
    let Ok(beside) = tempfile::tempdir_in(parent) else { return false };
    let made = beside.path().join("made");
    if compile(session, jdk, frameworks, &made).is_err() {
        return false;
    }
    std::fs::rename(&made, folder).is_ok() || is_complete(folder)
}

fn compile(session: &JvmSession, jdk: &Jdk, frameworks: &Frameworks, folder: &Path) -> Result<()> {
    let doing = || Error::io(format!("compile the worker to {}", folder.display()));
    let sources = session.scratch.folder("worker-source")?;
    let classes = folder.join("classes");
    std::fs::create_dir_all(&classes).map_err(doing())?;
    let files = write_sources(jdk, frameworks, sources.path()).map_err(doing())?;
    let mut command = jdk.compiler()?;
    // For classes that join texts, and are made at run time, a test may leave no memory.
    command.push("-XDstringConcat=inline".to_owned());
    command.extend(["-encoding", "UTF-8", "-g", "-nowarn", "-proc:none", "-d"].map(str::to_owned));
    command.push(classes.to_string_lossy().into_owned());
    if !frameworks.jars.is_empty() {
        command.extend(["-cp".to_owned(), joined(&frameworks.jars)]);
    }
    command.extend(files);
    let ended = run_tool(session, command)?;
    if ended.how != End::Died(Death::Exit(0)) {
        return Err(uncompilable(jdk, &ended.stderr));
    }
    pack(session, jdk, folder);
    std::fs::write(folder.join("complete"), b"").map_err(doing())
}

/// Write the sources that are needed; give their paths.
fn write_sources(
    jdk: &Jdk,
    frameworks: &Frameworks,
    folder: &Path,
) -> std::io::Result<Vec<String>> {
    let own = SOURCES.iter().filter(|source| is_needed(source.path, jdk, frameworks));
    let own = own.map(|source| (source.path.to_owned(), source.content));
    let samples = samples_for(frameworks);
    let samples = samples.map(|(name, text)| (format!("flakeproof/samples/{name}.java"), text));
    own.chain(samples)
        .map(|(path, content)| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(&path, content)?;
            Ok(path.to_string_lossy().into_owned())
        })
        .collect()
}

/// Put the classes into a jar: only of those can an archive be made.
fn pack(session: &JvmSession, jdk: &Jdk, folder: &Path) {
    let Some(tool) = jdk.jar_tool() else { return };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (made, classes) = (folder.join("packing.jar"), folder.join("classes"));
    let manifest = folder.join("manifest");
    if std::fs::write(&manifest, MANIFEST).is_err() {
        return;
    }
    let mut command = vec![text(&tool), "cfm".to_owned(), text(&made), text(&manifest)];
    command.extend(["-C".to_owned(), text(&classes), ".".to_owned()]);
    let ended = run_tool(session, command);
    // Without a jar, the folder does.
    if ended.is_ok_and(|ended| ended.how == End::Died(Death::Exit(0))) {
        let _ = std::fs::rename(made, folder.join("worker.jar"));
    }
    if jdk.can_be_shuffled() {
        pack_agent(session, &tool, folder, SHUFFLER);
    }
    pack_agent(session, &tool, folder, MEASURER);
}

/// Where a jar cannot be made, what it is for cannot be done.
fn pack_agent(session: &JvmSession, tool: &Path, folder: &Path, agent: EditingAgent) {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let jar = folder.join(agent.jar);
    let manifest = jar.with_extension("manifest");
    if std::fs::write(&manifest, agent.manifest).is_err() {
        return;
    }
    let mut command = vec![text(tool), "cfm".to_owned(), text(&jar), text(&manifest)];
    command.extend(["-C".to_owned(), text(&folder.join("classes")), agent.classes.to_owned()]);
    if run_tool(session, command).is_err() {
        let _ = std::fs::remove_file(jar);
    }
}

/// Run a program of the JDK to its end.
pub(super) fn run_tool(session: &JvmSession, command: Vec<String>) -> Result<Ended> {
    let instructions = Instructions {
        command,
        folder: session.root.clone(),
        variables: BTreeMap::new(),
        socket: session.hub.socket().to_path_buf(),
        guard_name: format!("guard-of-{}", session.next_name()),
        is_shown: false,
        kept: USUAL_CAP,
        in_force: session.request.in_force.clone(),
    };
    let limit = Some(LONGEST_TOOL);
    run_to_end(&session.hub, &instructions, limit, &session.request.cancel, |_| {})
}

/// The sample tests that these frameworks can run: name and source.
fn samples_for(frameworks: &Frameworks) -> impl Iterator<Item = (&'static str, &'static str)> {
    let there = SAMPLES.into_iter().filter(|(unit, ..)| frameworks.units.contains(unit));
    there.map(|(_, name, content)| (name, content))
}

fn uncompilable(jdk: &Jdk, said: &str) -> Error {
    Error::Explained {
        blame: Blame::Runner,
        what: format!("the worker does not compile on Java {}", jdk.version),
        next: "check that the project's JUnit or TestNG is one that is supported: JUnit 4.4 or \
               newer, Jupiter 5.4 or newer, TestNG 6.8 or newer"
            .into(),
        details: said.to_owned(),
    }
}

/// A class path as one word.
pub(super) fn joined(entries: &[PathBuf]) -> String {
    let entries: Vec<_> = entries.iter().map(|entry| entry.to_string_lossy()).collect();
    entries.join(":")
}

/// Whether a source can be compiled with these frameworks.
fn is_needed(path: &str, jdk: &Jdk, frameworks: &Frameworks) -> bool {
    let below = path.strip_prefix("flakeproof/agent/").unwrap_or(path);
    below.split_once('/').is_none_or(|(unit, _)| match unit {
        "measure" => true,
        "orders" => jdk.can_be_shuffled(),
        "warm" => jdk.can_be_warm(),
        other => frameworks.units.contains(other),
    })
}

/// What the compiled worker depends on. The jars of a version never change.
fn digest(jdk: &Jdk, frameworks: &Frameworks) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(jdk.version.as_bytes()).update(MANIFEST.as_bytes());
    for agent in [SHUFFLER, MEASURER] {
        hasher.update(agent.manifest.as_bytes());
    }
    for source in SOURCES {
        hasher.update(source.path.as_bytes()).update(b"\0").update(source.content.as_bytes());
    }
    for (_, name, content) in SAMPLES {
        hasher.update(name.as_bytes()).update(b"\0").update(content.as_bytes());
    }
    for jar in &frameworks.jars {
        hasher.update(b"\0").update(jar.as_os_str().as_encoded_bytes());
        let size = std::fs::metadata(jar).map_or(0, |jar| jar.len());
        hasher.update(&size.to_le_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The parts of the worker that need a framework, and the class by which it is known to be there.
const UNITS: [(&str, &str); 6] = [
    ("dynamic56", "org/junit/jupiter/api/extension/InvocationInterceptor.class"),
    ("dynamic58", "org/junit/jupiter/api/extension/DynamicTestInvocationContext.class"),
    ("junit4", "org/junit/runner/Request.class"),
    ("jupiter", "org/junit/jupiter/api/extension/ExecutionCondition.class"),
    ("platform", "org/junit/platform/launcher/Launcher.class"),
    ("testng", "org/testng/TestNG.class"),
];

/// Packages of the frameworks and of what their own classes need.
const PACKAGES: [&str; 8] = [
    "junit/",
    "org/apiguardian/",
    "org/hamcrest/",
    "org/jspecify/",
    "org/junit/",
    "org/opentest4j/",
    "org/testng/",
    "com/beust/jcommander/",
];

/// What of the frameworks is on a class path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frameworks {
    /// Parts of the worker that can be compiled.
    pub(super) units: BTreeSet<&'static str>,
    /// All entries with something of a framework in them.
    pub(super) jars: Vec<PathBuf>,
    /// Jars with nothing else in them that can stand in front of the class path: nothing before
    /// them there has classes of their packages.
    pub(super) movable: Vec<PathBuf>,
}

impl Frameworks {
    /// Look through a class path.
    pub(super) fn on(class_path: &[PathBuf]) -> Self {
        let mut found = Self { units: BTreeSet::new(), jars: Vec::new(), movable: Vec::new() };
        let mut is_mixed_before = false;
        for entry in class_path {
            let content = Content::read(entry);
            found.units.extend(&content.units);
            if !content.has_framework {
                continue;
            }
            found.jars.push(entry.clone());
            if content.is_pure && !is_mixed_before {
                found.movable.push(entry.clone());
            }
            is_mixed_before |= !content.is_pure;
        }
        if !found.units.contains("platform") {
            // They are for the launcher of the platform.
            for unit in ["jupiter", "dynamic56", "dynamic58"] {
                found.units.remove(unit);
            }
        }
        if found.units.contains("dynamic58") {
            found.units.remove("dynamic56");
        }
        found
    }
}

/// What an entry of a class path holds.
struct Content {
    units: Vec<&'static str>,
    has_framework: bool,
    /// Whether every class is a framework's.
    is_pure: bool,
}

impl Content {
    fn read(entry: &Path) -> Self {
        if entry.is_dir() {
            let has = |below: &str| entry.join(below).exists();
            let units = UNITS.into_iter().filter(|(_, class)| has(class)).map(|(unit, _)| unit);
            return Self {
                units: units.collect(),
                has_framework: PACKAGES.into_iter().any(has),
                is_pure: false,
            };
        }
        let names = class_file::names(entry);
        let classes = || names.iter().filter(|name| is_class(name));
        let is_framework = |name: &&String| PACKAGES.iter().any(|it| name.starts_with(it));
        let has = |class: &str| names.iter().any(|name| name == class);
        Self {
            units: UNITS
                .into_iter()
                .filter(|(_, class)| has(class))
                .map(|(unit, _)| unit)
                .collect(),
            has_framework: classes().any(|name| is_framework(&name)),
            is_pure: classes().all(|name| is_framework(&name)),
        }
    }
}

/// Whether a file of a jar is a class that programs see by its name.
fn is_class(name: &str) -> bool {
    name.ends_with(".class") && !name.starts_with("META-INF/") && name != "module-info.class"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn java_files_below(folder: &Path, found: &mut BTreeSet<String>, root: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                java_files_below(&path, found, root);
            } else if let Ok(below) = path.strip_prefix(root) {
                found.insert(below.to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn every_source_of_the_worker_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/junit/src");
        let mut there = BTreeSet::new();
        java_files_below(&root, &mut there, &root);
        let embedded: BTreeSet<String> = SOURCES.iter().map(|it| it.path.to_owned()).collect();
        assert_eq!(embedded, there);
    }

    #[test]
    fn only_parts_whose_framework_is_there_are_compiled() {
        let mut frameworks = Frameworks::on(&[]);
        frameworks.units.insert("junit4");
        let needed = |path: &str, version: &str| {
            is_needed(&format!("flakeproof/agent/{path}"), &Jdk::of(version), &frameworks)
        };
        assert!(needed("Main.java", "17"));
        assert!(needed("junit4/Leaf.java", "17"));
        assert!(!needed("testng/Order.java", "17"));
        assert!(needed("warm/Agent.java", "17.0.15"));
        assert!(!needed("warm/Agent.java", "1.8.0_392"));
        assert_eq!(samples_for(&frameworks).count(), 1);
    }

    #[test]
    fn a_project_with_classes_of_its_own_in_the_frameworks_packages_keeps_its_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("org/junit")).expect("made");
        let found = Frameworks::on(&[folder.path().to_path_buf(), "/nowhere/junit.jar".into()]);
        assert_eq!(found.jars, [folder.path()]);
        assert!(found.movable.is_empty());
    }

    #[test]
    fn module_descriptions_and_versions_for_newer_javas_belong_to_nobody() {
        assert!(is_class("org/junit/Test.class"));
        assert!(!is_class("META-INF/versions/9/module-info.class"));
        assert!(!is_class("module-info.class"));
        assert!(!is_class("META-INF/LICENSE.md"));
    }
}
