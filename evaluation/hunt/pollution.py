"""One polluter of one victim: `flakeproof hunt --victim` beside detect-test-pollution.

The peer is given the beginning of an order in which the victim fails; flakeproof has to find one itself.
"""

import random
import re
import subprocess
import tempfile
import time

from suite import hunt, last_fails, variables

PEER = "detect-test-pollution==1.2.0"
ROUNDS = 3
#: Victims of suites that the subjects file lists without any.
VICTIMS = {
    "flask-smorest": "tests/test_pagination.py::TestPagination"
    "::test_pagination_min_page_page_size[app_fixture3-AppConfig-1000]",
}
#: The peer gives up on an order in which the victim passes; that does not count.
MOST_ORDERS = 20


def measure_pollution(subject, entry, typed):
    subprocess.run([str(subject.python), "-m", "pip", "install", "-q", PEER], check=True)
    victim = typed.victim or VICTIMS.get(entry["name"]) or entry["victims"][0]["id"]
    ids = collected(subject)
    rounds = []
    for _ in range(ROUNDS):
        report, seconds = hunt(subject, typed, "--victim", victim, "--polluters", "prefix")
        (test,) = [test for test in report["tests"] if test["id"] == victim]
        polluter, peer_seconds = peer(subject, victim, ids)
        rounds.append({
            "seconds": round(seconds, 2),
            "peer_seconds": round(peer_seconds, 2),
            "polluters": test["polluters"],
            "peer_polluter": polluter,
            "holds": bool(test["polluters"]) and last_fails(subject, [*test["polluters"][0], victim]),
        })
    ratios = sorted(it["peer_seconds"] / it["seconds"] for it in rounds)
    return {
        "version": entry["version"],
        "tests": len(ids),
        "victim": victim,
        "rounds": rounds,
        "times_faster": round(ratios[len(ratios) // 2], 1),
    }


def collected(subject):
    """The ids of all tests, as the peer's own plugin lists them."""
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as listed:
        plugin = ["-p", "detect_test_pollution", f"--dtp-testids-output-file={listed.name}"]
        command = [str(subject.python), "-m", "pytest", *subject.arguments, *plugin, "--collect-only"]
        subprocess.run(command, cwd=subject.project, env=variables(), capture_output=True, check=True)
        return listed.read().splitlines()


def peer(subject, victim, ids):
    """The polluter that detect-test-pollution names, and how long it took."""
    program = subject.python.with_name("detect-test-pollution")
    for seed in range(1, MOST_ORDERS):
        order = random.Random(seed).sample(ids, len(ids))
        order = order[: order.index(victim)]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
            listed.write("".join(it + "\n" for it in [*order, victim]))
            listed.flush()
            command = [str(program), "--failing-test", victim, "--testids-file", listed.name]
            began = time.perf_counter()
            done = subprocess.run(
                command, cwd=subject.project, env=variables(), capture_output=True, text=True
            )
            seconds = time.perf_counter() - began
        named = re.search(r"the polluting test is: (.+)", done.stdout)
        if named:
            return named.group(1).strip(), seconds
        if "expected failure" not in done.stdout:
            raise SystemExit(done.stdout + done.stderr)
    raise SystemExit("the peer found no order in which the victim fails")
