//! jest, and the test runner of Node itself.

use std::path::Path;
use std::time::Duration;

use flakeproof_core::Outcome;

use crate::conformance::{Discovery, Role, Subject};
use crate::node;

pub(super) fn jest() -> Subject {
    Subject {
        name: "jest",
        tools: &["node", "npm"],
        command: vec!["node_modules/.bin/jest".to_owned()],
        prepare: |project| {
            let modules = node::modules(&[node::JEST])?;
            link(&modules, &project.join("node_modules"))
        },
        ..javascript()
    }
}

pub(super) fn node() -> Subject {
    Subject {
        name: "node",
        // Each file has a process below that of the runner, which reports its death as a failure.
        differing: &[
            (Role::ErrorsInSetup, Outcome::Failed),
            (Role::Exits, Outcome::Errored),
            (Role::Crashes, Outcome::Errored),
        ],
        tools: &["node"],
        command: ["node", "--test"].map(str::to_owned).to_vec(),
        ..javascript()
    }
}

fn link(from: &Path, to: &Path) -> Result<(), String> {
    std::os::unix::fs::symlink(from, to).map_err(|error| format!("{}: {error}", to.display()))
}

fn javascript() -> Subject {
    Subject {
        name: "",
        tools: &[],
        command: Vec::new(),
        prepare: |_| Ok(()),
        tests: &[
            (Role::Passes, "roles.test.js::passes"),
            (Role::Fails, "roles.test.js::fails"),
            (Role::Skipped, "roles.test.js::skipped"),
            (Role::Crashes, "roles.test.js::crashes"),
            (Role::Exits, "roles.test.js::exits"),
            (Role::Hangs, "roles.test.js::hangs"),
            (Role::Prints, "roles.test.js::prints"),
            (Role::Polluter, "roles.test.js::polluter"),
            (Role::Victim, "roles.test.js::victim"),
            (Role::OddName, "roles.test.js::größe of all “odd” names $(exit 1)"),
            (Role::SeesVariables, "roles.test.js::sees variables"),
            (Role::CountedFirst, "roles.test.js::counted > first"),
            (Role::CountedSecond, "roles.test.js::counted > second"),
            (Role::ErrorsInSetup, "roles.test.js::with a set-up > errors in setup"),
            (Role::ParameterOne, "roles.test.js::parameter one"),
            (Role::ParameterTwo, "roles.test.js::parameter two words"),
            (Role::Touches, "touches.test.js::touches"),
        ],
        file: "roles.test.js",
        touched: "shop.js",
        written: &["node_modules"],
        discovery: Discovery::Cheap,
        limit: Duration::from_secs(15),
        // A failing hook before a test is a failing test to it.
        // And who exits in good order is only missing from the report.
        differing: &[(Role::ErrorsInSetup, Outcome::Failed), (Role::Exits, Outcome::Errored)],
    }
}
