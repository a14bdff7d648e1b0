"""Pass before the change and fail after it, because of it."""

from zoo import offers
from zoo.basket import Basket
from zoo.prices import price_of
from zoo.shipping import cost


def test_real_regression_in_code():
    basket = Basket()
    basket.add(40, count=3)
    basket.add(250)
    assert basket.total() == 370


def test_real_regression_in_a_data_file():
    assert price_of("tea") == 320


def test_real_regression_by_added_lines_only():
    assert cost(2500, "abroad") == 1100


def test_real_regression_by_an_added_file():
    assert offers.best_price(1000) == 950
