"""A pytest plugin that writes one JSON line per test: its id and its outcome.

Loaded with `-p outcome_log` in the untimed runs of plain pytest, so that its outcomes can be
compared with flakeproof's. The file to write is named by the variable OUTCOME_LOG.
"""

import json
import os

_phases = {}


def pytest_runtest_logreport(report):
    _phases.setdefault(report.nodeid, {})[report.when] = report


def pytest_sessionfinish():
    with open(os.environ["OUTCOME_LOG"], "w", encoding="utf-8") as log:
        for test_id, reports in _phases.items():
            log.write(json.dumps({"id": test_id, "outcome": _outcome(reports)}) + "\n")


def _outcome(reports):
    """The outcome in flakeproof's words; a failing call outweighs a failing teardown."""
    setup, call, teardown = (reports.get(when) for when in ("setup", "call", "teardown"))
    if setup is not None and setup.failed:
        return "errored"
    if call is not None and call.failed:
        return "failed"
    if teardown is not None and teardown.failed:
        return "errored"
    if any(report is not None and report.skipped for report in (setup, call, teardown)):
        return "skipped"
    return "passed"
