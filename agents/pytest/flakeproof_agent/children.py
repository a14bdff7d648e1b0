"""How many child processes this process has, at its peak.

The peak is right after a process started, so that is when they are counted; nothing samples.
"""

import os


class Children:
    """Counts children whenever one starts."""

    def __init__(self):
        self._alive = 0
        self._has_started = False
        self.peak = 0

    def begin(self):
        """A test begins, perhaps with children of the tests before it."""
        self.peak = self._alive
        self._has_started = False

    def will_start(self, _=None):
        """A process is about to start."""
        self._has_started = True
        self._note(1)

    def did_start(self):
        """A process has started."""
        self._has_started = True
        self._note(0)

    def end(self):
        """The peak of the test, or None where the system does not tell."""
        if self._has_started or self._alive:
            self._note(0)
        return self.peak

    def _note(self, more):
        alive = _alive()
        if alive is None:
            self.peak = None
        elif self.peak is not None:
            self._alive = alive
            self.peak = max(self.peak, alive + more)


def _alive():
    """The children that still run, or None without a `/proc` to look at."""
    me = str(os.getpid()).encode()
    try:
        return sum(_is_alive_child(pid, me) for pid in os.listdir("/proc") if pid.isdigit())
    except OSError:
        return None


def _is_alive_child(pid, parent):
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name in parentheses may contain anything.
            state, its_parent = stat.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return False
    return its_parent == parent and state not in (b"Z", b"X")
