//! Projects whose tests play known roles, one for each framework: pytest, JUnit 4 and 5 built by
//! Maven, Rust's own harness, `go test`, jest, vitest, mocha, and the test runner of Node itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::Outcome;

use crate::{campaign, node, python};

/// A project on disk, written for one framework, and what is known about it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What the claims call it; its files lie in `subjects/` under this name.
    pub name: &'static str,
    /// Programs without which it cannot run here.
    pub tools: &'static [&'static str],
    /// The command of its users.
    pub command: Vec<String>,
    /// What to do once in the copied folder, such as fetching the framework.
    pub prepare: fn(&Path) -> Result<(), String>,
    /// Its tests in the order of its own runner, with the names they note.
    pub tests: &'static [(TestRole, &'static str)],
    /// The file in which [`TestRole::Fails`] is written.
    pub file: &'static str,
    /// The file of the project whose code [`TestRole::Touches`] calls.
    pub touched: &'static str,
    /// What the framework and its build tool write into the project's folder.
    pub written: &'static [&'static str],
    /// What it costs to find its tests.
    pub discovery: Discovery,
    /// A time limit that only a hanging test reaches.
    pub limit: Duration,
    /// Outcomes other than the usual ones, where the framework cannot tell apart.
    pub differing: &'static [(TestRole, Outcome)],
}

/// What it costs to find the tests of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discovery {
    /// Little: each claim that asks for the suite's own environment has an adapter of its own.
    Cheap,
    /// A build tool runs for seconds: claims share one adapter where they can.
    Dear,
}

/// What a test of a subject does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestRole {
    /// Passes.
    Passes,
    /// Calls code of the project, as the next three do, and fails with `MESSAGE`.
    Fails,
    /// Is skipped.
    Skipped,
    /// Would pass, but its set-up fails.
    ErrorsInSetup,
    /// Kills its own process.
    Crashes,
    /// Ends its own process with exit code 0, before it is done.
    Exits,
    /// Starts a child, notes it as `child`, and waits for something that never comes.
    Hangs,
    /// Prints `STDOUT` and `STDERR`.
    Prints,
    /// Leaves something in the memory of its process, and passes.
    Polluter,
    /// Fails where the polluter ran in the same process.
    Victim,
    /// The first of two tests of a class that notes `+class` and `-class` around them.
    CountedFirst,
    /// The second of them.
    CountedSecond,
    /// A test with a parameter.
    ParameterOne,
    /// The same with another.
    ParameterTwo,
    /// A passing test whose id has blanks, or letters beyond ASCII.
    OddName,
    /// Notes `variables:FLAKEPROOF,RUN_ID,SEED,ATTEMPT`.
    SeesVariables,
    /// Calls code of the project outside the tests.
    Touches,
}

/// What [`TestRole::Fails`] says.
pub(super) const MESSAGE: &str = "expected 1 but was 2";
/// What [`TestRole::Prints`] says on stdout.
pub(super) const STDOUT: &str = "said on stdout";
/// What [`TestRole::Prints`] says on stderr.
pub(super) const STDERR: &str = "said on stderr";

impl TestRole {
    /// The name that a test in this role notes.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Fails => "fails",
            Self::Skipped => "skipped",
            Self::ErrorsInSetup => "errors_in_setup",
            Self::Crashes => "crashes",
            Self::Exits => "exits",
            Self::Hangs => "hangs",
            Self::Prints => "prints",
            Self::Polluter => "polluter",
            Self::Victim => "victim",
            Self::CountedFirst => "counted_first",
            Self::CountedSecond => "counted_second",
            Self::ParameterOne => "parameter_one",
            Self::ParameterTwo => "parameter_two",
            Self::OddName => "odd_name",
            Self::SeesVariables => "sees_variables",
            Self::Touches => "touches",
        }
    }

    /// Whether its process goes on after it.
    pub(super) fn is_survived(self) -> bool {
        !matches!(self, Self::Crashes | Self::Exits | Self::Hangs)
    }

    /// Whether its body runs.
    pub(super) fn notes(self) -> bool {
        !matches!(self, Self::Skipped | Self::ErrorsInSetup)
    }

    /// How it ends when it runs in the suite's order.
    fn usual_outcome(self) -> Outcome {
        match self {
            Self::Fails | Self::Victim => Outcome::Failed,
            Self::Skipped => Outcome::Skipped,
            Self::ErrorsInSetup => Outcome::Errored,
            Self::Crashes | Self::Exits => Outcome::Crashed,
            Self::Hangs => Outcome::TimedOut,
            Self::Passes
            | Self::Prints
            | Self::Polluter
            | Self::CountedFirst
            | Self::CountedSecond
            | Self::ParameterOne
            | Self::ParameterTwo
            | Self::OddName
            | Self::SeesVariables
            | Self::Touches => Outcome::Passed,
        }
    }
}

impl Subject {
    /// Where its files lie.
    pub(super) fn source(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects").join(self.name)
    }

    /// How a test in this role ends after the tests before it.
    pub(super) fn outcome(&self, role: TestRole) -> Outcome {
        let differing = self.differing.iter().find(|(it, _)| *it == role);
        differing.map_or_else(|| role.usual_outcome(), |(_, outcome)| *outcome)
    }

    /// Which of its programs is missing here.
    pub(super) fn missing_tool(&self) -> Option<&'static str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |tool: &str| std::env::split_paths(&path).any(|it| it.join(tool).is_file());
        self.tools.iter().copied().find(|tool| !is_there(tool))
    }
}

const JUNIT_FILE: &str = "src/test/java/com/acme/ConformanceTest.java";

/// So many of the other subjects have their turn each day: some of them take minutes.
const EACH_DAY: usize = 2;

/// pytest's subject and today's others; all of them if campaigns run as a whole.
#[must_use]
pub fn today() -> Vec<Subject> {
    let others: [fn() -> Subject; 8] =
        [junit_five, jest, cargo, mocha, junit_four, go, node_itself, vitest];
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
            (TestRole::Passes, "test_conformance.py::test_passes"),
            (TestRole::Fails, "test_conformance.py::test_fails"),
            (TestRole::Skipped, "test_conformance.py::test_skipped"),
            (TestRole::ErrorsInSetup, "test_conformance.py::test_errors_in_setup"),
            (TestRole::Crashes, "test_conformance.py::test_crashes"),
            (TestRole::Exits, "test_conformance.py::test_exits"),
            (TestRole::Hangs, "test_conformance.py::test_hangs"),
            (TestRole::Prints, "test_conformance.py::test_prints"),
            (TestRole::Polluter, "test_conformance.py::test_polluter"),
            (TestRole::Victim, "test_conformance.py::test_victim"),
            (TestRole::CountedFirst, "test_conformance.py::TestCounted::test_counted_first"),
            (TestRole::CountedSecond, "test_conformance.py::TestCounted::test_counted_second"),
            (TestRole::ParameterOne, "test_conformance.py::test_parameter[one]"),
            (TestRole::ParameterTwo, "test_conformance.py::test_parameter[two words]"),
            (TestRole::OddName, "test_conformance.py::test_größe"),
            (TestRole::SeesVariables, "test_conformance.py::test_sees_variables"),
            (TestRole::Touches, "test_touches.py::test_touches"),
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
            (TestRole::Crashes, "com.acme.ConformanceTest#crashes"),
            (TestRole::Exits, "com.acme.ConformanceTest#exits"),
            (TestRole::Fails, "com.acme.ConformanceTest#fails"),
            (TestRole::OddName, "com.acme.ConformanceTest#größe"),
            (TestRole::Hangs, "com.acme.ConformanceTest#hangs"),
            (TestRole::Passes, "com.acme.ConformanceTest#passes"),
            (TestRole::Polluter, "com.acme.ConformanceTest#polluter"),
            (TestRole::Prints, "com.acme.ConformanceTest#prints"),
            (TestRole::SeesVariables, "com.acme.ConformanceTest#sees_variables"),
            (TestRole::Skipped, "com.acme.ConformanceTest#skipped"),
            (TestRole::Victim, "com.acme.ConformanceTest#victim"),
            (TestRole::CountedFirst, "com.acme.CountedTest#counted_first"),
            (TestRole::CountedSecond, "com.acme.CountedTest#counted_second"),
            (TestRole::ParameterOne, "com.acme.ParameterTest#parameter[one]"),
            (TestRole::ParameterTwo, "com.acme.ParameterTest#parameter[two words]"),
            (TestRole::ErrorsInSetup, "com.acme.SetUpTest#errors_in_setup"),
            (TestRole::Touches, "com.acme.TouchesTest#touches"),
        ],
        ..maven()
    }
}

fn junit_five() -> Subject {
    Subject {
        name: "junit5",
        tests: &[
            (TestRole::Crashes, "com.acme.ConformanceTest#crashes"),
            (TestRole::Exits, "com.acme.ConformanceTest#exits"),
            (TestRole::Fails, "com.acme.ConformanceTest#fails"),
            (TestRole::OddName, "com.acme.ConformanceTest#größe"),
            (TestRole::Hangs, "com.acme.ConformanceTest#hangs"),
            (TestRole::Passes, "com.acme.ConformanceTest#passes"),
            (TestRole::Polluter, "com.acme.ConformanceTest#polluter"),
            (TestRole::Prints, "com.acme.ConformanceTest#prints"),
            (TestRole::SeesVariables, "com.acme.ConformanceTest#sees_variables"),
            (TestRole::Skipped, "com.acme.ConformanceTest#skipped"),
            (TestRole::Victim, "com.acme.ConformanceTest#victim"),
            (TestRole::CountedFirst, "com.acme.CountedTest#counted_first"),
            (TestRole::CountedSecond, "com.acme.CountedTest#counted_second"),
            (TestRole::ParameterOne, "com.acme.ParameterTest#parameter(String)[1]"),
            (TestRole::ParameterTwo, "com.acme.ParameterTest#parameter(String)[2]"),
            (TestRole::ErrorsInSetup, "com.acme.SetUpTest#errors_in_setup"),
            (TestRole::Touches, "com.acme.TouchesTest#touches"),
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
            (TestRole::Passes, "conformance/tests/roles::a_passes"),
            (TestRole::Fails, "conformance/tests/roles::b_fails"),
            (TestRole::Skipped, "conformance/tests/roles::c_skipped"),
            (TestRole::Crashes, "conformance/tests/roles::d_crashes"),
            (TestRole::Exits, "conformance/tests/roles::e_exits"),
            (TestRole::Hangs, "conformance/tests/roles::f_hangs"),
            (TestRole::Prints, "conformance/tests/roles::g_prints"),
            (TestRole::Polluter, "conformance/tests/roles::h_polluter"),
            (TestRole::Victim, "conformance/tests/roles::i_victim"),
            (TestRole::OddName, "conformance/tests/roles::j_größe"),
            (TestRole::SeesVariables, "conformance/tests/roles::k_sees_variables"),
            (TestRole::Touches, "conformance/tests/roles::l_touches"),
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
            (TestRole::Passes, "example.com/conformance.TestPasses"),
            (TestRole::Fails, "example.com/conformance.TestFails"),
            (TestRole::Skipped, "example.com/conformance.TestSkipped"),
            (TestRole::Crashes, "example.com/conformance.TestCrashes"),
            (TestRole::Exits, "example.com/conformance.TestExits"),
            (TestRole::Hangs, "example.com/conformance.TestHangs"),
            (TestRole::Prints, "example.com/conformance.TestPrints"),
            (TestRole::Polluter, "example.com/conformance.TestPolluter"),
            (TestRole::Victim, "example.com/conformance.TestVictim"),
            (TestRole::OddName, "example.com/conformance.TestGröße"),
            (TestRole::SeesVariables, "example.com/conformance.TestSeesVariables"),
            (TestRole::Touches, "example.com/conformance.TestTouches"),
        ],
        file: "roles_test.go",
        touched: "shop/shop.go",
        written: &[],
        discovery: Discovery::Cheap,
        // It compiles first.
        limit: Duration::from_secs(8),
        // Its harness notices, and makes it a failure.
        differing: &[(TestRole::Exits, Outcome::Failed)],
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

fn vitest() -> Subject {
    Subject {
        name: "vitest",
        tools: &["node", "npm"],
        command: ["node_modules/.bin/vitest", "run"].map(str::to_owned).to_vec(),
        prepare: |project| {
            let modules = node::modules(&[node::VITEST])?;
            link(&modules, &project.join("node_modules"))
        },
        // It makes the end of a process, and a failing hook before a test, failures of the test.
        differing: &[
            (TestRole::ErrorsInSetup, Outcome::Failed),
            (TestRole::Exits, Outcome::Failed),
        ],
        ..javascript()
    }
}

fn mocha() -> Subject {
    Subject {
        name: "mocha",
        tools: &["node", "npm"],
        command: ["node_modules/.bin/mocha", "*.test.js"].map(str::to_owned).to_vec(),
        prepare: |project| {
            let modules = node::modules(&[node::MOCHA])?;
            link(&modules, &project.join("node_modules"))
        },
        // It runs the tests of a group before the groups in it, and files together.
        tests: &[
            (TestRole::Passes, "roles.test.js::passes"),
            (TestRole::Fails, "roles.test.js::fails"),
            (TestRole::Skipped, "roles.test.js::skipped"),
            (TestRole::Crashes, "roles.test.js::crashes"),
            (TestRole::Exits, "roles.test.js::exits"),
            (TestRole::Hangs, "roles.test.js::hangs"),
            (TestRole::Prints, "roles.test.js::prints"),
            (TestRole::Polluter, "roles.test.js::polluter"),
            (TestRole::Victim, "roles.test.js::victim"),
            (TestRole::OddName, "roles.test.js::größe of all “odd” names $(exit 1)"),
            (TestRole::SeesVariables, "roles.test.js::sees variables"),
            (TestRole::ParameterOne, "roles.test.js::parameter one"),
            (TestRole::ParameterTwo, "roles.test.js::parameter two words"),
            (TestRole::Touches, "touches.test.js::touches"),
            (TestRole::CountedFirst, "roles.test.js::counted > first"),
            (TestRole::CountedSecond, "roles.test.js::counted > second"),
            (TestRole::ErrorsInSetup, "roles.test.js::with a set-up > errors in setup"),
        ],
        ..javascript()
    }
}

fn node_itself() -> Subject {
    Subject {
        name: "node",
        // Each file has a process below that of the runner, which reports its death as a failure.
        differing: &[
            (TestRole::ErrorsInSetup, Outcome::Failed),
            (TestRole::Exits, Outcome::Errored),
            (TestRole::Crashes, Outcome::Errored),
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
            (TestRole::Passes, "roles.test.js::passes"),
            (TestRole::Fails, "roles.test.js::fails"),
            (TestRole::Skipped, "roles.test.js::skipped"),
            (TestRole::Crashes, "roles.test.js::crashes"),
            (TestRole::Exits, "roles.test.js::exits"),
            (TestRole::Hangs, "roles.test.js::hangs"),
            (TestRole::Prints, "roles.test.js::prints"),
            (TestRole::Polluter, "roles.test.js::polluter"),
            (TestRole::Victim, "roles.test.js::victim"),
            (TestRole::OddName, "roles.test.js::größe of all “odd” names $(exit 1)"),
            (TestRole::SeesVariables, "roles.test.js::sees variables"),
            (TestRole::CountedFirst, "roles.test.js::counted > first"),
            (TestRole::CountedSecond, "roles.test.js::counted > second"),
            (TestRole::ErrorsInSetup, "roles.test.js::with a set-up > errors in setup"),
            (TestRole::ParameterOne, "roles.test.js::parameter one"),
            (TestRole::ParameterTwo, "roles.test.js::parameter two words"),
            (TestRole::Touches, "touches.test.js::touches"),
        ],
        file: "roles.test.js",
        touched: "shop.js",
        written: &["node_modules"],
        discovery: Discovery::Cheap,
        limit: Duration::from_secs(15),
        // A failing hook before a test is a failing test to it.
        differing: &[(TestRole::ErrorsInSetup, Outcome::Failed)],
    }
}
