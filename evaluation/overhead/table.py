"""The results as Markdown: what was measured, and whether the promises hold."""

import math

from measure import FLAKEPROOF, LEAST_RUNS, MOST_TAKEN, PLAIN, RERUNS

OURS = ("fork", "spawn", "discover")


def markdown(results):
    """The whole page."""
    lines = ["# Overhead on real suites", "", results["command"], "", results["machine"], ""]
    timed = [row for row in results["subjects"] if row["summary"]]
    if timed:
        lines += _timing(timed, results["rounds"])
    if results["subjects"]:
        lines += _outcomes(results["subjects"])
    if results["fresh"]:
        lines += _fresh(results["fresh"])
    return "\n".join(lines) + "\n"


def _timing(rows, rounds):
    head = ["subject", "tests", "runs", "plain", "flakeproof", "reruns", "flakeproof − plain"]
    head += ["processor time: plain", "flakeproof", "flakeproof − plain", "allowed", "holds"]
    lines = [
        "## Time",
        "",
        "Seconds; medians (least to most) of up to {} interleaved runs of each, those during which "
        "the host took more than {:.0%} of the processors left out. Processor time is of all runs. Allowed: "
        "1.05 × plain + 0.2 s, of wall time where {} runs count, else of processor time.".format(
            rounds, MOST_TAKEN, LEAST_RUNS
        ),
        "",
    ]
    return lines + _table(head, [_timing_row(row) for row in rows])


def _timing_row(row):
    summary = row["summary"]
    ours = summary.get(FLAKEPROOF)
    plain = summary[PLAIN]
    return [
        "{} {}".format(row["subject"], row["version"]),
        str(row["tests"]),
        str(min(summary[name]["runs"] for name in row["seconds"])),
        _spread(plain),
        _spread(ours) if ours else "–",
        _spread(summary[RERUNS]),
        _seconds(ours["difference"]) if ours else "–",
        _spread(plain["processor"]),
        _spread(ours["processor"]) if ours else "–",
        _seconds(ours["processor"]["median"] - plain["processor"]["median"]) if ours else "–",
        _seconds(summary["allowed_seconds"]) if ours else "–",
        _yes_no(summary["holds"]) if ours else "–",
    ]


def _outcomes(rows):
    head = ["subject", "outcomes of plain pytest", "not steady in plain runs"]
    head += ["runs of flakeproof compared", "tests with another outcome", "timed runs with exit code other than 0"]
    body = []
    for row in rows:
        told = ", ".join("{} {}".format(n, name) for name, n in row["plain_outcomes"].items())
        different = {mismatch["id"] for mismatch in row["outcome_mismatches"]}
        compared = row["flakeproof_runs_compared"]
        body.append(
            [
                "{} {}".format(row["subject"], row["version"]),
                told,
                str(len(row["unsteady_in_plain_runs"])),
                str(compared),
                str(len(different)) if compared else "–",
                _bad_exits(row["exit_codes"]),
            ]
        )
    return ["## Outcomes", ""] + _table(head, body)


def _bad_exits(exit_codes):
    told = []
    for name, codes in exit_codes.items():
        told += ["{}: {} × {}".format(name, n, code) for code, n in codes.items() if code != "0"]
    return ", ".join(told) or "none"


def _fresh(rows):
    head = ["suite", "test", "`python -m pytest TESTID`", "fork", "spawn", "discover"]
    head += ["fork / pytest", "holds"]
    body = []
    for row in rows:
        summary = row["summary"]
        share = summary.get("fork_share")
        body.append(
            [
                "{} {}".format(row["suite"], row["version"]),
                "`{}`".format(row["test"]),
                _spread(summary["pytest"]),
                *[_spread(summary[n]) if n in summary else "–" for n in OURS],
                "1/{:.0f}".format(1 / share) if share else "–",
                _yes_no(summary["holds"]) if share else "–",
            ]
        )
    text = "Seconds, medians (least to most). A fork may cost 1/20 of a new pytest."
    return ["## One test in a fresh environment", "", text, ""] + _table(head, body)


def _table(head, body):
    lines = ["| {} |".format(" | ".join(cells)) for cells in [head, ["---"] * len(head), *body]]
    return lines + [""]


def _seconds(value):
    return "–" if math.isnan(value) else "{:.3f}".format(value)


def _spread(values):
    if math.isnan(values["median"]):
        return "–"
    return "{median:.3f} ({min:.3f}–{max:.3f})".format(**values)


def _yes_no(holds):
    return "yes" if holds else "**no**"
