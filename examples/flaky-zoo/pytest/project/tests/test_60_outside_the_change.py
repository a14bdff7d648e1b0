"""Fails while a service outside the project is down: the change has no part in it."""

from zoo.stock import count


def test_outage_of_a_service_that_the_change_does_not_touch():
    assert count("apple") == 12
