class Basket:
    def __init__(self, clock):
        self.clock = clock
        self.items = []

    def add(self, item, count=1):
        self.items += [item] * count

    def size(self):
        return len(self.items)

    def expires(self):
        return self.clock() + 3600
