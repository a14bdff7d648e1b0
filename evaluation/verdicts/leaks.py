"""Mutants that leak state: what one test calls makes another one fail.

The change hides in a function and shows itself from its Nth call on, or when the module is
imported: a decimal context, a variable of the environment, the working folder, filters of warnings,
a registry of the package, a patched function of the standard library, a thread that is left behind.
"""

import ast
import re

import token_source
from python_source import Offsets

EFFECTS = [
    "import decimal\ndecimal.getcontext().prec = 3",
    "import os\nos.chdir('/')",
    "import warnings\nwarnings.simplefilter('error')",
    "import sys\nsys.setrecursionlimit(120)",
    "import locale\nlocale.setlocale(locale.LC_ALL, 'C.UTF-8')",
    "import sys\nsys.modules.pop(__name__)",
    "raise RuntimeError('called too often')",
]
#: Replaced functions of the standard library must not be ones that pytest itself needs.
PATCHED = {"json", "math", "decimal", "datetime", "collections", "operator", "copy", "hashlib",
           "binascii", "random", "string", "functools", "itertools", "heapq", "pkgutil", "html", "textwrap"}


def leaks(suite, chance, count=400):
    """`(path, content, what)` of mutants that leak state, in an order of chance."""
    sources = suite.files("sources")
    made = _python(suite, sources, chance) if suite.runner == "pytest" else _other(suite, sources, chance)
    for _, leak in zip(range(count), made):
        yield leak


def _python(suite, sources, chance):
    texts = {path: path.read_bytes().decode("utf-8") for path in sources}
    functions = [(path, node) for path in sources for node in _functions(texts[path])]
    effects = list(EFFECTS)
    effects += ["import os\nos.environ[{!r}] = '1'".format(it) for it in suite.entry.get("variables", [])]
    effects *= 3
    for path in sources:
        effects += _of_the_package(suite, path, texts[path])
        effects += _of_the_library(texts[path])
    while True:
        effect = chance.choice(effects)
        path, node = chance.choice(functions)
        calls = chance.choice([1, 1, 2, 3, 5, 10, 30])
        threaded = chance.random() < 0.15 and "raise" not in effect
        at_import = chance.random() < 0.15 and "raise" not in effect
        text = texts[path]
        helper = _helper(effect, calls, threaded)
        if at_import:
            changed = text + helper.replace("== {}".format(calls), "== 1") + "_leak()\n"
            when = "at import"
        else:
            at = Offsets(text).starts[node.body[0].lineno - 1]
            indent = " " * node.body[0].col_offset
            changed = text[:at] + indent + "_leak()\n" + text[at:] + helper
            when = "at call {} of {}".format(calls, node.name)
        yield path, changed.encode("utf-8"), "{}: {}".format(when, effect.splitlines()[-1])


def _helper(effect, calls, threaded):
    repeated = "raise" in effect
    lines = ["", "", "def _leak(calls=[]):", "    calls.append(1)"]
    lines.append("    if len(calls) {} {}:".format(">=" if repeated else "==", calls))
    if threaded:
        lines += ["        import threading", "        import time", "", "        def later():", "            time.sleep(0.02)"]
        lines += ["            " + line for line in effect.splitlines()]
        lines += ["", "        threading.Thread(target=later, daemon=True).start()"]
    else:
        lines += ["        " + line for line in effect.splitlines()]
    return "\n".join(lines) + "\n"


def _functions(text):
    """Functions with a body on lines of its own, after the documentation if there is one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
            # A decorated or nested first statement starts on an earlier line than its name.
            if node.body and not isinstance(node.body[0], (ast.FunctionDef, ast.ClassDef)):
                yield node


def _of_the_package(suite, path, text):
    """A container of a module emptied, a constant or a function of it replaced."""
    name = path.relative_to(suite.project).with_suffix("").as_posix()
    module = re.sub(r"^src/", "", name).replace("/", ".").replace(".__init__", "")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            patched = "{} = lambda *words, **named: None".format(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            contained = isinstance(node.value, (ast.Dict, ast.List, ast.Set))
            patched = "{}.clear()".format(target) if contained else "{} = None".format(target)
        else:
            continue
        if not patched.startswith("__"):
            yield "import sys\nsys.modules[{!r}].{}".format(module, patched)


def _of_the_library(text):
    used = set(re.findall(r"\b(\w+)\.(\w+)\(", text))
    for module, function in sorted(used):
        if module in PATCHED:
            yield "import {0}\n{0}.{1} = lambda *words, **named: None".format(module, function)


HEADERS = {
    ".go": re.compile(r"^func (?:\([^)]*\) )?(\w+)\(.*\{$", re.M),
    ".js": re.compile(r"^\s*(?:async )?function\*? ?(\w*)\([^)]*\) \{$", re.M),
    ".rs": re.compile(r"^\s*(?:pub )?fn (\w+)[^;{}]*?\{$", re.M),
    ".java": re.compile(r"^    (?:public|private|protected) (?:static )?[\w<>\[\]]+ (\w+)\([^)]*\)[^;{]*\{?\s*\{$", re.M),
}
COUNTED = {
    ".go": ("leakedCalls++; if leakedCalls >= {n} {{ {effect} }}", "\nvar leakedCalls int\n"),
    ".js": ("if ((global.leakedCalls = (global.leakedCalls || 0) + 1) >= {n}) {{ {effect} }}", ""),
    ".rs": (
        "static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);\n"
        "    if CALLS.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 >= {n} {{ {effect} }}", ""),
    ".java": (
        "System.setProperty(\"leaked\", System.getProperty(\"leaked\", \"\") + \"x\");\n"
        "        if (System.getProperty(\"leaked\").length() >= {n}) {{ {effect} }}", ""),
}


def _other(suite, sources, chance):
    places = []
    for path in sources:
        text = path.read_bytes().decode("utf-8")
        code = token_source.masked(text, path.suffix)
        places += [(path, text, found) for found in HEADERS[path.suffix].finditer(code)]
    named = suite.entry.get("effects_in")
    places = [it for it in places if not named or it[0].name in named]
    while places:
        path, text, found = chance.choice(places)
        effect = chance.choice(suite.entry["effects"])
        calls = chance.choice([1, 2, 3, 5, 10, 30])
        line, end = COUNTED[path.suffix]
        inserted = "\n    " + line.format(n=calls, effect=effect)
        changed = text[: found.end()] + inserted + text[found.end() :] + end
        what = "from call {} of {}: {}".format(calls, found.group(1), effect)
        yield path, changed.encode("utf-8"), what
