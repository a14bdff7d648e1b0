"""Covered lines by a trace function, for interpreters without `sys.monitoring`.

A trace function is called for every call in the interpreter and for every line of the frames that
it follows, so this one is written to do as little as possible: calls outside the project end
after one look-up, and a function of which every line ran in this test is not followed any more.
"""

import dis
import sys
import threading


class Tracing:
    """Follows lines while a test runs, unless somebody else traces."""

    def __init__(self, is_project):
        self._is_project = is_project
        #: Whether a file name is one of the project's, for those that were met.
        self._own = {}
        #: The lines seen in this test, by file name.
        self._lines = {}
        #: What forgets the lines seen of a function, for those that ran in this test.
        self._seen = []
        #: The local trace function of each code object that has lines left to see, by identity.
        self._active = {}
        #: The local trace functions of those that have none.
        self._complete = {}
        #: Kept alive, so that identities stay unique.
        self._codes = []
        self._trace = self._global_trace()
        self._before = None
        self._obstacle = None

    def hear_code(self, code):
        """Nothing: code is met when it is called."""

    def begin(self):
        """A test begins: forget what ran, and trace."""
        # Other threads may go on meanwhile, here and below.
        while self._seen:
            self._seen.pop().clear()
        self._active.update(self._complete)
        self._complete.clear()
        for lines in list(self._lines.values()):
            if lines:
                lines.clear()
        self._obstacle = _described(sys.gettrace())
        if self._obstacle is None:
            self._before = threading._trace_hook
            threading.settrace(self._trace)
            sys.settrace(self._trace)

    def end(self):
        """The lines that ran since the test began, by file, or None and the reason."""
        if self._obstacle is not None:
            return None, f"{self._obstacle} traces this session already"
        is_ours = sys.gettrace() is self._trace
        if is_ours:
            sys.settrace(None)
        if threading._trace_hook is self._trace:
            threading.settrace(self._before)
        if not is_ours:
            return None, "the test replaces the interpreter's trace function"
        return {file: sorted(lines) for file, lines in list(self._lines.items()) if lines}, None

    def _global_trace(self):
        own, active, meet = self._own, self._active, self._meet
        identity = id

        def trace(frame, event, argument):
            code = frame.f_code
            try:
                if own[code.co_filename]:
                    return active[identity(code)]
            except KeyError:
                return meet(code)

        return trace

    def _meet(self, code):
        file = code.co_filename
        if file not in self._own:
            self._own[file] = self._is_project(file)
        if not self._own[file]:
            return None
        self._lines.setdefault(file, set())
        self._codes.append(code)
        local = self._local_trace(code)
        self._active[id(code)] = local
        return local

    def _local_trace(self, code):
        add = self._lines[code.co_filename].add
        every, seen, key = _lines_of(code), set(), id(code)
        touched, active, complete = self._seen, self._active, self._complete
        main = threading.main_thread().ident

        def local(frame, event, argument):
            line = frame.f_lineno
            if line not in seen and event == "line":
                if not seen:
                    touched.append(seen)
                seen.add(line)
                add(line)
                if every <= seen:
                    active[key] = None
                    complete[key] = local
                    # A frame of another thread may still run in the next test.
                    if threading.get_ident() == main:
                        frame.f_trace = None

        return local


def _lines_of(code):
    """The lines of a code object that a trace function can be called for."""
    if not hasattr(code, "co_lines"):
        return frozenset(line for _, line in dis.findlinestarts(code))
    begin = _prologue(code)
    return frozenset(line for _, end, line in code.co_lines() if line and end > begin)


def _prologue(code):
    """Where the instructions end that make a frame ready, and that nobody is told about."""
    instructions = code.co_code
    resume = dis.opmap.get("RESUME")
    start = dis.opmap.get("GEN_START")
    for offset in range(0, len(instructions), 2):
        if instructions[offset] == resume:
            return offset + 2
    return 2 if instructions[:1] == bytes([start or 0]) else 0


def _described(trace):
    if trace is None:
        return None
    kind = trace if hasattr(trace, "__qualname__") else type(trace)
    return f"{kind.__module__}.{kind.__qualname__}"
