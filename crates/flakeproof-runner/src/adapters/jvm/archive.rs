//! Archives of classes, with which fresh JVMs start faster (class data sharing, JDK 11 and newer).
//!
//! The JVM can map classes that were prepared for it, if they come from jars at the beginning of
//! its class path. So the worker and the frameworks stand there, and an archive of what a sample
//! test loads of them is made once. Classes of the project are never in it, and neither are classes
//! of lambda expressions: with those in an archive, JDK 17 can crash.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::Outcome;

use super::Session;
use super::launch::{self, Started};
use super::module::Module;
use super::ready::ReadyModule;
use super::worker::{Worker, joined, run_tool};
use crate::adapter::{Error, Granularity, Result};
use crate::agent::cache_folder;
use crate::agent::protocol::{FromAgent, ToAgent};
use crate::process::{Death, End};
use crate::variables::digest;

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
pub(super) fn made(session: &Session, ready: &ReadyModule) -> Result<Option<PathBuf>> {
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
fn make(session: &Session, ready: &ReadyModule, folder: &Path) -> Result<PathBuf> {
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
fn run_samples(session: &Session, ready: &ReadyModule, options: Vec<String>) -> Result<()> {
    let mut started = launch::start(session, &ready.of_samples(options), Granularity::Off, 1)?;
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
