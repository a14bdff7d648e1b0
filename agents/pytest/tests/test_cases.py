"""A case is known by its values, whatever number its id has in this process."""

import datetime
from types import SimpleNamespace

from flakeproof_agent.cases import case_of


def item(id, **values):
    called_with = SimpleNamespace(id=id, params=values)
    parent = SimpleNamespace(nodeid="test_shop.py")
    return SimpleNamespace(callspec=called_with, parent=parent, originalname="test_total")


def test_an_id_with_all_values_in_it_needs_nothing_else():
    assert case_of(item("3-red", count=3, colour="red")) is None
    assert case_of(SimpleNamespace()) is None


def test_a_case_is_the_same_under_another_number():
    day = datetime.date(2024, 1, 2)
    assert case_of(item("day0", day=day)) == case_of(item("day5", day=day))
    assert case_of(item("day0", day=day)) != case_of(item("day0", day=datetime.date(2024, 1, 3)))


def test_an_id_that_somebody_chose_does_not_tell_the_values():
    one, other = item("case-a", letter="a"), item("case-a", letter="b")
    assert case_of(one) is not None
    assert case_of(one) != case_of(other)
