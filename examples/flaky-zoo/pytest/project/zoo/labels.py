"""Labels on the shelf."""


def shelf_label(tags):
    """All tags on one label, each once."""
    return " ".join(set(tags))
