"""Half price on one day of the year."""


def apply(price):
    return price // 2
