"""What this process touches, from here to its end: the dependencies of a test.

Python's audit events show every execution of a module's code, every file opened from Python,
every folder listed and every program started. What they do not show is recorded as a blind spot,
so that flakeproof stays silent instead of guessing.

Everything is also written to a file as it is seen, one `kind value` per line: a test that crashes
or hangs cannot tell any more what it touched.
"""

import contextlib
import functools
import os
import sys
import threading

from . import servers

#: Modules by which multiprocessing starts processes without an audit event.
UNHEARD_STARTERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")

PROCESS_EVENTS = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
}

#: What makes calls invisible to the profile function that notes them.
PROFILE_EVENTS = {"sys.setprofile", "_thread.start_new_thread"}

LISTING_EVENTS = {"os.listdir", "os.scandir", "glob.glob", "glob.glob/2"}

#: A file with a second name is not known by that, nor by a link that is gone later.
LINKING_EVENTS = {"os.link", "os.symlink"}

#: What asks about a file without opening it, and tells nobody.
LOOKS = ("access", "lstat", "readlink", "stat")

#: Who lists folders and reads sources to find and show tests and modules, not for the test.
FINDERS = ("/_pytest/", "/importlib/metadata/", "/importlib_metadata/")

#: The import system's own ways to do the same; it also reads data, for `pkgutil.get_data`.
IMPORT_STEPS = {"_fill_cache", "get_code"}

#: Where the modules are that list and read for whoever calls them: os, pathlib, linecache, …
STANDARD_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
#: Where the interpreter has its own, in Python and in C. `sysconfig` knows, too, but asking it imports
#: modules that a test would see.
STANDARD_FOLDERS = (
    os.path.dirname(os.__file__),
    os.path.join(
        sys.base_exec_prefix, getattr(sys, "platlibdir", "lib"), "python%d.%d" % sys.version_info[:2]
    ),
)

#: Modules of the standard library that start programs to learn about the system. A project may have modules of
#: these names.
HARMLESS_STARTERS = tuple(
    os.path.join(folder, name)
    for folder in STANDARD_FOLDERS
    for name in ("ctypes/util.py", "platform.py", "uuid.py")
)

CTYPES = os.path.join("ctypes", "__init__.py")

KINDS = ("code", "opened", "listed", "variable", "program", "server", "native")


class Probe:
    """Records until the process ends; audit hooks cannot be removed."""

    @classmethod
    def start(cls, granularity, log):
        """Begin to record, or do nothing and return None."""
        return None if granularity == "off" else cls(granularity, log)

    def __init__(self, granularity, log):
        self._seen = {kind: set() for kind in KINDS}
        self._code = set()
        self.forget_what_was_told()
        self._functions = None
        # Whether a thread looks at the system for the probe, which is none of the test's doing.
        self._looks = threading.local()
        self._looked_at = set()
        self._own = os.path.dirname(os.path.abspath(__file__))
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._note_loaded_modules()
        sys.addaudithook(self._hear)
        self._watch_variables()
        self._watch_looks()
        if granularity == "function":
            self._functions = {}
            self._watch_functions()

    def _note(self, kind, value):
        if value not in self._seen[kind]:
            self._seen[kind].add(value)
            line = f"{kind} {value}".replace("\n", "\\n") + "\n"
            os.write(self._log, line.encode("utf-8", "surrogateescape"))

    def _note_loaded_modules(self):
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str):
                self._note("code", os.path.abspath(file))
                if file.endswith((".so", ".pyd")):
                    self._hear_native(file)

    def _hear(self, event, arguments):
        if getattr(self._looks, "away", False):
            return
        # An exception here would end up in the user's code.
        try:
            if event == "open":
                self._hear_open(*arguments)
            elif event == "exec":
                self._hear_code(arguments[0].co_filename)
            elif event in LISTING_EVENTS:
                self._hear_listing(arguments[0])
            elif event in PROCESS_EVENTS:
                self._hear_process(event, arguments)
            elif event == "sqlite3.connect":
                self._add("opened", arguments[0])
            elif event == "socket.connect":
                self._hear_connection(arguments[1])
            elif event == "import" and arguments[1]:
                self._hear_native(arguments[1])
            elif event == "ctypes.dlopen":
                self._hear_library(arguments[0])
            elif event in LINKING_EVENTS:
                self._hear_link(event, *arguments[:2])
            elif event in PROFILE_EVENTS and self._functions is not None:
                self._hear_profile(sys._getframe(1).f_code.co_filename)
        except Exception:
            self._note("program", f"an unreadable {event} event")

    def _hear_code(self, file):
        if not file.startswith("<"):
            self._note("code", os.path.abspath(file))

    def _hear_open(self, path, mode, flags):
        reads = not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_WRONLY
        if not reads:
            return
        is_source = isinstance(path, str) and path.endswith(".py")
        # Reading a source to run it is noted when it runs.
        if not (is_source and _is_for_finder(sys._getframe(2))):
            self._add("opened", path)

    def _hear_listing(self, path):
        if _is_for_finder(sys._getframe(2)):
            return
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        self._add("listed", "." if path is None else path)

    def _hear_process(self, event, arguments):
        program = os.fsdecode(arguments[0]) if arguments and arguments[0] else event
        if event == "os.system":
            program = program.split()[0] if program.split() else event
        if not _is_below(sys._getframe(2), HARMLESS_STARTERS):
            self._note("program", program)

    def _hear_connection(self, address):
        # What a process says that was there before depends on what it has read.
        if isinstance(address, (str, bytes)) and "flakeproof-" in os.fsdecode(address):
            return
        with self._away():
            is_own = servers.is_own(address)
        if not is_own:
            self._note("server", servers.name(address))

    def _hear_native(self, path):
        path = os.fsdecode(path)
        if not _is_standard(path):
            self._note("native", path)

    def _hear_library(self, path):
        """What is in the process already has C's own functions, which open files."""
        caller = sys._getframe(2)
        while caller is not None and caller.f_code.co_filename.endswith(CTYPES):
            caller = caller.f_back
        # The import system is there for ctypes itself, which looks at the interpreter.
        if path:
            self._hear_native(path)
        elif caller is not None and not caller.f_code.co_filename.startswith("<frozen importlib"):
            self._note("native", "the C library")

    def _add(self, kind, path):
        if isinstance(path, (str, bytes, os.PathLike)):
            path = os.path.abspath(os.fsdecode(path))
            if not path.endswith(".pyc"):  # The module it belongs to is noted when it runs.
                self._note(kind, path)
                self._note_where_it_is(kind, path)

    def _note_where_it_is(self, kind, path):
        """A link leads elsewhere later, or is gone."""
        with self._away():
            if _links_above(os.path.dirname(path)) or os.path.islink(path):
                self._note(kind, os.path.realpath(path))

    def _hear_link(self, event, source, link):
        file = os.fsdecode(source)
        if event == "os.symlink":
            file = os.path.join(os.path.dirname(os.path.abspath(os.fsdecode(link))), file)
        with self._away():
            is_file = os.path.isfile(file)
        if is_file:
            self._add("opened", file)

    @contextlib.contextmanager
    def _away(self):
        """What is looked at meanwhile is none of the test's doing."""
        was_away, self._looks.away = getattr(self._looks, "away", False), True
        try:
            yield
        finally:
            self._looks.away = was_away

    def _watch_variables(self):
        note = self._note

        class Watched(type(os.environ)):
            def __getitem__(self, key):
                note("variable", os.fsdecode(key))
                return super().__getitem__(key)

            def __iter__(self):
                note("variable", "*")
                return super().__iter__()

        os.environ.__class__ = Watched
        os.environb.__class__ = Watched

    def _watch_looks(self):
        for name in LOOKS:
            plain = getattr(os, name, None)
            if plain is None:
                continue
            look = _Look(plain, self._hear_look)
            for abilities in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if plain in abilities:
                    abilities.add(look)
            setattr(os, name, look)
            # Before Python 3.10 pathlib keeps what it found when it was imported.
            accessor = getattr(sys.modules.get("pathlib"), "_NormalAccessor", None)
            if hasattr(accessor, name):
                setattr(accessor, name, look)

    def _hear_look(self, path):
        if getattr(self._looks, "away", False) or isinstance(path, int):
            return
        place = path if os.path.isabs(path) else (os.getcwd(), path)
        if place in self._looked_at or _is_for_finder(sys._getframe(2)):
            return
        self._looked_at.add(place)
        # A folder is another one with each file in it. Sources are looked at by whoever shows a line of
        # them; what matters of them is what runs.
        is_source = os.fsdecode(path).endswith((".py", ".pyc"))
        with self._away():
            is_other = is_source or os.path.isdir(path)
        if not is_other:
            self._add("opened", path)

    def _watch_functions(self):
        # By identity, which is faster than by value, and kept alive so that it stays unique.
        seen = self._functions
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None:

            def profile(frame, event, argument):
                if event == "call":
                    seen[id(frame.f_code)] = frame.f_code

            threading.setprofile(profile)
            sys.setprofile(profile)
            return

        def started(code, offset):
            seen[id(code)] = code
            return monitoring.DISABLE

        tool = next((n for n in range(3, 6) if monitoring.get_tool(n) is None), None)
        if tool is None:
            self._functions = None
            return
        monitoring.use_tool_id(tool, "flakeproof")
        monitoring.register_callback(tool, monitoring.events.PY_START, started)
        monitoring.set_events(tool, monitoring.events.PY_START)

    def _hear_profile(self, caller):
        """Without `sys.monitoring`, another profiler or a bare thread hides calls: give up."""
        is_ours = caller in (__file__, threading.__file__)
        if not is_ours and not hasattr(sys, "monitoring"):
            self._functions = None

    def forget_what_was_told(self):
        """Tell everything again: a copy of this process has a listener of its own."""
        self._told = {kind: set() for kind in KINDS}

    def findings(self, config):
        """What was touched since this was asked last, as the protocol writes it."""
        with self._away():
            return self._all_findings(config)

    def _all_findings(self, config):
        self._note_loaded_modules()
        for module in UNHEARD_STARTERS:
            if module in sys.modules:
                self._note("program", module)
        if getattr(config, "inipath", None):
            self._note("opened", str(config.inipath))
        new = {kind: seen - self._told[kind] for kind, seen in self._seen.items()}
        for kind, values in new.items():
            self._told[kind] |= values
        code = set(map(os.path.realpath, new["code"]))
        self._code |= code
        opened = set(map(os.path.realpath, new["opened"]))
        for kind in ("code", "opened", "listed"):
            opened.update(*map(_links_on_the_way, new[kind]))
        return {
            "code": sorted(path for path in code if not path.startswith(self._own)),
            "opened": sorted(opened),
            "listed": sorted(set(map(os.path.realpath, new["listed"]))),
            "variables": sorted(new["variable"]),
            "blind_spots": [{"type": "process", "program": it} for it in sorted(new["program"])]
            + [{"type": "server", "address": it} for it in sorted(new["server"])]
            + [{"type": "native_code", "library": it} for it in sorted(new["native"])],
            "functions": self._function_uses(self._code),
        }

    def _function_uses(self, code):
        if self._functions is None:
            return {}
        # A copy: the functions called here are noted, too.
        ran = {(it.co_filename, it.co_firstlineno) for it in list(self._functions.values())}
        real = {file: os.path.realpath(file) for file, _ in ran}
        ran = {(real[file], line) for file, line in ran}
        return {
            path: uses
            for path in code
            if path.endswith(".py") and not _is_standard(path) and not _is_installed(path)
            for uses in [_uses_in(path, ran)]
            if uses is not None
        }


class _Look:
    """One of the system's functions that look at a file. No function of Python's: it must not become a
    method where a class keeps it."""

    def __init__(self, plain, hear):
        functools.update_wrapper(self, plain)
        self._plain = plain
        self._hear = hear

    def __call__(self, *arguments, **named):
        found = self._plain(*arguments, **named)
        # An exception here would end up in the user's code.
        try:
            if "dir_fd" not in named:
                self._hear(arguments[0] if arguments else named["path"])
        except Exception:
            pass
        return found

    def __repr__(self):
        return repr(self._plain)


def _links_on_the_way(path):
    """The links that lead to what a path names: another file is there when one of them changes."""
    path = os.path.abspath(path)
    return _links_above(os.path.dirname(path)) + ((path,) if os.path.islink(path) else ())


@functools.lru_cache(maxsize=None)
def _links_above(folder):
    above = os.path.dirname(folder)
    if above == folder:
        return ()
    return _links_above(above) + ((folder,) if os.path.islink(folder) else ())


def _is_for_finder(frame):
    """Whether the code behind calls of the standard library looks for tests or modules."""
    while frame is not None:
        file = frame.f_code.co_filename
        if any(finder in file for finder in FINDERS):
            return True
        if file.startswith("<frozen importlib") and frame.f_code.co_name in IMPORT_STEPS:
            return True
        is_standard = file.startswith(("<frozen", STANDARD_LIBRARY)) and not _is_installed(file)
        if not is_standard:
            return False
        frame = frame.f_back
    return False


def _uses_in(path, ran):
    import ast

    try:
        with open(path, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None
    uses = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno] + [mark.lineno for mark in node.decorator_list])
            was_called = (path, first) in ran or (path, node.lineno) in ran
            # A call of a generator or coroutine runs nothing yet, and so is not seen.
            may_run = was_called or _is_lazy(node)
            uses.append({"body": _first_line(node), "end": node.end_lineno, "ran": may_run})
    return uses


def _is_lazy(function):
    import ast

    lazy = (ast.Yield, ast.YieldFrom, ast.Await)
    return isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(node, lazy) for node in ast.walk(function)
    )


def _first_line(function):
    """The first line of a body that runs when it is called: a docstring is made on import."""
    import ast

    start = function.body[0]
    is_docstring = isinstance(start, ast.Expr) and isinstance(start.value, ast.Constant)
    return start.end_lineno + 1 if is_docstring else start.lineno


def _is_standard(path):
    """Whether a library belongs to the interpreter, whose file access is audited."""
    if os.path.sep not in path:
        return path.startswith(("libm.", "libpthread", "libpython"))
    inside = os.path.realpath(path).startswith(_standard_folders())
    return inside and not _is_installed(path)


@functools.lru_cache(maxsize=None)
def _standard_folders():
    return tuple({os.path.realpath(folder) + os.path.sep for folder in STANDARD_FOLDERS})


def _is_installed(path):
    return "site-packages" in path or "dist-packages" in path


def _is_below(frame, files):
    """Whether one of these files asked for what happens now."""
    for _ in range(12):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(files):
            return True
        frame = frame.f_back
    return False
