"""On which day an order counts."""

import time


def day_of_order(seconds_since_epoch):
    """The day in the shop's time zone, as YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.localtime(seconds_since_epoch))
