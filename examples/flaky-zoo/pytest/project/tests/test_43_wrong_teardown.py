"""A fixture puts back a value that was not there before."""

import pytest

from zoo import discount


@pytest.fixture
def happy_hour():
    discount.percent = 20
    yield
    discount.percent = 10


def test_polluter_whose_fixture_restores_the_wrong_value(happy_hour):
    assert discount.reduced(1000) == 800


def test_victim_of_the_wrong_teardown():
    assert discount.reduced(1000) == 1000
