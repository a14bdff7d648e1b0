"""Values are described briefly, alike when they are equal, and without running anybody's code."""

import collections
import contextvars
import datetime
import enum
import functools
import threading

import pytest

from flakeproof_agent.describe import LONGEST, Describer


def text(value):
    return Describer(lambda module: module == __name__).text(value)


class Hostile:
    """Everything that can be overridden raises, and tells that it was called."""

    called = []

    def __init__(self, value):
        object.__setattr__(self, "value", value)

    def __getattribute__(self, name):
        Hostile.called.append(name)
        raise RuntimeError(name)

    def _fail(self, *_):
        Hostile.called.append("method")
        raise RuntimeError

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __format__ = _fail
    __hash__ = object.__hash__
    __dir__ = __class_getitem__ = __reduce__ = _fail


class Proxy:
    @property
    def __dict__(self):
        raise AssertionError("a property was read")

    @property
    def __class__(self):
        raise AssertionError("a property was read")


class HostileList(list):
    def __iter__(self):
        raise AssertionError("a method was called")

    __len__ = __repr__ = __iter__


class Slotted:
    __slots__ = ("here", "missing")

    def __init__(self):
        self.here = 1


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "None"),
        (True, "True"),
        (-3, "-3"),
        (2.5, "2.5"),
        ("it's", '"it\'s"'),
        (b"x", "b'x'"),
        ((1,), "(1,)"),
        ([1, [2, [3, [4]]]], "[1, [2, [3, [… 1]]]]"),
        ({"b": 1, "a": {2}}, "{'b': 1, 'a': {2}}"),
        (set(), "set()"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        (collections.deque([1]), "deque([1])"),
        (collections.OrderedDict(a=1), "collections.OrderedDict({'a': 1})"),
        (datetime.datetime(2020, 1, 2), "datetime 2020-01-02T00:00:00"),
        (int, "class int"),
        (len, "function builtins.len"),
        (text, f"function {__name__}.text"),
        (functools, "module functools"),
        (threading.Event(), "threading.Event"),
    ],
)
def test_plain_data_reads_as_in_python(value, expected):
    assert text(value) == expected


def test_instances_of_the_project_show_their_attributes_one_level_deep():
    Hostile.called.clear()
    assert text(Hostile({"a": [1]})) == f"{__name__}.Hostile(value={{'a': [1]}})"
    assert text(Hostile(Hostile(1))) == f"{__name__}.Hostile(value={__name__}.Hostile)"
    assert text(Slotted()) == f"{__name__}.Slotted(here=1)"
    assert not Hostile.called


def test_code_of_the_project_never_runs():
    assert text(Proxy()) == f"{__name__}.Proxy()"
    assert text(HostileList([1])) == f"{__name__}.HostileList([1])"
    assert text({Hostile(1): Hostile(2)}).count("Hostile") == 2
    assert text(Colour.RED).startswith(f"{__name__}.Colour(")
    assert not Hostile.called


def test_a_long_text_ends_in_a_digest_of_the_whole():
    one, other = text(list(range(1000))), text([*range(999), -1])
    assert len(one) <= LONGEST and one != other
    assert one == text(list(range(1000)))


def test_sets_of_texts_read_alike_whatever_their_order():
    names = [f"name {number}" for number in range(20)]
    assert text(set(names)) == text(set(reversed(names)))


def test_what_contains_itself_and_what_is_huge_comes_to_an_end():
    itself = []
    itself.append(itself)
    assert text(itself) == "[[[[… 1]]]]"
    wide = [[list(range(1000))] * 1000] * 1000
    assert len(text(wide)) <= LONGEST
    assert len(text("x" * 10_000_000)) <= LONGEST
    assert text(10**6000).startswith("0x") or len(text(10**6000)) <= LONGEST


def test_variables_of_context_and_thread_and_caches_show_what_they_hold():
    variable = contextvars.ContextVar("variable")
    assert text(variable) == "unset"
    token = variable.set(3)
    assert text(variable) == "3"
    variable.reset(token)
    local = threading.local()
    local.user = "me"
    assert text(local) == "{'user': 'me'}"

    @functools.lru_cache
    def cached(number):
        return number

    cached(1)
    assert "1 cached" in text(cached)
