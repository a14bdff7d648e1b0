//! What surrounds the tests of a JVM project and may change without it.

use std::collections::BTreeSet;

use flakeproof_core::Surroundings;

use super::project::Project;
use crate::adapters::RunRequest;
use crate::variables::{digest, digests_of_variables};

/// Properties that say where or what to run, not how.
const WITHOUT_EFFECT: [&str; 4] = ["basedir", "localRepository", "surefire.forkNumber", "test"];

/// The surroundings of a project's tests.
pub(super) fn of(project: &Project, request: &RunRequest) -> Surroundings {
    let modules = || project.modules.iter().map(|ready| &ready.module);
    let mut runtime: Vec<String> =
        vec![format!("Java {}", project.hello.runtime), project.hello.framework.clone()];
    let options: BTreeSet<String> = modules().map(|module| module.options.join(" ")).collect();
    let options = options.into_iter().filter(|options| !options.is_empty());
    runtime.extend(options.map(|options| format!("`{options}`")));
    let properties: BTreeSet<String> = modules()
        .flat_map(|module| &module.properties)
        .filter(|(name, _)| !WITHOUT_EFFECT.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let properties: Vec<String> = properties.into_iter().collect();
    runtime.push(format!("system properties {}", digest(properties.join("\n").as_bytes())));
    runtime.extend(request.timeout.map(|limit| format!("a time limit of {limit:?}")));
    let jars: BTreeSet<String> = modules()
        .flat_map(|module| &module.class_path)
        .filter(|entry| entry.is_file())
        .filter_map(|entry| entry.file_name()?.to_str().map(str::to_owned))
        .collect();
    let jars: Vec<String> = jars.into_iter().collect();
    Surroundings {
        runtime,
        packages: digest(jars.join("\n").as_bytes()),
        variables: digests_of_variables(),
    }
}
