//! Projects whose tests play known roles, one for each framework: pytest, JUnit 4 and 5 built by
//! Maven, Rust's own harness, `go test`, jest, and the test runner of Node itself.

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
    pub tests: &'static [(Role, &'static str)],
    /// The file in which [`Role::Fails`] is written.
    pub file: &'static str,
    /// The file of the project whose code [`Role::Touches`] calls.
    pub touched: &'static str,
    /// What the framework and its build tool write into the project's folder.
    pub written: &'static [&'static str],
    /// What it costs to find its tests.
    pub discovery: Discovery,
    /// A time limit that only a hanging test reaches.
    pub limit: Duration,
    /// Outcomes other than the usual ones, where the framework cannot tell apart.
    pub differing: &'static [(Role, Outcome)],
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
pub enum Role {
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

/// What [`Role::Fails`] says.
pub(super) const MESSAGE: &str = "expected 1 but was 2";
/// What [`Role::Prints`] says on stdout.
pub(super) const STDOUT: &str = "said on stdout";
/// What [`Role::Prints`] says on stderr.
pub(super) const STDERR: &str = "said on stderr";

impl Role {
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
    pub(super) fn outcome(&self, role: Role) -> Outcome {
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
