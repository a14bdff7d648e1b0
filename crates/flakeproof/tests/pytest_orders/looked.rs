//! What a real test leaves behind is told, in the environment itself and in its copies.

use flakeproof_core::{Isolation, State, TestId};
use flakeproof_runner::{Adapter, Environment, Then};

use crate::claims::Claim;
use crate::scene::{Scene, outcomes, project};

pub(crate) const CLAIMS: &[Claim] = claims![
    a_clean_test_leaves_nothing_behind,
    everything_that_a_polluter_leaves_is_told,
    a_copy_is_compared_with_its_original,
];

const PRODUCT: &str = r#"
class Registry:
    entries = {}
class Settings:
    def __init__(self): self.debug = False
    def __repr__(self): raise RuntimeError("nobody may call this")
settings = Settings()
"#;

const SUITE: &str = r#"
import logging, os, pathlib, signal, sys, tempfile, threading
import product

def test_is_clean(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("TOKEN", "abc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(product.settings, "debug", True)
    logging.getLogger("product").warning("told")
    print("said")

def test_pollutes():
    os.environ["TOKEN"] = "abc"
    product.Registry.entries["name"] = [1, 2]
    product.settings.debug = True
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    logging.getLogger("product").setLevel("ERROR")
    sys.path.append("/elsewhere")
    pathlib.Path("left.txt").write_text("x")
    threading.Thread(target=threading.Event().wait, name="left", daemon=True).start()
    import wave
"#;

fn scene() -> Scene {
    Scene::of(project().file("product.py", PRODUCT).file("test_a.py", SUITE))
}

/// What running a test leaves behind, one line each.
fn left_by(environment: &mut dyn Environment, test: &TestId) -> Vec<String> {
    let before = environment.look().expect("a picture");
    outcomes(environment, std::slice::from_ref(test), Then::Open);
    told(&before, &environment.look().expect("a picture"))
}

fn told(before: &State, after: &State) -> Vec<String> {
    State::left_behind(before, after).iter().map(ToString::to_string).collect()
}

fn a_clean_test_leaves_nothing_behind() {
    let scene = scene();
    assert!(scene.adapter.can().state);
    for how in [Isolation::Fork, Isolation::Spawn] {
        let mut environment = scene.open(how);
        environment.expect(&scene.tests, Then::Open).expect("it lives");
        let left = left_by(&mut *environment, &scene.id("test_is_clean"));
        assert_eq!(left, Vec::<String>::new());
    }
}

const LEFT: [&str; 9] = [
    "attribute product.Registry.entries: {} before, {'name': [1, 2]} after",
    "attribute product.settings: product.Settings(debug=False) before, \
     product.Settings(debug=True) after",
    "environment variable TOKEN: unset before, \"abc\" after",
    "file left.txt: created",
    "signal handler SIGUSR2: default before, ignored after",
    "thread left: started and still running",
    "logger product: unset before, level ERROR after",
    "import path /elsewhere: added",
    "module wave: imported",
];

fn everything_that_a_polluter_leaves_is_told() {
    let scene = scene();
    let mut environment = scene.open(Isolation::Fork);
    assert_eq!(left_by(&mut *environment, &scene.id("test_pollutes")), LEFT);
}

fn a_copy_is_compared_with_its_original() {
    let scene = scene();
    let mut original = scene.open(Isolation::Fork);
    let mut copy = original.snapshot().expect("a copy");
    let before = original.look().expect("a picture");
    outcomes(&mut *copy, &[scene.id("test_pollutes")], Then::End);
    assert_eq!(told(&before, &copy.look().expect("a picture")), LEFT);
    let files_only = told(&before, &original.look().expect("a picture"));
    assert_eq!(files_only, ["file left.txt: created"]);
}
