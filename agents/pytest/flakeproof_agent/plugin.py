"""The hooks: where the agent stands in pytest's own sequence of events."""

import os

import pytest

from flakeproof_agent.cases import case_of
from flakeproof_agent.environment import Environment
from flakeproof_agent.guard import Guard
from flakeproof_agent.link import Link
from flakeproof_agent.probe import Probe
from flakeproof_agent.workers import Workers

PROTOCOL = 4


class Agent:
    """What the hooks of one process share."""

    def __init__(self, order):
        self.order = order
        self.is_main = order["isolation"] == "same"
        self.guard = Guard(order["program"])
        self.probe = Probe.start(order["probe"], os.path.join(order["scratch"], "touched"))
        self.link = Link(order["socket"])
        self.link.send(
            {
                "say": "hello",
                "protocol": PROTOCOL,
                "name": order["name"],
                "pid": os.getpid(),
                "runtime": ".".join(map(str, os.sys.version_info[:3])),
                "framework": pytest.__version__,
                "path": [entry for entry in os.sys.path if entry],
            }
        )
        request = self.link.receive()
        if request is None:
            os._exit(70)
        #: The tests to keep, as `{"id", "file", "case"}`; None means all that pytest selects.
        self.only = request.get("only")
        self.problems = []
        self.failed_reports = 0
        self.workers = Workers(order)
        self.environment = Environment(self)

    def count(self, report):
        """Count failures as pytest's session does, to see when somebody adds one of their own."""
        self.failed_reports += report.failed and not hasattr(report, "wasxfail")

    def say_ended(self, code, besides_tests):
        self.link.send({"say": "ended", "exit": code, "besides_tests": besides_tests})

    def refuse(self, reason, detail=""):
        self.link.send(
            {"say": "refused", "name": self.order["name"], "reason": reason, "detail": detail}
        )
        raise pytest.UsageError(f"flakeproof cannot run this session: {reason} {detail}")


def start(order):
    """Connect, and give the hooks under the names by which pytest finds them."""
    agent = Agent(order)
    os.environ.update(order["environment"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(config):
        option = config.option
        if getattr(option, "usepdb", False) or getattr(option, "trace", False):
            agent.refuse("debugger")
        if not agent.is_main:
            _leave_no_trace(option)

    # Last, so that the factory of temporary folders is there.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(session):
        if not agent.is_main:
            if agent.only is not None:
                _narrow(session.config, agent.only)
            _leave_cache_alone(session.config.pluginmanager)
            agent.environment.use_scratch(session.config, order["scratch"])

    @pytest.hookimpl
    def pytest_collectreport(report):
        agent.count(report)
        if report.failed:
            agent.problems.append({"place": report.nodeid, "text": report.longreprtext})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(items):
        if agent.only is not None:
            ids = {test["id"] for test in agent.only}
            cases = {test["case"] for test in agent.only if test["case"]}
            items[:] = [it for it in items if it.nodeid in ids or (cases and case_of(it) in cases)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(session):
        return agent.environment.serve(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        return agent.environment.run_silently(item, nextitem)

    @pytest.hookimpl
    def pytest_runtest_logreport(report):
        agent.count(report)
        agent.environment.reports.append(report)

    # Around everything: what all plugins together make of the session, and what they raise.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(config):
        agent.workers.take_over(config, agent.refuse)
        outcome = yield
        session = agent.environment.session
        if agent.is_main and session is not None and not agent.environment.is_copy:
            is_raised = outcome.excinfo is not None
            agent.say_ended(
                1 if is_raised else int(outcome.get_result() or 0),
                is_raised or session.testsfailed > agent.failed_reports,
            )

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_unconfigure():
        outcome = yield
        if outcome.excinfo is not None and agent.is_main and not agent.environment.is_copy:
            agent.say_ended(1, True)

    @pytest.hookimpl
    def pytest_internalerror(excrepr):
        agent.link.send({"say": "trouble", "text": str(excrepr)})

    return {name: hook for name, hook in locals().items() if name.startswith("pytest_")}


def _leave_no_trace(option):
    """Turn off what would overwrite the results of the user's own session.

    A fresh environment runs the user's whole command line again for one test. Reports, caches and
    selections by the last session belong to the session that the user started.
    """
    off = {
        "xmlpath": None,
        "htmlpath": None,
        "json_report_file": None,
        "report_log": None,
        "resultlog": None,
        "lf": False,
        "failedfirst": False,
        "newfirst": False,
        "stepwise": False,
        "stepwise_skip": False,
        "cacheclear": False,
        "maxfail": 0,
        "no_cov": True,
        "durations": None,
    }
    for name, value in off.items():
        if hasattr(option, name):
            setattr(option, name, value)


def _leave_cache_alone(manager):
    """Remove what writes at the end which tests failed: that is for the user's own session."""
    for name in ("lfplugin", "nfplugin", "stepwiseplugin", "stepwise"):
        if manager.has_plugin(name):
            manager.unregister(name=name)


def _narrow(config, only):
    """Collect only the files of the wanted tests, so that nothing else is imported."""
    files = sorted({test["file"] for test in only or [] if test["file"]})
    if files and all(test["file"] for test in only):
        config.args = files
