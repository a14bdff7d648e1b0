"""Receipts on a printer of 20 columns."""

WIDTH = 20


def line(name, price):
    """One line: the name on the left, the price on the right, cut to the paper's width."""
    amount = "{:.2f}".format(price / 100)
    room = WIDTH - len(amount) - 1
    return "{:<{room}} {}".format(name[:room], amount, room=room)
