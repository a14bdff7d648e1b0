"""Each test expects to be fast, or another thread or process to be."""

import threading
import time


def test_quota_answer_comes_in_time():
    begin = time.monotonic()
    time.sleep(0.1)
    assert time.monotonic() - begin < 0.6


def test_quota_timeout_too_short():
    done = threading.Event()

    def work():
        for _ in range(10):
            time.sleep(0.02)
        done.set()

    threading.Thread(target=work, daemon=True).start()
    assert done.wait(0.7)


def test_quota_fixed_sleep_before_a_look():
    result = []

    def work():
        total = 0
        for number in range(300_000):
            total += number
        result.append(total)

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.6)
    assert result
