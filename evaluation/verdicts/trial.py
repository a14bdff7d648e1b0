"""Running a suite: plainly, and by flakeproof; and making and undoing a mutant."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from suites import git

#: Words of evidence that are kept of each failure, and failures that are kept of each run.
KEPT = 12


class Plain:
    """How the suite ended without flakeproof: its exit code, and the tests that failed."""

    def __init__(self, code, failed, seconds, timed_out, output):
        self.code = code
        self.failed = failed
        self.seconds = seconds
        self.timed_out = timed_out
        self.output = output

    def stopped_before_tests(self, suite):
        """Whether no test failed: pytest ends with 2 when it cannot collect a file."""
        return not self.failed or (suite.runner == "pytest" and self.code == 2)

    def does_not_compile(self):
        words = ("[build failed]", "could not compile", "COMPILATION ERROR", "[setup failed]")
        return any(word in self.output for word in words)


def run_plain(suite, installed=False, limit=60):
    """One run as the user would make it, with the runner's own report beside it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        words = suite.command(installed)
        if suite.runner == "pytest":
            words = [*words, "--tb=no", "--junitxml={}".format(report)]
        elif suite.runner == "go":
            words = [*words[:2], "-json", *words[2:]]
        elif suite.runner == "jest":
            words = [*words, "--json", "--outputFile={}".format(report)]
        elif suite.runner == "maven":
            shutil.rmtree(suite.project / "target" / "surefire-reports", ignore_errors=True)
        code, output, seconds = run_limited(words, suite.project, limit)
        failed = FAILED[suite.runner](suite, report, output)
    return Plain(code, sorted(failed), seconds, code is None, output)


def _failed_cases(report):
    if not report.exists():
        return
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield "{}#{}".format(case.get("classname"), case.get("name"))


def _failed_pytest(_suite, report, _output):
    return set(_failed_cases(report))


def _failed_maven(suite, _report, _output):
    reports = (suite.project / "target" / "surefire-reports").glob("TEST-*.xml")
    return {name for report in reports for name in _failed_cases(report)}


def _failed_go(_suite, _report, output):
    found = re.findall(r'"Action":"fail",.*?"Test":"([^"]+)"', output)
    return set(found)


def _failed_cargo(_suite, _report, output):
    return set(re.findall(r"^test (\S+) .*?\.\.\. FAILED$", output, re.M))


def _failed_jest(_suite, report, _output):
    if not report.exists():
        return set()
    files = json.loads(report.read_text(encoding="utf-8"))["testResults"]
    tests = [test for file in files for test in file["assertionResults"]]
    return {test["fullName"] for test in tests if test["status"] == "failed"}


FAILED = {
    "pytest": _failed_pytest,
    "maven": _failed_maven,
    "go": _failed_go,
    "cargo": _failed_cargo,
    "jest": _failed_jest,
}


def run_flakeproof(binary, suite, store, installed=False, limit=600, options=()):
    """What flakeproof says of the suite as it lies there; `store` is its history."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        words = [str(binary), "run", "--color", "never", "--store", str(store)]
        words += ["--reporter", "json={}".format(report), *options, "--", *suite.command(installed)]
        code, output, seconds = run_limited(words, suite.project, limit)
        found = {"exit": code, "seconds": round(seconds, 2), "output": output[-3000:]}
        if report.exists():
            found.update(summary(json.loads(report.read_text(encoding="utf-8"))))
        return found


def summary(report):
    """The verdicts of a report with the words of their evidence, and how many executions it took."""
    failing = [test for test in report["tests"] if test["verdict"]]
    counts = {}
    for test in failing:
        counts[test["verdict"]] = counts.get(test["verdict"], 0) + 1
    return {
        "verdicts": counts,
        "executions": sum(len(test["attempts"]) for test in report["tests"]),
        "reruns": sum(len(test["attempts"]) - 1 for test in failing),
        "tests": [
            {
                "id": test["id"],
                "outcome": test["outcome"],
                "verdict": test["verdict"],
                "kind": test["kind"],
                "evidence": [words_of(piece) for piece in test["evidence"]],
                "attempts": [
                    "{}/{}:{}".format(it["stage"], it["isolation"], it["outcome"])
                    for it in test["attempts"]
                ][:KEPT],
            }
            # Unknown ones are named in the results, so they are kept first.
            for test in sorted(failing, key=lambda it: it["verdict"] == "real")[:KEPT]
        ],
        "notices": [notice["what"] for notice in report["notices"]],
    }


def words_of(piece):
    """A piece of evidence in one line: its type, and whatever words and numbers it carries."""
    shown = []
    for key, value in piece.items():
        if key != "type" and isinstance(value, (str, int, bool)):
            shown.append("{} {}".format(key, value))
        elif key in ("files", "changed") and isinstance(value, list):
            shown.append("{} {}".format(key, ", ".join(map(str, value[:3]))))
    return "{}: {}".format(piece.get("type"), "; ".join(shown))[:400]


def run_limited(words, where, limit):
    """`(code, output, seconds)`; the code is None when it ran longer than `limit` seconds."""
    began = time.perf_counter()
    child = subprocess.Popen(
        words, cwd=where, env=variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=limit)
        code = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        code = None
    return code, output, time.perf_counter() - began


def variables():
    """The environment without what would lead another Python, or flakeproof, astray."""
    strange = ("PYTHON", "FLAKEPROOF", "CARGO_TARGET_DIR")
    return {name: it for name, it in os.environ.items() if not name.startswith(strange)}


class Applied:
    """A mutant, made in a copy of its suite, and undone at the end of the `with`."""

    def __init__(self, mutant, suite, origin):
        self.mutant = mutant
        self.suite = suite
        self.path = suite.home / mutant.path.relative_to(origin.home)

    def __enter__(self):
        self.before = self.path.read_bytes()
        self.times = os.stat(self.path)
        self._write(self.mutant.content, self.mutant.keeps_time)
        if self.mutant.committed:
            git(self.suite, "checkout", "-q", "-b", "work")
            git(self.suite, "commit", "-q", "-a", "-m", "a change")
        return self

    def __exit__(self, *_trouble):
        if self.mutant.committed:
            git(self.suite, "checkout", "-q", "-f", "main")
            git(self.suite, "branch", "-q", "-D", "work")
        self._write(self.before, not self.mutant.tracked or self.suite.runner == "pytest")
        git(self.suite, "checkout", "-q", ".")
        git(self.suite, "clean", "-fdq")

    def _write(self, content, keeps_time):
        self.path.write_bytes(content)
        if keeps_time:
            os.utime(self.path, ns=(self.times.st_atime_ns, self.times.st_mtime_ns))
        # A cached compilation of the same size and time would be taken for this one.
        for cached in (self.path.parent / "__pycache__").glob(self.path.stem + ".*"):
            cached.unlink()
