"""Passes where the clock shows UTC, fails far east of it."""

from zoo.opening_hours import day_of_order

NOON_IN_LONDON = 1704110400


def test_time_zone_dependence():
    assert day_of_order(NOON_IN_LONDON) == "2024-01-01"
