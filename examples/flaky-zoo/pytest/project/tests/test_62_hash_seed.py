"""Depends on the order of a set of strings, which changes with each interpreter."""

from zoo.labels import shelf_label


def test_hash_seed_dependence():
    assert shelf_label(["fresh", "cheap"]) == "fresh cheap"
