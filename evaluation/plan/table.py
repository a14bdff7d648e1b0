"""The results as tables that people read."""


def markdown(results):
    lines = ["# The plan beside plain reruns and CANNIER", "", "Made by `run`; README.md says how to read it.", ""]
    for name, simulation in results.get("simulate", {}).items():
        lines += simulated(name, simulation)
    if "hunt" in results:
        lines += hunted(results["hunt"])
    return "\n".join(lines) + "\n"


def simulated(name, it):
    lines = [
        f"## {it['protocol'].capitalize()}, {it['cost']} cost", "",
        f"Flaky tests found of {it['flaky']} among {it['tests']}, mean of {it['repeats']}.", "",
        "| runs a test | RERUN | CANNIER, best in hindsight | plan without kin | plan | oracle | plan of oracle "
        "| often failing: believed hidden | hidden |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for line in it["budgets"]:
        cells = [f"{line[key]:.0f}" for key in ("rerun", "cannier", "plan_without_kin", "plan", "oracle")]
        share = f"{100 * line['plan'] / line['oracle']:.0f} %"
        hidden = [f"{line[key]:.1f}" for key in ("often_failing_believed_hidden", "often_failing_hidden")]
        lines.append(f"| {line['runs']} | " + " | ".join(cells + [share] + hidden) + " |")
    points = [point for point in it["front"] if point["cost"] > 0]
    leads = [point["plan"] - point["found"] for point in points]
    everywhere = it["everywhere"]
    return lines + [
        "",
        f"CANNIER's own front (at most {it['max_reruns']} reruns): {len(it['front'])} points, "
        f"{len(it['front']) - len(points)} of them without any run; of the others the plan finds more for the "
        f"same cost and with the same claims at {sum(lead > 0 for lead in leads)} of {len(points)}, "
        f"by {min(leads):.1f} to {max(leads):.1f} tests.",
        f"CANNIER with every lower threshold and 13 numbers of reruns: the plan finds more at "
        f"{everywhere['beaten']} of {everywhere['points']} points, at worst {everywhere['smallest_lead']:+.1f} tests.",
        "", f"![{name}]({name}.svg)", "",
    ]


def hunted(rows):
    lines = [
        "## Real suites", "",
        "`hunt` with its defaults and with `--steer plan`, over seeds. Listed tests found: the fewest over all seeds.",
        "", "| suite | tests | seeds | listed | found, off | found, plan | executions, off | plan | share, median | highest |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        seeds = row["seeds"]
        fewest = {how: min(seed["found"][how] for seed in seeds) for how in ("off", "plan")}
        mean = {how: sum(seed["executions"][how] for seed in seeds) / len(seeds) for how in ("off", "plan")}
        share = row["share_of_executions"]
        lines.append(
            f"| {name} {row['version']} | {row['tests']} | {len(seeds)} | {row['listed']} | {fewest['off']} "
            f"| {fewest['plan']} | {mean['off']:.0f} | {mean['plan']:.0f} | {share['median']:.2f} | {share['highest']:.2f} |"
        )
    return lines + [""]
