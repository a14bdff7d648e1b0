"""Hunts of real suites with known flaky tests: as they are, and steered by a plan."""

import statistics

from subject import read_subjects, set_up
from suite import hunt

#: Suites whose flaky tests a hunt with its defaults finds within a minute or two.
SUITES = [
    "pytidy", "dynamic-conf", "docker-pretty-ps", "base10", "logzero", "pdir2", "identixone",
    "fanstatic-tools", "supertunnel",
]


def measure_suite(name, typed):
    entry = read_subjects(typed.subjects)[name]
    subject = set_up(entry, typed.work)
    listed = {test["id"] for key in ("victims", "brittle", "nod") for test in entry.get(key, [])}
    rows = []
    for seed in range(1, typed.seeds + 1):
        typed.seed = seed
        plain, plain_seconds = hunt(subject, typed, "--steer", "off")
        steered, seconds = hunt(subject, typed, "--steer", "plan")
        rows.append({
            "seed": seed,
            "executions": {"off": plain["cost"]["executions"], "plan": steered["cost"]["executions"]},
            "found": {"off": found(plain, listed), "plan": found(steered, listed)},
            "not_listed": {"off": others(plain, listed), "plan": others(steered, listed)},
            "pairs": {"off": len(plain["pairs"]), "plan": len(steered["pairs"])},
            "seconds": {"off": round(plain_seconds, 1), "plan": round(seconds, 1)},
        })
    shares = [row["executions"]["plan"] / row["executions"]["off"] for row in rows]
    return {
        "version": entry["version"],
        "tests": entry["tests"],
        "listed": len(listed),
        "share_of_executions": {
            "median": statistics.median(shares), "lowest": min(shares), "highest": max(shares)
        },
        "seeds": rows,
    }


def found(report, listed):
    return sum(test["kind"] is not None and test["id"] in listed for test in report["tests"])


def others(report, listed):
    return sum(test["kind"] is not None and test["id"] not in listed for test in report["tests"])
