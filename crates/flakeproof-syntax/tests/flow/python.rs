//! Python in the flow form.

use crate::{body, fields, functions, imports, types, unit};

/// The statements of a function with these lines.
fn function(lines: &str) -> Vec<String> {
    let indented: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    body(&unit("pkg/mod.py", &format!("import numpy as np\ndef f():\n{indented}")), "f")
}

#[test]
fn a_file_is_read_with_its_imports_classes_fields_and_functions() {
    let unit = unit(
        "src/shop/tests/test_orders.py",
        "import os, a.b as ab
import x.y.z
from shop.orders import Order as O, pay
from . import base
from ..money import *
from .util import rate
LIMIT: int = 3
a, b = pair()
@pytest.fixture
def order(db): yield Order(db)
class TestOrders(base.Base, Generic[T], metaclass=M):
    kind = 'x'
    def setup_method(self): self.n = 0
    @pytest.mark.slow
    def test_pays(self, order, n: int = 1, *rest) -> None: pass
    @staticmethod
    def make(x): return x
    class Inner: pass
async def helper(*, key): ...
",
    );
    assert_eq!(unit.package, "shop.tests.test_orders");
    assert_eq!(
        imports(&unit),
        [
            "os os",
            "ab a.b",
            "x x",
            "O shop.orders.Order member",
            "pay shop.orders.pay member",
            "base shop.tests.base member",
            "* shop.money member",
            "rate shop.tests.util.rate member",
        ]
    );
    assert_eq!(types(&unit), ["TestOrders < base.Base, Generic", "TestOrders.Inner < "]);
    assert_eq!(
        fields(&unit),
        [": int LIMIT = 3", ": a = pair()", ": b = pair()", "TestOrders: kind = 'x'"]
    );
    assert_eq!(
        functions(&unit),
        [
            "fixture order(db)",
            "before TestOrders.setup_method()",
            "test src/shop/tests/test_orders.py::TestOrders::test_pays \
             TestOrders.test_pays(order, int n, rest) -> None",
            "TestOrders.make(x)",
            "helper(key)",
        ]
    );
    assert_eq!(body(&unit, "order"), ["return new Order(db)"]);
}

#[test]
fn names_are_bound_by_assignments_loops_contexts_and_handlers() {
    assert_eq!(
        function(
            "x: int = 1
y: str
a, (b, *c) = g()
self.z += x
p = q = x
for k, v in d.items():
    use(k)
else:
    none()
while (n := read()):
    pass
with open(p) as f, lock:
    f.read()
try:
    go()
except (A, B) as e:
    log(e)
finally:
    end()
def inner(self): return self
xs = [i + 1 for i in ys if i]"
        ),
        [
            "int x = 1",
            "str y",
            "a, b, c = g()",
            "self.z += x",
            "q = x",
            "p = q",
            "loop { k, v for d.items(); use(k) }",
            "branch { none() }",
            "n := read()",
            "loop n {  }",
            "plain { f with open(p); lock; f.read() }",
            "try { go() }",
            "handler { (A, B) e except; log(e) }",
            "handler { end() }",
            "inner def inner|self| { return self }",
            "i for ys",
            "xs = gather[[](arithmetic[+](i, 1), i)",
        ]
    );
}

#[test]
fn values_are_followed_through_every_kind_of_expression() {
    assert_eq!(
        function(
            "g(a + b * c + 'd', not x, -1, -y, a < b <= c, a and b or c)
g(x if y else z, xs[0], xs[1:n], {k: v}, [1, q], (a, b), f'n {m!r} {o}', await t, *r, key=w)
a.b(c).d(e)
Foo(1).bar(lambda u: u + 1)
f(1)(2)
match cmd:
    case Point(x=px) if px: go(px)
    case other: stop()
return a, b"
        ),
        [
            "g(arithmetic[+](a, arithmetic[*](b, c), 'd'), compare[not](x), -1, arithmetic[-](y), \
             compare[<](a, b, c), compare[and](a, b, c))",
            "g(choose[if](y, x, z), index[[](xs, 0), index[[](xs, gather[:](1, n)), \
             gather[{](k, v), gather[[](1, q), gather[(](a, b), gather[f'n {m!r} {o}'](m, o), \
             pass[await](t), pass[*](r), w)",
            "a.b(c).d(e)",
            "new Foo(1).bar(|u| { return arithmetic[+](u, 1) })",
            "f(1).f(2)",
            "branch cmd { branch px { px case cmd; go(px) }; branch { other case cmd; stop() } }",
            "return gather[,](a, b)",
        ]
    );
}

#[test]
fn assertions_name_the_values_they_look_at() {
    assert_eq!(
        function(
            "assert f(x) == pytest.approx(1.0), 'm'
self.assertEqual(a, b)
mock.assert_called_with(a, k=b)
self.client.assert_not_called()
np.testing.assert_allclose(a, b)
assert_paid(order)
pytest.fail('no')
expect(page).to_have_title('t')
assert_that(x).is_equal_to(y)
assertion(x)"
        ),
        [
            "assert assert: compare[==](f(x), pytest.approx(1.0)), 'm'",
            "assert assertEqual: a, b",
            "assert assert_called_with: mock, a, b",
            "assert assert_not_called: self.client",
            "assert assert_allclose: a, b",
            "assert assert_paid: order",
            "assert fail: 'no'",
            "assert expect to_have_title: page, 't'",
            "assert assert_that is_equal_to: x, y",
            "assertion(x)",
        ]
    );
}

#[test]
fn what_must_raise_is_set_apart_from_what_is_said_of_the_error() {
    assert_eq!(
        function(
            "with pytest.raises(E, match='m') as info:
    go()
with self.assertRaises(E):
    go()
self.assertRaises(E, c.pay, 1)
pytest.raises(E, lambda: go(2))"
        ),
        [
            "raises { info with pytest.raises(E, 'm'); go() }",
            "assert raises: E, 'm'",
            "raises { go() }",
            "assert assertRaises: E",
            "raises { c.pay(1) }",
            "assert assertRaises: E",
            "raises { go(2) }",
            "assert raises: E",
        ]
    );
}
