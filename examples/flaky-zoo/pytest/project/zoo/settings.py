"""Settings of the shop, shared by everything in the process."""

currency = "EUR"


def show(cents):
    return "{:.2f} {}".format(cents / 100, currency)
