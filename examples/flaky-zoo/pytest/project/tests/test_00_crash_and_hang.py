"""First in the order, because each of these ends the process it runs in."""

import ctypes
import threading


def test_crash_by_segfault_every_time():
    ctypes.string_at(0)


def test_hang_waits_for_an_event_that_never_comes():
    threading.Event().wait()
