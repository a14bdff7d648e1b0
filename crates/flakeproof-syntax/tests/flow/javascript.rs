//! JavaScript and TypeScript in the flow form.

use crate::{body, fields, functions, imports, types, unit};

/// The statements of a function with these lines.
fn function(lines: &str) -> Vec<String> {
    body(&unit("src/a.ts", &format!("async function f() {{\n{lines}\n}}")), "f")
}

#[test]
fn a_test_file_is_read_with_its_imports_suites_hooks_and_tests() {
    let unit = unit(
        "src/shop/basket.test.ts",
        "import shop, { pay as settle, Order } from '../money/index';
import * as fs from 'fs';
const { a, b: c } = require('./help.js');
const db = require('db');
export * from './types';
const LIMIT = 3;
const helper = (x: number): string => x;
describe('basket', () => {
  let store: Store = open();
  beforeEach(async () => { store.clear(); });
  describe('inner', () => {
    it('adds', () => { add(1); });
    it.each([[1, 2]])('sums %d', (n, m) => f(n));
  });
  [1, 2].forEach((n) => { test(`loops ${n}`, check); });
});
function local(y = 1, { p, q }, ...rest) { return p; }
",
    );
    assert_eq!(unit.package, "src/shop/basket.test");
    assert_eq!(
        imports(&unit),
        [
            "shop src/money.default member",
            "settle src/money.pay member",
            "Order src/money.Order member",
            "fs fs",
            "a src/shop/help.a member",
            "c src/shop/help.b member",
            "db db",
            "* src/shop/types member",
        ]
    );
    assert_eq!(types(&unit), ["basket < ", "basket.inner < "]);
    assert_eq!(fields(&unit), [": LIMIT = 3", "basket: Store store = open()"]);
    let path = "src/shop/basket.test.ts";
    assert_eq!(
        functions(&unit),
        [
            "helper(number x) -> string".to_owned(),
            "before basket.beforeEach()".to_owned(),
            format!("test {path} > basket > inner > adds basket.inner.adds()"),
            format!("test {path} > basket > inner > sums %d basket.inner.sums %d(n, m)"),
            format!("test {path} > basket > loops ${{n}} basket.loops ${{n}}()"),
            "local(y, { p, q }, rest)".to_owned(),
        ]
    );
    assert_eq!(body(&unit, "sums %d"), ["n, m each gather[[](gather[[](1, 2))", "return f(n)"]);
    assert_eq!(body(&unit, "loops ${n}"), ["check()"]);
    assert_eq!(body(&unit, "local"), ["p, q  { p, q }", "return p"]);
}

#[test]
fn code_under_test_is_read_with_its_classes_and_exports() {
    let unit = unit(
        "lib/order.ts",
        "export default class Order extends base.Thing<T> implements A, B {
  total = 0; private items: Item[] = [];
  constructor(private store: Store, n) { super(n); this.n = n; }
  static of(x: X): Order { return new Order(x); }
}
exports.pay = function (o) { return o; };
module.exports = { refund(o) { undo(o); }, other: () => 1 };
Order.prototype.late = function () {};
interface Shape extends Base { size: number }
enum Colour { RED, BLUE = 2 }
const Q = class extends Order {};",
    );
    assert_eq!(
        types(&unit),
        ["Order < base.Thing, A, B", "Shape < Base", "Colour < ", "Q < Order"]
    );
    assert_eq!(
        fields(&unit),
        [
            "Order: total = 0",
            "Order: Item[] items = gather[[]()",
            "Order: Store store",
            "Shape: number size",
            "Colour: RED",
            "Colour: BLUE = 2",
        ]
    );
    assert_eq!(
        functions(&unit),
        [
            "Order.constructor(Store store, n)",
            "Order.of(X x) -> Order",
            "pay(o)",
            "refund(o)",
            "other()",
            "late()",
        ]
    );
    assert_eq!(body(&unit, "constructor"), ["super(n)", "this.n = n"]);
}

#[test]
fn names_are_bound_by_declarations_assignments_loops_and_handlers() {
    assert_eq!(
        function(
            "const a: number = 1, b = 2;
let u;
const { p, q: [r, ...s], t = 1 } = g();
this.x += a; a = b = h();
i++;
for (let i = 0; i < 3; i++) { k(i); }
for (const [k, v] of m.entries()) use(k);
while ((line = read())) { out(line); }
try { go(); } catch (e) { log(e); } finally { end(); }
if (a) { f1(); } else if (b) f2(); else { f3(); }
switch (x) { case 1: f1(); break; default: f2(); }
function inner(z) { return z; }
(function (w) { h(w); return 1; })(a);"
        ),
        [
            "number a = 1",
            "b = 2",
            "u",
            "p, r, s, t = g()",
            "this.x += a",
            "b = h()",
            "a = b",
            "i ++ i",
            "i = 0",
            "loop compare[<](i, 3) { k(i); i ++ i }",
            "loop { k, v for m.entries(); use(k) }",
            "line = read()",
            "loop line { out(line) }",
            "try { go() }",
            "handler { e catch; log(e) }",
            "handler { end() }",
            "branch a { f1() }",
            "branch b { f2() }",
            "branch { f3() }",
            "branch x { branch 1 { f1() }; branch { f2() } }",
            "inner function inner|z| { return z }",
            "w  a",
            "plain { h(w); 1 }",
        ]
    );
}

#[test]
fn values_are_followed_through_every_kind_of_expression() {
    assert_eq!(
        function(
            "g(a + b * c + 'd', !x, -1, a === b && c, a ?? b, typeof y);
g(x ? y : z ? u : v, xs[0], { k: w, s, ...o, m() { n(); } }, [1, q], `n ${m} ${o}`, `p`);
a.b(c).d(e); a?.b?.(c);
new Foo(1).bar((u) => u + 1); new ns.Bar();
await t; (y as Foo).z; y!.z;
xs.map(function (v) { return v; });
f(1)(2);"
        ),
        [
            "g(arithmetic[+](a, arithmetic[*](b, c), 'd'), compare[!](x), -1, \
             compare[&&](compare[===](a, b), c), choose[??](a, b), arithmetic[typeof](y))",
            "g(choose[?](x, y, z, u, v), index[[](xs, 0), \
             gather[{](w, s, pass[...](o), m|| { n() }), gather[[](1, q), \
             gather[`n ${m} ${o}`](m, o), `p`)",
            "a.b(c).d(e)",
            "a.b(c)",
            "new Foo(1).bar(|u| { return arithmetic[+](u, 1) })",
            "new ns.Bar()",
            "pass[await](t)",
            "pass[Foo](y).z",
            "pass[](y).z",
            "xs.map(|v| { return v })",
            "f(1).f(2)",
        ]
    );
}

#[test]
fn markup_is_made_of_what_is_set_into_it() {
    let unit = unit("a.jsx", "function f() { render(<Order id={x} n=\"1\">{y}<b>t</b></Order>); }");
    assert_eq!(body(&unit, "f"), ["render(new Order(x, \"1\", y, new b()))"]);
}

#[test]
fn assertions_name_the_values_they_look_at() {
    assert_eq!(
        function(
            "expect(f(x)).toBe(y);
expect(x).not.toEqual(y);
await expect(p).resolves.toBe(1);
return expect(p).resolves.toBe(2);
expect(x).to.be.true;
x.y.should.equal(3);
assert(x, 'm'); assert.equal(a, b); assert.strict.equal(a, b);
sinon.assert.calledOnce(spy);
t.deepEqual(a, b);
cy.get('a').should('be.visible');
request(app).get('/').expect(200);
assertPaid(order);
expect.extend({});"
        ),
        [
            "assert expect toBe: f(x), y",
            "assert expect not toEqual: x, y",
            "assert expect resolves toBe: p, 1",
            "assert expect resolves toBe: p, 2",
            "assert expect to be true: x",
            "assert should equal: x.y, 3",
            "assert assert: x, 'm'",
            "assert equal: a, b",
            "assert equal: a, b",
            "assert assert calledOnce: spy",
            "assert deepEqual: a, b",
            "assert should: cy.get('a'), 'be.visible'",
            "assert expect: request(app).get('/'), 200",
            "assert assertPaid: order",
            "expect.extend(gather[{]())",
        ]
    );
}

#[test]
fn what_must_raise_is_set_apart_from_what_is_said_of_the_error() {
    assert_eq!(
        function(
            "expect(() => go(1)).toThrow(E);
await expect(async () => { go(2); }).rejects.toThrow();
assert.throws(() => go(3), E);
expect(() => go(4)).not.toThrow();"
        ),
        [
            "raises { go(1) }",
            "assert expect toThrow: E",
            "raises { go(2) }",
            "assert expect rejects toThrow:",
            "raises { go(3) }",
            "assert throws: E",
            "plain { go(4) }",
            "assert expect not toThrow:",
        ]
    );
}
