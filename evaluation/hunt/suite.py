"""Running a suite: by flakeproof, and by plain pytest in a new process."""

import json
import os
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def hunt(subject, typed, *options):
    """What `flakeproof hunt` reports, and how long it took."""
    restore(subject)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "hunt.json")
        command = [
            str(typed.flakeproof), "hunt", "--seed", str(typed.seed),
            "--store", str(Path(folder, "history.db")), "--reporter", f"json={report}",
            *options, "--", str(subject.python), "-m", "pytest", *subject.arguments,
            *getattr(subject, "selection", []),
        ]
        began = time.perf_counter()
        done = subprocess.run(
            command, cwd=subject.project, env=variables(), capture_output=True, text=True
        )
        seconds = time.perf_counter() - began
        if done.returncode not in (0, 1, 5):
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
        return json.loads(report.read_text(encoding="utf-8")), seconds


def last_fails(subject, order):
    """Whether the last of these tests fails after the others, in a new pytest process."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            str(subject.python), "-m", "pytest", *subject.arguments, f"--junitxml={report}", *order
        ]
        subprocess.run(command, cwd=subject.project, env=variables(), capture_output=True)
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    if len(cases) < len(order):
        return None
    # An error of the teardown has a case of its own with the same name.
    named = [case for case in cases if case.get("name") == cases[-1].get("name")]
    return any(case.find(tag) is not None for case in named for tag in ("failure", "error"))


def restore(subject):
    """Take away what tests left in the project: some behave otherwise when it is there."""
    if not Path(subject.project, ".git").exists():
        return
    for words in (["checkout", "-q", "."], ["clean", "-fdq"]):
        subprocess.run(["git", *words], cwd=subject.project, check=True)


def variables():
    """The environment without what would lead another Python astray."""
    return {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
