//! Maven: the user's own command builds the project and tells how its tests are run.
//!
//! Maven is run once, with a program in the place of `java` that Surefire starts for the tests. It
//! writes down what it is given (class path, options, properties, variables, test classes), and
//! says that it ran no test. So everything that the project configures is resolved by Maven itself.

mod kept;
mod properties;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) use self::kept::KeptBuild;
use self::record::Record;
use super::JvmSession;
use super::project::{Built, Module, run_build};
use super::worker::run_tool;
use crate::adapter::{Blame, Error, Result};
use crate::opens::{self, TestsBegin};
use crate::process::{Death, End};
use crate::shell;
use crate::system::{link, make_program};

const FORK: &str = include_str!("fork.sh");
const GOODBYE: &str = include_str!("Goodbye.java");

/// Build with Maven, and learn how its tests are run.
pub(super) fn build(session: &JvmSession) -> Result<Built> {
    let home = session.scratch.path().join("jdk");
    let captures = session.scratch.path().join("forks");
    prepare(&home, &captures).map_err(Error::io("prepare for Maven's build"))?;
    let own: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    if let Some(built) = kept::find(session, &own) {
        return Ok(built);
    }
    let beginning = kept::begin(session, &own);
    let mut command = session.request.command.clone();
    let mut added = additions(&command, &home);
    if session.request.is_output_shown {
        // Who wants a quiet Maven is not shown its goals.
        added.retain(|word| !word.contains(record::GOAL_LOGGER));
    }
    command.extend(added);
    let output = run_build(session, command)?;
    let records = record::read_all(&captures);
    if let Some(obscure) = records.iter().flat_map(record::Record::obscure_methods).next() {
        return Err(not_understood(&obscure));
    }
    let mut built = modules_of(&records, &session.root, &own, &home.to_string_lossy());
    if built.modules.is_empty() && built.left_out.is_empty() {
        return Err(nothing_to_run(&session.request.command, &output));
    }
    built.kept =
        beginning.and_then(|it| it.keep(session, (&captures, &home), &own, (&built, &output)));
    Ok(built)
}

/// The files that Maven reads or looks at while it builds, by building once more, which takes little: all
/// is there. `None` where that is not seen.
pub(super) fn files_read(session: &JvmSession) -> Option<BTreeSet<String>> {
    let trace = session.scratch.path().join("build.trace");
    let mut command = opens::words(&trace);
    command.extend(session.request.command.iter().cloned());
    command.extend(additions(&session.request.command, &session.scratch.path().join("jdk")));
    command.push("--offline".to_owned());
    let ended = run_tool(session, command).ok()?;
    let opens = opens::read(&trace, &session.root, &TestsBegin::AtOnce, None)?;
    let is_seen = ended.how == End::Died(Death::Exit(0)) && opens.tellers.is_empty();
    is_seen.then_some(opens.opened)
}

/// A folder that looks like a JDK, whose `java` writes down what it is started with.
fn prepare(home: &Path, captures: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(captures)?;
    std::fs::create_dir_all(home.join("bin"))?;
    let fallback = real_home();
    if let Some(real) = &fallback {
        // Surefire looks there for the version.
        let _ = std::fs::copy(real.join("release"), home.join("release"));
        let _ = link(&real.join("lib"), &home.join("lib"));
        let _ = link(&real.join("jre"), &home.join("jre"));
    }
    let java = fallback.map_or_else(|| "java".into(), |real| real.join("bin/java"));
    let goodbye = home.join("Goodbye.java");
    std::fs::write(&goodbye, GOODBYE)?;
    let quoted = |path: &Path| shell::quoted(&path.to_string_lossy());
    let script = format!(
        "#!/bin/sh\ncaptures={}\nfallback={}\ngoodbye={}\n{FORK}",
        quoted(captures),
        quoted(&java),
        quoted(&goodbye)
    );
    let program = home.join("bin/java");
    std::fs::write(&program, script)?;
    make_program(&program)
}

/// The home of the JDK that Maven most likely runs on.
fn real_home() -> Option<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let named = named.filter(|home| home.join("bin/java").is_file());
    named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        let java = std::env::split_paths(&path).map(|folder| folder.join("java"));
        let java = java.filter(|java| java.is_file()).find_map(|java| java.canonicalize().ok())?;
        Some(java.parent()?.parent()?.to_path_buf())
    })
}

/// What is added to the user's command. Tests are not run, so none may be missed.
fn additions(command: &[String], home: &Path) -> Vec<String> {
    let is_given = |name: &str| {
        let begin = format!("-D{name}=");
        command.iter().any(|word| word.starts_with(&begin))
    };
    let settings = record::OWN_PROPERTIES.into_iter().filter(|(name, _)| !is_given(name));
    let mut words = vec!["--batch-mode".to_owned()];
    words.extend(settings.map(|(name, value)| match name {
        "jvm" => format!("-Djvm={}", home.join("bin/java").display()),
        _ => format!("-D{name}={value}"),
    }));
    words
}

fn not_understood(part: &str) -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: format!("`-Dtest` names methods by an expression that is not understood: `{part}`"),
        next: "name them plainly (`OrderTest#pays`) or with `*` and `?`".into(),
        details: String::new(),
    }
}

fn nothing_to_run(command: &[String], output: &str) -> Error {
    let command = command.join(" ");
    let (blame, what, next) = if output.contains("Tests run:") && output.contains("Running ") {
        (
            Blame::Usage,
            format!("`{command}` runs its tests where flakeproof cannot follow"),
            "let Surefire start a JVM of its own: set `forkCount` to 1 (not 0) and leave out \
             `<jvm>` in the POM",
        )
    } else if output.contains("Tests are skipped") {
        (
            Blame::NoTests,
            format!("`{command}` skips its tests"),
            "leave out `-DskipTests` and `-Dmaven.test.skip`, on the command line and in the POM",
        )
    } else {
        (
            Blame::NoTests,
            format!("`{command}` runs no test"),
            "use a goal that runs tests, such as `mvn test`; check `-Dtest`, the profiles, and \
             whether tests are skipped or run in Maven's own JVM (`forkCount` 0) in the POM",
        )
    };
    Error::Explained { blame, what, next: next.to_owned(), details: String::new() }
}

/// The modules that records tell of; `own` are our own variables, `root` the command's folder.
fn modules_of(
    records: &[Record],
    root: &Path,
    own: &BTreeMap<String, String>,
    java_home: &str,
) -> Built {
    let mut built = Built::default();
    for record in records {
        let name = record.name(root);
        if let Some(why) = record.why_left_out() {
            built.left_out.push((name, why));
            continue;
        }
        let module = record.module(name, own, java_home);
        let same = built.modules.iter_mut().find(|known| is_same_but_classes(known, &module));
        match same {
            Some(known) => {
                let new = module.classes.into_iter();
                let new: Vec<_> = new.filter(|class| !known.classes.contains(class)).collect();
                known.classes.extend(new);
            }
            None => built.modules.push(module),
        }
    }
    built
}

/// Whether two starts are of one module, whose classes were dealt out to several JVMs.
fn is_same_but_classes(one: &Module, other: &Module) -> bool {
    let stripped = |module: &Module| {
        let mut module = Module { classes: Vec::new(), ..module.clone() };
        module.properties.remove("surefire.forkNumber");
        // Placeholders of the number may be anywhere in the options.
        module.options.clear();
        module
    };
    one.options.len() == other.options.len() && stripped(one) == stripped(other)
}

#[cfg(test)]
mod tests {
    use super::super::project::Sharing;
    use super::record::tests::record;
    use super::*;

    #[test]
    fn what_the_user_set_is_not_set_again() {
        let command = ["mvn", "test", "-DfailIfNoTests=true"].map(str::to_owned);
        let words = additions(&command, Path::new("/s/jdk"));
        assert!(words.contains(&"-Djvm=/s/jdk/bin/java".to_owned()), "{words:?}");
        assert!(!words.iter().any(|word| word.starts_with("-DfailIfNoTests")), "{words:?}");
    }

    #[test]
    fn a_build_without_tests_says_what_to_look_at() {
        let explained = |output| match nothing_to_run(&["mvn".into(), "test".into()], output) {
            Error::Explained { blame, next, .. } => (blame, next),
            other => panic!("{other}"),
        };
        let (blame, next) = explained("[INFO] Running a.ATest\n[INFO] Tests run: 1, Failures: 0");
        assert_eq!(blame, Blame::Usage);
        assert!(next.contains("forkCount"), "{next}");
        assert_eq!(explained("[INFO] Tests are skipped.").0, Blame::NoTests);
    }

    #[test]
    fn a_jvm_for_each_class_is_one_module() {
        let one = record(&[("forkTestSet", "a.ATest")], &[]);
        let other = record(&[("forkTestSet", "a.BTest")], &[]);
        let built = modules_of(&[one, other], Path::new("/p"), &BTreeMap::new(), "/fake");
        assert_eq!(built.modules.len(), 1);
        assert_eq!(built.modules[0].classes, ["a.ATest", "a.BTest"]);
        assert_eq!(built.modules[0].sharing, Sharing::OneClass);
    }

    #[test]
    fn integration_tests_are_left_out_by_name() {
        let record = record(&[("reportsDirectory", "/p/a/target/failsafe-reports")], &[]);
        let built = modules_of(&[record], Path::new("/p"), &BTreeMap::new(), "/fake");
        assert!(built.modules.is_empty());
        assert_eq!(built.left_out[0].0, "a");
    }
}
