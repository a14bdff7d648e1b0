"""A worker in a JVM of its own, driven over a real socket."""

import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import frameworks

#: Seconds after which a silent worker is a failed test.
PATIENCE = 60


class Worker:
    """Use as a context: the JVM ends with it."""

    def __init__(self, compiled, framework, classes, properties=(), **settings):
        self._folder = tempfile.TemporaryDirectory()
        self.trace_file = Path(self._folder.name, "trace")
        self.trace_file.touch()
        configuration = Path(self._folder.name, "settings.json")
        classes = [f"demo.{name}" for name in classes]
        settings = {"framework": framework, "classes": classes, **settings}
        configuration.write_text(json.dumps(settings))
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(PATIENCE)
        command = [frameworks.tool("java"), f"-Dtrace={self.trace_file}"]
        command += [f"-D{each}" for each in properties]
        command += ["-cp", os.pathsep.join(compiled), "flakeproof.agent.Main"]
        command += [str(listener.getsockname()[1]), "a token", "a name", str(configuration)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        self.socket = listener.accept()[0]
        listener.close()
        self.socket.settimeout(PATIENCE)
        self._lines = self.socket.makefile("rb")
        self.hello = self.hear()
        self.tests = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self._lines.close()
        self.socket.close()
        self._folder.cleanup()

    def tell(self, **command):
        self.socket.sendall((json.dumps(command) + "\n").encode())

    def hear(self):
        """The next message; None when the worker hung up."""
        try:
            line = self._lines.readline()
        except ConnectionResetError:
            return None
        return json.loads(line) if line else None

    def collect(self, only=None):
        self.tell(do="collect", only=only)
        answer = self.hear()
        assert answer["say"] == "collected", answer
        self.tests = answer["tests"]
        self.problems = answer["problems"]
        return [test[0] for test in self.tests]

    def wanted(self, ids):
        """The same tests as another worker collects them, without a search."""
        handles = {test[0]: test[1] for test in self.tests}
        return [{"id": each, "file": handles[each]} for each in ids]

    def order(self, ids):
        places = {test[0]: index for index, test in enumerate(self.tests)}
        self.tell(do="order", tests=[places[each] for each in ids], open=False)
        answer = self.hear()
        assert answer == {"say": "ready"}, answer

    def run(self, ids, attempt=1):
        """Run an order to its end; the results, in the order in which they came."""
        self.order(ids)
        results = []
        while len(results) < len(ids):
            self.tell(**{"do": "run", "from": len(results), "attempt": attempt, "measure": False})
            news = self.until_paused()
            assert news, "nothing ran"
            results += news
        return results

    def rerun(self, test, attempt=2):
        place = [each[0] for each in self.tests].index(test)
        self.tell(do="rerun", test=place, then=None, attempt=attempt, measure=False)
        return self.until_paused()

    def until_paused(self):
        results, begun = [], None
        while (message := self.hear())["say"] != "paused":
            if message["say"] == "begins":
                begun = message["test"]
            else:
                assert message["say"] == "result", message
                assert message["test"] == begun, f"{message} without a beginning"
                message["id"] = self.tests[message["test"]][0].replace("demo.", "", 1)
                results.append(message)
        return results

    def trace(self):
        """What ran since the last time."""
        lines = self.trace_file.read_text().splitlines()
        self.trace_file.write_text("")
        return lines

    def bye(self):
        """The exit code, after a goodbye."""
        self.tell(do="bye")
        assert self.hear() is None
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


def outcomes(results):
    """What became of each test, in the order of the results."""
    return {result["id"]: result["outcome"] for result in results}
