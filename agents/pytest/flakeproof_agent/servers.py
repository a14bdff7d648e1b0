"""Whether the server at an address is the test's own: part of its process or of one that it started.

What such a server reads is seen like all that the test reads. About any other one nothing is known, not
even which code it runs.
"""

import os

LISTENS = "0A"
ACCEPTS_CONNECTIONS = 0x10000


def name(address):
    """How an address is told: `127.0.0.1:5432`, or the name of a socket."""
    if isinstance(address, (str, bytes)):
        return os.fsdecode(address).replace("\0", "@")
    return f"{address[0]}:{address[1]}"


def is_own(address):
    """Where the system tells; elsewhere no server is known to be the test's own."""
    try:
        sockets = _listening(address)
        return bool(sockets) and any(sockets & _sockets_of(it) for it in _family(os.getpid()))
    except OSError:
        return False


def _listening(address):
    """The sockets that listen at an address, as the system counts them."""
    if isinstance(address, (str, bytes)):
        path = name(address)
        rows = (row.split(None, 7) for row in _rows("unix"))
        return {
            row[6]
            for row in rows
            if len(row) == 8 and row[7] == path and int(row[3], 16) & ACCEPTS_CONNECTIONS
        }
    port = f":{address[1]:04X}"
    rows = (row.split() for kind in ("tcp", "tcp6") for row in _rows(kind))
    return {row[9] for row in rows if row[3] == LISTENS and row[1].endswith(port)}


def _rows(kind):
    try:
        with open(f"/proc/self/net/{kind}", errors="surrogateescape") as table:
            return table.read().splitlines()[1:]
    except FileNotFoundError:
        return []


def _family(ancestor):
    """A process and all that it started, as far as their parents live."""
    parents = {int(it): _parent(it) for it in os.listdir("/proc") if it.isdigit()}
    family = {ancestor}
    while True:
        more = {it for it, parent in parents.items() if parent in family} - family
        if not more:
            return family
        family |= more


def _parent(process):
    try:
        with open(f"/proc/{process}/stat", errors="replace") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _sockets_of(process):
    folder = f"/proc/{process}/fd"
    sockets = set()
    try:
        for number in os.listdir(folder):
            try:
                target = os.readlink(f"{folder}/{number}")
            except OSError:
                continue
            if target.startswith("socket:["):
                sockets.add(target[len("socket:[") : -1])
    except OSError:
        pass
    return sockets
