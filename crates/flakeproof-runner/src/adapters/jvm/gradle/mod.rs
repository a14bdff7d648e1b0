//! Gradle: the user's own command builds the project and tells how its tests are run.
//!
//! An init script lets every test task write down its configuration instead of running its tests.
//! Everything that the build configures is resolved by Gradle itself.

mod told;

use std::collections::BTreeMap;
use std::path::Path;

use self::told::Told;
use super::Session;
use super::project::{Built, run_build};
use crate::adapter::{Blame, Error, Result};

const INIT: &str = include_str!("init.gradle");

/// Build with Gradle, and learn how its tests are run.
pub(super) fn build(session: &Session) -> Result<Built> {
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
    let modules: Vec<_> = told::read_all(&captures)?
        .into_iter()
        .filter(|task| !task.classes.is_empty())
        .map(|task: Told| task.module(&session.root, &own))
        .collect();
    if modules.is_empty() {
        return Err(nothing_to_run(&session.request.command));
    }
    Ok(Built { modules, left_out: Vec::new() })
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
