"""Running a test again in the same interpreter, as if pytest had not run it before.

pytest runs each item once and leaves traces on it. What is undone here is what would make the
second run differ from a first one: captured text, exhausted doctest globals, the instance of a
test class, fixtures whose set-up failed and would fail again from the cache.
"""


def remember_for_reruns(item):
    """Keep what the first run uses up."""
    example = getattr(item, "dtest", None)
    if example is not None and not hasattr(item, "_flakeproof_globs"):
        item._flakeproof_globs = example.globs.copy()


def make_ready_again(item):
    """Bring an item back to the state before its last run. Safe if it never ran."""
    item._report_sections = []
    item.__dict__.pop("_excinfo", None)
    _restore_doctest(item)
    _forget_failed_subtests(item)
    _forget_instance(item)
    _finish_failed_fixtures(item)
    _leave_failed_collectors(item)


def forget_request(item):
    """Drop the fixture values of an interrupted run, as pytest does after a complete one."""
    if hasattr(item, "_request"):
        item._request = False
        item.funcargs = None


def _restore_doctest(item):
    globs = getattr(item, "_flakeproof_globs", None)
    if globs is not None:
        item.dtest.globs.clear()
        item.dtest.globs.update(globs)


def _forget_failed_subtests(item):
    try:
        from _pytest.subtests import failed_subtests_key
    except ImportError:
        return
    item.config.stash.get(failed_subtests_key, {}).pop(item.nodeid, None)


def _forget_instance(item):
    """A method of a plain test class gets a new instance, as in its first run."""
    cls = getattr(item, "cls", None)
    if cls is None or not hasattr(item, "_obj") or hasattr(type(item), "addFailure"):
        return
    item._obj = None
    item.__dict__.pop("_instance", None)


def _finish_failed_fixtures(item):
    info = getattr(item, "_fixtureinfo", None)
    failed = [
        definition
        for definitions in getattr(info, "name2fixturedefs", {}).values()
        for definition in definitions
        if definition.cached_result is not None and definition.cached_result[2] is not None
    ]
    if failed and not item._request:
        item._initrequest()
    for definition in failed:
        definition.finish(item._request)


def _leave_failed_collectors(item):
    """A module or class whose own set-up failed is set up anew, instead of failing from memory."""
    state = item.session._setupstate
    if any(failure for _, failure in getattr(state, "stack", {}).values()):
        state.teardown_exact(None)
