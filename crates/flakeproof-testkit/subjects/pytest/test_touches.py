from notes import note
from shop import price


def test_touches():
    note("touches")
    assert price() == 40
