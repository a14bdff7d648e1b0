"""What the tests of all frameworks share: one class of tests is run for each version."""

import unittest

import frameworks
from worker import Worker


class Compiled:
    """Mixed into tests: the worker and the project, compiled against one version."""

    version = None
    framework = None

    @classmethod
    def setUpClass(cls):
        absent = frameworks.missing()
        if absent:
            raise unittest.SkipTest(f"not installed: {', '.join(absent)}")
        cls.compiled = [
            str(frameworks.worker(cls.version)),
            str(frameworks.project(cls.version)),
            str(frameworks.jars(cls.version) / "*"),
        ]

    def worker(self, *classes, **settings):
        """A worker for classes of the project; it ends with the test."""
        worker = Worker(self.compiled, self.framework, classes, **settings)
        self.enterContext(worker) if hasattr(self, "enterContext") else self._enter(worker)
        return worker

    def _enter(self, worker):
        worker.__enter__()
        self.addCleanup(worker.__exit__, None, None, None)

    def collected(self, *classes, **settings):
        """A worker that has collected classes of the project."""
        worker = self.worker(*classes, **settings)
        worker.collect()
        self.assertEqual(worker.problems, [])
        return worker

    def assert_failure(self, result, outcome, phase, message, file=None):
        self.assertEqual(result["outcome"], outcome, result)
        self.assertEqual(result["failure"]["phase"], phase, result)
        self.assertIn(message, result["failure"]["message"])
        self.assertNotIn("flakeproof.agent", result["failure"]["text"])
        if file:
            self.assertEqual(result["failure"]["file"], file)
            self.assertGreater(result["failure"]["line"], 0)


def for_versions(versions, tests, into):
    """Make one class of tests for each version, so that each can be run by its name."""
    for version in versions:
        name = f"{tests.__name__}_{version.replace('.', '_')}"
        members = {"version": version, "__module__": tests.__module__}
        into[name] = type(name, (tests, Compiled, unittest.TestCase), members)
