"""pytest-xdist's workers, in whose place environments of flakeproof run the tests.

A failure inside of a worker cannot be rerun in the same process, so xdist is told to start none. It
stays loaded: its options, marks and fixtures are there, and what tests can ask about their worker is
answered as a worker would, because a suite that is meant for several processes keeps its databases
and ports apart by that name.
"""

import os
import re

#: A worker of this machine that only has a number.
_PLAIN = re.compile(r"(?:(\d+)\*)?popen")


#: Options that ask for a report of the whole session.
_OWN_REPORTS = ("xmlpath", "htmlpath", "report_log", "json_report", "allure_report_dir")


class Workers:
    """What the user's command asks of xdist, and which worker this process stands for."""

    def __init__(self, order):
        self._number = order.get("worker", 0)
        self._run = order["environment"]["FLAKEPROOF_RUN_ID"]
        #: What was asked for, as flakeproof is told; None where xdist would run nothing elsewhere.
        self.asked = None

    def take_over(self, config, refuse):
        """Keep xdist from starting processes; it has not looked at its options yet."""
        option = config.option
        if getattr(option, "looponfail", False):
            refuse("xdist", "--looponfail")
        asked, count = self._asked_of(config, refuse)
        if not count:
            return
        if option.dist == "each":
            refuse("xdist", "--dist each")
        self.asked = {"asked": asked, "count": count, "obstacle": _obstacle(option)}
        option.numprocesses = 0
        option.dist = "no"
        option.tx = []
        option.distload = False
        self._uid = getattr(option, "testrunuid", None) or self._run
        self.become(self._number)

    def _asked_of(self, config, refuse):
        """What was asked for, as it is typed, and the number of processes that it means."""
        option = config.option
        wanted = getattr(option, "numprocesses", None)
        if wanted is not None:
            count = wanted
            if isinstance(wanted, str):
                count = config.hook.pytest_xdist_auto_num_workers(config=config)
            if count and option.maxprocesses:
                count = min(count, option.maxprocesses)
            return f"-n {wanted}", count
        specs = getattr(option, "tx", None) or []
        if _is_off(option) or not specs:
            return "", 0
        found = [_PLAIN.fullmatch(spec) for spec in specs]
        if not all(found):
            refuse("xdist", "--tx " + " ".join(specs))
        typed = " ".join(f"--tx {spec}" for spec in specs)
        return typed, sum(int(it.group(1) or 1) for it in found)

    def become(self, number):
        """Stand for the worker of this number."""
        if self.asked is None or number is None:
            return
        self._number = number
        os.environ["PYTEST_XDIST_WORKER"] = f"gw{number}"
        os.environ["PYTEST_XDIST_WORKER_COUNT"] = str(self.asked["count"])
        os.environ["PYTEST_XDIST_TESTRUNUID"] = self._uid

    def enter(self, config):
        """A test begins: fixtures may ask which worker this is."""
        if self.asked is not None:
            config.workerinput = {
                "workerid": f"gw{self._number}",
                "workercount": self.asked["count"],
                "testrunuid": self._uid,
            }

    def leave(self, config):
        """A test ended: plugins that write reports must not take this process for a worker."""
        if self.asked is not None:
            del config.workerinput


def _obstacle(option):
    """Why the tests must share a process here although they need not under xdist."""
    if option.dist == "loadgroup":
        return "`--dist loadgroup` keeps tests of different files in one process"
    if getattr(option, "cov_source", None):
        return "pytest-cov puts the coverage of xdist's workers together, and of no other processes"
    if any(getattr(option, name, None) for name in _OWN_REPORTS):
        return "a report that pytest itself writes would hold a part of the suite"
    return None


def _is_off(option):
    """Whether xdist distributes nothing."""
    return getattr(option, "dist", "no") == "no" and not getattr(option, "distload", False)
