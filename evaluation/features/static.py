"""The static features of every test of a folder, by radon and ast: what ours is compared with.

    python static.py FOLDER [FOLDER …]

Prints a JSON object for each function whose name begins with `test`, at the outermost level of a
file or in a class, in each file of the folders that Python can parse. Needs radon 6 and, for equal
numbers, Python 3.11: later versions cut f-strings into tokens, and radon counts the colons in them.
"""

import ast
import inspect
import json
import math
import pathlib
import sys
import textwrap
import warnings

from radon.complexity import cc_visit
from radon.metrics import h_visit, h_visit_ast, mi_compute, mi_visit
from radon.raw import analyze
from radon.visitors import ComplexityVisitor

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def tests_of(body):
    """Functions whose name begins with `test`, also under conditions and in classes."""
    for node in body:
        if isinstance(node, FUNCTIONS):
            if node.name.startswith("test"):
                yield node
        elif isinstance(node, ast.stmt):
            yield from tests_of(statements_below(node))


def statements_below(node):
    """The statements directly inside a statement, those of its handlers and cases included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.excepthandler, ast.match_case)):
            yield from statements_below(child)


def depth_of(statement):
    """How many statements lie in one another: 1 for a statement with none inside."""
    return 1 + max(map(depth_of, statements_below(statement)), default=0)


def assertions_of(test):
    """`assert` statements, and calls of `self.assert…` and `self.fail`."""
    return sum(is_assertion(node) for node in ast.walk(test))


def is_assertion(node):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of_self = isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
        return of_self and (node.func.attr.startswith("assert") or node.func.attr == "fail")
    return isinstance(node, ast.Assert)


def imports_of(nodes):
    """(name, package) of each absolute import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.split(".")[0]
                yield alias.asname or package, package
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, node.module.split(".")[0]


def outside_of_functions(body):
    """All statements of a file that stand in no function and no class."""
    for node in body:
        if not isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            yield node
            yield from outside_of_functions(statements_below(node))


def external_modules_of(test, file_imports):
    """Packages outside the standard library that the test imports, or that its file imports under
    a name which stands in the test (decorators and defaults included) as an expression or target.
    """
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    packages = {package for name, package in file_imports if name in names}
    packages |= {package for _, package in imports_of(ast.walk(test))}
    return len(packages - sys.stdlib_module_names)


def radon_of(test, source):
    """Halstead volume, complexity and maintainability, of the test's own text."""
    code = textwrap.dedent(source)
    try:
        ast.parse(code)
    except SyntaxError:
        # A line of a string stands further left than the test: take its part of the file's tree.
        return radon_of_tree(ast.Module(body=[test], type_ignores=[]), source)
    (block,) = cc_visit(code)
    return h_visit(code).total.volume, block.complexity, mi_visit(code, multi=True)


def radon_of_tree(module, source):
    """The same of a test that cannot be dedented, as `mi_visit` would put it together."""
    volume = h_visit_ast(module).total.volume
    complexity = ComplexityVisitor.from_ast(module).total_complexity
    raw = analyze(source)
    comments = (raw.comments + raw.multi) / raw.sloc * 100 if raw.sloc else 0
    return volume, complexity, mi_compute(volume, complexity, raw.lloc, comments)


def features_of(test, lines, file_imports):
    first = min([test.lineno, *(decorator.lineno for decorator in test.decorator_list)])
    source = "".join(inspect.getblock(lines[first - 1 :]))
    volume, complexity, maintainability = radon_of(test, source)
    return {
        "line": first,
        "name": test.name,
        "depth": depth_of(test),
        "assertions": assertions_of(test),
        "external_modules": external_modules_of(test, file_imports),
        "halstead_volume": volume,
        "cyclomatic_complexity": complexity,
        "lines": analyze(textwrap.dedent(source)).loc,
        "maintainability": maintainability,
    }


def features_of_file(path):
    try:
        text = path.read_text(encoding="utf-8")
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    # As `linecache` cuts it, not as `str.splitlines` does.
    lines = [line + "\n" for line in text.split("\n")]
    file_imports = list(imports_of(outside_of_functions(module.body)))
    for test in tests_of(module.body):
        try:
            yield features_of(test, lines, file_imports)
        except Exception as error:  # radon has limits of its own: say so, and go on.
            yield {"line": test.lineno, "name": test.name, "error": repr(error)}


def main(folders):
    warnings.simplefilter("ignore")
    assert math.isclose(mi_compute(0, 1, 1, 0), 100), "this is another radon"
    for folder in map(pathlib.Path, folders):
        for path in sorted(folder.rglob("*.py")):
            for features in features_of_file(path):
                print(json.dumps({"file": path.relative_to(folder).as_posix(), **features}))


if __name__ == "__main__":
    main(sys.argv[1:])
