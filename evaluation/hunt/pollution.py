"""One polluter of one victim: `flakeproof hunt --victim` beside detect-test-pollution."""

import re
import subprocess
import time

from suite import hunt, last_fails, variables

PEER = "detect-test-pollution==1.2.0"
ROUNDS = 3


def measure_pollution(subject, entry, typed):
    subprocess.run([str(subject.python), "-m", "pip", "install", "-q", PEER], check=True)
    victim = typed.victim or entry["victims"][0]["id"]
    rounds = []
    for _ in range(ROUNDS):
        report, seconds = hunt(subject, typed, "--victim", victim, "--polluters", "prefix")
        (test,) = [test for test in report["tests"] if test["id"] == victim]
        began = time.perf_counter()
        polluter = peer(subject, victim)
        rounds.append({
            "seconds": round(seconds, 2),
            "peer_seconds": round(time.perf_counter() - began, 2),
            "polluters": test["polluters"],
            "peer_polluter": polluter,
            "holds": bool(test["polluters"]) and last_fails(subject, [*test["polluters"][0], victim]),
        })
    ratios = sorted(it["peer_seconds"] / it["seconds"] for it in rounds)
    return {
        "version": entry["version"],
        "tests": entry["tests"],
        "victim": victim,
        "rounds": rounds,
        "times_faster": round(ratios[len(ratios) // 2], 1),
    }


def peer(subject, victim):
    """The polluter that detect-test-pollution names; None if it names none."""
    command = [str(subject.python), "-m", "detect_test_pollution", "--failing-test", victim, "--tests", "."]
    done = subprocess.run(command, cwd=subject.project, env=variables(), capture_output=True, text=True)
    named = re.search(r"the polluting test is: (.+)", done.stdout)
    return named.group(1).strip() if named else "none: " + done.stdout.strip().splitlines()[-1]
