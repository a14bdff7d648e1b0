"""A server of the test's own is told from one that was there before it."""

import os
import socket
import subprocess
import sys
import tempfile

from flakeproof_agent.servers import is_own, name

ASKS = """
import sys
sys.path.insert(0, sys.argv[1])
from flakeproof_agent.servers import is_own
place = sys.argv[2]
print(is_own(place if "/" in place else ("127.0.0.1", int(place))))
"""

SERVES = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
sys.stdin.read()
"""


def asked_by_another(place):
    agent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    told = subprocess.run(
        [sys.executable, "-c", ASKS, agent, str(place)], stdout=subprocess.PIPE, check=True
    )
    return told.stdout.strip() == b"True"


def test_a_server_of_this_process_is_own_and_no_other_processes():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        address = server.getsockname()
        assert not is_own(address), "nobody listens yet"
        server.listen()
        assert is_own(address)
        assert not asked_by_another(address[1])


def test_sockets_with_names_are_told_alike():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = os.path.join(folder, "a socket")
        server.bind(path)
        server.listen()
        assert is_own(path)
        assert not asked_by_another(path)


def test_a_server_that_was_started_here_is_own():
    server = subprocess.Popen(
        [sys.executable, "-c", SERVES], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    port = int(server.stdout.readline())
    try:
        assert is_own(("127.0.0.1", port))
        assert not asked_by_another(port)
    finally:
        server.communicate(b"")


def test_addresses_have_names_for_people():
    assert name(("127.0.0.1", 5432)) == "127.0.0.1:5432"
    assert name(("::1", 80, 0, 0)) == "::1:80"
    assert name(b"/run/d.sock") == "/run/d.sock"
    assert name("\0hidden") == "@hidden"
