#!/usr/bin/env python3
"""The tables of results.md, from the lines that `run` and `seeded` wrote.

    table.py [--work target/verdicts] [--write]
"""

import argparse
import json
import statistics
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERDICTS = ["flaky", "newly_flaky", "real", "unrelated", "unknown"]
RATES = ["five", "ten", "twenty", "thirty", "fifty", "burst", "outage"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("target/verdicts"))
    parser.add_argument("--write", action="store_true", help="write results.md and results.json")
    typed = parser.parse_args()
    records = read(typed.work / "mutants.jsonl")
    failing = [record for record in records.values() if "flakeproof" in record]
    seeded = list(read_lines(typed.work / "seeded.jsonl"))
    page = markdown(list(records.values()), failing, seeded)
    print(page)
    if typed.write:
        (HERE / "results.md").write_text(page, encoding="utf-8")
        kept = {"mutants": [compact(record) for record in failing], "seeded": figures(seeded)}
        # One line for each mutant: a diff of two results shows which ones differ.
        lines = ",\n".join(json.dumps(it, ensure_ascii=False) for it in kept["mutants"])
        rest = json.dumps(kept["seeded"], indent=1)
        content = '{{"mutants": [\n{}\n],\n"seeded": {}}}\n'.format(lines, rest)
        (HERE / "results.json").write_text(content, encoding="utf-8")


def read_lines(path):
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def read(path):
    """The last record of each mutant: a later one of the same id replaces it."""
    return {record["id"]: record for record in read_lines(path)}


def compact(record):
    told = record["flakeproof"]
    return {
        "id": record["id"], "file": record["file"], "what": record["what"], "status": record["status"],
        "history": record["with_history"], "committed": record["committed"],
        "failed": record["failed_plainly"][0], "exit": told["exit"], "verdicts": told.get("verdicts"),
        "executions": told.get("executions"), "plain": record["plain_seconds"], "seconds": told["seconds"],
    }


def markdown(records, failing, seeded):
    lines = ["# What flakeproof says of broken and of flaky tests", ""]
    lines += ["Made by `run`, `seeded` and `table.py`; README.md says how to read it.", ""]
    if failing:
        lines += mutants(records, failing)
    if seeded:
        lines += chance(seeded)
    return "\n".join(lines).rstrip() + "\n"


def mutants(records, failing):
    green = [it for it in failing if it["flakeproof"]["exit"] == 0]
    stopped = [it for it in failing if it["no_test_failed"]]
    failing = [it for it in failing if not it["no_test_failed"]]
    tracked = [it for it in failing if it["tracked"] and not it["no_test_failed"]]
    lines = ["## Mutants", ""]
    lines.append(
        "{} mutants were tried, {} made tests fail, and {} made the runner end red before a test; of all these "
        "**{} ended with exit code 0**. {} failed in different ways when run plainly again.".format(
            len(records), len(failing), len(stopped), len(green), sum(it["status"] != "fails" for it in failing)
        )
    )
    lines.append(
        "Of {} that touch tracked files and fail a test, {} have at least one failure that is called real.".format(
            len(tracked), share(tracked, is_real)
        )
    )
    lines += ["", *table("suite", failing, "suite"), "", *table("kind", failing, "kind"), ""]
    histories = [{**it, "known": "with history" if it["with_history"] else "without"} for it in failing]
    lines += [*table("history", histories, "known"), ""]
    lines += [*table("exit code", [{**it, "code": it["flakeproof"]["exit"]} for it in failing], "code"), ""]
    if green:
        lines += ["### Exit code 0", ""]
        for it in green:
            lines += ["`{}` in {} ({}): {}".format(it["id"], it["file"], history(it), verdicts(it)), ""]
            lines += ["```diff", it["diff"], "```", ""]
            for test in it["flakeproof"].get("tests", [])[:3]:
                lines += ["- `{}`: {}; {}".format(test["id"], test["verdict"], "; ".join(test["evidence"]))]
            lines.append("")
    broken = [it for it in failing + stopped if it["flakeproof"]["exit"] not in (0, 1)]
    if broken:
        lines += ["### Other exit codes", ""]
        lines += ["- `{}`: {}{}".format(it["id"], it["flakeproof"]["exit"], "" if not it["no_test_failed"] else ", no test failed plainly") for it in broken]
        lines.append("")
    lines += unknowns(failing)
    return lines


def table(title, failing, key):
    lines = [
        "| {} | failing | exit 0 | a real one (tracked) | only unknown | flaky among them | plain s | flakeproof s | executions |".format(title),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted({it[key] for it in failing}, key=str):
        rows = [it for it in failing if it[key] == name]
        tracked = [it for it in rows if it["tracked"] and not it["no_test_failed"]]
        cells = [
            name, len(rows), sum(it["flakeproof"]["exit"] == 0 for it in rows), share(tracked, is_real),
            sum(set(it["flakeproof"].get("verdicts", {})) == {"unknown"} for it in rows),
            sum("flaky" in it["flakeproof"].get("verdicts", {}) for it in rows),
            median(it["plain_seconds"] for it in rows), median(it["flakeproof"]["seconds"] for it in rows),
            median(it["flakeproof"].get("executions", 0) for it in rows),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def unknowns(failing):
    """Every mutant with an unknown failure, by the first reason that is given."""
    by_reason = {}
    for it in failing:
        for test in it["flakeproof"].get("tests", []):
            if test["verdict"] == "unknown":
                reason = next((word for word in test["evidence"] if not word.startswith("failed_fresh")), "none given")
                by_reason.setdefault(shortened(reason), {}).setdefault(it["id"], it["flakeproof"]["verdicts"]["unknown"])
    lines = ["### Unknown", ""]
    for reason, found in sorted(by_reason.items(), key=lambda it: -len(it[1])):
        lines += ["{} mutants: {}".format(len(found), reason), ""]
        lines += [", ".join("`{}` ({})".format(name, count) for name, count in sorted(found.items())), ""]
    return lines


def shortened(reason):
    """A reason without the names and numbers of this one mutant."""
    words = [word if not any(it in word for it in "/0123456789") else "…" for word in reason.split()]
    return " ".join(words)[:160]


def is_real(record):
    return "real" in record["flakeproof"].get("verdicts", {})


def history(record):
    return "with history" if record["with_history"] else "without history"


def verdicts(record):
    counts = record["flakeproof"].get("verdicts", {})
    return ", ".join("{} {}".format(count, verdict) for verdict, count in counts.items()) or "no verdict"


def share(rows, claim):
    if not rows:
        return "-"
    held = sum(map(claim, rows))
    return "{} ({:.0f} %)".format(held, 100 * held / len(rows))


def median(numbers):
    return round(statistics.median(numbers), 2)


def figures(seeded):
    """By program and rate: the verdicts of first failures, and the executions of each."""
    found = {}
    for record in seeded:
        for test in record["tests"]:
            if test["first"]:
                rows = found.setdefault(record["program"], {}).setdefault(str(test["seeded"]), {"executions": []})
                rows[test["verdict"]] = rows.get(test["verdict"], 0) + 1
                rows["executions"].append(test["executions"])
    for rates in found.values():
        for row in rates.values():
            row["mean_executions"] = round(statistics.mean(row.pop("executions")), 2)
    return found


def chance(seeded):
    lines = ["## Seeded chance", ""]
    found = figures(seeded)
    lines += ["| program | seeded | first failures | " + " | ".join(VERDICTS) + " | flaky | executions each |"]
    lines += ["|---|---|---|" + "---|" * len(VERDICTS) + "---|---|"]
    for program, rates in found.items():
        names = [name for name in RATES if name in rates] + [name for name in rates if name not in RATES]
        for name in names:
            lines.append(chance_row(program, name, rates[name]))
        lines.append(chance_row(program, "all", total(rates.values())))
    lines.append("")
    lines += chance_by("suite", seeded) + chance_by("variant", seeded) + chance_by("kept", seeded)
    return lines


def chance_row(program, name, row):
    count = sum(row.get(verdict, 0) for verdict in VERDICTS)
    cells = [program, name, count, *(row.get(verdict, 0) for verdict in VERDICTS)]
    cells += ["{:.0f} %".format(100 * row.get("flaky", 0) / count), row["mean_executions"]]
    return "| " + " | ".join(map(str, cells)) + " |"


def total(rows):
    summed, weighed = {}, 0
    for row in rows:
        count = sum(row.get(verdict, 0) for verdict in VERDICTS)
        weighed += count * row["mean_executions"]
        for verdict in VERDICTS:
            summed[verdict] = summed.get(verdict, 0) + row.get(verdict, 0)
    summed["mean_executions"] = round(weighed / max(1, sum(summed.values())), 2)
    return summed


def chance_by(key, seeded):
    lines = ["| {} | program | runs | red runs | failing runs | median s, passing | median s, failing | first failures | flaky |".format(key)]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for name in sorted({str(it[key]) for it in seeded}):
        for program in sorted({it["program"] for it in seeded}, reverse=True):
            rows = [it for it in seeded if str(it[key]) == name and it["program"] == program]
            if not rows:
                continue
            failed = [it for it in rows if it["tests"]]
            passed = [it for it in rows if not it["tests"]]
            first = [test for it in rows for test in it["tests"] if test["first"]]
            cells = [
                name, program, len(rows), sum(it["exit"] != 0 for it in rows), len(failed),
                median(it["seconds"] for it in passed) if passed else "-",
                median(it["seconds"] for it in failed) if failed else "-", len(first),
                share(first, lambda test: test["verdict"] == "flaky"),
            ]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return [*lines, ""]


if __name__ == "__main__":
    main()
