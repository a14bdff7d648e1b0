"""What a hunt finds on a suite whose flaky tests are known, and whether its pairs hold."""

from suite import hunt, last_fails, restore

#: Options that only some suites are hunted with: tests of this one leave a folder in the project.
OPTIONS = {"occamtools": ["--tidy"]}
#: So many tries has each side of a reported pair in new processes.
TRIES = 3


def measure_findings(subject, entry, typed):
    tests = entry["tests"]
    # All neighbours, and as many random orders again as the subjects were found with.
    orders = 2 * (tests + tests % 2) if tests <= 120 else 60
    report, seconds = hunt(
        subject, typed, "--runs", "20", "--orders", str(orders), "--order-kind", "tests,tuscan",
        *OPTIONS.get(entry["name"], []),
    )
    found = {test["id"]: test for test in report["tests"] if test["kind"]}
    rows = {
        kind: compared(entry.get(key, []), found, kind, names)
        for kind, key, names in [
            ("victim", "victims", "polluters"),
            ("brittle", "brittle", "setters"),
            ("NOD", "nod", None),
        ]
    }
    false = [pair for pair in pairs_of(found) if not holds(subject, *pair)]
    known = {test["id"] for key in ("victims", "brittle", "nod") for test in entry.get(key, [])}
    return {
        "version": entry["version"],
        "tests": tests,
        "seconds": round(seconds, 1),
        "executions": report["cost"]["executions"],
        "end": report["end"],
        **rows,
        "pairs": len(list(pairs_of(found))),
        "false_pairs": false,
        "not_listed": sorted(
            "{} {}".format(test["kind"], test["id"]) for test in found.values() if test["id"] not in known
        ),
    }


def compared(listed, found, kind, influences):
    """How many of the listed tests were found, of that kind, with what is listed about them."""
    row = {"listed": len(listed), "found": 0, "of_this_kind": 0, "missing": []}
    wanted = missed = 0
    for test in listed:
        hit = found.get(test["id"])
        if hit is None:
            row["missing"].append(test["id"])
            continue
        row["found"] += 1
        row["of_this_kind"] += hit["kind"] == kind
        if influences is None:
            continue
        confirmed = test.get(influences + "_confirmed_in_fresh_processes", [])
        mine = {one for group in hit["polluters"] + hit["setters"] for one in group}
        wanted += len(confirmed)
        missed += len([one for one in confirmed if one not in mine])
    row["influences"] = {"listed": wanted, "missed": missed}
    return row


def pairs_of(found):
    """Every reported single polluter or state-setter with its test, and what it should do."""
    for test in found.values():
        for key, fails in (("polluters", True), ("setters", False)):
            for group in test[key]:
                yield group, test["id"], fails


def holds(subject, before, test, fails):
    """Whether new processes show that the test fails after the others and not alone, or the reverse."""
    return shows(subject, [*before, test], fails) and shows(subject, [test], not fails)


def shows(subject, order, fails):
    for _ in range(TRIES):
        restore(subject)
        if last_fails(subject, order) is fails:
            return True
    return False
