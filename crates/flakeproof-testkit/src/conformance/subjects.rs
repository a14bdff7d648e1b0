//! The projects that are there, one for each framework: pytest, JUnit 4 and 5 built by Maven, Rust's own
//! harness, `go test`, jest, and the test runner of Node itself.

use std::path::Path;
use std::time::Duration;

use flakeproof_core::Outcome;

use super::{Discovery, Role, Subject};
use crate::{campaign, node, python};

const JUNIT_FILE: &str = "src/test/java/com/acme/ConformanceTest.java";

/// So many of the other subjects have their turn each day: some of them take minutes.
const EACH_DAY: usize = 3;

/// pytest's subject and today's others; all of them if campaigns run as a whole.
#[must_use]
pub fn today() -> Vec<Subject> {
    let others: [fn() -> Subject; 6] = [junit_five, jest, cargo, junit_four, go, node_itself];
    let todays = campaign::today(others.len(), EACH_DAY).into_iter().map(|at| others[at]());
    std::iter::once(pytest()).chain(todays).collect()
}

fn pytest() -> Subject {
    let python = python::usual().to_string_lossy().into_owned();
    Subject {
        name: "pytest",
        tools: &["python3"],
        command: vec![python, "-m".into(), "pytest".into()],
        prepare: |_| Ok(()),
        tests: &[
            (Role::Passes, "test_conformance.py::test_passes"),
            (Role::Fails, "test_conformance.py::test_fails"),
            (Role::Skipped, "test_conformance.py::test_skipped"),
            (Role::ErrorsInSetup, "test_conformance.py::test_errors_in_setup"),
            (Role::Crashes, "test_conformance.py::test_crashes"),
            (Role::Exits, "test_conformance.py::test_exits"),
            (Role::Hangs, "test_conformance.py::test_hangs"),
            (Role::Prints, "test_conformance.py::test_prints"),
            (Role::Polluter, "test_conformance.py::test_polluter"),
            (Role::Victim, "test_conformance.py::test_victim"),
            (Role::CountedFirst, "test_conformance.py::TestCounted::test_counted_first"),
            (Role::CountedSecond, "test_conformance.py::TestCounted::test_counted_second"),
            (Role::ParameterOne, "test_conformance.py::test_parameter[one]"),
            (Role::ParameterTwo, "test_conformance.py::test_parameter[two words]"),
            (Role::OddName, "test_conformance.py::test_größe"),
            (Role::SeesVariables, "test_conformance.py::test_sees_variables"),
            (Role::Touches, "test_touches.py::test_touches"),
        ],
        file: "test_conformance.py",
        touched: "shop.py",
        written: &["__pycache__", ".pytest_cache"],
        discovery: Discovery::Cheap,
        limit: Duration::from_secs(2),
        differing: &[],
    }
}

fn junit_four() -> Subject {
    Subject {
        name: "junit4",
        tests: &[
            (Role::Crashes, "com.acme.ConformanceTest#crashes"),
            (Role::Exits, "com.acme.ConformanceTest#exits"),
            (Role::Fails, "com.acme.ConformanceTest#fails"),
            (Role::OddName, "com.acme.ConformanceTest#größe"),
            (Role::Hangs, "com.acme.ConformanceTest#hangs"),
            (Role::Passes, "com.acme.ConformanceTest#passes"),
            (Role::Polluter, "com.acme.ConformanceTest#polluter"),
            (Role::Prints, "com.acme.ConformanceTest#prints"),
            (Role::SeesVariables, "com.acme.ConformanceTest#sees_variables"),
            (Role::Skipped, "com.acme.ConformanceTest#skipped"),
            (Role::Victim, "com.acme.ConformanceTest#victim"),
            (Role::CountedFirst, "com.acme.CountedTest#counted_first"),
            (Role::CountedSecond, "com.acme.CountedTest#counted_second"),
            (Role::ParameterOne, "com.acme.ParameterTest#parameter[one]"),
            (Role::ParameterTwo, "com.acme.ParameterTest#parameter[two words]"),
            (Role::ErrorsInSetup, "com.acme.SetUpTest#errors_in_setup"),
            (Role::Touches, "com.acme.TouchesTest#touches"),
        ],
        ..maven()
    }
}

fn junit_five() -> Subject {
    Subject {
        name: "junit5",
        tests: &[
            (Role::Crashes, "com.acme.ConformanceTest#crashes"),
            (Role::Exits, "com.acme.ConformanceTest#exits"),
            (Role::Fails, "com.acme.ConformanceTest#fails"),
            (Role::OddName, "com.acme.ConformanceTest#größe"),
            (Role::Hangs, "com.acme.ConformanceTest#hangs"),
            (Role::Passes, "com.acme.ConformanceTest#passes"),
            (Role::Polluter, "com.acme.ConformanceTest#polluter"),
            (Role::Prints, "com.acme.ConformanceTest#prints"),
            (Role::SeesVariables, "com.acme.ConformanceTest#sees_variables"),
            (Role::Skipped, "com.acme.ConformanceTest#skipped"),
            (Role::Victim, "com.acme.ConformanceTest#victim"),
            (Role::CountedFirst, "com.acme.CountedTest#counted_first"),
            (Role::CountedSecond, "com.acme.CountedTest#counted_second"),
            (Role::ParameterOne, "com.acme.ParameterTest#parameter(String)[1]"),
            (Role::ParameterTwo, "com.acme.ParameterTest#parameter(String)[2]"),
            (Role::ErrorsInSetup, "com.acme.SetUpTest#errors_in_setup"),
            (Role::Touches, "com.acme.TouchesTest#touches"),
        ],
        ..maven()
    }
}

fn maven() -> Subject {
    Subject {
        name: "",
        tools: &["mvn", "javac"],
        command: ["mvn", "-q", "test"].map(str::to_owned).to_vec(),
        prepare: |_| Ok(()),
        tests: &[],
        file: JUNIT_FILE,
        touched: "src/main/java/com/acme/Shop.java",
        written: &["target"],
        discovery: Discovery::Dear,
        limit: Duration::from_secs(3),
        differing: &[],
    }
}

fn cargo() -> Subject {
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

fn go() -> Subject {
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

fn jest() -> Subject {
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

fn node_itself() -> Subject {
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
