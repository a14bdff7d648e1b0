"""A picture shows each thing that a test can leave behind, and nothing changes by looking."""

import logging
import os
import signal
import subprocess
import sys
import threading
import types
import warnings

import pytest

from flakeproof_agent import state


@pytest.fixture
def difference(tmp_path):
    """What differs, by kind, between now and when the function that is given is called."""

    def taken():
        return state.picture(tmp_path)

    before = taken()

    def compare():
        after = taken()
        names = {
            kind: {
                name
                for name in before[kind].keys() | after[kind].keys()
                if before[kind].get(name) != after[kind].get(name)
            }
            for kind in before
        }
        return {kind: found for kind, found in names.items() if found}

    return compare


def test_looking_changes_nothing(difference):
    assert difference() == {}


def test_variables(difference, monkeypatch):
    monkeypatch.setenv("TOKEN", 'a"b')
    monkeypatch.setenv("FLAKEPROOF_ATTEMPT", "7")
    assert difference() == {"variable": {"TOKEN"}}
    assert state.variables()["TOKEN"] == '"a\\"b"'


def test_a_working_directory_that_is_removed(difference, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert state.working_directory() == {".": os.getcwd()}
    code = "import os, sys; from flakeproof_agent import state; os.mkdir('x'); os.chdir('x'); "
    code += "os.rmdir('../x'); print(state.working_directory())"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    told = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, check=True
    )
    assert b"removed" in told.stdout


def test_files_are_those_of_the_project(difference, tmp_path):
    (tmp_path / "data.txt").write_text("x")
    for folder in (".git", "__pycache__", "venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("x")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    assert difference() == {"file": {"data.txt"}}


def test_files_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "MOST_FILES", 3)
    for name in "abcde":
        (tmp_path / name).write_text("x")
    assert sorted(state.files(tmp_path)) == ["a", "b", "c"]


def test_signal_handlers(difference):
    old = signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1000)
    try:
        assert difference() == {"signal_handler": {"SIGUSR1", "ITIMER_VIRTUAL"}}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGUSR1, old)


def test_threads(difference):
    stop = threading.Event()
    workers = [threading.Thread(target=stop.wait, name="worker") for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        assert difference() == {"thread": {"worker", "worker'"}}
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def test_warnings_filters(difference):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "some text", FutureWarning)
        assert difference() == {"warnings_filter": {"ignore:some text:FutureWarning"}}


def test_loggers(difference):
    logger = logging.getLogger("flakeproof.test_of_state")
    assert difference() == {}, "a logger that is as it was made changes nothing"
    handler = logging.NullHandler()
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR)
    try:
        assert difference() == {"logger": {logger.name}}
        assert state.loggers()[logger.name] == "level ERROR; handlers logging.NullHandler"
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def test_import_path_and_modules(difference, monkeypatch):
    monkeypatch.syspath_prepend("/somewhere")
    monkeypatch.setitem(sys.modules, "json", types.ModuleType("json"))
    monkeypatch.delitem(sys.modules, "logging")
    found = difference()
    assert found["import_path"] == {"/somewhere"}
    assert {"json", "logging"} <= found["module"]


class Kept:
    value = []
    __switched__ = False


counter = 0


def test_attributes_of_modules_and_classes(difference, monkeypatch):
    monkeypatch.setattr(Kept, "value", [1])
    monkeypatch.setattr(f"{__name__}.counter", 1)
    assert difference() == {"attribute": {f"{__name__}.Kept.value", f"{__name__}.counter"}}


def test_a_switch_with_underscores_is_the_projects_own(difference, monkeypatch):
    monkeypatch.setattr(Kept, "__switched__", True)
    monkeypatch.setattr(Kept, "__doc__", "Not theirs.")
    assert difference() == {"attribute": {f"{__name__}.Kept.__switched__"}}


def test_modules_of_interpreter_and_machinery_are_not_described(tmp_path):
    described = {name.partition(".")[0] for name in state.attributes(tmp_path)}
    assert __name__ in described
    assert not described & {"json", "logging", "os", "pytest", "_pytest", "flakeproof_agent"}


def test_a_kind_that_cannot_be_read_leaves_the_others(monkeypatch, tmp_path):
    with monkeypatch.context() as broken:
        broken.setattr(logging.root.manager, "loggerDict", None)
        found = state.picture(tmp_path)
    assert "logger" not in found and "variable" in found
