"""Every finding of some prediction reports as a table, and how many suspects there are."""

import json
import pathlib
import sys

tests = suspects = 0
for name in sorted(sys.argv[1:]):
    report = json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
    tests += len(report["tests"])
    suspects += sum(test["flaky"] for test in report["tests"])
    for test in report["tests"]:
        for rule in test["rules"]:
            place = f"{test['file']}:{rule['line']}"
            print(pathlib.Path(name).stem, rule["id"], place, sep="\t")
print(f"# {suspects} suspects of {tests} tests")
