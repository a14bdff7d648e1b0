"""Places of a Go, JavaScript, Rust or Java source that can be changed, found by its tokens.

Comments and text are masked first. What does not compile afterwards is thrown away by whoever runs
the mutant. In Rust everything from `#[cfg(test)]` on is a test and stays as it is.
"""

import re

OPERATORS = {
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "<=": ">", ">=": "<", "<": ">=", ">": "<=",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "%": "*", "+=": "-=", "-=": "+=",
    "++": "--", "--": "++",
}
SPACED = re.compile(r"(?<= )(===|!==|==|!=|<=|>=|<|>|&&|\|\||\+=|-=|[-+*/%])(?= )|(\+\+|--)(?=[;)])")
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
WORD = re.compile(r"\b(true|false)\b")
RETURN = re.compile(r"\breturn ([^;\n]+?)(;|\n)")
STATEMENT = re.compile(r"^[ \t]+([\w.\[\]]+(?: [-+*/]?= [^;\n{]+|\([^;\n{]*\)))(;?)$", re.M)
MASKED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`|'(?:\\.|[^'\\\n])+'", re.S
)
NOT_REMOVED = re.compile(r"^(return|package|import|use|var|let|const|throw|super|this)\b")


def edits(text, suffix):
    code = masked(text, suffix)
    for found in SPACED.finditer(code):
        yield ("operator", found.start(), found.end(), OPERATORS[found.group()])
    for found in re.finditer(r"(?<=[(\s])!(?=[\w(])", code):
        yield ("operator", found.start(), found.end(), "")
    for found in NUMBER.finditer(code):
        yield ("constant", found.start(), found.end(), str(int(found.group()) + 1))
    for found in WORD.finditer(code):
        yield ("constant", found.start(), found.end(), "false" if found.group() == "true" else "true")
    yield from _texts(text, code, suffix)
    for found in RETURN.finditer(code):
        begin, end = found.span(1)
        yield ("return", begin, end, _other_value(text[begin:end], suffix))
    for found in STATEMENT.finditer(code):
        if not NOT_REMOVED.match(found.group(1)):
            yield ("removed", found.start(1), found.end(), "")


def masked(text, suffix):
    """The text with comments and strings blank, of the same length."""
    pattern = MASKED
    if suffix == ".rs":
        # A lone quote is a lifetime.
        pattern = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'", re.S)
        tests = text.find("#[cfg(test)]")
        text = text if tests < 0 else text[:tests] + re.sub(r"[^\n]", " ", text[tests:])
    return pattern.sub(lambda it: re.sub(r"[^\n]", "\x01", it.group()), text)


def _texts(text, code, suffix):
    for found in re.finditer(r"\x01+", code):
        begin, end = found.span()
        quoted = text[begin:end]
        if quoted.startswith('"') and quoted.count('"') == 2 and "import" not in _line(text, begin):
            if "require(" not in _line(text, begin):
                yield ("constant", begin, end, '""' if len(quoted) > 2 else '"x"')


def _line(text, at):
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[begin : end if end >= 0 else len(text)]


def _other_value(expression, suffix):
    if suffix == ".go":
        first, comma, rest = expression.partition(", ")
        if comma and rest == "nil":
            return "{}, nil".format("nil" if first != "nil" else "map[string]string{}")
        return {"nil": 'errors.New("mutant")'}.get(expression, '""')
    nothing = {".js": "undefined", ".java": "null", ".rs": "Default::default()"}[suffix]
    return "0" if expression in ("null", "undefined") else nothing
