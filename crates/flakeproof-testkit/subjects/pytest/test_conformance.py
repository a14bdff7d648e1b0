"""One test for each role."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from notes import note
from shop import price

state = []


def test_passes():
    note("passes")


def test_fails():
    note("fails")
    price()
    raise AssertionError("expected 1 but was 2")


@pytest.mark.skip(reason="not today")
def test_skipped():
    note("skipped")


@pytest.fixture
def broken():
    raise OSError("no set-up")


def test_errors_in_setup(broken):
    note("errors_in_setup")


def test_crashes():
    note("crashes")
    price()
    os.kill(os.getpid(), signal.SIGKILL)


def test_exits():
    note("exits")
    price()
    os._exit(0)


def test_hangs():
    note("hangs")
    price()
    note("child", subprocess.Popen(["sleep", "600"]).pid)
    threading.Event().wait()


def test_prints():
    note("prints")
    print("said on stdout")
    print("said on stderr", file=sys.stderr)


def test_polluter():
    note("polluter")
    state.append(1)


def test_victim():
    note("victim")
    assert state == []


class TestCounted:
    @classmethod
    def setup_class(cls):
        note("+class")

    @classmethod
    def teardown_class(cls):
        note("-class")

    def test_counted_first(self):
        note("counted_first")

    def test_counted_second(self):
        note("counted_second")


@pytest.mark.parametrize("word", ["one", "two words"])
def test_parameter(word):
    note("parameter_" + word.split()[0])


def test_größe():
    note("odd_name")


def test_sees_variables():
    note("sees_variables")
    names = ["FLAKEPROOF", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED", "FLAKEPROOF_ATTEMPT"]
    note("variables:" + ",".join(os.environ.get(name, "") for name in names))
