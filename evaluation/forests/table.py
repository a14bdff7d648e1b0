"""The results as a page."""

NAMES = {"random-forest": "random forest", "extra-trees": "extra trees"}
BALANCES = {"smote": "SMOTE", "smote-enn": "SMOTE + ENN", "smote-tomek": "SMOTE + Tomek"}


def markdown(results):
    parts = ["# Forests beside scikit-learn\n\nMade by `run`; README.md says how to read it.\n"]
    if "fit" in results:
        parts.append(times(results["fit"]))
    if "quality" in results:
        parts.append(quality(results["quality"]))
    if "shap" in results:
        parts.append(shap(results["shap"]))
    if "balance" in results:
        parts.append(balance(results["balance"]))
    return "\n".join(parts)


def cases(rows, *keys):
    found = []
    for row in rows:
        case = tuple(row[key] for key in keys)
        if case not in found:
            found.append(case)
    return found


def both(rows, case, keys):
    """The rows of both sides for one case, flakeproof's first."""
    match = [row for row in rows if tuple(row[key] for key in keys) == case]
    ours = [row for row in match if row["who"] == "flakeproof"]
    return ours, [row for row in match if row["who"] != "flakeproof"]


def mean(rows, key):
    return sum(row[key] for row in rows) / len(rows)


def middle(rows, *keys):
    """The median of the sum of some fields."""
    values = sorted(sum(row[key] for key in keys) for row in rows)
    return values[len(values) // 2]


def cell(ours, theirs, digits=2):
    return f"{ours:.{digits}f} / {theirs:.{digits}f} | **{theirs / max(ours, 1e-9):.1f}**"


def times(rows):
    text = [f"## Time: SMOTE and {rows[0]['trees']} trees, 89,668 × 18, two threads each\n"]
    text.append("Seconds of flakeproof / scikit-learn and how many times faster; median of the rounds.\n")
    text.append(
        "| positives | kind | SMOTE + fit, wall | × | predict_proba, wall | × | SMOTE + fit, CPU | × | predict_proba, CPU | × |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    keys = ["positives", "kind"]
    for case in cases(rows, *keys):
        ours, theirs = both(rows, case, keys)
        columns = [
            cell(middle(ours, name), middle(theirs, name))
            for name in ["fit_s", "predict_s", "fit_cpu_s", "predict_cpu_s"]
        ]
        text.append(f"| {case[0]:,} | {NAMES[case[1]]} | " + " | ".join(columns) + " |")
    return "\n".join(text) + "\n"


def quality(rows):
    seeds = len(cases(rows, "seed"))
    text = [f"## Quality on 20,000 fresh rows; mean over {seeds} seeds\n"]
    text.append("flakeproof / scikit-learn, SMOTE and " + f"{rows[0]['trees']} trees.\n")
    scores = {"mcc": "MCC", "auc": "AUC", "average_precision": "average precision", "f1": "F1", "brier": "Brier"}
    scores = {key: name for key, name in scores.items() if all(key in row for row in rows)}
    text.append("| positives | kind | " + " | ".join(scores.values()) + " |\n|---|---" + "|---" * len(scores) + "|")
    keys = ["positives", "kind"]
    for case in cases(rows, *keys):
        ours, theirs = both(rows, case, keys)
        columns = [f"{mean(ours, name):.4f} / {mean(theirs, name):.4f}" for name in scores]
        text.append(f"| {case[0]:,} | {NAMES[case[1]]} | " + " | ".join(columns) + " |")
    return "\n".join(text) + "\n"


def shap(rows):
    text = [f"## Explanations: the same forest of {rows[0]['trees']} trees, grown by scikit-learn\n"]
    text.append(
        "Seconds a row, flakeproof / shap.TreeExplainer, and how many times faster. shap uses one thread,\n"
        "flakeproof two; CPU time is fair to both.\n"
    )
    text.append(
        "| positives | kind | nodes | rows | CPU a row | × | wall a row | × | values differ | does not add up by |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    keys = ["positives", "kind"]
    for case in cases(rows, *keys):
        [ours], [theirs] = both(rows, case, keys)
        count = ours["rows"]
        columns = [
            cell(ours[name] / count, theirs[name] / count, 4) for name in ["shap_cpu_s", "shap_s"]
        ]
        text.append(
            f"| {case[0]:,} | {NAMES[case[1]]} | {ours['nodes']:,} | {count} | "
            + " | ".join(columns)
            + f" | {ours['off_values']:.1e} | {ours['additivity']:.1e} |"
        )
    return "\n".join(text) + "\n"


def balance(rows):
    text = ["## Cleaning after SMOTE\n"]
    text.append("flakeproof / imbalanced-learn; both draw other rows, so the numbers of rows differ a little.\n")
    text.append("| positives | balance | rows left | CPU seconds | × |\n|---|---|---|---|---|")
    keys = ["positives", "balance"]
    for case in cases(rows, *keys):
        [ours], [theirs] = both(rows, case, keys)
        text.append(
            f"| {case[0]:,} | {BALANCES[case[1]]} | {ours['rows']:,} / {theirs['rows']:,} | "
            + cell(ours["balance_cpu_s"], theirs["balance_cpu_s"])
            + " |"
        )
    return "\n".join(text) + "\n"
