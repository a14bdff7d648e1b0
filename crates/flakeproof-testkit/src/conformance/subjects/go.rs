//! `go test`.

use std::time::Duration;

use flakeproof_core::Outcome;

use crate::conformance::{Discovery, Role, Subject};

pub(super) fn subject() -> Subject {
    Subject {
        name: "go",
        tools: &["go"],
        command: ["go", "test", "./..."].map(str::to_owned).to_vec(),
        prepare: |_| Ok(()),
        tests: &[
            (Role::Passes, "example.com/conformance.TestPasses"),
            (Role::Fails, "example.com/conformance.TestFails"),
            (Role::Skipped, "example.com/conformance.TestSkipped"),
            (Role::Crashes, "example.com/conformance.TestCrashes"),
            (Role::Exits, "example.com/conformance.TestExits"),
            (Role::Hangs, "example.com/conformance.TestHangs"),
            (Role::Prints, "example.com/conformance.TestPrints"),
            (Role::Polluter, "example.com/conformance.TestPolluter"),
            (Role::Victim, "example.com/conformance.TestVictim"),
            (Role::OddName, "example.com/conformance.TestGröße"),
            (Role::SeesVariables, "example.com/conformance.TestSeesVariables"),
            (Role::Touches, "example.com/conformance.TestTouches"),
        ],
        file: "roles_test.go",
        touched: "shop/shop.go",
        written: &[],
        discovery: Discovery::Cheap,
        // It compiles first.
        limit: Duration::from_secs(8),
        // Its harness notices, and makes it a failure.
        differing: &[(Role::Exits, Outcome::Failed)],
    }
}
