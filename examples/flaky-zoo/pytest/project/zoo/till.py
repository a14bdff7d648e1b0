"""The till listens on a port of this machine."""

import socket


def open_till(port):
    """The till's socket, listening; it fails when another program holds the port."""
    till = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        till.bind(("127.0.0.1", port))
        till.listen(1)
    except OSError:
        till.close()
        raise
    return till
