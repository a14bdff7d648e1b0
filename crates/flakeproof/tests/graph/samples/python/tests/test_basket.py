import time


def filled(basket, item, count):
    basket.add(item, count)
    return basket


def test_expires(basket):
    now = time.time()
    full = filled(basket, "apple", 3)
    assert full.size() == 3
    assert full.expires() > now


def test_empty():
    pass
