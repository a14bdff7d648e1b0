#!/usr/bin/env python3
"""Texts of Java tests that IDoFT lists as flaky by hash order (ID) or test order (OD), and of others beside them.

    idoft_texts.py PR-DATA.csv CLONES > idoft.jsonl

CLONES has a bare clone `OWNER+NAME/repo` of each project. Read is the listed revision with most rows. Half of the
projects, told by the first byte of the SHA-256 of their address in small letters, are never read: they are left for
who wants to measure what was learned. Tests listed for another reason are left out, and so are all but 250
unlisted tests of a project.
"""

import collections
import csv
import hashlib
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile

TEST = "Fully-Qualified Test Name (packageName.ClassName.methodName)"
HASH_ORDER, TEST_ORDER = {"ID"}, {"OD", "OD-Vic", "OD-Brit"}
MOST_OTHERS = 250
# Their tests are in other data sets already, with better labels.
KNOWN = set(
    "apache/dubbo apache/hbase doanduyhai/achilles tootallnate/java-websocket activiti/activiti "
    "spring-projects/spring-boot alluxio/alluxio apache/hadoop qos-ch/logback orbit/orbit "
    "apache/httpcore apache/jackrabbit-oak square/okhttp".split()
)
NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
BEGIN = re.compile(r"@(?:Parameterized|Repeated)?Test\b|\bpublic\s+void\s+test\w*\s*\(")
HEAD = re.compile(
    r"(?:void|\w+(?:<[^<>]*>)?)\s+(\w+)\s*\([^()]*\)\s*(?:throws[\w\s,.]+)?\{"
)


def methods(text):
    """Name and text of each test method."""
    clean = NOISE.sub(lambda it: " " * len(it.group(0)), text)
    seen = set()
    for begin in BEGIN.finditer(clean):
        head = HEAD.search(clean, begin.start())
        if not head or head.start() - begin.start() > 600 or head.start() in seen:
            continue
        seen.add(head.start())
        depth, at = 0, head.end() - 1
        while at < len(clean):
            depth += {"{": 1, "}": -1}.get(clean[at], 0)
            if depth == 0:
                break
            at += 1
        yield head.group(1), text[begin.start() : at + 1]


def category(found):
    if found & HASH_ORDER:
        return "unordered_collections"
    return "test_order_dependency" if found & TEST_ORDER else None


def git(folder, *words):
    return subprocess.run(["git", "--git-dir", folder, *words], capture_output=True, check=False)


def project_tests(name, rows, folder):
    """The tests of one project."""
    revisions = collections.Counter(row["SHA Detected"] for row in rows).most_common()
    there = [it for it, _ in revisions if git(folder, "cat-file", "-e", it).returncode == 0]
    if not there:
        return
    listed = collections.defaultdict(set)
    for row in rows:
        test = re.sub(r"[\[({].*", "", row[TEST].strip()).replace("$", ".")
        listed[test].update(row["Category"].split(";"))
    archive = git(folder, "archive", there[0], ":(glob)**/*.java").stdout
    flaky, others, seen = [], [], set()
    for entry in tarfile.open(fileobj=io.BytesIO(archive)):
        if not entry.isfile() or ("/test" not in entry.name and "Test" not in entry.name):
            continue
        text = text_of(entry, archive)
        package = re.search(r"^\s*package\s+([\w.]+)", text, re.M)
        file = os.path.basename(entry.name)[:-5]
        owner = f"{package.group(1)}.{file}" if package else file
        for method, source in methods(text):
            test = f"{owner}.{method}"
            if test in seen:
                continue
            seen.add(test)
            inside = [it for it in listed if it.endswith(f".{method}") and it.startswith(f"{owner}.")]
            found = set().union(*(listed[it] for it in inside)) if inside else set()
            line = {"project": name.split("/")[-1], "class": owner, "method": method, "source": source}
            if category(found):
                flaky.append({**line, "flaky": True, "category": category(found)})
            elif not found:
                others.append({**line, "flaky": False})
    random.Random(name).shuffle(others)
    yield from flaky
    yield from others[:MOST_OTHERS]


def text_of(entry, archive):
    start = entry.offset_data
    return archive[start : start + entry.size].decode("utf-8", "replace")


def main():
    table, clones = sys.argv[1:]
    projects = collections.defaultdict(list)
    with open(table, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            projects[row["Project URL"].strip().rstrip("/").lower()].append(row)
    folders = {it.lower(): it for it in os.listdir(clones)}
    for address, rows in sorted(projects.items()):
        name = address.removeprefix("https://github.com/")
        folder = folders.get(name.replace("/", "+"))
        is_left = hashlib.sha256(address.encode()).digest()[0] % 2 == 1
        if is_left or name in KNOWN or not folder:
            continue
        count = collections.Counter()
        for test in project_tests(name, rows, os.path.join(clones, folder, "repo")):
            count[test["flaky"]] += 1
            print(json.dumps(test))
        print(f"{name}: {count[True]} flaky, {count[False]} others", file=sys.stderr)


if __name__ == "__main__":
    main()
