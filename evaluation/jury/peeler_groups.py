#!/usr/bin/env python3
"""Shows that the inputs of PEELER's published evaluation name the labels.

    peeler_groups.py PEELER TESTS.jsonl SOURCES OUT.jsonl > peeler-groups.json

PEELER is a clone of github.com/IntHelloWorld/Peeler (85678fe0). Its benchmark has a line for each run
of tests of a class with the same label, and its extractor (`FunctionVisitor`, `MethodContent`) keeps one
list for all tests of a line: each gets the paths of the one that was read last. OUT has the tests of
TESTS.jsonl, each with the method of the test that it would get its paths from, so that `evaluate peeler`
can be asked what that is worth.
"""

import collections
import csv
import json
import pathlib
import re
import sys


def main(peeler, tests, sources, out):
    benchmark = list(csv.reader(open(peeler / "benchmark/FlakeFlagger_benchmark.csv")))[1:]
    groups = [(row[0], row[2], row[3].split("."), row[4] == "1") for row in benchmark]
    verdicts = {}
    results = peeler / "evaluation/10FoldCrossValidation/test_result.csv"
    for project, file, method, verdict in csv.reader(open(results)):
        verdicts.setdefault((project, file, method), verdict)
    print(json.dumps(judged(groups, verdicts), indent=2))
    exchange(groups, tests, sources, out)


def judged(groups, verdicts):
    """How PEELER's verdicts agree inside its groups, and what they are worth in large and in small ones."""
    labels = collections.defaultdict(set)
    for project, file, methods, flaky in groups:
        labels[project, file].add(flaky)
    found = []
    for project, file, methods, flaky in groups:
        own = [verdicts[key] for method in methods if (key := (project, file, method)) in verdicts]
        if own:
            found.append((own, len(labels[project, file]) == 2, flaky))
    several = [group for group in found if len(group[0]) > 1]
    mixed = [group for group in several if group[1]]
    return {
        "tests_with_a_verdict": sum(len(own) for own, _, _ in found),
        "groups": len(found),
        "groups_of_several": agreement(several),
        "groups_of_several_in_classes_with_both_labels": agreement(mixed),
        "verdicts_in_groups_of_several": worth(several),
        "verdicts_in_groups_of_several_in_classes_with_both_labels": worth(mixed),
        "verdicts_on_tests_alone_in_their_group": worth([g for g in found if len(g[0]) == 1]),
        "verdicts_on_tests_alone_in_classes_with_both_labels": worth(
            [g for g in found if len(g[0]) == 1 and g[1]]),
    }


def agreement(groups):
    same = sum(len(set(own)) == 1 for own, _, _ in groups)
    return {"groups": len(groups), "all_tests_have_the_same_verdict": same}


def worth(groups):
    counts = collections.Counter(verdict for own, _, _ in groups for verdict in own)
    tp, fp, fn = counts["TP"], counts["FP"], counts["FN"]
    return {
        **{name.lower(): counts[name] for name in ("TP", "FP", "FN", "TN")},
        "precision": tp / max(1, tp + fp),
        "recall": tp / max(1, tp + fn),
        "f1": 2 * tp / max(1, 2 * tp + fp + fn),
    }


def exchange(groups, tests, sources, out):
    """Write the tests, each with the method of the last test of its group in the order of its file."""
    lines = [json.loads(line) for line in open(tests, encoding="utf-8")]
    place = collections.defaultdict(list)
    for at, test in enumerate(lines):
        place[test["file"], test["method"].split("[")[0]].append(at)
    texts = {}
    for _, file, methods, flaky in groups:
        members = [at for method in methods for at in place[file, method] if lines[at]["flaky"] == flaky]
        if not members:
            continue
        project = lines[members[0]]["project"]
        path = sources / project / file
        if path not in texts:
            texts[path] = path.read_text(errors="replace") if path.is_file() else ""

        def position(at):
            declared = re.search(rf"\bvoid\s+{re.escape(lines[at]['method'].split('[')[0])}\s*\(", texts[path])
            return declared.start() if declared else -1

        method = lines[max(members, key=position)]["method"]
        for at in members:
            lines[at] = {**lines[at], "method": method}
    with open(out, "w", encoding="utf-8") as file:
        for test in lines:
            file.write(json.dumps(test, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
