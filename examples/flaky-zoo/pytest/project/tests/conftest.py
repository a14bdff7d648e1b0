"""Fixtures that more than one file uses. Nothing of `zoo` is imported here: what this file imports
belongs to every test."""

import socket
import subprocess
import sys

import pytest

BACKUP_JOB = """
import socket, sys
held = socket.socket()
held.bind(("127.0.0.1", int(sys.argv[1])))
held.listen(1)
print("holding", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(scope="session")
def till_port():
    """The port the till uses in this process; free when the first test asks for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class BackupJob:
    """A child process that holds a port until it is told to finish."""

    def __init__(self):
        self._process = None

    def start(self, port):
        self._process = subprocess.Popen(
            [sys.executable, "-c", BACKUP_JOB, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            universal_newlines=True,
        )
        return self._process.stdout.readline().strip()

    def finish(self):
        """The exit status of the job, or None when none was started."""
        if self._process is None:
            return None
        self._process.communicate("finish\n")
        status, self._process = self._process.returncode, None
        return status


@pytest.fixture(scope="session")
def backup_job():
    job = BackupJob()
    yield job
    job.finish()


@pytest.fixture(scope="session")
def shop_name():
    return "The Zoo Shop"
