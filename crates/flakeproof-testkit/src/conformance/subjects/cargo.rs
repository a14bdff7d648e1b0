//! Rust's own harness.

use std::time::Duration;

use crate::conformance::{Discovery, Role, Subject};

pub(super) fn subject() -> Subject {
    Subject {
        name: "cargo",
        tools: &["cargo"],
        command: ["cargo", "test", "--target-dir", "target"].map(str::to_owned).to_vec(),
        prepare: |_| Ok(()),
        tests: &[
            (Role::Passes, "conformance/tests/roles::a_passes"),
            (Role::Fails, "conformance/tests/roles::b_fails"),
            (Role::Skipped, "conformance/tests/roles::c_skipped"),
            (Role::Crashes, "conformance/tests/roles::d_crashes"),
            (Role::Exits, "conformance/tests/roles::e_exits"),
            (Role::Hangs, "conformance/tests/roles::f_hangs"),
            (Role::Prints, "conformance/tests/roles::g_prints"),
            (Role::Polluter, "conformance/tests/roles::h_polluter"),
            (Role::Victim, "conformance/tests/roles::i_victim"),
            (Role::OddName, "conformance/tests/roles::j_größe"),
            (Role::SeesVariables, "conformance/tests/roles::k_sees_variables"),
            (Role::Touches, "conformance/tests/roles::l_touches"),
        ],
        file: "tests/roles.rs",
        touched: "src/lib.rs",
        written: &["target", "Cargo.lock"],
        discovery: Discovery::Cheap,
        limit: Duration::from_secs(3),
        differing: &[],
    }
}
