"""Covered lines by `sys.monitoring`: each line of each code object is reported once per test.

Only code of the project is ever watched, so everything else runs at its own speed. Functions that
exist already are found among the interpreter's objects; later code is heard of, by an audit
event, before it runs.
"""

import gc
import sys
from types import CodeType, FunctionType


class Monitoring:
    """Follows lines with one of the interpreter's six tools; other tools do not notice."""

    @classmethod
    def start(cls, is_project):
        """Take a free tool and begin to watch, or return None if there is none."""
        tool = next((n for n in (3, 4, 1, 2, 5, 0) if sys.monitoring.get_tool(n) is None), None)
        return None if tool is None else cls(tool, is_project)

    def __init__(self, tool, is_project):
        self._tool = tool
        self._is_project = is_project
        #: The lines seen in this test, by file name; `None` for files that are not the project's.
        self._lines = {}
        #: How to note a line of a code object, by its identity: its hash is slow.
        self._adders = {}
        #: Kept alive, so that identities stay unique.
        self._codes = []
        sys.monitoring.use_tool_id(tool, "flakeproof")
        sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, self._callback())
        for function in [it for it in gc.get_objects() if type(it) is FunctionType]:
            self.hear_code(function.__code__)

    def begin(self):
        """A test begins: forget what ran, and hear again of every line."""
        # Other threads may go on meanwhile, here and below.
        for lines in list(self._lines.values()):
            if lines:
                lines.clear()
        sys.monitoring.restart_events()

    def end(self):
        """The lines that ran since the test began, by file; and no reason why they are unknown."""
        return {file: sorted(lines) for file, lines in list(self._lines.items()) if lines}, None

    def hear_code(self, code):
        """Watch a code object of the project, and all that are defined in it."""
        if isinstance(code, CodeType) and self._lines_of(code.co_filename) is not None:
            self._watch(code)

    def _lines_of(self, file):
        if file not in self._lines:
            self._lines[file] = set() if self._is_project(file) else None
        return self._lines[file]

    def _watch(self, code):
        if id(code) in self._adders:
            return
        lines = self._lines_of(code.co_filename)
        if lines is None:
            return
        self._adders[id(code)] = lines.add
        self._codes.append(code)
        sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._watch(constant)

    def _callback(self):
        adders = self._adders
        is_enough = sys.monitoring.DISABLE

        def line_ran(code, line):
            adders[id(code)](line)
            return is_enough

        return line_ran
