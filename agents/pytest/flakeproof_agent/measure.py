"""What a test uses and covers, from the start of its set-up to the end of its teardown.

Counts of the kernel are taken before and after; threads and processes are counted when one
starts, which is when there are most of them.
"""

import _thread
import os
import resource
import sys
import threading

from flakeproof_agent import cover
from flakeproof_agent.children import Children

#: From Python 3.12.
THREAD_EVENTS = ("_thread.start_new_thread", "_thread.start_joinable_thread")

PROCESS_EVENTS = (
    "subprocess.Popen",
    "os.system",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
)


class Measure:
    """Measures one test after the other; audit hooks cannot be removed."""

    def __init__(self, config):
        self._cover = cover.start(config)
        self._children = Children()
        self._max_threads = 0
        self._waits = _accounts_for_waiting()
        self._numbers = {}
        self._before = None
        self._watch_starts()

    def forget_names(self):
        """Whoever hears of the next test has heard of no file."""
        self._numbers.clear()

    def begin(self):
        """A test begins."""
        self._children.begin()
        self._max_threads = 1 + _thread._count()
        self._cover.begin()
        _forget_peak_memory()
        self._before = (_waited() if self._waits else None, _usage())

    def end(self):
        """The test is over: what it used and covered, as the protocol writes it."""
        after = _usage()
        lines, reason = self._cover.end()
        waited, before = self._before
        reads, writes, switches = (now - then for now, then in zip(after, before))
        message = {
            "read_count": reads,
            "write_count": writes,
            "context_switches": switches,
            "max_threads": max(self._max_threads, 1 + _thread._count()),
            "max_children": self._children.end(),
            "max_memory": _peak_memory(),
        }
        if waited is not None:
            message["wait_time"] = _waited() - waited
        if lines is None:
            message["lines_unknown"] = reason
        else:
            self._add_lines(message, lines)
        return message

    def _add_lines(self, message, lines):
        numbers, files = self._numbers, []
        for file in lines:
            if file not in numbers:
                numbers[file] = len(numbers)
                files.append(os.path.realpath(file))
        if files:
            message["files"] = files
        message["lines"] = [[numbers[file], _ranges(ran)] for file, ran in lines.items()]

    def _watch_starts(self):
        heard = dict.fromkeys(THREAD_EVENTS, self._hear_thread)
        heard.update(dict.fromkeys(PROCESS_EVENTS, self._children.will_start))
        heard["exec"] = lambda arguments: self._cover.hear_code(arguments[0])
        find = heard.get

        def hear(event, arguments):
            listener = find(event)
            if listener is not None:
                # An exception here would end up in the user's code.
                try:
                    listener(arguments)
                except Exception:
                    pass

        sys.addaudithook(hear)
        _watch_processes(self._children.did_start)
        if sys.version_info < (3, 12):
            _watch_threads(self._hear_thread)

    def _hear_thread(self, _=None):
        # The main thread, those that run, and the one that is about to.
        self._max_threads = max(self._max_threads, 2 + _thread._count())


def _watch_threads(will_start):
    """Threads start without an audit event before Python 3.12."""
    start = _thread.start_new_thread

    def watched(*arguments, **named):
        will_start()
        return start(*arguments, **named)

    _thread.start_new_thread = threading._start_new_thread = watched


def _watch_processes(did_start):
    """multiprocessing's `spawn` and `forkserver` start processes without an audit event."""
    try:
        import _posixsubprocess
    except ImportError:
        return
    fork_exec = _posixsubprocess.fork_exec

    def watched(*arguments):
        pid = fork_exec(*arguments)
        did_start()
        return pid

    _posixsubprocess.fork_exec = watched


def _usage():
    own = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        own.ru_inblock + ended.ru_inblock,
        own.ru_oublock + ended.ru_oublock,
        own.ru_nvcsw + ended.ru_nvcsw,
    )


def _ranges(lines):
    """`[first, last, first, last, …]` of sorted lines."""
    ranges = []
    first = last = None
    for line in lines:
        if last is not None and line == last + 1:
            last = line
            continue
        if last is not None:
            ranges += (first, last)
        first = last = line
    if last is not None:
        ranges += (first, last)
    return ranges


# The kernel's own accounts.


def _accounts_for_waiting():
    """Whether this kernel counts the time that a process waits for disks."""
    try:
        return _read("/proc/sys/kernel/task_delayacct").strip() == b"1"
    except OSError:
        pass
    # Kernels before 5.14 have no switch. Most count; one that does has something to show.
    try:
        return _waited() > 0
    except (OSError, ValueError, IndexError):
        return False


def _waited():
    """Seconds that the main thread waited for disks (field 42 of its status)."""
    fields = _read("/proc/self/stat").rpartition(b")")[2].split()
    return int(fields[39]) / os.sysconf("SC_CLK_TCK")


def _forget_peak_memory():
    try:
        descriptor = os.open("/proc/self/clear_refs", os.O_WRONLY)
    except OSError:
        return
    try:
        os.write(descriptor, b"5")
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _peak_memory():
    """Bytes in use at the peak since it was forgotten."""
    try:
        status = _read("/proc/self/status")
        return int(status.partition(b"VmHWM:")[2].split(None, 1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _read(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 8192)
    finally:
        os.close(descriptor)
