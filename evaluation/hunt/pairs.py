"""PAIRWISE on copies of a live interpreter beside a new pytest for each pair."""

import random
import time

from subject import Subject, make_environment
from suite import hunt, last_fails

#: So many pairs are run by new processes; all of them would take hours.
SAMPLE = 60

#: A real suite whose imports take more than a second.
HEAVY = {
    "name": "scikit-learn",
    "version": "1.9.1",
    "requirements": [
        "pytest==8.3.5", "scikit-learn==1.9.1", "scipy==1.17.1", "pandas==3.1.1", "numpy==2.4.6",
    ],
}


def set_up_heavy(work):
    """Its tests lie in the wheel, so the packages' folder is where pytest starts."""
    home = work.resolve() / "fresh-{name}-{version}".format(**HEAVY)
    make_environment(home, HEAVY["requirements"])
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    options = ["-q", "-p", "no:cacheprovider", "--rootdir=."]
    subject = Subject(HEAVY["name"], HEAVY["version"], options, home, packages)
    subject.selection = ["sklearn/tests/test_base.py", "-k", "clone"]
    return subject


def measure_pairs(subject, entry, typed):
    once = ["--runs", "1", "--orders", "0", "--max-reruns", "1"]
    report, _ = hunt(subject, typed, *once, "--polluters", "all")
    (seconds,) = [it["seconds"] for it in report["cost"]["stages"] if it["stage"] == "polluters"]
    tests = [test["id"] for test in report["tests"]]
    found = {(pair["polluter"], pair["victim"]) for pair in report["pairs"]}
    count = len(tests) * (len(tests) - 1)
    chance = random.Random(typed.seed)
    others = [(a, b) for a in tests for b in tests if a != b and (a, b) not in found]
    sample = chance.sample(others, min(SAMPLE, len(others))) + sorted(found)
    began = time.perf_counter()
    seen = {pair for pair in sample if last_fails(subject, list(pair))}
    spawned = time.perf_counter() - began
    ours = count / seconds
    theirs = len(sample) / spawned
    always = {test["id"] for test in report["tests"] if test["alone"]["failures"]}
    return {
        "version": entry["version"],
        "tests": len(tests),
        "pairs": count,
        "seconds": round(seconds, 2),
        "pairs_a_second": round(ours, 1),
        "sample": len(sample),
        "spawned_pairs_a_second": round(theirs, 3),
        "times_faster": round(ours / theirs, 1),
        "found": len(found),
        "same": {pair for pair in seen if pair[1] not in always} == found,
    }
