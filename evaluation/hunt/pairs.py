"""PAIRWISE on copies of a live interpreter beside a new pytest for each pair."""

import random
import time

from suite import hunt, last_fails

#: So many pairs are run by new processes; all of them would take hours.
SAMPLE = 60


def measure_pairs(subject, entry, typed):
    once = ["--runs", "1", "--orders", "0", "--max-reruns", "1"]
    _, without = hunt(subject, typed, *once, "--polluters", "off")
    report, seconds = hunt(subject, typed, *once, "--polluters", "all")
    tests = [test["id"] for test in report["tests"]]
    found = {(pair["polluter"], pair["victim"]) for pair in report["pairs"]}
    count = len(tests) * (len(tests) - 1)
    chance = random.Random(typed.seed)
    others = [(a, b) for a in tests for b in tests if a != b and (a, b) not in found]
    sample = chance.sample(others, min(SAMPLE, len(others))) + sorted(found)
    began = time.perf_counter()
    seen = {pair for pair in sample if last_fails(subject, list(pair))}
    spawned = time.perf_counter() - began
    ours = count / (seconds - without)
    theirs = len(sample) / spawned
    always = {test["id"] for test in report["tests"] if test["alone"]["failures"]}
    return {
        "version": entry["version"],
        "tests": len(tests),
        "pairs": count,
        "seconds": round(seconds - without, 2),
        "pairs_a_second": round(ours, 1),
        "sample": len(sample),
        "spawned_pairs_a_second": round(theirs, 3),
        "times_faster": round(ours / theirs, 1),
        "found": len(found),
        "same": {pair for pair in seen if pair[1] not in always} == found,
    }
