"""The tables of results.md."""


def markdown(results):
    lines = ["# `flakeproof hunt` on real suites", "", "Made by `run`; README.md says how to read it.", ""]
    if results.get("findings"):
        lines += findings(results["findings"])
    if results.get("pairs"):
        lines += pairs(results["pairs"])
    if results.get("pollution"):
        lines += pollution(results["pollution"])
    return "\n".join(lines).rstrip() + "\n"


def findings(rows):
    lines = [
        "## What is found",
        "",
        "Listed tests that were found flaky, and of the listed kind; listed polluters and state-setters "
        "that were missed; reported pairs, and those that new processes did not show.",
        "",
        "| suite | tests | victims | brittle | NOD | influences missed | pairs | false | not listed | s | executions |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        kinds = [
            "{} of {} ({})".format(row[kind]["found"], row[kind]["listed"], row[kind]["of_this_kind"])
            for kind in ("victim", "brittle", "NOD")
        ]
        missed = sum(row[kind]["influences"]["missed"] for kind in ("victim", "brittle"))
        wanted = sum(row[kind]["influences"]["listed"] for kind in ("victim", "brittle"))
        cells = [
            f"{name} {row['version']}", row["tests"], *kinds, f"{missed} of {wanted}", row["pairs"],
            len(row["false_pairs"]), len(row["not_listed"]), row["seconds"], row["executions"],
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    missing = [(name, one) for name, row in rows.items() for kind in ("victim", "brittle", "NOD") for one in row[kind]["missing"]]
    other = [(name, one) for name, row in rows.items() for one in row["not_listed"]]
    false = [(name, one) for name, row in rows.items() for one in row["false_pairs"]]
    for title, entries in [("Missing", missing), ("Not listed", other), ("False", false)]:
        if entries:
            lines += ["", f"{title}:", "", *(f"- {name}: `{one}`" for name, one in entries)]
    return [*lines, ""]


def pairs(rows):
    lines = [
        "## Every pair",
        "",
        "| suite | pairs | s | pairs a second | spawned pairs a second | times faster | polluting pairs | the same |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        keys = ["pairs", "seconds", "pairs_a_second", "spawned_pairs_a_second", "times_faster", "found", "same"]
        lines.append("| " + " | ".join([name, *(str(row[key]) for key in keys)]) + " |")
    return [*lines, ""]


def pollution(rows):
    lines = [
        "## One polluter of one victim, beside detect-test-pollution",
        "",
        "| suite | tests | seconds | its seconds | times faster | found | it found |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        ours = ", ".join(str(it["seconds"]) for it in row["rounds"])
        theirs = ", ".join(str(it["peer_seconds"]) for it in row["rounds"])
        last = row["rounds"][-1]
        cells = [name, row["tests"], ours, theirs, row["times_faster"], last["polluters"], last["peer_polluter"]]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return [*lines, ""]
