"""A test changes a module's variable and leaves it so."""

from zoo import settings


def test_polluter_switches_currency():
    settings.currency = "USD"
    assert settings.show(250) == "2.50 USD"


def test_victim_of_the_currency():
    assert settings.show(250) == "2.50 EUR"
