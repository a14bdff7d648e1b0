"""The results as a page."""

# Precision and recall at k 7, sigma 0.5, as the authors published them for their own data.
PUBLISHED = {
    "hadoop": "0.88 / 0.70",
    "oozie": "1.00 / 1.00",
    "okhttp": "0.93 / 0.48",
    "spring-boot": "1.00 / 0.44",
    "ninja": "0.88 / 0.60",
    "oryx": "0.60 / 0.26",
    "togglz": "0 / 0",
    "wro4j": "0 / 0",
    "jackrabbit-oak": "0 / 0",
}
NAMES = {
    "scikit-learn": "reference program (scikit-learn)",
    "paper": "flakeproof, `--recipe paper`",
    "white-space": "flakeproof, `--recipe white-space`",
    "rarity": "**flakeproof, default recipe**",
}


def markdown(results):
    parts = ["# What nearest neighbours reach\n\nMade by `run`; README.md says how to read it.\n"]
    if "quality" in results:
        parts.append(quality(results["quality"]))
    if "confirm" in results:
        parts.append(confirm(results["confirm"]))
    if "within" in results:
        parts.append(within(results["within"]))
    if "categories" in results:
        parts.append(categories(results["categories"]))
    if "speed" in results:
        parts.append(speed(results["speed"]))
    if "million" in results:
        parts.append(million(results["million"]))
    return "\n".join(parts)


def number(value):
    return "–" if value is None else f"{value:.3f}"


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def quality(rows):
    text = ["## flakeflagger, 21,802 tests, 809 flaky\n"]
    text.append("Mean over seeds, in brackets the range of F1. The hardest protocol comes first.\n")
    text.append("| protocol | who | P | R | F1 | MCC | AP |\n|---|---|---|---|---|---|---|")
    for protocol in ["project", "class", "random"]:
        for who, name in NAMES.items():
            found = [row for row in rows if row["who"] == who and row["protocol"] == protocol]
            if not found:
                continue
            scores = [number(mean([row[key] for row in found])) for key in ["precision", "recall", "f1", "mcc", "ap"]]
            f1 = [row["f1"] for row in found]
            if len(f1) > 1:
                scores[2] += f" ({min(f1):.3f}–{max(f1):.3f})"
            text.append(f"| {protocol} | {name} | " + " | ".join(scores) + " |")
    return "\n".join(text) + "\n"


def confirm(rows):
    text = ["## deflaker, rows of more than 400 characters\n"]
    text.append(
        "The default recipe was designed on flakeflagger; here it meets data that played no part in its\n"
        "design. Read it as a comparison of two recipes: old flaky tests stand beside new stable ones in\n"
        "this set, so the figures themselves flatter both.\n"
    )
    text.append("| protocol | who | tests | flaky | P | R | F1 | MCC | AP |\n|---|---|---|---|---|---|---|---|---|")
    for protocol in ["project", "class", "random"]:
        for row in rows:
            if row["protocol"] == protocol:
                scores = [number(row[key]) for key in ["precision", "recall", "f1", "mcc", "ap"]]
                head = f"| {protocol} | {NAMES[row['who']]} | {row['tests']:,} | {row['flaky']:,} | "
                text.append(head + " | ".join(scores) + " |")
    return "\n".join(text) + "\n"


def within(rows):
    text = ["## deflaker, each project alone (P / R)\n"]
    text.append("Five random folds in each project, epsilon 0.3; published: 30 splits of 20 %, k 7, sigma 0.5.\n")
    text.append(
        "| project | flaky, tests | published, k 7 | `paper`, k 7 | `paper`, k 3 | `white-space`, k 7 | `white-space`, k 3 |\n"
        "|---|---|---|---|---|---|---|"
    )
    projects = sorted({row["project"] for row in rows}, key=str.lower)
    for project in projects:
        cells = []
        for who in ["paper", "white-space"]:
            for k in [7, 3]:
                found = [row for row in rows if (row["project"], row["who"], row["k"]) == (project, who, k)]
                cells.append(f"{short(found[0]['precision'])} / {short(found[0]['recall'])}" if found else "–")
        size = next(row for row in rows if row["project"] == project)
        head = f"| {project} | {size['flaky']}, {size['tests']} | {PUBLISHED.get(project, '')} | "
        text.append(head + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def short(value):
    return "–" if value is None else f"{value:.2f}"


def categories(rows):
    text = ["## Category of a flaky test (A_FC), 287 tests, 13 categories\n"]
    text.append("The largest category has 31 % of the tests.\n")
    text.append("| protocol | who | named right |\n|---|---|---|")
    for row in rows:
        text.append(f"| {row['protocol']} | {NAMES[row['who']]} | {number(row['category_accuracy'])} |")
    return "\n".join(text) + "\n"


def speed(rounds):
    text = ["## Seconds to learn 21,802 tests and to predict each of them\n"]
    text.append("Best of five rounds in turns. The reference runs on one thread, as its program does.\n")
    text.append("| who | learn | predict | both | times faster |\n|---|---|---|---|---|")
    peers = [min((r["peer"][kind] for kind in ["sparse", "dense"]), key=both) for r in rounds]
    peer = min(peers, key=both)
    text.append(f"| reference program (scikit-learn) | {peer['train_s']:.2f} | {peer['predict_s']:.2f} | {both(peer):.2f} | 1 |")
    for name in rounds[0]["flakeproof"]:
        best = min((r["flakeproof"][name] for r in rounds), key=both)
        recipe, threads = name.split()
        plural = "thread" if threads == "1" else "threads"
        text.append(
            f"| {NAMES[recipe]}, {threads} {plural} | {best['train_s']:.2f} | {best['predict_s']:.2f} | "
            f"{both(best):.2f} | {both(peer) / both(best):.0f} |"
        )
    return "\n".join(text) + "\n"


def both(row):
    return row["train_s"] + row["predict_s"]


def million(row):
    times = row["milliseconds"]
    return (
        "## One prediction against a million known tests\n\n"
        f"{row['queries']:,} predictions one by one on one thread, each of another test: median {times['median']:.1f} ms, "
        f"mean {times['mean']:.1f} ms, 95 % below {times['p95']:.1f} ms, 99 % below {times['p99']:.1f} ms, longest "
        f"{times['max']:.0f} ms. The index takes {row['index_bytes'] / 1e6:.0f} MB; cutting the million tests takes "
        f"{row['cut_seconds']:.0f} s and placing them {row['place_seconds']:.1f} s.\n"
    )
