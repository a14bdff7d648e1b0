"""The test after the last one of an open order: there will be one, but not which."""


class Undecided:
    """Stands in for a neighbour of an item that shares all its collectors.

    pytest compares the chain of the next item with what is set up. A chain that ends in another
    node than the item keeps session, packages, module and class, and tears down the item's own.
    """

    def __init__(self, item):
        self._item = item

    def listchain(self):
        """The collectors of the item, and this instead of the item."""
        return [*self._item.listchain()[:-1], self]

    def __getattr__(self, name):
        # Plugins may look at the next item's path, module or marks.
        return getattr(self._item, name)
