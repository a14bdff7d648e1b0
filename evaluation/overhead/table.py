"""The results as Markdown: what was measured, and whether the promises hold."""

from measure import FLAKEPROOF, PLAIN, RERUNS

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
    head = ["subject", "tests", "plain", "flakeproof", "reruns", "flakeproof − plain"]
    head += ["flakeproof / plain", "reruns / plain", "allowed", "holds"]
    lines = [
        "## Wall time",
        "",
        "Seconds; the median of {} interleaved rounds (least to most). Differences and ratios are "
        "medians over the rounds. Allowed: 1.05 × plain + 0.2 s.".format(rounds),
        "",
    ]
    return lines + _table(head, [_timing_row(row) for row in rows])


def _timing_row(row):
    summary = row["summary"]
    ours = summary.get(FLAKEPROOF)
    return [
        "{} {}".format(row["subject"], row["version"]),
        str(row["tests"]),
        _spread(summary[PLAIN]),
        _spread(ours) if ours else "–",
        _spread(summary[RERUNS]),
        _spread(ours["difference"]) if ours else "–",
        _spread(ours["ratio"]) if ours else "–",
        _spread(summary[RERUNS]["ratio"]),
        "{:.3f}".format(summary["allowed_seconds"]) if ours else "–",
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


def _spread(values):
    return "{median:.3f} ({min:.3f}–{max:.3f})".format(**values)


def _yes_no(holds):
    return "yes" if holds else "**no**"
