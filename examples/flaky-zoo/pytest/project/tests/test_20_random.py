"""Fails by chance, at once and at any time: not bursty."""

import pytest

from zoo.lottery import draw


@pytest.mark.parametrize("ticket", range(20))
def test_random_failure(ticket):
    assert draw() != 0, "one draw in ten is a blank"
