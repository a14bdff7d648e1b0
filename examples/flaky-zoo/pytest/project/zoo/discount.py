"""The discount of the day, in percent."""

percent = 0


def reduced(price):
    return price * (100 - percent) // 100
