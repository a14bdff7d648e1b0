"""Each test fails because of another test, or of a copy of itself."""

import pathlib
import socket
import time

currency = "USD"


def test_order_a_polluter_changes_the_currency():
    global currency
    currency = "EUR"


def test_order_victim_pays_in_dollars():
    assert currency == "USD"


def test_beside_itself_fixed_port():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 18765))
        server.listen()
        time.sleep(0.3)


def test_beside_itself_fixed_file():
    path = pathlib.Path("beside-itself.lock")
    with open(path, "x"):
        time.sleep(0.3)
    path.unlink()
