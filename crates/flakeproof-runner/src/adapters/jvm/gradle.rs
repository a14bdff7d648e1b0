//! Gradle: the user's own command builds the project and tells how its tests are run.
//!
//! An init script lets every test task write down its configuration instead of running its tests.
//! Everything that the build configures is resolved by Gradle itself, and each such [`TestTask`] is
//! a module of the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::JvmSession;
use super::project::{Built, Framework, Module, Sharing, run_build};
use super::selection::Selection;
use crate::adapter::{Blame, Error, Result};

const INIT: &str = include_str!("gradle/init.gradle");

/// Build with Gradle, and learn how its tests are run.
pub(super) fn build(session: &JvmSession) -> Result<Built> {
    let captures = session.scratch.path().join("tasks");
    let init = session.scratch.path().join("init.gradle");
    let doing = || Error::io("prepare for Gradle's build");
    std::fs::create_dir_all(&captures).map_err(doing())?;
    std::fs::write(&init, INIT).map_err(doing())?;
    let mut command = session.request.command.clone();
    command.extend(additions(&init, &captures));
    run_build(session, command)?;
    let own: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let modules: Vec<_> = read_all(&captures)?
        .into_iter()
        .filter(|task| !task.classes.is_empty())
        .map(|task| task.module(&session.root, &own))
        .collect();
    if modules.is_empty() {
        return Err(nothing_to_run(&session.request.command));
    }
    Ok(Built { modules, ..Built::default() })
}

/// What is added to the user's command.
fn additions(init: &Path, captures: &Path) -> Vec<String> {
    vec![
        "-I".to_owned(),
        init.to_string_lossy().into_owned(),
        format!("-Dflakeproof.captures={}", captures.display()),
        // Kept configurations and outputs would keep the tasks from telling.
        "-Dorg.gradle.configuration-cache=false".to_owned(),
        "-Dorg.gradle.unsafe.configuration-cache=false".to_owned(),
        "-Dorg.gradle.caching=false".to_owned(),
    ]
}

fn nothing_to_run(command: &[String]) -> Error {
    Error::Explained {
        blame: Blame::NoTests,
        what: format!("`{}` runs no test", command.join(" ")),
        next: "use a task that runs tests, such as `gradle test`; check `--tests`, and whether \
               the tasks are skipped (`-x test`, `onlyIf`)"
            .into(),
        details: String::new(),
    }
}

/// A test task, as the init script writes it down.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestTask {
    project: PathBuf,
    task: String,
    folder: PathBuf,
    java: PathBuf,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    class_path: Vec<PathBuf>,
    /// Classes that may hold tests.
    classes: Vec<String>,
    framework: String,
    groups: Vec<String>,
    excluded_groups: Vec<String>,
    includes: Vec<String>,
    excludes: Vec<String>,
    wanted: Vec<String>,
    fork_every: u64,
    launchers: Vec<PathBuf>,
}

/// All tasks that were written down, in the order in which they would run.
fn read_all(captures: &Path) -> Result<Vec<TestTask>> {
    let entries = std::fs::read_dir(captures).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let read = files.iter().map(|file| {
        let text = std::fs::read(file).map_err(Error::io("read what Gradle told"))?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::Agent(format!("what Gradle told cannot be read: {error}")))
    });
    read.collect()
}

impl TestTask {
    /// The module that this task is; `own` are our own variables, `root` the command's folder.
    fn module(self, root: &Path, own: &BTreeMap<String, String>) -> Module {
        let framework = self.framework();
        let has_launcher = self.class_path.iter().any(|entry| is_launcher(entry));
        let mut class_path = self.class_path.clone();
        if framework == Framework::Platform && !has_launcher {
            class_path.extend(self.launchers.iter().cloned());
        }
        let mut classes: Vec<String> =
            self.classes.iter().filter(|class| !class.contains('$')).cloned().collect();
        classes.sort();
        Module {
            name: self.name(root),
            folder: self.folder.clone(),
            java: self.java.clone(),
            options: self.options(),
            properties: BTreeMap::new(),
            variables: self.variables(own),
            class_path,
            framework,
            classes,
            groups: self.groups.join(" | "),
            excluded_groups: self.excluded_groups.join(" | "),
            parameters: BTreeMap::new(),
            selection: Selection::of_gradle(&self.includes, &self.wanted, &self.excludes),
            sharing: if self.fork_every == 1 { Sharing::OneClass } else { Sharing::All },
        }
    }

    fn name(&self, root: &Path) -> String {
        let real = self.project.canonicalize().unwrap_or_else(|_| self.project.clone());
        let below = real.strip_prefix(root).map_or(real.as_path(), |below| below);
        let folder = below.to_string_lossy().into_owned();
        match (self.task.as_str(), folder.as_str()) {
            ("test", _) => folder,
            (task, "") => task.to_owned(),
            (task, folder) => format!("{folder}:{task}"),
        }
    }

    fn framework(&self) -> Framework {
        let name = self.framework.to_ascii_lowercase();
        if name.contains("junitplatform") {
            Framework::Platform
        } else if name.contains("testng") {
            Framework::Testng
        } else {
            Framework::Junit4
        }
    }

    /// Options of the JVM, without what would wait for a debugger.
    fn options(&self) -> Vec<String> {
        let is_debugger = |option: &&String| option.starts_with("-agentlib:jdwp");
        self.arguments.iter().filter(|option| !is_debugger(option)).cloned().collect()
    }

    fn variables(&self, own: &BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
        let given = self.environment.iter().filter(|(name, value)| own.get(*name) != Some(*value));
        let given = given.map(|(name, value)| (name.clone(), Some(value.clone())));
        let removed = own.keys().filter(|name| !self.environment.contains_key(*name));
        given.chain(removed.map(|name| (name.clone(), None))).collect()
    }
}

fn is_launcher(entry: &Path) -> bool {
    entry
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("junit-platform-launcher-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task as Gradle 4.4.1 told it, shortened.
    const TOLD: &str = r#"{"project":"/p/a","task":"test","folder":"/p/a","java":"/jdk/bin/java",
        "arguments":["-Dfrom.build=1","-Dfile.encoding=UTF-8","-Duser.language=en","-ea"],
        "environment":{"HOME":"/h","FROM_BUILD":"x"},
        "classPath":["/p/a/build/classes/java/test","/m/junit-4.13.2.jar"],
        "classes":["com.acme.SumTest","com.acme.SumTest$1","com.acme.OtherTest"],
        "framework":"org.gradle.api.internal.tasks.testing.junit.JUnitTestFramework",
        "groups":[],"excludedGroups":[],"includes":[],"excludes":[],
        "wanted":["*SumTest.adds"],"forkEvery":1,
        "launchers":["/g/junit-platform-launcher-1.8.2.jar"]}"#;

    fn task() -> TestTask {
        serde_json::from_str(TOLD).expect("it is read")
    }

    #[test]
    fn a_task_is_a_module() {
        let own = BTreeMap::from([("HOME".into(), "/h".into()), ("OLD".into(), "1".into())]);
        let module = task().module(Path::new("/p"), &own);
        assert_eq!(module.name, "a");
        assert_eq!(module.framework, Framework::Junit4);
        assert_eq!(module.classes, ["com.acme.OtherTest", "com.acme.SumTest"]);
        assert_eq!(module.sharing, Sharing::OneClass);
        assert_eq!(module.variables.get("FROM_BUILD"), Some(&Some("x".into())));
        assert_eq!(module.variables.get("OLD"), Some(&None));
        assert_eq!(module.class_path.len(), 2, "JUnit 4 needs no launcher");
        assert!(module.selection.holds("com.acme.SumTest#adds"));
        assert!(!module.selection.holds("com.acme.SumTest#fails"));
    }

    #[test]
    fn the_platform_gets_the_launcher_that_gradle_brings() {
        let mut task = task();
        task.framework = "org.gradle.….junitplatform.JUnitPlatformTestFramework".into();
        let module = task.module(Path::new("/p"), &BTreeMap::new());
        assert_eq!(module.framework, Framework::Platform);
        assert_eq!(module.class_path.len(), 3);
    }

    #[test]
    fn another_task_of_a_project_is_named_after_it() {
        let mut task = task();
        task.task = "slowTest".into();
        assert_eq!(task.name(Path::new("/p")), "a:slowTest");
        assert_eq!(task.name(Path::new("/p/a")), "slowTest");
    }
}
