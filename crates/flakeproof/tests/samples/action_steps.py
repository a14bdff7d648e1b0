"""Print the shell steps of a composite action as JSON: their names, their variables and what they run."""

import json
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    action = yaml.safe_load(file)
steps = [step for step in action["runs"]["steps"] if "run" in step]
assert all(step["shell"] == "bash" for step in steps), "every shell step names its shell"
json.dump({"inputs": action["inputs"], "steps": steps}, sys.stdout)
