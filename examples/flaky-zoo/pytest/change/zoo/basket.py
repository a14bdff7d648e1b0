"""What a customer is about to buy."""


class Basket:
    """Items with their price in cents and how many of each."""

    def __init__(self):
        self._items = {}

    def add(self, price, count=1):
        self._items[price] = count

    def total(self):
        return sum(self._items)
