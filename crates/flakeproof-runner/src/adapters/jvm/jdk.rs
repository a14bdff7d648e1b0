//! The Java that runs the tests, and what it can do.
//!
//! Archives of classes, with which fresh JVMs start faster (class data sharing, JDK 11 and newer).
//!
//! The JVM can map classes that were prepared for it, if they come from jars at the beginning of
//! its class path. So the worker and the frameworks stand there, and an archive of what a sample
//! test loads of them is made once. Classes of the project are never in it, and neither are classes
//! of lambda expressions: with those in an archive, JDK 17 can crash.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::Outcome;

use super::JvmSession;
use super::launch::{self, Purpose, ReadyModule, Started};
use super::project::Module;
use super::worker::{Worker, joined, run_tool};
use crate::adapter::{Blame, Error, Result};
use crate::agent::protocol::{FromAgent, ToAgent};
use crate::folders::cache_folder;
use crate::process::{Death, End};
use crate::shell::digest;

/// A Java installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jdk {
    home: PathBuf,
    /// As it is written in its release file: `17.0.15`, `1.8.0_392`.
    pub(super) version: String,
    /// 8, 11, 17, …
    pub(super) feature: u32,
}

impl Jdk {
    /// The installation that a `java` program belongs to.
    pub(super) fn inspect(java: &Path) -> Self {
        let real = java.canonicalize().unwrap_or_else(|_| java.to_path_buf());
        let mut home = real.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_path_buf();
        // Up to Java 8 a JDK holds its own runtime in a folder `jre`.
        if !home.join("bin/javac").is_file()
            && let Some(above) = home.parent().filter(|above| above.join("bin/javac").is_file())
        {
            home = above.to_path_buf();
        }
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = version_in(&release);
        Self { feature: feature_of(&version), version, home }
    }

    /// One of this version that is nowhere.
    #[cfg(test)]
    pub(super) fn of(version: &str) -> Self {
        Self { feature: feature_of(version), version: version.to_owned(), home: PathBuf::new() }
    }

    /// The command of a compiler for it: its own, or that of a newer JDK, which knows what it has.
    pub(super) fn compiler(&self) -> Result<Vec<String>> {
        let text = |javac: PathBuf| javac.to_string_lossy().into_owned();
        let javac = self.home.join("bin/javac");
        if javac.is_file() {
            return Ok(vec![text(javac)]);
        }
        if let Some(other) = self.another() {
            let version = self.feature.to_string();
            return Ok(vec![text(other.home.join("bin/javac")), "--release".to_owned(), version]);
        }
        Err(Error::Explained {
            blame: Blame::Usage,
            what: format!("there is no Java compiler in {}", self.home.display()),
            next: format!(
                "run the build on a JDK, not on a runtime alone; or point JAVA_HOME to a JDK {} or \
                 newer, or put it on the path",
                self.feature
            ),
            details: String::new(),
        })
    }

    /// What makes jars, if it is there.
    pub(super) fn jar_tool(&self) -> Option<PathBuf> {
        let own = Some(self.home.join("bin/jar")).filter(|tool| tool.is_file());
        own.or_else(|| Some(self.another()?.home.join("bin/jar")).filter(|tool| tool.is_file()))
    }

    /// A JDK with a compiler that can compile for this one.
    fn another(&self) -> Option<Self> {
        let named = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/javac"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|folder| folder.join("javac"));
        let all = named.into_iter().chain(on_path).filter(|javac| javac.is_file());
        let mut found = all.map(|javac| Self::inspect(&javac));
        found.find(|jdk| {
            let can_release = jdk.feature >= 9 && self.feature >= 8;
            can_release && jdk.feature >= self.feature && jdk.home.join("bin/javac").is_file()
        })
    }

    /// Whether what classes are loaded can be written to a file.
    pub(super) fn can_log_classes(&self) -> bool {
        self.feature >= 9
    }

    /// Whether an archive of loaded classes can be made.
    pub(super) fn can_archive_classes(&self) -> bool {
        self.feature >= 11
    }

    /// Whether the worker can put back what tests change in it: its own state is known up to Java 25.
    pub(super) fn can_be_warm(&self) -> bool {
        (11..=25).contains(&self.feature)
    }

    /// Whether an agent can shuffle the orders that the specification leaves open.
    pub(super) fn can_be_shuffled(&self) -> bool {
        self.feature >= 9
    }

    /// Whether long command lines can be given in a file.
    pub(super) fn can_read_arguments(&self) -> bool {
        self.feature >= 9
    }
}

fn version_in(release: &str) -> String {
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
    line.map_or_else(|| "1.8".into(), |value| value.trim().trim_matches('"').to_owned())
}

fn feature_of(version: &str) -> u32 {
    let mut parts = version.split(['.', '-', '+', '_']);
    let first = parts.next().and_then(|part| part.parse().ok());
    match first {
        // Up to 8 the version began with a one.
        Some(1) => parts.next().and_then(|part| part.parse().ok()).unwrap_or(8),
        Some(feature) => feature,
        None => 8,
    }
}

/// How long a JVM may take for the sample tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options that decide about archives themselves, or about where the JDK's own classes are.
const UNSUITABLE: [&str; 8] = [
    "-Xshare",
    "-XX:SharedArchiveFile",
    "-XX:ArchiveClassesAtExit",
    "-XX:AOT",
    "-Xbootclasspath",
    "--patch-module",
    "--limit-modules",
    "-Djava.system.class.loader",
];

/// Whether an archive may be used for a module.
pub(super) fn suits(module: &Module, worker: &Worker) -> bool {
    let is_unsuitable = |option: &String| UNSUITABLE.iter().any(|it| option.starts_with(it));
    worker.place.is_file() && !module.options.iter().any(is_unsuitable)
}

/// The archive for a module in the user's cache, if it was made before.
pub(super) fn kept(ready: &ReadyModule) -> Option<PathBuf> {
    place(ready).filter(|file| file.is_file())
}

/// Make the archive for a module and keep it; `None` if it cannot be made: tests run without it.
///
/// # Errors
/// Only when the user interrupts.
pub(super) fn made(session: &JvmSession, ready: &ReadyModule) -> Result<Option<PathBuf>> {
    let Some(file) = place(ready) else { return Ok(None) };
    let Some(folder) = file.parent() else { return Ok(None) };
    if std::fs::create_dir_all(folder).is_err() {
        return Ok(None);
    }
    let Ok(beside) = tempfile::tempdir_in(folder) else { return Ok(None) };
    match make(session, ready, beside.path()) {
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Ok(made) if std::fs::rename(&made, &file).is_ok() => Ok(Some(file)),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Whether a JVM's report of its crash speaks of shared classes: then it is no test's crash.
pub(super) fn is_blamed_in(report: &str) -> bool {
    let mut lines = report.lines().skip_while(|line| !line.contains("Problematic frame"));
    let frame = lines.nth(1).unwrap_or_default();
    ["Shared", "shared", "SystemDictionary", "FileMapInfo", "CDS"]
        .iter()
        .any(|it| frame.contains(it))
}

/// Where the archive is kept, under a digest of everything that it depends on.
fn place(ready: &ReadyModule) -> Option<PathBuf> {
    let mut parts = vec![ready.module.java.to_string_lossy().into_owned()];
    parts.push(ready.jdk.version.clone());
    parts.extend(layout_options(&ready.module));
    for entry in ready.archived() {
        let (size, time) = std::fs::metadata(&entry)
            .map_or((0, None), |entry| (entry.len(), entry.modified().ok()));
        parts.push(format!("{} {size} {time:?}", entry.display()));
    }
    let name = format!("{}.jsa", digest(parts.join("\n").as_bytes()));
    Some(cache_folder()?.join("flakeproof/archives").join(name))
}

/// Options that change how classes lie in memory: an archive is good for one layout.
fn layout_options(module: &Module) -> Vec<String> {
    let is_layout = |option: &&String| {
        let words = ["-XX:+Use", "-XX:-Use", "-XX:ObjectAlignment", "-Xmx", "-XX:MaxHeap"];
        words.iter().any(|word| option.starts_with(word))
    };
    module.options.iter().filter(is_layout).cloned().collect()
}

/// List the classes of the sample tests, archive them, and see that the tests run with them.
fn make(session: &JvmSession, ready: &ReadyModule, folder: &Path) -> Result<PathBuf> {
    let layout = layout_options(&ready.module);
    let (list, file) = (folder.join("classes"), folder.join("made.jsa"));
    let listing = format!("-XX:DumpLoadedClassList={}", list.display());
    run_samples(session, ready, [&layout[..], &[listing]].concat())?;
    let listed = std::fs::read_to_string(&list).map_err(Error::io("read the list of classes"))?;
    std::fs::write(&list, without_lambdas(&listed)).map_err(Error::io("list classes"))?;
    let mut command = vec![ready.module.java.to_string_lossy().into_owned()];
    command.extend(layout.iter().cloned());
    command.push("-Xshare:dump".to_owned());
    command.push(format!("-XX:SharedClassListFile={}", list.display()));
    command.push(format!("-XX:SharedArchiveFile={}", file.display()));
    command.extend(["-cp".to_owned(), joined(&ready.archived())]);
    let ended = run_tool(session, command)?;
    if ended.how != End::Died(Death::Exit(0)) {
        return Err(Error::Agent("the JVM makes no archive".into()));
    }
    let using = format!("-XX:SharedArchiveFile={}", file.display());
    run_samples(session, ready, [&layout[..], &[using]].concat())?;
    Ok(file)
}

/// A list of classes without those that the JVM makes of lambda expressions.
fn without_lambdas(list: &str) -> String {
    let is_kept = |line: &&str| !line.starts_with("@lambda-proxy") && !line.contains("$$Lambda");
    list.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

/// Run the sample tests in a JVM with these options, to its end.
fn run_samples(session: &JvmSession, ready: &ReadyModule, options: Vec<String>) -> Result<()> {
    let mut started = launch::start(session, &ready.of_samples(options), Purpose::PLAIN)?;
    let collected = started.collect(session, None, Some(PATIENCE))?;
    let count = collected.tests.len();
    let passed = run_all(&mut started, count)?;
    let connection = &mut started.connection;
    launch::say_goodbye(connection, PATIENCE);
    let death = session.hub.death_of(connection.hello.pid, PATIENCE);
    // Half of the samples pass, half of them fail.
    match count > 0 && 2 * passed == count && death == Some(Death::Exit(0)) {
        true => Ok(()),
        false => Err(Error::Agent("the sample tests do not run".into())),
    }
}

/// Run all tests that were collected; say how many passed.
fn run_all(started: &mut Started, count: usize) -> Result<usize> {
    let connection = &mut started.connection;
    connection.send(&ToAgent::Order { tests: (0..count).collect(), open: false, next: None })?;
    connection.send(&ToAgent::Run { from: 0, attempt: 1, measure: false })?;
    let (mut results, mut passed) = (0, 0);
    while results < count {
        match connection.messages.recv_timeout(PATIENCE) {
            Ok(FromAgent::Result(result)) => {
                results += 1;
                passed += usize::from(result.outcome == Outcome::Passed);
            }
            // It pauses after a group with a failure.
            Ok(FromAgent::Paused) => {
                connection.send(&ToAgent::Run { from: results, attempt: 1, measure: false })?;
            }
            Ok(FromAgent::Trouble { text }) => return Err(Error::Agent(text)),
            Ok(_) => {}
            Err(_) => return Err(Error::EnvironmentLost { cause: "it hung up".into() }),
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_ages_are_understood() {
        for (version, feature) in
            [("1.8.0_392", 8), ("9", 9), ("17.0.15", 17), ("25-ea", 25), ("21.0.2+13", 21)]
        {
            assert_eq!(feature_of(version), feature, "{version}");
        }
        assert_eq!(version_in("A=\"b\"\nJAVA_VERSION=\"17.0.15\"\n"), "17.0.15");
    }

    #[test]
    fn classes_of_lambda_expressions_are_not_archived() {
        let list =
            "java/lang/Object\n@lambda-proxy a/B run\n@lambda-form-invoker x\na/B$$Lambda$1\n";
        assert_eq!(without_lambdas(list), "java/lang/Object\n@lambda-form-invoker x\n");
    }

    #[test]
    fn a_crash_in_shared_classes_is_told_from_one_of_a_test() {
        let report = |frame: &str| format!("# SIGSEGV\n# Problematic frame:\n# {frame}\n#\n");
        let shared = "V  [libjvm.so+0xe56ec7]  SystemDictionary::load_shared_lambda_proxy_class()";
        assert!(is_blamed_in(&report(shared)));
        assert!(!is_blamed_in(&report("C  [libc.so.6+0x1]  strlen")));
        assert!(!is_blamed_in(""));
    }
}
