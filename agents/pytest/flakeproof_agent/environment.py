"""One interpreter that runs tests on request: the session's own, or a copy made by fork."""

import faulthandler
import os
import random
import signal
import stat
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

import pytest
from _pytest.runner import CallInfo, call_and_report, runtestprotocol

from flakeproof_agent.cases import case_of
from flakeproof_agent.link import Link
from flakeproof_agent.report import result_message
from flakeproof_agent.rerun import forget_request, make_ready_again, remember_for_reruns
from flakeproof_agent.undecided import Undecided

#: flakeproof sends this to a test that hangs, to learn where; hardly any program uses it.
STACKS_SIGNAL = getattr(signal, "SIGPWR", None)


class Environment:
    """Runs tests of a collected session, one at a time, as told over the link."""

    def __init__(self, agent):
        self.agent = agent
        self.session = None
        self.order = []
        #: Whether something comes after the order that is not decided yet.
        self.is_open = False
        #: The item that would come after the order, if that is known.
        self.next = None
        self.reports = []
        self.is_silent = False
        self.is_copy = False
        #: What a test that calls `pytest.exit` ends the session with.
        self.exit = None
        #: Measures what tests use and cover, once that was asked for.
        self._measure = None
        self._is_measuring = False
        #: Modules that are imported only because of what was looked at.
        self._brought = set()
        self._streams = _pipes_of_output()
        self._seeded_by = random.getstate()[1][:-1]
        #: The descriptor that stacks of a hanging test are written to.
        self._stacks = None
        self._watch_for_hangs(agent.order["scratch"])

    # What pytest calls.

    def serve(self, session):
        """Stand in for pytest's loop over the tests."""
        self.session = session
        self._send_collected()
        if session.config.option.collectonly or self._collection_failed():
            return None
        if self.agent.is_main:
            self._make_zygote()
        self._obey()
        if self.exit is not None:
            raise self.exit
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def run_silently(self, item, nextitem):
        """Run without telling other plugins, so that a rerun is not in the user's own reports.

        Called inside all wrappers of the protocol: warning filters and the like apply.
        """
        if not self.is_silent:
            return None
        self.reports.extend(runtestprotocol(item, log=False, nextitem=nextitem))
        return True

    # What flakeproof asks for.

    def _obey(self):
        while True:
            command = self.agent.link.receive()
            self._leave_if_unguarded()
            verb = command["do"] if command else "bye"
            if verb == "order":
                self._begin_order(command["tests"], command["open"], command["next"])
            elif verb == "run":
                self._measure_if(command["measure"])
                self._run_in_order(command["from"], command["attempt"])
            elif verb == "rerun":
                self._measure_if(command["measure"])
                self._rerun(command["test"], command["then"], command["attempt"])
            elif verb == "snapshot":
                self._copy_self(command)
            elif verb == "look":
                self._look()
            elif verb == "bye":
                break

    def _leave_if_unguarded(self):
        """End if a test killed the guard: that is the outcome of the test, and no other runs here."""
        if self.agent.guard.is_dying():
            os._exit(71)

    def _look(self):
        known = set(sys.modules)
        from flakeproof_agent.state import picture

        self._brought |= sys.modules.keys() - known
        things = picture(self._root(), self._brought)
        self.agent.link.send({"say": "state", "things": things})

    def _measure_if(self, is_wanted):
        self._is_measuring = is_wanted
        if is_wanted and self._measure is None:
            from flakeproof_agent.measure import Measure

            self._measure = Measure(self.session.config)

    def _begin_order(self, tests, is_open, next_test):
        self.order = tests
        self.is_open = is_open
        self.next = next_test
        if not tests or self._leave_what_is_not_shared_with(self.session.items[tests[0]]):
            self.agent.link.send({"say": "ready"})

    def _leave_what_is_not_shared_with(self, item):
        """Tear down what this item does not use, as if pytest had known that it comes next.

        True if that went well. An error here would be the last test's, which is reported already:
        so this interpreter is no place for the item, and flakeproof is told.
        """
        try:
            self.session._setupstate.teardown_exact(item)
        except BaseException as reason:
            self.agent.link.send({"say": "spoilt", "reason": _in_one_line(reason)})
            return False
        return True

    def _run_in_order(self, start, attempt):
        """Run ahead without being asked again, until a test fails: then flakeproof decides."""
        os.environ["FLAKEPROOF_ATTEMPT"] = str(attempt)
        for position in range(start, len(self.order)):
            if self._is_stopping():
                self.agent.link.send({"say": "stopped", "reason": self._is_stopping()})
                return
            here = self.order[position]
            then = self.order[position + 1] if position + 1 < len(self.order) else self.next
            if not self._execute(here, then):
                return

    def _rerun(self, test, then, attempt):
        os.environ["FLAKEPROOF_ATTEMPT"] = str(attempt)
        item = self.session.items[test]
        self.is_silent = True
        try:
            make_ready_again(item)
            if self._leave_what_is_not_shared_with(item):
                self._execute(test, then)
        finally:
            self.is_silent = False

    def _execute(self, test, then):
        """Run one test and send what happened; True if it did not fail."""
        item = self.session.items[test]
        nextitem = self._item_after(item, then)
        remember_for_reruns(item)
        self.reports = []
        if self._is_measuring:
            self._measure.begin()
        begin = time.perf_counter()
        self.agent.workers.enter(item.config)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        except (KeyboardInterrupt, pytest.exit.Exception) as reason:
            if self.agent.link.has_news():  # The user's interrupt comes with a goodbye.
                self.agent.link.send({"say": "interrupted", "test": test, "reason": repr(reason)})
                raise
            self._fail_with(item, nextitem, reason)
        finally:
            self.agent.workers.leave(item.config)
        seconds = time.perf_counter() - begin
        self._leave_if_unguarded()
        measured = self._measure.end() if self._is_measuring else None
        message = result_message(item, self.reports)
        message["test"] = test
        message["seconds"] = seconds
        if self.agent.probe is not None:
            message["dependencies"] = self.agent.probe.findings(item.config)
        if measured is not None:
            message["measured"] = measured
        self.agent.link.send(message)
        return message["outcome"] in ("passed", "skipped")

    def _item_after(self, item, then):
        """What pytest is told about the test after this one: it decides what stays set up."""
        if then is not None:
            return self.session.items[then]
        return Undecided(item) if self.is_open else None

    def _fail_with(self, item, nextitem, reason):
        """Make what would end plain pytest a failure of the test that raised it.

        After a `KeyboardInterrupt` of its own the suite goes on; `pytest.exit` is a wish.
        """
        if isinstance(reason, pytest.exit.Exception) and not self.is_silent:
            self.exit = reason
            self.session.shouldstop = f"a test called pytest.exit: {reason}"
        seen = {report.when for report in self.reports if report.nodeid == item.nodeid}
        when = next((it for it in ("setup", "call") if it not in seen), "teardown")
        call = CallInfo.from_call(lambda: _raise(reason), when=when)
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        if self.is_silent:
            self.reports.append(report)
        else:
            item.ihook.pytest_runtest_logreport(report=report)
        if when != "teardown":
            log = not self.is_silent
            rest = call_and_report(item, "teardown", log=log, nextitem=nextitem)
            self.reports.extend([] if log else [rest])
        forget_request(item)

    def _is_stopping(self):
        return self.session.shouldfail or self.session.shouldstop

    def _collection_failed(self):
        option = self.session.config.option
        return self.session.testsfailed and not option.continue_on_collection_errors

    def _root(self):
        return str(getattr(self.session.config, "rootpath", None) or self.session.config.rootdir)

    def _send_collected(self):
        self.agent.link.send(
            {
                "say": "collected",
                "root": self._root(),
                "tests": [_described(item) for item in self.session.items],
                "problems": self.agent.problems,
                "goes_on": not self._collection_failed(),
                "collect_only": bool(self.session.config.option.collectonly),
                "threads": threading.active_count(),
                "selectors": list(getattr(self.session.config.option, "file_or_dir", None) or []),
                "for_order": _options_for_order(self.session.config.option),
                "workers": self.agent.workers.asked,
            }
        )

    # Copies of this process.

    def _make_zygote(self):
        """Keep a copy of this process from before the first test, to make environments from."""
        if threading.active_count() > 1:
            return  # A fork would copy locks that no thread is left to release.
        if _fork_away():
            return
        self.agent.link = Link(self.agent.order["socket"])
        self.agent.link.send({"say": "hello", "name": "zygote", "pid": os.getpid()})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.agent.guard = self.agent.guard.again()
        nowhere = os.open(os.devnull, os.O_RDWR)
        _let_go_of(self._streams, nowhere)
        os.close(nowhere)
        while True:
            command = self.agent.link.receive()
            if command is None or command["do"] == "bye":
                os._exit(0)
            self._leave_if_unguarded()
            self._copy_self(command)

    def _copy_self(self, command):
        """Fork; the copy serves on its own link until it is told to end, and never returns."""
        if threading.active_count() > 1:
            # A copy has none of them, and locks that nobody is left to release.
            self.agent.link.send({"say": "spoilt", "reason": "threads are running"})
            return
        if _fork_away():
            return
        try:
            self._live_as_copy(command)
        except BaseException:  # Whatever happens, a copy must not go on as its original would.
            self.agent.link.send({"say": "trouble", "text": traceback.format_exc()})
        finally:
            os._exit(0)

    def _live_as_copy(self, command):
        self.is_copy = True
        if self.agent.probe is not None:
            self.agent.probe.forget_what_was_told()
        self.agent.guard = self.agent.guard.again()
        self._stop_for_no_failure()
        if self._measure is not None:
            self._measure.forget_names()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._own_output(command["scratch"])
        self._own_chance()
        self.agent.workers.become(command["worker"])
        self.use_scratch(self.session.config, command["scratch"])
        self._watch_for_hangs(command["scratch"])
        self.agent.link = Link(self.agent.order["socket"])
        self.agent.link.send({"say": "hello", "name": command["name"], "pid": os.getpid()})
        self._obey()
        self.session._setupstate.teardown_exact(None)

    def _stop_for_no_failure(self):
        """Lift `--maxfail`: it is a wish for the user's own session."""
        self.session.config.option.maxfail = 0

    def _own_output(self, scratch):
        """Send what this copy prints to its own file, and capture into its own buffers.

        The original's capture file is shared with the copy, offset and all: reading it here
        would take output away there.
        """
        manager = self.session.config.pluginmanager.getplugin("capturemanager")
        capturing = manager is not None and manager._global_capturing
        if capturing:
            capturing.stop_capturing()
            manager._global_capturing = None
        output = os.open(
            os.path.join(scratch, "output"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
        )
        os.dup2(output, 1)
        os.dup2(output, 2)
        _let_go_of(self._streams, output)
        os.close(output)
        if faulthandler.is_enabled():
            faulthandler.enable(file=2)
        if capturing:
            manager.start_global_capturing()

    def _own_chance(self):
        """Draw new chance, as a new interpreter would, unless the project fixed it by a seed."""
        if random.getstate()[1][:-1] == self._seeded_by:
            random.seed()

    def use_scratch(self, config, scratch):
        """Put temporary files where they disturb nobody; flakeproof removes the folder."""
        factory = getattr(config, "_tmp_path_factory", None)
        if factory is not None:
            factory._basetemp = None
            factory._given_basetemp = Path(scratch, "tmp")

    def _watch_for_hangs(self, scratch):
        if STACKS_SIGNAL is not None:
            # Kept open for the signal handler, which cannot open files. No file object: a suite that
            # makes errors of warnings would hear of it when it is collected.
            path = os.path.join(scratch, "stacks")
            before, self._stacks = self._stacks, os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            faulthandler.register(STACKS_SIGNAL, file=self._stacks, all_threads=True)
            if before is not None:
                os.close(before)


def _fork_away():
    """Fork twice, so that this process has no child that a test could wait for.

    True in this process, False in the copy, which leads a process group of its own.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    chance = random.getstate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        middle = os.fork()
        if middle:
            os.waitpid(middle, 0)
            return True
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            os._exit(1)
    os.setpgid(0, 0)
    # Python seeds anew in every child; whether a copy should is for its user to decide.
    random.setstate(chance)
    return False


def _pipes_of_output():
    """What stdout and stderr lead to, as far as somebody may wait for their end."""
    pipes = set()
    for stream in (1, 2):
        try:
            status = os.fstat(stream)
        except OSError:
            continue
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            pipes.add((status.st_dev, status.st_ino))
    return pipes


def _let_go_of(pipes, instead):
    """Lead all descriptors of the original's output elsewhere.

    In `pytest | tee log` the reader goes on until nobody can write any more, and so would the
    command that waits for it.
    """
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        descriptors = [1, 2]
    for descriptor in descriptors:
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) in pipes:
                os.dup2(instead, descriptor, inheritable=descriptor <= 2)
        except OSError:
            pass  # The descriptor of the listing itself is gone.


def _raise(reason):
    raise reason


def _in_one_line(reason):
    return " ".join("".join(traceback.format_exception_only(type(reason), reason)).split())


def _options_for_order(option):
    """What a command line needs, so that all its tests run, and in the order of their ids.

    Each plugin has its own way to be told. Turned off as a whole it would not know its options in
    the project's configuration, nor do the rest of its work, which tests may rely on.
    """
    options = []
    if getattr(option, "maxfail", 0):
        options.append("--maxfail=0")
    if getattr(option, "randomly_reorganize", False):
        options.append("--randomly-dont-reorganize")
    if getattr(option, "random_order_bucket", None):
        options.append("--random-order-bucket=none")
    return options


def _described(item):
    file, line, _ = item.location
    path = getattr(item, "path", None) or getattr(item, "fspath", None)
    line = None if line is None else line + 1
    return [item.nodeid, str(path) if path else None, file, line, case_of(item)]
