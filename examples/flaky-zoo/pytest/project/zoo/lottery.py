"""A lottery for customers."""

import os


def draw():
    """A number from 0 to 9, as random as the machine can make it."""
    return int.from_bytes(os.urandom(8), "big") % 10
