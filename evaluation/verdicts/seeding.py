"""Chance put into tests of a real suite: single failures by rate, bursts and an outage by the clock.

The edited tests are committed as the base, so that no change is to blame. Nothing is kept between
executions: a rate is drawn from the system's randomness, a burst and an outage come and go with
the clock, whatever test looks at it.
"""

import ast
import random
import re

from python_source import Offsets

#: How many tests of a suite fail at which rate.
RATES = [("five", 5, 8), ("ten", 10, 4), ("twenty", 20, 2), ("thirty", 30, 1), ("fifty", 50, 1)]
BURSTS = 2
IN_OUTAGE = 5
#: How many windows long it takes until a burst or an outage comes back.
PERIOD = 6


class TooFewTests(Exception):
    """The suite has not enough tests that chance could be put into."""


def seed_suite(suite, mode, window, seed):
    """Edit tests of the suite: `rates`, `burst` or `outage`. `window` is how long the last two last."""
    language = LANGUAGES[suite.runner]
    places = language.places(suite)
    random.Random("{}/{}/{}".format(seed, suite.name, mode)).shuffle(places)
    calls = {
        "rates": [("chance", word, rate) for word, rate, count in RATES for _ in range(count)],
        "burst": [("burst", "burst", 0)] * BURSTS,
        "outage": [("outage", "outage", 0)] * IN_OUTAGE,
    }[mode]
    if len(places) < min(len(calls), IN_OUTAGE):
        raise TooFewTests("{} has only {} tests for chance".format(suite.name, len(places)))
    # In a suite with few tests the rare failures come first in the list, and the frequent ones last.
    calls = calls[-len(places) :]
    language.help(suite, window)
    chosen = sorted(zip(places, calls), key=lambda it: (str(it[0][0]), -it[0][1]))
    for (path, at, indent), (function, word, rate) in chosen:
        text = path.read_bytes().decode("utf-8")
        line = language.line(function, word, rate)
        path.write_bytes((text[:at] + indent + line + "\n" + text[at:]).encode("utf-8"))


class Python:
    HELP = """import os
import time


def lucky(percent):
    return int.from_bytes(os.urandom(4), "big") % 100 >= percent


def calm():
    return time.time() % {period} >= {window}


def outage():
    if not calm():
        raise ConnectionError("seeded outage: the service does not answer")
"""

    @staticmethod
    def places(suite):
        found = []
        for name in suite.entry["tests"]:
            path = suite.project / name
            files = sorted(path.rglob("test*.py")) if path.is_dir() else [path]
            for file in files:
                text = file.read_bytes().decode("utf-8")
                for node in ast.walk(ast.parse(text)):
                    # A parametrized test would be many tests.
                    if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                        first = node.body[0]
                        plain = not node.decorator_list and first.lineno > node.lineno
                        if plain and not isinstance(first, (ast.FunctionDef, ast.ClassDef)):
                            if node.col_offset <= 4:
                                at = Offsets(text).starts[first.lineno - 1]
                                found.append((file, at, " " * first.col_offset))
        return found

    @classmethod
    def help(cls, suite, window):
        text = cls.HELP.format(window=window, period=round(PERIOD * window, 3))
        (suite.project / "seeded_chance.py").write_text(text, encoding="utf-8")

    @staticmethod
    def line(function, word, rate):
        called = "__import__('seeded_chance')"
        return {
            "chance": "assert {}.lucky({}), 'seeded {} per cent'".format(called, rate, word),
            "burst": "assert {}.calm(), 'seeded burst'".format(called),
            "outage": "{}.outage()".format(called),
        }[function]


class Go:
    HELP = """package {package}

import (
	"crypto/rand"
	"errors"
	"time"
)

func lucky(percent int) bool {{
	drawn := make([]byte, 2)
	rand.Read(drawn)
	return (int(drawn[0])*256+int(drawn[1]))%100 >= percent
}}

func calm() bool {{
	return time.Now().UnixMilli()%{period} >= {window}
}}

func outage() error {{
	if !calm() {{
		return errors.New("seeded outage: the service does not answer")
	}}
	return nil
}}
"""

    @staticmethod
    def places(suite):
        found = []
        for path in sorted(suite.project.glob("*_test.go")):
            text = path.read_bytes().decode("utf-8")
            pattern = r"^func Test\w+\(t \*testing\.T\) \{\n"
            found += [(path, it.end(), "\t") for it in re.finditer(pattern, text, re.M)]
        return found

    @classmethod
    def help(cls, suite, window):
        package = suite.project.glob("*_test.go").__next__().read_text().split("package ")[1].split()[0]
        milliseconds = round(1000 * window)
        text = cls.HELP.format(package=package, window=milliseconds, period=PERIOD * milliseconds)
        (suite.project / "seeded_chance_test.go").write_text(text, encoding="utf-8")

    @staticmethod
    def line(function, word, rate):
        return {
            "chance": 'if !lucky({}) {{ t.Fatal("seeded {} per cent") }}'.format(rate, word),
            "burst": 'if !calm() { t.Fatal("seeded burst") }',
            "outage": "if err := outage(); err != nil { t.Fatal(err) }",
        }[function]


class Cargo:
    HELP = """
#[cfg(test)]
mod seeded {{
    use std::hash::{{BuildHasher, Hasher}};

    pub fn lucky(percent: u64) -> bool {{
        let drawn = std::collections::hash_map::RandomState::new().build_hasher().finish();
        drawn % 100 >= percent
    }}

    pub fn calm() -> bool {{
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() % {period} >= {window}
    }}

    pub fn outage() {{
        if !calm() {{
            panic!("seeded outage: the service does not answer");
        }}
    }}
}}
"""

    @staticmethod
    def places(suite):
        path = suite.project / "src" / "lib.rs"
        text = path.read_bytes().decode("utf-8")
        pattern = r"#\[test\]\n    fn \w+\(\) \{\n"
        return [(path, it.end(), "        ") for it in re.finditer(pattern, text)]

    @classmethod
    def help(cls, suite, window):
        milliseconds = round(1000 * window)
        with open(suite.project / "src" / "lib.rs", "a", encoding="utf-8") as library:
            library.write(cls.HELP.format(window=milliseconds, period=PERIOD * milliseconds))

    @staticmethod
    def line(function, word, rate):
        return {
            "chance": 'assert!(crate::seeded::lucky({}), "seeded {} per cent");'.format(rate, word),
            "burst": 'assert!(crate::seeded::calm(), "seeded burst");',
            "outage": "crate::seeded::outage();",
        }[function]


class Jest:
    HELP = """"use strict";

exports.lucky = (percent) => require("crypto").randomInt(100) >= percent;
exports.calm = () => Date.now() % {period} >= {window};
exports.outage = () => {{
  if (!exports.calm()) throw new Error("seeded outage: the service does not answer");
}};
"""

    @staticmethod
    def places(suite):
        found = []
        for name in suite.entry["tests"]:
            path = suite.project / name
            text = path.read_bytes().decode("utf-8")
            pattern = r"^ +(?:test|it)\(\"[^\n]*(?:=> |\(\) )\{\n"
            found += [(path, it.end(), "      ") for it in re.finditer(pattern, text, re.M)]
        return found

    @classmethod
    def help(cls, suite, window):
        milliseconds = round(1000 * window)
        text = cls.HELP.format(window=milliseconds, period=PERIOD * milliseconds)
        (suite.project / "seeded-chance.js").write_text(text, encoding="utf-8")

    @staticmethod
    def line(function, word, rate):
        called = 'require("../seeded-chance")'
        return {
            "chance": 'if (!{}.lucky({})) throw new Error("seeded {} per cent");'.format(called, rate, word),
            "burst": 'if (!{}.calm()) throw new Error("seeded burst");'.format(called),
            "outage": "{}.outage();".format(called),
        }[function]


class Maven:
    HELP = """package seeded;

public class Chance {{
    public static boolean lucky(int percent) {{
        return new java.security.SecureRandom().nextInt(100) >= percent;
    }}

    public static boolean calm() {{
        return System.currentTimeMillis() % {period} >= {window};
    }}

    public static void outage() {{
        if (!calm()) {{
            throw new IllegalStateException("seeded outage: the service does not answer");
        }}
    }}
}}
"""

    @staticmethod
    def places(suite):
        found = []
        for path in sorted((suite.project / "src" / "test").rglob("*Test.java")):
            text = path.read_bytes().decode("utf-8")
            pattern = r"@Test\n    public void \w+\(\)[^{]*\{\n"
            found += [(path, it.end(), "        ") for it in re.finditer(pattern, text)]
        return found

    @classmethod
    def help(cls, suite, window):
        milliseconds = round(1000 * window)
        folder = suite.project / "src" / "test" / "java" / "seeded"
        folder.mkdir()
        text = cls.HELP.format(window=milliseconds, period=PERIOD * milliseconds)
        (folder / "Chance.java").write_text(text, encoding="utf-8")

    @staticmethod
    def line(function, word, rate):
        return {
            "chance": 'org.junit.Assert.assertTrue("seeded {} per cent", seeded.Chance.lucky({}));'.format(word, rate),
            "burst": 'org.junit.Assert.assertTrue("seeded burst", seeded.Chance.calm());',
            "outage": "seeded.Chance.outage();",
        }[function]


LANGUAGES = {"pytest": Python, "go": Go, "cargo": Cargo, "jest": Jest, "maven": Maven}
