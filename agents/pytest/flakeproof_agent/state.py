"""A picture of what tests can leave behind: in this process, and in the project's folder.

Nothing of the project runs while the picture is taken. All of it is read from memory, except for
the files, of which only size and time of change are looked at.
"""

import json
import logging
import os
import signal
import sys
import threading
import types
import warnings

from flakeproof_agent.describe import (
    Describer,
    class_dictionary,
    class_module,
    dictionary,
    name_of_callable,
    shortened,
)
from flakeproof_agent.probe import STANDARD_FOLDERS

#: Variables that pytest and flakeproof change themselves.
OURS = ("PYTEST_", "FLAKEPROOF")

#: Packages that are the machinery, not the project.
MACHINERY = frozenset({"_pytest", "flakeproof_agent", "iniconfig", "pluggy", "pytest", "py"})

#: Folders that hold nothing of the project's own.
SKIPPED = frozenset(
    ".flakeproof .git .hg .hypothesis .mypy_cache .nox .pytest_cache .ruff_cache .svn .tox"
    " __pycache__ node_modules".split()
)

#: Files that are looked at; those of the upper folders first.
MOST_FILES = 20_000

#: Names with two underscores that mean something to the interpreter or to pytest.
THE_INTERPRETERS = frozenset(dir(object)) | frozenset(dir(type)) | frozenset(dir(types)) | frozenset(
    "__abstractmethods__ __all__ __annotate__ __annotate_func__ __annotations__"
    " __annotations_cache__ __author__ __cached__ __classcell__ __classdictcell__"
    " __conditional_annotations__ __dict__ __file__ __final__ __firstlineno__ __match_args__"
    " __orig_bases__ __parameters__ __path__ __pytest_wrapped__ __slots__ __static_attributes__"
    " __test__ __unittest __version__ __warningregistry__ __weakref__".split()
)

#: Types of the values that a switch of a project's own can have.
SWITCHES = frozenset({bool, int, str, type(None), list, dict, set})

#: The value of something that has no other than being there.
PRESENT = "present"


def picture(root, brought=frozenset()):
    """Everything, by kind and name; a kind that cannot be read is left out.

    `brought` are the modules that only this picture needed: no test has imported them.
    """
    things = {}
    for kind, read in (
        ("attribute", lambda: attributes(root)),
        ("variable", variables),
        ("working_directory", working_directory),
        ("file", lambda: files(root)),
        ("signal_handler", signal_handlers),
        ("thread", threads),
        ("warnings_filter", warnings_filters),
        ("logger", loggers),
        ("import_path", import_path),
        ("module", lambda: modules(brought)),
    ):
        try:
            things[kind] = read()
        except Exception:  # Tests replace and break everything; the other kinds still tell.
            continue
    return things


def attributes(root):
    """What the modules of project and packages hold, and their classes."""
    paths = _Paths(root)
    describer = Describer(lambda name: paths.is_own(sys.modules.get(name)))
    found = {}
    for name, module in list(sys.modules.items()):
        if type(name) is str and paths.is_described(name, module):
            _add_attributes(found, name, dictionary(module), describer, name)
    return found


def _add_attributes(found, name, namespace, describer, module):
    for attribute, value in list(namespace.items()):
        if not _is_telling(attribute, value):
            continue
        full = f"{name}.{attribute}"
        if issubclass(type(value), type) and class_module(value) == module and name == module:
            _add_attributes(found, full, class_dictionary(value), describer, module)
        found[full] = describer.text(value)


def _is_telling(attribute, value):
    """Not the names that the interpreter and pytest's rewriting add.

    A project may use such a name for a switch of its own: then it is not one of the interpreter's, and
    its value is a plain one.
    """
    if type(attribute) is not str or attribute.startswith("@"):
        return False
    return not attribute.startswith("__") or (
        attribute not in THE_INTERPRETERS and type(value) in SWITCHES
    )


class _Paths:
    """Tells modules of the project, of packages, and of the interpreter from each other."""

    def __init__(self, root):
        self._standard = tuple(prefix for folder in STANDARD_FOLDERS for prefix in _prefixes(folder))
        self._root = _prefixes(root)

    def is_described(self, name, module):
        """Whether a module is neither the interpreter's nor the machinery's."""
        file = _file(module)
        if file is None or name.partition(".")[0] in MACHINERY:
            return False
        return not file.startswith(self._standard) or _is_package_file(file)

    def is_own(self, module):
        """Whether a module is the project's own."""
        file = _file(module)
        return file is not None and file.startswith(self._root) and not _is_package_file(file)


def _prefixes(folder):
    """How paths below a folder begin, as it is named and as it is."""
    return (os.path.join(os.path.abspath(folder), ""), os.path.join(os.path.realpath(folder), ""))


def _file(module):
    if not issubclass(type(module), types.ModuleType):
        return None
    file = dictionary(module).get("__file__")
    return os.path.abspath(file) if type(file) is str else None


def _is_package_file(file):
    return "/site-packages/" in file or "/dist-packages/" in file


def variables():
    """The environment variables of tests."""
    return {
        name: shortened(json.dumps(value, ensure_ascii=False))
        for name, value in os.environ.items()
        if not name.startswith(OURS)
    }


def working_directory():
    try:
        return {".": os.getcwd()}
    except FileNotFoundError:
        return {".": "a folder that was removed"}


def files(root):
    """Size and time of change of the project's files, breadth first."""
    found = {}
    folders = [os.fspath(root)]
    for folder in folders:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        if folder != folders[0] and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            if len(found) >= MOST_FILES:
                return found
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        folders.append(entry.path)
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            name = os.path.relpath(entry.path, folders[0])
            found[name] = f"{status.st_size} bytes, {status.st_mtime_ns}"
    return found


def signal_handlers():
    """What each signal does, and a running alarm."""
    found = {}
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if isinstance(number, signal.Signals):
            found[number.name] = _handler(handler)
    for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"):
        if any(signal.getitimer(getattr(signal, name))):
            found[name] = "running"
    return found


def _handler(handler):
    if handler is None:
        return "not Python's"
    if type(handler) is signal.Handlers:
        return "default" if handler is signal.SIG_DFL else "ignored"
    return name_of_callable(handler)


def threads():
    """The threads besides the main one."""
    found = {}
    for thread in threading.enumerate():
        own = dictionary(thread)
        if thread is threading.main_thread() or type(own.get("_name")) is not str:
            continue
        name = own["_name"]
        while name in found:
            name += "'"
        found[name] = "daemon" if own.get("_daemonic") else PRESENT
    return found


def warnings_filters():
    found = {}
    for action, message, category, module, line in warnings.filters:
        parts = [action, _pattern(message), name_of_callable(category), _pattern(module)]
        text = ":".join([*parts, str(line)] if line else parts).rstrip(":")
        found[text] = PRESENT
    return found


def _pattern(pattern):
    return getattr(pattern, "pattern", pattern) or ""


def loggers():
    """The loggers that are not as a new one is."""
    found = {"root": _logger(logging.root)}
    if logging.root.manager.disable:
        found["all loggers"] = f"disabled up to level {logging.root.manager.disable}"
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if issubclass(type(logger), logging.Logger):
            text = _logger(logger)
            if text:
                found[name] = text
    return found


def _logger(logger):
    own = dictionary(logger)
    handlers = [name_of_callable(type(handler)) for handler in own.get("handlers", ())]
    parts = []
    if own.get("level"):
        parts.append(f"level {logging.getLevelName(own['level'])}")
    if handlers:
        parts.append(f"handlers {', '.join(handlers)}")
    if own.get("disabled"):
        parts.append("disabled")
    if not own.get("propagate", True):
        parts.append("does not propagate")
    return "; ".join(parts)


def import_path():
    return {entry: PRESENT for entry in sys.path if type(entry) is str}


def modules(brought):
    """Which object is the module of a name: in copies of a process, too, it is at one address."""
    return {
        name: hex(id(module))
        for name, module in list(sys.modules.items())
        if type(name) is str and name not in brought and not name.startswith("flakeproof_agent")
    }
