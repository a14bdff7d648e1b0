"""A crash in code that the change touches."""

from zoo.receipt import line


def test_real_crash_that_the_change_introduces():
    assert line("wholemeal bread, sliced", 250) == "wholemeal bread 2.50"
