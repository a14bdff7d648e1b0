"""The line to flakeproof: one JSON object per line, over a Unix socket."""

import json
import os
import select
import socket


class Link:
    """A connection that belongs to exactly one process.

    A test may fork. The copy of the descriptor in its child would keep the connection open after
    this process died, and flakeproof would wait for a test that is gone; so children close it.
    """

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._reader = self._socket.makefile("rb")
        self._owner = os.getpid()
        os.register_at_fork(after_in_child=self.close)

    def send(self, message):
        """Send one message; a process that lost its link has nobody to work for and ends."""
        line = json.dumps(message, separators=(",", ":")) + "\n"
        try:
            self._socket.sendall(line.encode("utf-8", "surrogateescape"))
        except (OSError, ValueError):
            os._exit(70)

    def receive(self):
        """The next command, or None when flakeproof hung up."""
        try:
            line = self._reader.readline()
        except (OSError, ValueError):
            return None
        return json.loads(line) if line else None

    def has_news(self):
        """Whether something was sent, or the line was cut, since the last command."""
        try:
            return bool(select.select([self._socket], [], [], 0)[0])
        except (OSError, ValueError):
            return True

    def close(self):
        """Hang up, in this process only."""
        for end in (self._reader, self._socket):
            try:
                end.close()
            except (OSError, ValueError):
                pass
