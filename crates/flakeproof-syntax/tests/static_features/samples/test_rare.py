"""What is rare in real suites, for the comparison with radon and ast. Nothing here is run."""
import json, numpy.linalg as algebra
import yaml.nodes
from requests import get as fetch, post
from .own import thing
try:
    import simplejson as fast
except ImportError:
    import json as fast


@fetch.mark(lambda x: x if x else -x)
async def test_decorators_and_heads_hold_no_operators(a: int | None = 1 + 2) -> "x" + "y":
    async with a as b, (yield): await b ** 2
    return [c async for c in b if c if not c]


def test_one_line(): a = 1; b = {1: 2}; assert a and b or not a


def test_numbers_and_strings_are_one_value():
    x = 1 + 1.0 + 0x1 + True + 1j + 0j + False + 1_0 + 10.0 + 1e1
    y = "y" + y + x.y + b"y" + "\x79" + u'y' + r"y" + f"y" + "" "y" + ... + None
    z = '''a
       b''' + "a\n   b" + "a\nb"
    x += x; x **= -+~x; x //= (((x)))


def test_patterns(value):
    match value, 1:
        case -1 | -1+2j | 3-4j | 'a' 'b' | {-1: -2}: pass
        case yaml.Node(x=1, y=[a, *_], z={"k": -2}) if a and post: pass
        case {"k": v, **rest}: pass
        case (other): pass
    match value:
        case None: return
        case _ if value: ...


def test_elif_lies_in_if(a):
    if a: pass
    elif a < 1 < 2 is not 3: pass
    elif a not   in (1, 2): pass
    else:
        for a.b in a: pass
        else:
            while a: break
            else: del a


def test_groups():
    try: pass
    except* (A, B) as yaml: pass
    try: pass
    except A: pass
    except (B, C) as yaml: raise D from yaml
    else: pass
    finally: pass


def test_inner_definitions(fast=1, *algebra, **thing):
    @fetch(a or b)
    class Inner(a and b, metaclass=a + b):
        def test_inner_definitions(self, x=a or b): return a + (x if x else y)
        async def other(self): return a + x
    def other(): assert a + x
    return lambda x=a or b: x + a
    # A comment behind the last statement.

  # A comment that is not deep enough.
    # One more that belongs to the test.
# And one that does not.

def test_chains(a, b, c):
    return a and b and c or a and (b and c) or (a or b) or not c


def test_print_and_import():
    print >> post.stream, "hello"
    global json
    import attr.converters, os.path as where
    from requests import *
    exec("x")


def test_formatted(x):
    """One line."""
    f"{x!r:>{x + 1}} {x if x else y} {x:%H:%M}" f'{x=}'
    rb'''
# no comment
    ''' # a comment
    """More

    lines.""";
    x[1:2, ::3] = x[:] = {**x}; y: int | str = (y := 1)


class TestMethods(Base):
    def test_cannot_be_dedented(self):
        text = """
left
        """ + "\nleft\n        "
        self.assertEqual(text, self.other.assertTrue(text)) ; self.fail()
        with self.assertRaises(Error) as caught: self.failIf(text)

    def test_blank_lines_lose_their_spaces(self):
        a = """
            b
        
        """ + "\n    b\n\n" + "\n            b\n        \n        "
        if a == \
           (1,
            # inside

            2): return # end

    @property
    # between

    def test_property(self): return self
