"""Places of a Python source that can be changed, found in its syntax tree.

Each is `(kind, begin, end, replacement)` in characters of the text, so that all the rest of the
file stays as it is.
"""

import ast
import re

OPERATORS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "*", "**": "*", "<<": ">>", ">>": "<<",
    "&": "|", "|": "&", "^": "&", "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=",
    ">=": "<", "is": "is not", "is not": "is", "in": "not in", "not in": "in", "and": "or",
    "or": "and",
}
OPERATOR = re.compile(r"is\s+not|not\s+in|\*\*|//|<<|>>|[=!<>]=|\bis\b|\bin\b|\band\b|\bor\b|[-+*/%&|^<>]")
REMOVED = (ast.Assign, ast.AugAssign, ast.Raise, ast.Delete, ast.Continue, ast.Break)


def edits(text, _suffix=".py"):
    tree = ast.parse(text)
    offset = Offsets(text)
    documentation = set(_documentation(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            yield from _operators(text, offset, [(node.left, node.right)])
        elif isinstance(node, ast.BoolOp):
            yield from _operators(text, offset, zip(node.values, node.values[1:]))
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            yield from _operators(text, offset, zip(sides, sides[1:]))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            begin = offset.begin(node)
            yield ("operator", begin, begin + len("not "), "")
        elif isinstance(node, ast.Constant) and node not in documentation:
            yield from _constants(text, offset, node)
        elif isinstance(node, ast.Return) and node.value is not None:
            begin, end = offset.begin(node.value), offset.end(node.value)
            replacement = "0" if text[begin:end] == "None" else "None"
            yield ("return", begin, end, replacement)
        elif isinstance(node, ast.FunctionDef):
            for statement in node.body:
                yield from _removed(offset, statement)
        elif isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            for statement in node.body:
                yield from _removed(offset, statement)


class Offsets:
    """Where a node stands in the text, counted in characters."""

    def __init__(self, text):
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def at(self, line, column):
        before = self.lines[line - 1].encode("utf-8")[:column]
        return self.starts[line - 1] + len(before.decode("utf-8"))

    def begin(self, node):
        return self.at(node.lineno, node.col_offset)

    def end(self, node):
        return self.at(node.end_lineno, node.end_col_offset)


def _documentation(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            # The parts of an f-string have no places of their own before Python 3.12.
            yield from (it for it in ast.walk(node) if isinstance(it, ast.Constant))


def _operators(text, offset, pairs):
    for left, right in pairs:
        begin, end = offset.end(left), offset.begin(right)
        found = OPERATOR.search(text[begin:end])
        if found:
            operator = re.sub(r"\s+", " ", found.group())
            at = begin + found.start()
            yield ("operator", at, begin + found.end(), OPERATORS[operator])


def _constants(text, offset, node):
    begin, end = offset.begin(node), offset.end(node)
    value = node.value
    if value is True or value is False:
        yield ("constant", begin, end, str(not value))
    elif isinstance(value, (int, float)):
        yield ("constant", begin, end, repr(value + 1))
        if value not in (0, 1):
            yield ("constant", begin, end, "0")
    elif isinstance(value, (str, bytes)):
        yield ("constant", begin, end, repr(value[:0] if len(value) > 1 else value + _letter(value)))
    elif value is None:
        yield ("constant", begin, end, "0")


def _letter(value):
    return "x" if isinstance(value, str) else b"x"


def _removed(offset, statement):
    call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    if call or isinstance(statement, REMOVED):
        yield ("removed", offset.begin(statement), offset.end(statement), "pass")
