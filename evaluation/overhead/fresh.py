"""The cost of one test in a fresh environment: a fork against a new `python -m pytest TESTID`.

Measured on suites whose imports take a second or more, which is where the difference matters. The
test files lie in the wheels of the packages, so the packages' folder is where pytest starts.
"""

import json
import subprocess
import time

from measure import environment, spread
from subject import make_environment

PYTEST = "pytest==8.3.5"
# A fork has to cost at most this share of a new pytest.
SHARE = 1 / 20
OPTIONS = ["-q", "-p", "no:cacheprovider", "--rootdir=."]
SUITES = [
    {
        "name": "scikit-learn",
        "version": "1.9.1",
        "requirements": ["scikit-learn==1.9.1", "scipy==1.17.1", "pandas==3.1.1", "numpy==2.4.6"],
        "file": "sklearn/tests/test_base.py",
        "test": "sklearn/tests/test_base.py::test_clone",
    },
    {
        "name": "scipy",
        "version": "1.17.1",
        "requirements": ["scipy==1.17.1", "numpy==2.4.6", "hypothesis==6.170.15"],
        "file": "scipy/stats/tests/test_variation.py",
        "test": "scipy/stats/tests/test_variation.py::TestVariation::test_ddof[numpy]",
    },
]


class FreshFailed(Exception):
    """A command did not do what is measured; the message says which."""


def measure_fresh(suite, work, fresh_binary, blocks, repetitions):
    """Blocks of forks and spawns by `fresh_binary`, and of new pytest processes, in turn."""
    home = work / "fresh-{}-{}".format(suite["name"], suite["version"])
    python = make_environment(home, [PYTEST, *suite["requirements"]])
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    pytest = [str(python), "-m", "pytest", *OPTIONS]
    timed = {"pytest": [], "fork": [], "spawn": [], "discover": []}
    _seconds([*pytest, suite["test"]], packages)
    for block in range(blocks):
        for is_ours in (block % 2 == 0, block % 2 == 1):
            if not is_ours:
                timed["pytest"] += [
                    _seconds([*pytest, suite["test"]], packages) for _ in range(repetitions)
                ]
            elif fresh_binary is not None:
                ours = [fresh_binary, repetitions, suite["test"], "--", *pytest, suite["file"]]
                told = _ask(ours, packages)
                timed["fork"] += told["fork_seconds"]
                timed["spawn"] += told["spawn_seconds"]
                timed["discover"].append(told["discover_seconds"])
    return {
        "suite": suite["name"],
        "version": suite["version"],
        "test": suite["test"],
        "seconds": timed,
        "summary": _summarise(timed),
    }


def _summarise(timed):
    summary = {name: spread(values) for name, values in timed.items() if values}
    if timed["fork"]:
        summary["fork_share"] = summary["fork"]["median"] / summary["pytest"]["median"]
        summary["holds"] = summary["fork_share"] <= SHARE
    return summary


def _seconds(command, where):
    """Wall time of a pytest run, which has to pass."""
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=where, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise FreshFailed("`{}` ended with {}".format(" ".join(command), done.returncode))
    return seconds


def _ask(command, where):
    command = [str(word) for word in command]
    done = subprocess.run(
        command, cwd=where, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    if done.returncode != 0:
        raise FreshFailed("`{}` ended with {}".format(" ".join(command), done.returncode))
    return json.loads(done.stdout.decode("utf-8").splitlines()[-1])
