"""Fails after the change; called again in the same process it finds a half-filled cache."""

from zoo import catalogue


def test_real_failure_that_a_cache_hides_from_reruns():
    assert catalogue.names()[0] == "apple"
