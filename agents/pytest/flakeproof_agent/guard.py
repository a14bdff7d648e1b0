"""The process that watches over this one, and whether a test has killed it."""

import os

#: Linux: the flag of a process that is ending, and SIGKILL in the set of its pending signals.
PF_EXITING = 0x4
KILLED = 1 << (9 - 1)


class Guard:
    """Our parent, if that is a child of flakeproof's own process `program`.

    When it dies, flakeproof itself adopts this process: a test that kills its parent would kill
    flakeproof next.
    """

    def __init__(self, program):
        self._program = program
        self._parent = os.getppid()
        # Opened once and before the probe, which would take it for something that a test reads.
        try:
            self._stat = os.open(f"/proc/{self._parent}/stat", os.O_RDONLY)
        except OSError:
            self._stat = None  # Not on Linux.

    def again(self):
        """The guard of a copy of this process, which has another parent."""
        if self._stat is not None:
            os.close(self._stat)
        return Guard(self._program)

    def is_dying(self):
        """Whether it is gone or killed. A process takes a moment to die; that it will, is known."""
        parent = os.getppid()
        if parent != self._parent or self._stat is None:
            return parent == self._program
        try:
            # `pid (name) state parent …`; the name may contain anything.
            fields = os.pread(self._stat, 4096, 0).rpartition(b")")[2].split()
            state, its_parent, flags, pending = fields[0], fields[1], fields[6], fields[28]
        except (OSError, IndexError):
            return os.getppid() == self._program
        is_dying = state in (b"Z", b"X") or int(flags) & PF_EXITING or int(pending) & KILLED
        return int(its_parent) == self._program and bool(is_dying)
