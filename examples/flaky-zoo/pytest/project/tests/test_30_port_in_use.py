"""A backup job holds the till's port for a while: three tests fail together, and pass later."""

from zoo.till import open_till


def test_backup_job_starts_and_takes_the_port(backup_job, till_port):
    assert backup_job.start(till_port) == "holding"


def test_bursty_port_in_use_when_selling(till_port):
    with open_till(till_port) as till:
        assert till.getsockname()[1] == till_port


def test_bursty_port_in_use_when_refunding(till_port):
    with open_till(till_port) as till:
        assert till.fileno() >= 0


def test_bursty_port_in_use_when_counting(till_port):
    with open_till(till_port) as till:
        assert till.getsockname()[0] == "127.0.0.1"


def test_backup_job_finishes_and_frees_the_port(backup_job):
    assert backup_job.finish() in (0, None)
