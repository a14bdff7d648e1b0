"""Each test fails on one day, or from one day on."""

from datetime import date, timedelta


def test_clock_certificate_is_valid():
    assert date.today() < date(2037, 12, 31)


def test_clock_tomorrow_is_in_this_year():
    assert (date.today() + timedelta(days=1)).year == date.today().year


def test_clock_subscription_ends_in_a_year():
    today = date.today()
    assert today.replace(year=today.year + 1) > today
