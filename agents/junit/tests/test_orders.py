"""The agent that shuffles the orders that the specification of the JDK leaves open."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import frameworks

MANIFEST = """Premain-Class: flakeproof.agent.orders.Agent
Can-Retransform-Classes: true
Boot-Class-Path: shuffler.jar
"""

#: What comes in an order that is left open; and what does not, or does not depend on it.
OPEN = [
    "toString", "keys", "values", "entries", "copied", "array", "stream", "forEach", "set", "setStream",
    "concurrent", "fields", "methods", "constructors", "list", "listFiles",
]
CLOSED = {
    "linked": "{a=0, b=1, c=2, d=3}",
    "linkedSet": "[3, 1, 2]",
    "linkedStream": "cab",
    "sorted": "{a=0, b=1, c=2, d=3}",
    "removed": "{d=9}",
    "concurrentlyRemoved": "{c=2}",
    "failsFast": "true",
}


class Orders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        absent = [name for name in (frameworks.tool("javac"),) if shutil.which(name) is None]
        if absent:
            raise unittest.SkipTest(f"not installed: {', '.join(absent)}")
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = Path(cls.kept.name)
        sources = [str(path) for path in (frameworks.SOURCES / "flakeproof/agent/orders").glob("*.java")]
        agent, demo = cls.folder / "agent", cls.folder / "demo"
        frameworks.compile_java(agent, "", sources)
        frameworks.compile_java(demo, "", [str(frameworks.HERE / "projects/orders/demo/OpenOrders.java")])
        (cls.folder / "manifest").write_text(MANIFEST)
        cls.jar = cls.folder / "shuffler.jar"
        jar = [frameworks.tool("jar"), "cfm", str(cls.jar), str(cls.folder / "manifest")]
        subprocess.run([*jar, "-C", str(agent), "flakeproof"], check=True)
        cls.files = cls.folder / "files"
        cls.files.mkdir()
        for name in "one two three four".split():
            (cls.files / name).touch()

    def run_java(self, *options):
        command = [frameworks.tool("java"), *options, "-cp", str(self.folder / "demo"), "demo.OpenOrders"]
        done = subprocess.run([*command, str(self.files)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def shuffled(self, seed, calls="", chosen="all"):
        settings = self.folder / f"settings-{seed}"
        settings.write_text(f"{seed}\n{calls}\n{chosen}\n")
        return self.run_java(f"-javaagent:{self.jar}={settings}")

    def test_everything_open_comes_in_another_order_and_nothing_else_does(self):
        usual, seeds = self.run_java(), [self.shuffled(seed) for seed in (1, 2, 3)]
        for seen in seeds:
            for name in OPEN:
                self.assertNotEqual(seen[name], usual[name], name)
                self.assertEqual(sorted(seen[name]), sorted(usual[name]), name)
            for name, expected in CLOSED.items():
                self.assertEqual((usual[name], seen[name]), (expected, expected), name)
            self.assertEqual(seen["again"], seen["toString"])
        self.assertGreater(len({seen["toString"] for seen in seeds}), 1)

    def test_a_seed_gives_the_same_order_each_time(self):
        self.assertEqual(self.shuffled(4294967295), self.shuffled(4294967295))

    def test_only_the_chosen_calls_are_shuffled(self):
        usual, file = self.run_java(), self.folder / "calls"
        every = self.shuffled(5, file)
        calls = file.read_text().splitlines()
        self.assertEqual(len(calls), len(set(calls)))
        fields = [call for call in calls if call.endswith("the order of Fields")]
        self.assertEqual(len(fields), 1, calls)
        self.assertRegex(fields[0], r"^demo\.OpenOrders\.main \(OpenOrders\.java:\d+\): ")
        some = self.shuffled(5, "", "only\n" + fields[0])
        self.assertEqual(some["fields"], every["fields"])
        self.assertEqual(some["methods"], usual["methods"])
        self.assertEqual(some["toString"], usual["toString"])
