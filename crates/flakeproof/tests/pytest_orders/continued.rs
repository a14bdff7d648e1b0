//! An open order, and what continues it in a copy, are to tests what one order would be; so are whole
//! orders in one interpreter, in any order, with tests that end it in the middle.

use flakeproof_core::{Isolation, Outcome, TestId};
use flakeproof_runner::{Environment, Error, Probe, Then};
use flakeproof_testkit::{python, skipped};

use crate::claims::Claim;
use crate::scene::{Scene, outcomes, project, run};

pub(crate) const CLAIMS: &[Claim] = claims![
    every_pair_on_snapshots_does_what_one_pytest_does,
    pairs_on_snapshots_do_what_every_pytest_does,
    continuations_of_one_snapshot_do_not_disturb_each_other,
    temporary_files_outlive_the_environment_they_were_made_in,
    a_teardown_that_fails_between_orders_loses_the_environment,
    a_test_run_again_at_an_open_end_finds_its_module_set_up,
    maxfail_stops_no_copy,
    a_whole_suite_runs_in_another_order_in_a_spawned_interpreter,
    a_crash_in_the_middle_of_an_order_is_the_tests_own_and_the_rest_runs_elsewhere,
    a_spawned_interpreter_takes_on_no_test_that_it_did_not_collect,
];

/// Keeps what happened in memory, so that a copy goes on where its original was.
const CONFTEST: &str = r#"
import pytest
events = []

def note(what):
    events.append(what)
    with open("events", "w") as file:
        file.write("\n".join(events))

@pytest.fixture(scope="session", autouse=True)
def whole():
    note("+session"); yield; note("-session")

@pytest.fixture(scope="package")
def folder():
    note("+package"); yield; note("-package")

@pytest.fixture
def own(request):
    note("+own " + request.node.name); yield; note("-own " + request.node.name)
"#;

const FIRST: &str = r#"
import pytest, unittest
from conftest import note

@pytest.fixture(scope="module")
def shared():
    note("+shared"); value = []; yield value; note("-shared %s" % value)

def setup_module(): note("+module a")
def teardown_module(): note("-module a")

def test_one(shared, own, folder): shared.append(1); note("one")
def test_two(shared, own): note("two %s" % shared); assert shared == []

class TestPlain:
    @classmethod
    def setup_class(cls): note("+class"); cls.value = 0
    @classmethod
    def teardown_class(cls): note("-class %s" % cls.value)
    def test_three(self, own): type(self).value += 1; note("three")
    def test_four(self, shared): note("four %s" % self.value); assert self.value == 0

class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls): note("+Case"); cls.value = 0
    @classmethod
    def tearDownClass(cls): note("-Case %s" % cls.value)
    def setUp(self): note("+case")
    def tearDown(self): note("-case")
    def test_five(self): type(self).value += 1; note("five")
    def test_six(self): note("six"); self.assertEqual(self.value, 0)
"#;

const SECOND: &str = r#"
import unittest
from conftest import note

def setUpModule(): note("+module b")
def tearDownModule(): note("-module b")

def test_seven(own, folder): note("seven")

class Other(unittest.TestCase):
    def test_eight(self): note("eight"); self.skipTest("no")
"#;

fn scene(python: Option<std::path::PathBuf>) -> Scene {
    let project = match python {
        Some(python) => project().with_python(python),
        None => project(),
    };
    Scene::of(
        project
            .file("conftest.py", CONFTEST)
            .file("test_a.py", FIRST)
            .file("inner/__init__.py", "")
            .file("inner/test_b.py", SECOND),
    )
}

/// What happened, and each outcome, when pytest itself runs two tests.
fn in_one_pytest(scene: &Scene, pair: &[TestId]) -> (String, String) {
    let mut command = scene.project.pytest(&["-q", "-rA", "-p", "no:cacheprovider"]);
    let output = command.args(pair.iter().map(TestId::as_str)).output().expect("pytest starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome = |test: &TestId| {
        let has = |word: &str| text.contains(&format!("{word} {test}"));
        let found = [("PASSED", "passed"), ("FAILED", "failed")].into_iter();
        found.into_iter().find(|(word, _)| has(word)).map_or("skipped", |(_, outcome)| outcome)
    };
    (events(scene), format!("{} {}", outcome(&pair[0]), outcome(&pair[1])))
}

/// The same, when the second test continues on a copy of where the first one ended.
fn on_a_snapshot(scene: &Scene, pair: &[TestId]) -> (String, String) {
    let mut original = scene.open(Isolation::Fork);
    let first = outcomes(&mut *original, &pair[..1], Then::Open);
    let mut copy = original.snapshot().expect("a copy");
    drop(original);
    let second = outcomes(&mut *copy, &pair[1..], Then::End);
    copy.close().expect("it ends");
    (events(scene), format!("{} {}", first[0], second[0]))
}

fn events(scene: &Scene) -> String {
    std::fs::read_to_string(scene.project.path().join("events")).unwrap_or_default()
}

fn assert_same(scene: &Scene, first: &TestId, second: &TestId) {
    let pair = [first.clone(), second.clone()];
    assert_eq!(on_a_snapshot(scene, &pair), in_one_pytest(scene, &pair), "{pair:?}");
}

fn every_pair_on_snapshots_does_what_one_pytest_does() {
    let scene = scene(None);
    assert_eq!(scene.tests.len(), 8, "{:?}", scene.tests);
    for first in &scene.tests {
        for second in scene.tests.iter().filter(|second| *second != first) {
            assert_same(&scene, first, second);
        }
    }
}

fn pairs_on_snapshots_do_what_every_pytest_does() {
    for (interpreter, pytest) in [
        ("python3.9", "pytest==7.0.1"),
        ("python3.9", "pytest==7.4.4"),
        ("python3.10", "pytest==8.0.2"),
        ("python3.12", "pytest==8.4.2"),
        ("python3.13", "pytest"),
    ] {
        let python = match python::with(interpreter, &[pytest]) {
            Ok(python) => python,
            Err(why) => {
                skipped::note(&format!("pairs on {interpreter} with {pytest}"), &why);
                continue;
            }
        };
        let scene = scene(Some(python));
        for (first, second) in [
            ("test_one", "test_two"),
            ("test_one", "test_eight"),
            ("test_seven", "test_one"),
            ("test_three", "test_four"),
            ("test_five", "test_six"),
            ("test_five", "test_seven"),
        ] {
            assert_same(&scene, &scene.id(first), &scene.id(second));
        }
    }
}

fn continuations_of_one_snapshot_do_not_disturb_each_other() {
    let scene = scene(None);
    let [one, two, three] = ["test_one", "test_two", "test_three"].map(|test| scene.id(test));
    let mut original = scene.open(Isolation::Fork);
    assert_eq!(outcomes(&mut *original, &[one], Then::Open), [Outcome::Passed]);
    let mut first = original.snapshot().expect("a copy");
    let mut second = original.snapshot().expect("another copy");
    let order = [two.clone(), three.clone()];
    for copy in [&mut first, &mut second] {
        assert_eq!(outcomes(&mut **copy, &order, Then::End), [Outcome::Failed, Outcome::Passed]);
    }
    assert_eq!(outcomes(&mut *original, &[three, two], Then::End)[1], Outcome::Failed);
}

fn temporary_files_outlive_the_environment_they_were_made_in() {
    let content = r#"
import pytest
@pytest.fixture(scope="module")
def folder(tmp_path_factory): return tmp_path_factory.mktemp("shared")
def test_writes(folder): (folder / "file").write_text("x")
def test_reads(folder): assert (folder / "file").read_text() == "x"
"#;
    let scene = Scene::of(project().file("test_a.py", content));
    let mut original = scene.open(Isolation::Fork);
    outcomes(&mut *original, &scene.tests[..1], Then::Open);
    let mut copy = original.snapshot().expect("a copy");
    original.close().expect("it ends");
    let second = outcomes(&mut *copy, &scene.tests[1..], Then::End);
    assert_eq!(second, [Outcome::Passed]);
}

fn a_teardown_that_fails_between_orders_loses_the_environment() {
    let content = r#"
import pytest
@pytest.fixture(scope="module")
def broken():
    yield
    raise OSError("no teardown")
def test_uses_it(broken): pass
"#;
    let project = project().file("test_a.py", content).file("test_b.py", "def test_b(): pass");
    let scene = Scene::of(project);
    let mut environment = scene.open(Isolation::Fork);
    assert_eq!(
        outcomes(&mut *environment, &scene.tests[..1], Then::Open),
        [Outcome::Passed],
        "with nothing to tear down yet"
    );
    let spoilt = run(&mut *environment, &scene.tests[1..], Then::End);
    let is_told =
        matches!(&spoilt, Err(Error::EnvironmentLost { cause }) if cause.contains("no teardown"));
    assert!(is_told, "{spoilt:?}");
    let mut whole = scene.open(Isolation::Fork);
    let one_order = outcomes(&mut *whole, &scene.tests, Then::End);
    assert_eq!(one_order, [Outcome::Errored, Outcome::Passed]);
}

fn a_test_run_again_at_an_open_end_finds_its_module_set_up() {
    let scene = scene(None);
    let one = scene.id("test_one");
    let mut environment = scene.open(Isolation::Fork);
    outcomes(&mut *environment, std::slice::from_ref(&one), Then::Open);
    let again = environment.run(&one, Probe::attempt(2)).expect("it runs again");
    assert_eq!(again.outcome, Outcome::Passed);
    let elsewhere = environment.run(&scene.id("test_eight"), Probe::attempt(1));
    assert_eq!(elsewhere.expect("it runs").outcome, Outcome::Skipped);
    assert_eq!(events(&scene).matches("+shared").count(), 1, "{}", events(&scene));
}

fn maxfail_stops_no_copy() {
    let content = "def test_a(): assert 0\ndef test_b(): pass\n";
    let scene = Scene::with(project().file("test_a.py", content), &["-x"]);
    let mut environment = scene.open(Isolation::Fork);
    let both = outcomes(&mut *environment, &scene.tests, Then::End);
    assert_eq!(both, [Outcome::Failed, Outcome::Passed]);
}

const MANY: &str = r#"
import pytest
@pytest.mark.parametrize("n", range(500))
def test_n(n): assert n % 100 != 7
"#;

fn a_whole_suite_runs_in_another_order_in_a_spawned_interpreter() {
    let scene = Scene::of(project().file("test_a.py", MANY).file("inner/test_b.py", MANY));
    let (half, mut order) = (scene.tests.len() / 2, Vec::new());
    for at in (0..half).rev() {
        order.extend([scene.tests[at].clone(), scene.tests[half + at].clone()]);
    }
    let mut environment = scene.open(Isolation::Spawn);
    let outcomes = outcomes(&mut *environment, &order, Then::End);
    assert_eq!(outcomes.len(), 1000);
    for (test, outcome) in order.iter().zip(outcomes) {
        let fails = test.as_str().ends_with("07]") || test.as_str().ends_with("[7]");
        assert_eq!(outcome == Outcome::Failed, fails, "{test}");
    }
    environment.close().expect("it ends");
}

const KILLER: &str = r#"
import os
def test_a(): pass
def test_kills(): os.kill(os.getpid(), 9)
def test_c(): pass
"#;

fn a_crash_in_the_middle_of_an_order_is_the_tests_own_and_the_rest_runs_elsewhere() {
    let scene = Scene::of(project().file("test_a.py", KILLER));
    let order = &scene.tests;
    for how in [Isolation::Spawn, Isolation::Fork] {
        let mut environment = scene.open(how);
        environment.expect(order, Then::Open).expect("it lives");
        let mut run = |test: &TestId| environment.run(test, Probe::attempt(1));
        assert_eq!(run(&order[0]).expect("it runs").outcome, Outcome::Passed);
        assert_eq!(run(&order[1]).expect("it runs").outcome, Outcome::Crashed);
        assert!(matches!(run(&order[2]), Err(Error::EnvironmentLost { .. })));
        let another: &mut dyn Environment = &mut *scene.open(how);
        assert_eq!(outcomes(another, &order[2..], Then::End), [Outcome::Passed]);
    }
}

fn a_spawned_interpreter_takes_on_no_test_that_it_did_not_collect() {
    let project = project().file("test_a.py", "def test_a(): pass\n");
    let scene = Scene::of(project.file("test_b.py", "def test_b(): pass\n"));
    let mut environment = scene.open(Isolation::Spawn);
    assert_eq!(outcomes(&mut *environment, &scene.tests[..1], Then::Open), [Outcome::Passed]);
    let refused = environment.expect(&scene.tests[1..], Then::End);
    assert!(matches!(refused, Err(Error::NotPossible { .. })), "{refused:?}");
    assert_eq!(outcomes(&mut *environment, &scene.tests[..1], Then::End), [Outcome::Passed]);
}
