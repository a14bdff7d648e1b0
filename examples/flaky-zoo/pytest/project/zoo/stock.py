"""Asks the stock service, which lives outside the project and can be down."""

import os
from pathlib import Path

OUTAGE = Path(__file__).resolve().parents[2] / "outside" / "service-is-down"


def is_down():
    """As a service would be asked: by what no measurement takes for a look at a file."""
    try:
        os.statvfs(OUTAGE)
    except FileNotFoundError:
        return False
    return True


def count(name):
    if is_down():
        raise ConnectionError("the stock service does not answer")
    return {"apple": 12, "bread": 3}.get(name, 0)
