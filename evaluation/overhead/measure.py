"""Run the contenders on one subject: outcomes first, then wall times, all interleaved.

A contender is plain pytest, flakeproof, or pytest with one rerun by pytest-rerunfailures. Each
round runs every contender once, and each round another one starts, so that a machine that slows
down or warms up does so for all of them. On a virtual machine whose processors are lent to others,
a run during which more than a share of them was taken away is not counted, whoever ran, and rounds
go on until each contender has its number. Where the machine is never left in peace, processor time,
which that does not touch, is judged instead.
"""

import json
import math
import os
import resource
import statistics
import subprocess
import time
from pathlib import Path

PLUGIN = Path(__file__).resolve().parent / "plugin"
PLAIN_RUNS = 3
PLAIN, FLAKEPROOF, RERUNS = "plain", "flakeproof", "reruns"
# What flakeproof may cost on a suite that passes: a share of the suite, and a fixed part.
SHARE, FIXED_SECONDS = 1.05, 0.2
# A run counts when at most this share of the processors was taken away while it ran, and it is
# tried again in at most so many rounds for each that is asked for.
MOST_TAKEN, MOST_ROUNDS = 0.15, 2
# With fewer runs that count, processor time decides.
LEAST_RUNS = 5


class Contenders:
    """The commands to compare on one subject; without a flakeproof program there are two."""

    def __init__(self, subject, flakeproof, scratch):
        self.subject = subject
        self.report = scratch / "{}.json".format(subject.name)
        self.outcome_log = scratch / "{}.jsonl".format(subject.name)
        store = scratch / "{}.db".format(subject.name)
        pytest = [str(subject.python), "-m", "pytest", *subject.arguments]
        with_reruns = [str(subject.python_with_reruns), "-m", "pytest", "--reruns", "1"]
        self.commands = {PLAIN: pytest}
        if flakeproof is not None:
            options = ["--store", str(store), "--reporter", "json={}".format(self.report)]
            self.commands[FLAKEPROOF] = [str(flakeproof), "run", *options, "--", *pytest]
        self.commands[RERUNS] = [*with_reruns, *subject.arguments]

    def run(self, name):
        """Wall time, processor time, share of the processors taken away, and exit status."""
        used, taken, started = _processor_seconds(), _taken_seconds(), time.perf_counter()
        done = self._start(self.commands[name], environment())
        wall = time.perf_counter() - started
        share = (_taken_seconds() - taken) / (wall * os.cpu_count())
        return wall, _processor_seconds() - used, share, done.returncode

    def plain_outcomes(self):
        """The outcome of each test in one run of plain pytest, which is not timed."""
        self.outcome_log.unlink(missing_ok=True)
        added = {"OUTCOME_LOG": str(self.outcome_log), "PYTHONPATH": str(PLUGIN)}
        self._start([*self.commands[PLAIN], "-p", "outcome_log"], environment(added))
        lines = self.outcome_log.read_text(encoding="utf-8").splitlines()
        return {line["id"]: line["outcome"] for line in map(json.loads, lines)}

    def flakeproof_outcomes(self):
        """The outcome of each test in the last run of flakeproof."""
        report = json.loads(self.report.read_text(encoding="utf-8"))
        self.report.unlink()
        return {test["id"]: test["outcome"] for test in report["tests"]}

    def _start(self, command, variables):
        return subprocess.run(
            command,
            cwd=self.subject.project,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _processor_seconds():
    """What all children that have ended used, in user and system mode."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _taken_seconds():
    """Since the start of the machine: processor time that its host gave to others."""
    try:
        fields = Path("/proc/stat").read_text().split("\n")[0].split()
    except OSError:
        return 0.0
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def environment(added=()):
    """The variables of every run: this machine's, less those that change how Python starts."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return dict(kept, **dict(added))


def measure(contenders, rounds):
    """Everything about one subject; `rounds` of 0 compares the outcomes only."""
    plain = [contenders.plain_outcomes() for _ in range(PLAIN_RUNS)]
    names = list(contenders.commands)
    mismatches = []
    compared = 0
    for name in names:
        contenders.run(name)
        if name == FLAKEPROOF:
            mismatches += different(plain, contenders.flakeproof_outcomes())
            compared += 1
    timed = {name: [] for name in names}
    used = {name: [] for name in names}
    statuses = {name: [] for name in names}
    number = 0
    while number < MOST_ROUNDS * rounds and min(map(len, timed.values())) < rounds:
        first = number % len(names)
        number += 1
        for name in names[first:] + names[:first]:
            seconds, processor, taken, status = contenders.run(name)
            used[name].append(processor)
            if taken <= MOST_TAKEN:
                timed[name].append(seconds)
            statuses[name].append(status)
            if name == FLAKEPROOF:
                mismatches += different(plain, contenders.flakeproof_outcomes())
                compared += 1
    return {
        "subject": contenders.subject.name,
        "version": contenders.subject.version,
        "tests": len(plain[0]),
        "plain_outcomes": counts(plain[0]),
        "unsteady_in_plain_runs": sorted(set(plain[0]) - set(steady(plain))),
        "flakeproof_runs_compared": compared,
        "outcome_mismatches": mismatches,
        "seconds": timed,
        "processor_seconds": used,
        "exit_codes": {name: counts(dict(enumerate(codes))) for name, codes in statuses.items()},
        "summary": summarise(timed, used) if rounds else None,
    }


def steady(runs):
    """The tests that have the same outcome in every one of these runs, with it."""
    return {
        test_id: outcome
        for test_id, outcome in runs[0].items()
        if all(run.get(test_id) == outcome for run in runs)
    }


def different(plain, flakeproof):
    """Tests on which plain pytest is steady and flakeproof says something else, or too much."""
    found = []
    for test_id, outcome in steady(plain).items():
        if flakeproof.get(test_id) != outcome:
            found.append({"id": test_id, "plain": outcome, "flakeproof": flakeproof.get(test_id)})
    for test_id in set(flakeproof) - set(plain[0]):
        found.append({"id": test_id, "plain": None, "flakeproof": flakeproof[test_id]})
    return found


def counts(outcomes):
    told = {}
    for outcome in outcomes.values():
        told[str(outcome)] = told.get(str(outcome), 0) + 1
    return told


def summarise(timed, used):
    """Medians and extremes, and whether the promise holds."""
    summary = {name: spread(values) for name, values in timed.items()}
    for name in timed:
        summary[name]["runs"] = len(timed[name])
        summary[name]["processor"] = spread(used[name])
        summary[name]["ratio"] = summary[name]["median"] / summary[PLAIN]["median"]
        summary[name]["difference"] = summary[name]["median"] - summary[PLAIN]["median"]
    if FLAKEPROOF in timed:
        plain, ours = summary[PLAIN], summary[FLAKEPROOF]
        summary["by_processor_time"] = min(map(len, timed.values())) < LEAST_RUNS
        if summary["by_processor_time"]:
            plain, ours = plain["processor"], ours["processor"]
        summary["allowed_seconds"] = SHARE * plain["median"] + FIXED_SECONDS
        summary["holds"] = ours["median"] <= summary["allowed_seconds"]
    return summary


def spread(values):
    if not values:
        return {"median": math.nan, "min": math.nan, "max": math.nan}
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}
