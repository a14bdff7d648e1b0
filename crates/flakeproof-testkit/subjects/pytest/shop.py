"""What `test_touches` calls."""


def price():
    return 40
