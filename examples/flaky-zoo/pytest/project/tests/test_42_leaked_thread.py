"""A test leaves a thread running."""

import threading

from zoo import watch


def test_polluter_leaves_a_thread_running():
    assert not watch.start().is_set()


def test_victim_of_the_leaked_thread():
    others = [thread.name for thread in threading.enumerate()]
    others.remove(threading.main_thread().name)
    assert others == []
