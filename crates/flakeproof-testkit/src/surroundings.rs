//! What surrounds a program under test, so that it acts here as on any other machine.

use std::process::Command;

/// Beginnings of the variables by which a CI system, a terminal or our own settings change what
/// programs do and print.
const OTHERS: [&str; 16] = [
    "FLAKEPROOF",
    "CI",
    "GITHUB_",
    "GITLAB_",
    "JENKINS_",
    "BUILDKITE",
    "TEAMCITY_",
    "TRAVIS",
    "TF_BUILD",
    "APPVEYOR",
    "BITBUCKET_",
    "DRONE",
    "FORCE_COLOR",
    "CLICOLOR",
    "COLORTERM",
    "PYTEST_ADDOPTS",
];

/// Take away what would make `command` act otherwise in CI than by hand, colours included.
pub fn plain(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| OTHERS.iter().any(|other| name.starts_with(other))) {
            command.env_remove(name);
        }
    }
    // Maven is started hundreds of times, for seconds: a compiler that warms up slowly only costs.
    command.env("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC").env("NO_COLOR", "1")
}
