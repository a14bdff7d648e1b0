"""The agent that follows the lines of the project that run."""

import ast
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import frameworks

MANIFEST = """Premain-Class: flakeproof.agent.measure.Agent
Can-Retransform-Classes: true
Boot-Class-Path: measurer.jar
"""
DEMO = frameworks.HERE / "projects/measure/demo"


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        absent = [name for name in (frameworks.tool("javac"),) if shutil.which(name) is None]
        if absent:
            raise unittest.SkipTest(f"not installed: {', '.join(absent)}")
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = Path(cls.kept.name).resolve()
        sources = [str(path) for path in (frameworks.SOURCES / "flakeproof/agent/measure").glob("*.java")]
        agent = cls.folder / "agent"
        frameworks.compile_java(agent, "", sources)
        (cls.folder / "manifest").write_text(MANIFEST)
        cls.jar = cls.folder / "measurer.jar"
        jar = [frameworks.tool("jar"), "cfm", str(cls.jar), str(cls.folder / "manifest")]
        subprocess.run([*jar, "-C", str(agent), "flakeproof"], check=True)
        cls.demo = cls.folder / "demo"
        frameworks.compile_java(cls.demo, cls.jar, [str(path) for path in DEMO.glob("*.java")])

    def measured(self, folders):
        """The lines of each file that ran, and the rest that was told."""
        told = self.folder / "folders"
        told.write_text("".join(f"{folder}\n" for folder in folders))
        command = [frameworks.tool("java"), f"-javaagent:{self.jar}={told}", "-ea", "-cp", str(self.demo), "demo.Main"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines, rest = {}, {}
        for name, value in (line.split(" ", 1) for line in done.stdout.splitlines()):
            if name.endswith(".java"):
                ends = ast.literal_eval(value)
                ran = lines.setdefault(name, set())
                for first, last in zip(ends[::2], ends[1::2]):
                    ran.update(range(first, last + 1))
            else:
                rest[name] = value
        return lines, rest

    def test_exactly_the_lines_that_run_are_told(self):
        lines, rest = self.measured([self.demo])
        source = (DEMO / "AllLines.java").read_text().splitlines()
        expected = {number for number, line in enumerate(source, 1) if line.endswith("// ran")}
        self.assertEqual(sorted(lines["demo/AllLines.java"]), sorted(expected))
        self.assertEqual((rest["unknown"], rest["threads"]), ("null", "1"))

    def test_classes_of_other_folders_are_left_alone(self):
        lines, rest = self.measured([self.folder / "elsewhere"])
        self.assertEqual((lines, rest["unknown"]), ({}, "null"))


if __name__ == "__main__":
    unittest.main()
