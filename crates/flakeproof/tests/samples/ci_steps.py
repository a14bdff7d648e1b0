"""Print the shell steps of CI files as JSON, with the inputs put in as their services do.

    ci_steps.py FILE... INPUTS       FILE: a GitHub Action, a GitLab component, an orb, a job, or a page with examples

`INPUTS` is a JSON object. Each step has the file it is from, its name or id, its variables and what a shell runs.
"""

import json
import re
import sys

import yaml

*files, inputs = sys.argv[1:]
inputs = json.loads(inputs)


def with_inputs(script, declared, left, right):
    """The script with its inputs, or their defaults, in the place of what stands for them."""
    for name, about in declared.items():
        value = inputs.get(name, (about or {}).get("default"))
        script = re.sub(re.escape(left) + r"\s*\w+\." + name + r"\s*" + re.escape(right), lambda _: str(value), script)
    assert left not in script, f"an input without a value: {script}"
    return script


def github_action(action):
    for step in action["runs"]["steps"]:
        if "run" in step:
            assert step["shell"] == "bash", "every shell step names its shell"
            yield {"name": step["name"], "id": step.get("id"), "script": step["run"]}


def github_workflow(workflow):
    for job in workflow["jobs"].values():
        yield from ({"script": step["run"], "if": step.get("if")} for step in job["steps"] if "run" in step)


def gitlab(documents):
    *header, jobs = documents
    declared = header[0]["spec"]["inputs"] if header else {}
    for job in jobs.values():
        for script in job.get("before_script", []) + job["script"]:
            yield {"script": with_inputs(script, declared, "$[[", "]]")}


def orb(source):
    for name in ("install", "run"):
        command = source["commands"][name]
        for step in command["steps"]:
            if isinstance(step, dict) and "run" in step:
                yield {"script": with_inputs(step["run"]["command"], command["parameters"], "<<", ">>")}


def circleci(config):
    for job in config["jobs"].values():
        for step in job["steps"]:
            if isinstance(step, dict) and "run" in step:
                yield {"script": step["run"]}


def buildkite(pipeline):
    yield from ({"script": step["command"]} for step in pipeline["steps"])


def page(text):
    """The shell steps among the examples of a page: of Jenkins and of Buildkite."""
    for kind, block in re.findall(r"```(groovy|yaml)\n(.*?)```", text, re.S):
        if kind == "groovy":
            yield from ({"script": script} for script in re.findall(r"sh '''(.*?)'''", block, re.S))
        elif isinstance(steps := yaml.safe_load(block), dict) and "steps" in steps:
            yield from buildkite(steps)


def steps_of(file):
    text = open(file, encoding="utf-8").read()
    if file.endswith(".md"):
        return page(text)
    documents = list(yaml.safe_load_all(text))
    last = documents[-1]
    if "runs" in last:
        return github_action(last)
    if "commands" in last:
        return orb(last)
    if ".circleci" in file:
        return circleci(last)
    if ".buildkite" in file:
        return buildkite(last)
    if "jobs" in last:
        return github_workflow(last)
    return gitlab(documents)


found = {file: list(steps_of(file)) for file in files}
assert all(found.values()), f"a file without a shell step: {found}"
json.dump(found, sys.stdout)
