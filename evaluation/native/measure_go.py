"""Go: hunts over modules with known order-dependent tests, pairs a second, outcomes and overhead.

Everything that a hunt reports is checked here once more without flakeproof: by a test binary that
`go test -c` builds, with `-test.shuffle` and the first seed that runs the tests in the wanted order.
"""

import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

# Modules with many tests, of those that were clean under many shuffles.
CLEAN = [
    ("github.com/spf13/cobra", "v1.8.1"),
    ("github.com/labstack/echo/v4", "v4.12.0"),
    ("github.com/thoas/go-funk", "v0.9.3"),
    ("github.com/sirupsen/logrus", "v1.9.3"),
    ("github.com/gin-gonic/gin", "v1.10.0"),
    ("github.com/rs/zerolog", "v1.33.0"),
]
# A module of few and quick tests, for pairs a second.
QUICK = "github.com/jinzhu/inflection"
# So often plain runs repeat a test that a hunt reports as flaky on its own.
REPEATS = 3000


def main(arguments):
    parser = argparse.ArgumentParser(prog="run --ecosystem go")
    parser.add_argument("--flakeproof", required=True, type=Path, help="the program")
    parser.add_argument("--subjects", required=True, type=Path, help="the list of known tests, JSON")
    parser.add_argument("--work", type=Path, help="a folder to work in, kept [default: a new one]")
    parser.add_argument("--budget", default="60s", help="of each hunt")
    parser.add_argument("--only", help="a part of a module's name")
    parser.add_argument("--parts", default="hunts,pairs,clean", help="what to measure")
    options = parser.parse_args(arguments)
    options.flakeproof = options.flakeproof.resolve()
    options.subjects = json.loads(options.subjects.read_text())
    work = options.work or Path(tempfile.mkdtemp(prefix="native-go-"))
    work.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    own = results.setdefault("go", {})
    own["go"] = answer(["go", "version"])
    for part in options.parts.split(","):
        measured = {"hunts": hunts, "pairs": pairs, "clean": clean}[part](options, work)
        if options.only and isinstance(measured, list):
            again = {row["module"] for row in measured}
            measured = [row for row in own.get(part, []) if row["module"] not in again] + measured
        own[part] = measured
        path.write_text(json.dumps(results, indent=1) + "\n")
    (FOLDER / "results.md").write_text(page(results))


def answer(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def environment():
    return {**os.environ, "GOFLAGS": "-buildvcs=false -mod=mod", "GOTOOLCHAIN": "local"}


def set_up(module, version, work):
    """A copy of a module, where its tests can run."""
    name = [part for part in module.split("/") if not re.fullmatch(r"v\d+", part)][-1]
    folder = work / name
    if folder.exists():
        return folder
    known = json.loads(answer(["go", "mod", "download", "-json", f"{module}@{version}"]))
    shutil.copytree(known["Dir"], folder)
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
    steps = f"test -f go.mod || go mod init {module}; test -f go.sum || go mod tidy; go mod download"
    subprocess.run(["sh", "-c", steps], cwd=folder, env=environment(), capture_output=True)
    # A hunt may look at what changed, and tests must not see a repository above them.
    return folder


def flakeproof(options, verb, folder, arguments, command):
    report = folder.parent / f"{folder.name}.{verb}.json"
    report.unlink(missing_ok=True)
    words = [options.flakeproof, verb, "--color", "never", "--store", folder.parent / "history.db"]
    words += ["--reporter", f"json={report}", *arguments, "--", *command]
    begin = time.monotonic()
    ended = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if not report.exists():
        print(ended.stdout[-2000:], ended.stderr[-2000:])
        return None, seconds
    return json.loads(report.read_text()), seconds


# Hunts


def hunts(options, work):
    listed = collections.defaultdict(list)
    for entry in options.subjects:
        if entry["kind"] in ("victim", "brittle") and (options.only or "") in entry["project"]:
            listed[entry["project"], entry["version"]].append(entry)
    rows = []
    for (module, version), entries in listed.items():
        rows.append(hunt(options, work, module, version, entries))
        print(json.dumps({k: v for k, v in rows[-1].items() if k != "tests"}), flush=True)
    return rows


def hunt(options, work, module, version, entries):
    folder = set_up(module, version, work)
    package = entries[0]["run"].split()[-1]
    report, seconds = flakeproof(
        options,
        "hunt",
        folder,
        ["--budget", options.budget, "--seed", "1", "--timeout", "60s"],
        ["go", "test", "-vet=off", package],
    )
    found = {}
    for test in report["tests"] if report else []:
        if test["kind"] in ("victim", "brittle"):
            found[test["id"].rsplit(".", 1)[1]] = test
    binary = Binary(folder, package)
    names = lambda sets: [[it.rsplit(".", 1)[1] for it in one] for one in sets]
    checked, unconfirmed = {}, []
    for name, test in found.items():
        sets = names(test["polluters"] if test["kind"] == "victim" else test["setters"])
        wanted = "FAIL" if test["kind"] == "victim" else "PASS"
        alone = "PASS" if wanted == "FAIL" else "FAIL"
        good = []
        for one in sets:
            if binary.shows([*one, name], wanted) and binary.shows([name], alone):
                good.append(one)
            else:
                unconfirmed.append([*one, name])
        checked[name] = {"kind": test["kind"], "sets": sets, "confirmed": good}
    tests = []
    for entry in entries:
        known = checked.get(entry["test"])
        sets = entry["polluters"] or entry["setters"]
        tests.append(
            {
                "test": entry["test"],
                "kind": entry["kind"],
                "listed": sets,
                "found_as": known and known["kind"],
                "sets": known and known["sets"][:8],
                "found": bool(known) and known["kind"] == entry["kind"] and bool(known["confirmed"]),
                "is_listed_set": bool(known) and sets in known["confirmed"],
            }
        )
    return {
        "module": f"{module}@{version}",
        "tests_in_suite": len(report["tests"]) if report else None,
        "seconds": round(seconds, 1),
        "listed": len(entries),
        "found": sum(test["found"] for test in tests),
        "reported": len(found),
        "pairs_reported": sum(len(it["sets"]) for it in checked.values()),
        "pairs_not_confirmed": unconfirmed,
        "not_listed": sorted(set(found) - {entry["test"] for entry in entries}),
        "tests": tests,
    }


class Binary:
    """A plain test binary of a package."""

    def __init__(self, folder, package):
        # -buildmode and -overlay are not given: this is what `go test` runs.
        self.path = folder.parent / f"{folder.name}.plain.test"
        command = ["go", "test", "-vet=off", "-c", "-o", str(self.path), package]
        subprocess.run(command, cwd=folder, env=environment(), capture_output=True)
        self.folder = (folder / package).resolve()

    def shows(self, order, wanted, tries=4):
        """Whether the last test of an order ends as wanted, in one of some runs."""
        for seed in range(1, 20000) if len(order) > 1 else [None]:
            told = self.outcomes(order, seed)
            if told is None:
                continue
            for _ in range(tries):
                if told.get(order[-1], "FAIL") == wanted:
                    return True
                told = self.outcomes(order, seed) or {}
            return False
        return False

    def outcomes(self, order, seed):
        """How tests end, by name; `None` if they do not begin in this order."""
        command = [str(self.path), "-test.v", "-test.paniconexit0", "-test.timeout=60s"]
        command += [f"-test.run=^({'|'.join(order)})$"]
        command += [f"-test.shuffle={seed}"] if seed else []
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace")
        began = re.findall(r"^=== RUN +(\w+)$", ended.stdout, re.M)
        if began != order[: len(began)] or not began:
            return None
        return dict((name, word) for word, name in re.findall(r"^--- (\w+): (\w+) ", ended.stdout, re.M))


# Pairs


def pairs(options, work):
    entry = next(it for it in options.subjects if it["project"] == QUICK)
    folder = set_up(entry["project"], entry["version"], work)
    package = entry["run"].split()[-1]
    listing = subprocess.run(
        ["go", "test", "-list", ".", package], cwd=folder, env=environment(), capture_output=True, text=True
    )
    tests = re.findall(r"^Test\w+$", listing.stdout, re.M)
    some = [(one, other) for one in tests for other in tests if one < other][:20]
    begin = time.monotonic()
    for one, other in some:
        command = ["go", "test", "-vet=off", "-count=1", "-run", f"^({one}|{other})$", package]
        subprocess.run(command, cwd=folder, env=environment(), capture_output=True)
    plain = len(some) / (time.monotonic() - begin)
    # The stage runs every test before every other one, and what shows itself a few times more.
    quick = ["--steer", "off", "--runs", "1", "--orders", "0", "--max-reruns", "1", "--seed", "1"]
    command = ["go", "test", "-vet=off", package]
    report, _ = flakeproof(options, "hunt", folder, [*quick, "--polluters", "all"], command)
    stage = next(it for it in report["cost"]["stages"] if it["stage"] == "polluters")
    count = stage["executions"] // 2
    ours = count / stage["seconds"]
    return {
        "module": entry["project"],
        "tests": len(tests),
        "pairs": count,
        "go_test_pairs_per_second": round(plain, 2),
        "pairs_per_second": round(ours, 1),
        "factor": round(ours / plain, 1),
    }


# Suites without known flaky tests


def clean(options, work):
    rows = []
    for module, version in CLEAN:
        if (options.only or "") not in module:
            continue
        folder = set_up(module, version, work)
        command = ["go", "test", "-vet=off", "./..."]
        plain_outcomes = outcomes_of(folder, command)
        report, _ = flakeproof(options, "run", folder, ["--dependencies", "off"], command)
        ours = {it["id"]: it["outcome"] for it in report["tests"]} if report else {}
        words = {"pass": "passed", "fail": "failed", "skip": "skipped"}
        differing = [
            [test, outcome, ours.get(test)]
            for test, outcome in plain_outcomes.items()
            if ours.get(test) not in (words[outcome], "crashed" if outcome == "fail" else None)
        ]
        once = ["--steer", "off", "--runs", "1", "--orders", "0", "--max-reruns", "1"]
        hunted, _ = flakeproof(options, "hunt", folder, [*once, "--polluters", "off"], command)
        hunted = {it["id"]: it["baseline"] for it in hunted["tests"]} if hunted else {}
        in_process = [
            [test, outcome, hunted.get(test)]
            for test, outcome in plain_outcomes.items()
            if outcome != "skip" and hunted.get(test) != {"runs": 1, "failures": int(outcome == "fail")}
        ]
        # What a failing test costs is no overhead: only packages without one.
        packages = {test.rsplit(".", 1)[0] for test in plain_outcomes}
        packages -= {test.rsplit(".", 1)[0] for test, it in plain_outcomes.items() if it == "fail"}
        green = ["go", "test", "-vet=off", *sorted(packages)]
        times = {"plain": [], "flakeproof": []}
        for _ in range(5 if packages else 0):
            begin = time.monotonic()
            subprocess.run([*green[:2], "-count=1", *green[2:]], cwd=folder, env=environment(), capture_output=True)
            times["plain"].append(time.monotonic() - begin)
            times["flakeproof"].append(flakeproof(options, "run", folder, [], green)[1])
        middle = lambda some: statistics.median(some) if some else 0.0
        plain, ours_took = middle(times["plain"]), middle(times["flakeproof"])
        found, _ = flakeproof(options, "hunt", folder, ["--budget", options.budget, "--seed", "1"], command)
        reported = {it["id"]: it for it in found["tests"] if it["kind"]} if found else {}
        rows.append(
            {
                "module": f"{module}@{version}",
                "tests": len(plain_outcomes),
                "outcomes_differ_in_run": differing,
                "outcomes_differ_in_one_process": in_process,
                "plain_seconds": round(plain, 2),
                "run_seconds": round(ours_took, 2),
                "is_within_limit": ours_took <= plain * 1.1 + 0.5,
                "hunted": {test: it["kind"] for test, it in reported.items()},
                "plain_failures": {test: plain_failures(folder, it) for test, it in reported.items()},
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def plain_failures(folder, finding):
    """How often a test fails by plain `go test`: of REPEATS runs alone, or by the command for its set, three times."""
    if finding["kind"] != "NOD":
        command = ["sh", "-c", finding["reproduce"]]
        ran = [subprocess.run(command, cwd=folder, env=environment(), capture_output=True) for _ in range(3)]
        return sum(it.returncode != 0 for it in ran)
    package, name = finding["id"].rsplit(".", 1)
    words = ["go", "test", "-vet=off", "-json", f"-count={REPEATS}", f"-run=^{name}$", package]
    ended = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True)
    events = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    return sum(event.get("Test") == name and event["Action"] == "fail" for event in events)


def outcomes_of(folder, command):
    """The outcome of each test by plain `go test -json`."""
    words = [*command[:2], "-json", "-count=1", *command[2:]]
    ended = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True)
    outcomes = {}
    for line in ended.stdout.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        test = event.get("Test", "")
        if event.get("Action") in ("pass", "fail", "skip") and test and "/" not in test:
            outcomes[f"{event['Package']}.{test}"] = event["Action"]
    return outcomes


def page(results):
    lines = ["# Results", "", "Written by `run`; see README.md for how.", ""]
    own = results.get("go", {})
    if "hunts" in own:
        rows = own["hunts"]
        listed, found = (sum(row[it] for row in rows) for it in ("listed", "found"))
        lines += [f"## Go: hunts ({own['go']})", ""]
        lines += [f"{found} of {listed} listed victims and brittle tests found with a confirmed set.", ""]
        lines += ["| module | tests | listed | found | reported | pairs | not confirmed | seconds |"]
        lines += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
        for row in rows:
            cells = [row["module"], row["tests_in_suite"], row["listed"], row["found"], row["reported"]]
            cells += [row["pairs_reported"], len(row["pairs_not_confirmed"]), row["seconds"]]
            lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        missed = [(row["module"], it) for row in rows for it in row["tests"] if not it["found"]]
        lines += ["", "Not found:", ""]
        lines += [f"- {module} {it['test']} ({it['kind']}; reported as {it['found_as']})" for module, it in missed]
        lines += [""]
    if "pairs" in own:
        it = own["pairs"]
        lines += ["## Go: pairs", ""]
        lines += [f"{it['pairs_per_second']} pairs a second ({it['pairs']} pairs of {it['module']}),"]
        lines += [f"`go test -run` per pair {it['go_test_pairs_per_second']}: {it['factor']} times.", ""]
    if "clean" in own:
        lines += ["## Go: outcomes and overhead", ""]
        lines += ["| module | tests | differ in `run` | differ in one process | plain s | `run` s | hunted | confirmed |"]
        lines += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
        for row in own["clean"]:
            cells = [row["module"], row["tests"], len(row["outcomes_differ_in_run"])]
            cells += [len(row["outcomes_differ_in_one_process"]), row["plain_seconds"], row["run_seconds"]]
            cells += [len(row["hunted"] or {}), sum(it > 0 for it in row.get("plain_failures", {}).values())]
            lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        lines += [""]
    return "\n".join(lines)
