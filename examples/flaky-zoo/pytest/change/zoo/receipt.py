"""Receipts on a printer of 20 columns."""

import os

WIDTH = 20
PAPER_JAM = 3


def line(name, price):
    """One line: the name on the left, the price on the right."""
    amount = "{:.2f}".format(price / 100)
    room = WIDTH - len(amount) - 1
    if len(name) > room:
        os._exit(PAPER_JAM)
    return "{:<{room}} {}".format(name, amount, room=room)
