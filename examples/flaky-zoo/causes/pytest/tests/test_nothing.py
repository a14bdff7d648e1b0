"""Nothing that can be changed from outside makes these fail, or makes them pass: no lever may be named."""

import os
import random


def test_nothing_fails_one_time_in_three():
    assert random.random() > 1 / 3


def test_nothing_fails_one_time_in_ten():
    assert random.random() > 0.1


def test_nothing_fails_every_other_time(tmp_path_factory):
    mark = "every-other-time.mark"
    if os.path.exists(mark):
        os.unlink(mark)
        raise AssertionError("this time it fails")
    open(mark, "w").close()


def test_nothing_never_fails():
    assert True


def test_nothing_always_fails():
    assert False
