"""What coverage.py and git say about each test of a suite, as JSON on stdout.

    coverage_of_tests.py [--changes] PYTEST-ARGUMENTS...

Runs pytest with pytest-cov and one context per test and phase, and adds up the phases. With
`--changes`, asks `git log -L` about every covered line. Nothing here knows flakeproof.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

SETTINGS = """[run]
branch = False
source = .
data_file = {}
"""


class Collected:
    """Notes which files hold a collected test."""

    files = set()

    def pytest_collection_finish(self, session):
        for item in session.items:
            path = str(getattr(item, "path", None) or item.fspath)
            written = os.path.join(str(session.config.rootdir), item.location[0])
            self.files.update(map(os.path.realpath, (path, written)))


def main():
    import pytest

    arguments = sys.argv[1:]
    wants_changes = arguments[:1] == ["--changes"]
    with tempfile.TemporaryDirectory() as scratch:
        data_file = os.path.join(scratch, "data")
        settings = os.path.join(scratch, "settings")
        with open(settings, "w") as file:
            file.write(SETTINGS.format(data_file))
        options = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
        sys.stdout, stdout = sys.stderr, sys.stdout
        pytest.main(options + arguments[wants_changes:], plugins=[Collected()])
        tests = lines_of_tests(data_file)
    changes = Changes() if wants_changes else None
    json.dump({test: described(files, changes) for test, files in tests.items()}, stdout)


def lines_of_tests(data_file):
    """The covered lines as pairs of file and line, by test."""
    import coverage

    data = coverage.CoverageData(data_file)
    data.read()
    tests = collections.defaultdict(set)
    for file in data.measured_files():
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in contexts:
                test = context.rpartition("|")[0]
                # The code of an empty module is on line 0 for some interpreters.
                if test and line > 0:
                    tests[test].add((os.path.realpath(file), line))
    return tests


def described(lines, changes):
    answer = {
        "covered_lines": len(lines),
        "source_covered_lines": sum(file not in Collected.files for file, _ in lines),
    }
    if changes is not None:
        answer["covered_changes"] = sum(changes.of(file, line) for file, line in lines)
    return answer


class Changes:
    """Asks git about one line at a time."""

    def __init__(self):
        self._known = {}
        count = int(git("rev-list", "--count", "--first-parent", "HEAD"))
        self._range = "HEAD~75..HEAD" if count > 75 else "HEAD"

    def of(self, file, line):
        if (file, line) not in self._known:
            where = "-L{0},{0}:{1}".format(line, os.path.relpath(file))
            listed = git("log", "-s", "--format=%H", "--first-parent", where, self._range)
            self._known[file, line] = len(listed.split())
        return self._known[file, line]


def git(*question):
    return subprocess.run(["git", *question], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
