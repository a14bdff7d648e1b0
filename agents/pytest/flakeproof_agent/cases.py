"""Which case of a parametrized test an item is, whatever its id says in this process.

pytest numbers values that have no text of their own (`expected3`), in the order in which they come. Where
that is the order of a set, `expected3` is another case in the next process, and its pass says nothing of
this one's failure.
"""

#: Values that pytest writes into the id.
_WRITTEN = frozenset({str, int, float, bool, type(None)})


def case_of(item):
    """A digest of the function and the values it is called with; None where the id tells all."""
    called_with = getattr(item, "callspec", None)
    values = getattr(called_with, "params", None)
    if type(values) is not dict or not values:
        return None
    is_written = all(type(it) in _WRITTEN for it in values.values())
    if is_written and called_with.id == "-".join(map(str, values.values())):
        return None
    # Only here, because it brings modules that a suite may not have loaded itself.
    import hashlib

    from flakeproof_agent.describe import Describer

    describer = Describer(is_own=lambda module: True)
    function = f"{item.parent.nodeid}::{getattr(item, 'originalname', None)}"
    texts = [f"{name}={describer.text(value)}" for name, value in sorted(values.items())]
    text = "\n".join([function, *texts])
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
