"""Mutants of a suite: small changes of its source, data and installed copies, by seed.

A mutant is a list of whole files with their new bytes, and a diff that shows it. All candidates of a
suite are made at once, in an order that only the seed decides; whether they make a test fail is
found out by running the suite.
"""

import difflib
import hashlib
import random

import leaks
import python_source
import token_source
from suites import is_tracked

#: How mutants of the same file are told apart in tables.
KINDS = ["operator", "constant", "return", "removed", "leak", "data", "ignored", "installed"]


#: More candidates of a kind than this are never tried.
ENOUGH = 300


class Mutant:
    """One change of one suite, not yet made."""

    def __init__(self, suite, kind, path, content, what):
        self.suite = suite.name
        self.kind = kind
        self.path = path
        self.content = content
        self.what = what
        root = suite.installed_root() if kind == "installed" else suite.project
        self.file = path.relative_to(root).as_posix()
        digest = hashlib.sha256(self.file.encode() + b"\0" + content).hexdigest()
        self.id = "{}/{}/{}".format(suite.name, kind, digest[:8])
        number = int(digest[:8], 16)
        self.tracked = is_tracked(suite, path)
        #: Half of the mutants meet a history of one passing run, half an empty store.
        self.with_history = number % 2 == 0
        #: A quarter of those that git sees is committed on a branch, as in CI.
        self.committed = self.tracked and (number >> 1) % 4 == 0
        #: What git does not see keeps its old time, as a file from an archive does.
        self.keeps_time = not self.tracked

    def diff(self):
        before = self.path.read_bytes()
        try:
            old, new = before.decode("utf-8"), self.content.decode("utf-8")
        except UnicodeDecodeError:
            at = next(i for i, (a, b) in enumerate(zip(before, self.content)) if a != b)
            return "{}: byte {}: {} -> {}".format(self.file, at, before[at], self.content[at])
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), self.file, self.file, lineterm="", n=0
        )
        return "\n".join(list(lines)[2:])


def candidates(suite, seed):
    """All mutants of the suite by kind, each kind shuffled by the seed."""
    found = {kind: [] for kind in KINDS}
    for path in suite.files("sources"):
        for kind, content, what in source_mutants(suite, path):
            found[kind].append(Mutant(suite, kind, path, content, what))
    for path, content, what in leaks.leaks(suite, chance_of(seed, suite, "leaks")):
        found["leak"].append(Mutant(suite, "leak", path, content, what))
    for kind in ("data", "ignored", "installed"):
        for path in suite.files(kind):
            found[kind] += list(unversioned(suite, kind, path, chance_of(seed, suite, path.name)))
    for kind, mutants in found.items():
        unique = list({mutant.id: mutant for mutant in mutants}.values())
        chance_of(seed, suite, kind).shuffle(unique)
        found[kind] = unique[:ENOUGH]
    return found


def chance_of(seed, suite, what):
    return random.Random("{}/{}/{}".format(seed, suite.name, what))


def unversioned(suite, kind, path, chance):
    """Mutants of a data file, an ignored file or an installed copy."""
    if path.suffix in (".py", ".js") and kind != "data":
        for of_source, content, what in source_mutants(suite, path):
            yield Mutant(suite, kind, path, content, "{}: {}".format(of_source, what))
    else:
        for content, what in data_mutants(path.read_bytes(), chance):
            yield Mutant(suite, kind, path, content, what)


def source_mutants(suite, path):
    """`(kind, content, what)` for each place of a source file that can be changed."""
    language = python_source if path.suffix == ".py" else token_source
    text = path.read_bytes().decode("utf-8")
    for kind, begin, end, replacement in language.edits(text, path.suffix):
        changed = text[:begin] + replacement + text[end:]
        shown = "`{}` -> `{}`".format(text[begin:end], replacement)
        yield kind, changed.encode("utf-8"), shown


def data_mutants(content, chance, count=40):
    """A letter, a digit or a line of a text changed; a byte of anything else."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    for _ in range(min(count, len(content))):
        if text is None or "\0" in text:
            at = chance.randrange(len(content))
            letter = content[at]
            other = 120 if letter != 120 else 121
            yield content[:at] + bytes([other]) + content[at + 1 :], "byte {}".format(at)
            continue
        lines = text.splitlines(keepends=True)
        at = chance.choice([i for i, line in enumerate(lines) if any(map(str.isalnum, line))])
        line = lines[at]
        if chance.random() < 0.2:
            changed, what = "", "line removed"
        else:
            place = chance.choice([i for i, it in enumerate(line) if it.isalnum()])
            old = line[place]
            new = str((int(old) + 1) % 10) if old in "0123456789" else "q" if old != "q" else "x"
            changed, what = line[:place] + new + line[place + 1 :], "{} -> {}".format(old, new)
        mutated = "".join(lines[:at] + [changed] + lines[at + 1 :])
        yield mutated.encode("utf-8"), "line {}: {}".format(at + 1, what)
