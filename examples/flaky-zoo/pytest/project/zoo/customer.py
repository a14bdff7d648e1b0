"""The customer who is logged in."""

_current = None


def log_in(name):
    global _current
    _current = name


def greeting():
    return "Hello, {}".format(_current.title())
