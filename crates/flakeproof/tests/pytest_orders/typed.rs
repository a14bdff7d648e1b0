//! The command for an order runs these tests in this order, when a shell runs it.

use std::process::Command;

use flakeproof_core::TestId;
use flakeproof_runner::{Adapter, LONGEST_COMMAND};
use flakeproof_testkit::{python, skipped, surroundings};

use crate::claims::Claim;
use crate::scene::{Scene, project};

pub(crate) const CLAIMS: &[Claim] = claims![
    the_command_for_an_order_runs_it,
    plugins_that_shuffle_obey_the_command_for_an_order,
    there_is_no_command_for_what_nobody_would_type,
];

const SUITE: &str = r#"
import pytest, unittest
def note(request):
    with open("notes", "a") as notes: print(request.node.nodeid, file=notes)
@pytest.fixture(autouse=True)
def noted(request): note(request)

def test_one(): pass
@pytest.mark.parametrize("text", ["a b", "it's $HOME"])
def test_two(text): pass
class TestClass:
    def test_three(self): pass
    def test_four(self): assert 0
class Case(unittest.TestCase):
    def test_five(self): pass
"#;

fn orders(scene: &Scene) -> [Vec<TestId>; 3] {
    let backwards = scene.tests.iter().rev().cloned().collect();
    let apart = ["test_four", "b.py::test_one", "test_three"].map(|test| scene.id(test)).to_vec();
    [backwards, apart, vec![scene.id("it's $HOME]"), scene.id("a.py::test_one")]]
}

fn assert_obeyed(scene: &Scene) {
    for order in orders(scene) {
        let notes = scene.project.path().join("notes");
        let _ = std::fs::remove_file(&notes);
        let typed = scene.adapter.command_for_order(&order).expect("it is short");
        let mut shell = Command::new("sh");
        surroundings::plain(&mut shell).args(["-c", &typed]).current_dir(scene.project.path());
        let output = shell.output().expect("a shell");
        let ran = std::fs::read_to_string(&notes).unwrap_or_default();
        let ran: Vec<TestId> = ran.lines().map(TestId::from).collect();
        assert_eq!(ran, order, "{typed}\n{}", String::from_utf8_lossy(&output.stdout));
    }
}

fn the_command_for_an_order_runs_it() {
    let project = project().file("test_a.py", SUITE).file("inner/test_b.py", SUITE);
    let scene = Scene::with(project, &["-x", "-q", ".", "--tb=short"]);
    assert_eq!(scene.tests.len(), 12, "{:?}", scene.tests);
    assert_obeyed(&scene);
}

fn plugins_that_shuffle_obey_the_command_for_an_order() {
    for (plugin, option) in [
        ("pytest-randomly==3.16.0", "-p no:cacheprovider"),
        ("pytest-random-order==1.1.1", "--random-order"),
    ] {
        let python = match python::with("python3", &["pytest==8.3.5", plugin]) {
            Ok(python) => python,
            Err(why) => {
                skipped::note(&format!("orders with {plugin}"), &why);
                continue;
            }
        };
        let project = project().with_python(python);
        let project = project.file("test_a.py", SUITE).file("inner/test_b.py", SUITE);
        let project = project.file("pytest.ini", &format!("[pytest]\naddopts = {option}\n"));
        assert_obeyed(&Scene::of(project));
    }
}

fn there_is_no_command_for_what_nobody_would_type() {
    let many = "import pytest\n@pytest.mark.parametrize('n', range(500))\ndef test_n(n): pass\n";
    let scene = Scene::of(project().file("test_a.py", many));
    assert_eq!(scene.adapter.command_for_order(&scene.tests), None);
    assert_eq!(scene.adapter.command_for_order(&[]), None);
    let twice = [scene.tests[0].clone(), scene.tests[0].clone()];
    assert_eq!(scene.adapter.command_for_order(&twice), None);
    let command = scene.adapter.command_for_order(&scene.tests[..9]).expect("it is short");
    assert!(command.len() <= LONGEST_COMMAND && command.ends_with("test_n[8]'"), "{command}");
}
