"""Which lines of the project run in a test.

The cheapest way that the interpreter has: `sys.monitoring` from Python 3.12, where a line that ran
costs nothing until the next test; a trace function before, which turns itself off for functions
of which all lines ran. Both see all threads of this process, and no child process.
"""

import os
import sys

#: Folders of installed packages, wherever they are.
INSTALLED = ("/site-packages/", "/dist-packages/")


def start(config):
    """Something with `begin`, `end` and `hear_code` that follows lines, or says why it cannot."""
    is_project = ProjectFiles(config).has
    if hasattr(sys, "monitoring"):
        from flakeproof_agent.monitoring import Monitoring

        return Monitoring.start(is_project) or Blind("all tools of sys.monitoring are in use")
    from flakeproof_agent.tracing import Tracing

    return Tracing(is_project)


class Blind:
    """Follows nothing."""

    def __init__(self, reason):
        self._reason = reason

    def begin(self):
        pass

    def end(self):
        return None, self._reason

    def hear_code(self, code):
        pass


class ProjectFiles:
    """Python files below the project's root, or below the folder in which pytest was started."""

    def __init__(self, config):
        root = getattr(config, "rootpath", None) or config.rootdir
        start = getattr(getattr(config, "invocation_params", None), "dir", None) or os.getcwd()
        self._roots = _folders([root, start])
        own = os.path.dirname(os.path.abspath(__file__))
        base = os.path.dirname(os.__file__)
        environment = [sys.prefix, sys.exec_prefix] if sys.prefix != sys.base_prefix else []
        self._foreign = _folders([own, base, *environment])

    def has(self, file):
        """Whether code with this file name is the project's own."""
        if not file.endswith(".py") or file.startswith("<"):
            return False
        path = os.path.realpath(file)
        if any(part in path for part in INSTALLED):
            return False
        return path.startswith(self._roots) and not path.startswith(self._foreign)


def _folders(paths):
    """The real paths, each with a separator at its end."""
    return tuple({os.path.join(os.path.realpath(str(path)), "") for path in paths})
