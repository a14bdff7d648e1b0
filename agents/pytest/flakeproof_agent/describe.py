"""A short text of a value, without running any code of the project.

`repr`, properties and `__getattr__` of other people's objects may do anything: change what is
looked at, hang, raise. So only exact types of the language itself are written out, their subclasses
through the methods of the base, and instances through the dictionary in which their attributes lie.
"""

import collections
import contextvars
import datetime
import decimal
import functools
import hashlib
import itertools
import pathlib
import threading
import types
import uuid

#: A text that is longer ends in a digest of the whole.
LONGEST = 200

#: How deep containers are followed, and how many values of one are looked at.
DEPTH = 3
MOST_VALUES = 5_000

#: Characters of one string that are looked at.
LONGEST_STRING = 100_000

#: Types whose own `repr` runs nothing but the interpreter and the standard library. (A count of
#: something else than numbers would be an exception, if there is one.)
_PLAIN = frozenset(
    {type(None), type(...), type(NotImplemented), bool, complex, range, uuid.UUID}
    | {decimal.Decimal, datetime.date, datetime.timedelta, itertools.count}
    | {pathlib.PosixPath, pathlib.PurePosixPath}
)

_NOTHING = object()


class Describer:
    """Describes the values of one picture; `is_own` tells a class of the project by its module."""

    def __init__(self, is_own):
        self._is_own = is_own
        self._left = 0

    def text(self, value):
        """The text of a value; whatever happens, it is a text."""
        self._left = MOST_VALUES
        try:
            return shortened(self._text(value, DEPTH, True))
        except Exception as reason:
            return f"{type(value).__name__} that cannot be described ({type(reason).__name__})"

    def _text(self, value, depth, opens):
        self._left -= 1
        kind = type(value)
        if kind in _PLAIN:
            return repr(value)
        if kind in (datetime.datetime, datetime.time):  # Their time zone may be anybody's.
            return f"{kind.__name__} {value.replace(tzinfo=None).isoformat()}"
        if issubclass(kind, type):
            return f"class {_class_name(value)}"
        for base, write in _WRITERS:
            if issubclass(kind, base):
                text = write(self, value, depth, opens)
                return text if kind is base else f"{_class_name(kind)}({text})"
        return self._object(value, kind, depth, opens)

    def _object(self, value, kind, depth, opens):
        name = _class_name(kind)
        if not opens or not self._is_own(class_module(kind)):
            return name
        fields = dict(_slots(value, kind))
        fields.update(it for it in dictionary(value).items() if type(it[0]) is str)
        written = self._each(
            fields.items(), depth, lambda it: f"{it[0]}={self._text(it[1], depth - 1, False)}"
        )
        return f"{name}({', '.join(written)})"

    def _each(self, values, depth, write):
        """Each value as text; only their number where it is too deep or too much."""
        values = list(itertools.islice(values, MOST_VALUES + 1))
        if values and (depth <= 0 or self._left <= 0):
            return [f"… {len(values)}" if len(values) <= MOST_VALUES else "… many"]
        written = []
        for at, value in enumerate(values[:MOST_VALUES]):
            if self._left <= 0:
                return [*written, f"… {len(values) - at} more"]
            written.append(write(value))
        return written + ["… more"] * (len(values) > MOST_VALUES)

    def _sequence(self, values, depth, opens):
        return ", ".join(self._each(values, depth, lambda it: self._text(it, depth - 1, opens)))

    def _list(self, value, depth, opens):
        return f"[{self._sequence(list.__iter__(value), depth, opens)}]"

    def _tuple(self, value, depth, opens):
        comma = "," if tuple.__len__(value) == 1 else ""
        return f"({self._sequence(tuple.__iter__(value), depth, opens)}{comma})"

    def _deque(self, value, depth, opens):
        return f"deque([{self._sequence(collections.deque.__iter__(value), depth, opens)}])"

    def _dict(self, value, depth, opens):
        def pair(item):
            key, held = item
            return f"{self._text(key, depth - 1, False)}: {self._text(held, depth - 1, opens)}"

        return f"{{{', '.join(self._each(dict.items(value), depth, pair))}}}"

    def _set(self, value, depth, opens):
        base = set if issubclass(type(value), set) else frozenset
        # The order of a set is chance.
        written = sorted(
            self._each(base.__iter__(value), depth, lambda it: self._text(it, depth - 1, opens))
        )
        inside = f"{{{', '.join(written)}}}" if written else ""
        return (inside or "set()") if base is set else f"frozenset({inside})"

    def _variable_of_context(self, value, depth, opens):
        now = value.get(_NOTHING)
        return "unset" if now is _NOTHING else self._text(now, depth, opens)

    def _local(self, value, depth, opens):
        # It finds the dictionary of this thread itself, before any class is asked.
        return self._text(threading.local.__getattribute__(value, "__dict__"), depth, opens)


def shortened(text):
    """The text, or its beginning and a digest of the whole."""
    if len(text) <= LONGEST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"{text[:LONGEST - 20]}… #{digest}"


def name_of_callable(value):
    """Where a function or another callable was defined, as far as that is plain to see."""
    while type(value) is functools.partial:
        value = value.func
    if type(value) in (types.FunctionType, types.BuiltinFunctionType, types.MethodType):
        return _function_name(value)
    return _class_name(value if issubclass(type(value), type) else type(value))


def _int(_, value, *__):
    try:
        return int.__repr__(value)
    except ValueError:  # Too many digits for a decimal number.
        return int.__format__(value, "#x")


def _str(_, value, *__):
    text = str.__repr__(str.__getitem__(value, slice(LONGEST_STRING)))
    rest = str.__len__(value) - LONGEST_STRING
    return f"{text}… {rest} more" if rest > 0 else text


def _float(_, value, *__):
    return float.__repr__(value)


def _bytes(_, value, *__):
    base = bytes if issubclass(type(value), bytes) else bytearray
    text = base.__repr__(base.__getitem__(value, slice(LONGEST_STRING)))
    rest = base.__len__(value) - LONGEST_STRING
    return f"{text}… {rest} more" if rest > 0 else text


def _function(_, value, *__):
    return f"function {_function_name(value)}"


def _module(_, value, *__):
    return f"module {dictionary(value).get('__name__')}"


def _cache(_, value, *__):
    size = functools._lru_cache_wrapper.cache_info(value).currsize
    return f"function {_attribute(value, '__name__')} with {size} cached results"


def _function_name(value):
    if type(value) is types.MethodType:
        value = value.__func__
    module, name = _attribute(value, "__module__"), _attribute(value, "__qualname__")
    return f"{module}.{name}" if type(module) is str else f"{name}"


def _class_name(cls):
    module, name = class_module(cls), type.__dict__["__qualname__"].__get__(cls)
    return name if module in ("builtins", None) else f"{module}.{name}"


def class_module(cls):
    """The name of the module that a class says it is from, or None."""
    module = type.__dict__["__module__"].__get__(cls)
    return module if type(module) is str else None


def _attribute(function, name):
    """An attribute of a function of the interpreter's own types, or None."""
    try:
        return object.__getattribute__(function, name)
    except AttributeError:
        return None


def dictionary(value):
    """The attributes of an instance or a module itself, past what its class makes of them."""
    for base in _bases(type(value)):
        descriptor = class_dictionary(base).get("__dict__")
        if type(descriptor) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            found = descriptor.__get__(value)
            return found if type(found) is dict else {}
        if descriptor is not None:
            break  # A property, or the like, of a class that pretends to be another.
    return {}


def _bases(kind):
    return type.__dict__["__mro__"].__get__(kind)


def _slots(value, kind):
    for base in _bases(kind):
        for name, member in class_dictionary(base).items():
            if type(member) is types.MemberDescriptorType:
                try:
                    yield name, member.__get__(value)
                except AttributeError:
                    pass


def class_dictionary(cls):
    """The attributes of a class itself, past what its metaclass makes of them."""
    return type.__dict__["__dict__"].__get__(cls)


#: How to write the types that need more than `repr`, and what is derived from them.
_WRITERS = [
    (str, _str),
    (int, _int),
    (float, _float),
    (bytes, _bytes),
    (bytearray, _bytes),
    (list, Describer._list),
    (tuple, Describer._tuple),
    (dict, Describer._dict),
    (set, Describer._set),
    (frozenset, Describer._set),
    (collections.deque, Describer._deque),
    (types.FunctionType, _function),
    (types.BuiltinFunctionType, _function),
    (types.MethodType, _function),
    (types.ModuleType, _module),
    (functools._lru_cache_wrapper, _cache),
    (contextvars.ContextVar, Describer._variable_of_context),
    (threading.local, Describer._local),
]
