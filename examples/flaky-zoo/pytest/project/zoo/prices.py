"""The price list, read from the file beside this module."""

import json
from pathlib import Path

PRICE_LIST = Path(__file__).with_name("prices.json")


def price_of(name):
    with open(PRICE_LIST, encoding="utf-8") as price_list:
        return json.load(price_list)[name]
