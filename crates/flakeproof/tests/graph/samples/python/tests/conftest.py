import time

import pytest

from shop.basket import Basket


@pytest.fixture
def basket():
    return Basket(time.time)
