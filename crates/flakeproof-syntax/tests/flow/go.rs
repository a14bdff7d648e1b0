//! Go in the flow form.

use flakeproof_syntax::Layout;

use crate::{body, fields, functions, imports, types, unit, unit_in};

/// The statements of a function with these lines.
fn function(lines: &str) -> Vec<String> {
    let text = format!("package a\nfunc f(t *testing.T) {{\n{lines}\n}}\n");
    body(&unit("a_test.go", &text), "f")
}

#[test]
fn a_file_is_read_with_its_imports_types_and_methods() {
    let layout = Layout::of_manifests([("go.mod", "module github.com/acme/shop\n")]);
    let unit = unit_in(
        &layout,
        "orders/order_test.go",
        "package orders
import (
	\"fmt\"
	str \"strings\"
	. \"github.com/onsi/gomega\"
	_ \"embed\"
	\"gopkg.in/yaml.v2\"
	\"github.com/acme/shop/money/v2\"
)
func (o *Order) Pay(n, m int, rest ...string) (int, error) { return o.total, nil }
type Order struct {
	Base
	*pkg.Other
	total, tax int
}
var limit, rate = 3, 4
const name string = \"x\"
func TestPays(t *testing.T) { }
func helper(int) Order { return Order{total: 1} }
",
    );
    assert_eq!(unit.package, "github.com/acme/shop/orders");
    assert_eq!(
        imports(&unit),
        [
            "fmt fmt",
            "str strings",
            "* github.com/onsi/gomega",
            "yaml gopkg.in/yaml.v2",
            "money github.com/acme/shop/money/v2",
        ]
    );
    assert_eq!(types(&unit), ["Order < Base, pkg.Other"]);
    assert_eq!(
        fields(&unit),
        [
            ": limit = gather[,](3, 4)",
            ": rate = gather[,](3, 4)",
            ": string name = \"x\"",
            "Order: int total",
            "Order: int tax",
        ]
    );
    assert_eq!(
        functions(&unit),
        [
            "Order.Pay(int n, int m, string rest) -> (int, error)",
            "test github.com/acme/shop/orders.TestPays TestPays(*testing.T t)",
            "helper(int ) -> Order",
        ]
    );
    assert_eq!(body(&unit, "Pay"), ["*Order o", "return gather[,](o.total, nil)"]);
    assert_eq!(body(&unit, "helper"), ["return new Order(1)"]);
}

#[test]
fn names_are_bound_by_declarations_assignments_and_loops() {
    assert_eq!(
        function(
            "a, err := g(x)
_, _ = g(a)
var b int = 1
o.x, xs[0] = a, b
n++
c <- n
for i := 0; i < 3; i++ { k(i) }
for k, v := range m { use(k, v) }
for ok { h() }
if v := g2(); v { h(v) } else if w { h(w) } else { h() }
switch y := g3(); y { case 1, 2: h(1); default: h(2) }
switch z := x.(type) { case int: h(z) }
select { case v := <-c: h(v) }
go func() { h(3) }()
defer o.Close()"
        ),
        [
            "a, err := g(x)",
            "g(a)",
            "int b = 1",
            "o.x, index[[](xs, 0) = gather[,](a, b)",
            "n ++ n",
            "c <- n",
            "i := 0",
            "loop compare[<](i, 3) { k(i); i ++ i }",
            "loop { k, v for m; use(k, v) }",
            "loop ok { h() }",
            "v := g2()",
            "branch v { h(v) }",
            "branch w { h(w) }",
            "branch { h() }",
            "y := g3()",
            "branch y { branch 1, 2 { h(1) }; branch { h(2) } }",
            "z switch x",
            "branch { branch { h(z) } }",
            "branch { branch { v := pass[<-](c); h(v) } }",
            "plain { h(3) }",
            "o.Close()",
        ]
    );
}

#[test]
fn values_are_followed_through_every_kind_of_expression() {
    assert_eq!(
        function(
            "g(a + b*c + \"d\", !x, -1, -y, a == b && c)
g(xs[0], xs[1:n], []int{1, q}, map[string]T{\"k\": w}, &pkg.T{A: v}, x.(T), T(x), *p, rest...)
a.b(c).d(e)
g(func(u int) int { return u + 1 })"
        ),
        [
            "g(arithmetic[+](a, arithmetic[*](b, c), \"d\"), compare[!](x), -1, arithmetic[-](y), \
             compare[&&](compare[==](a, b), c))",
            "g(index[[](xs, 0), index[[](xs, 1, n), gather[[]int](1, q), \
             gather[map[string]T](\"k\", w), pass[&](new pkg.T(v)), pass[T](x), T(x), pass[*](p), \
             rest)",
            "a.b(c).d(e)",
            "g(|int u| { return arithmetic[+](u, 1) })",
        ]
    );
}

#[test]
fn a_condition_whose_branch_reports_a_failure_is_an_assertion() {
    assert_eq!(
        function(
            "if got != want { t.Errorf(\"%v\", got) }
if err := g(); err != nil { t.Fatal(err) }
t.Error(x)
if a { log.Fatal(x) }"
        ),
        [
            "assert Errorf: compare[!=](got, want)",
            "branch { t.Errorf(\"%v\", got) }",
            "err := g()",
            "assert Fatal: compare[!=](err, nil)",
            "branch { t.Fatal(err) }",
            "assert Error: x",
            "branch a { log.Fatal(x) }",
        ]
    );
}

#[test]
fn assertions_of_the_common_libraries_name_the_values_they_look_at() {
    assert_eq!(
        function(
            "assert.Equal(t, want, f(x))
require.NoError(t, err)
s.Require().Len(xs, 3)
s.Equal(a, b)
g.Expect(x).To(Equal(y))
Expect(x).NotTo(BeNil())
c.Assert(x, Equals, y)
assertPaid(t, order)
mock.AssertExpectations(t)
assert.Panics(t, func() { go1() })
t.Run(name, func(t *testing.T) { require.True(t, ok) })"
        ),
        [
            "assert Equal: want, f(x)",
            "assert NoError: err",
            "assert Len: xs, 3",
            "assert Equal: a, b",
            "assert Expect To: x, Equal(y)",
            "assert Expect NotTo: x, BeNil()",
            "assert Assert: x, Equals, y",
            "assert assertPaid: order",
            "assert AssertExpectations: mock",
            "raises { go1() }",
            "assert Panics:",
            "plain name { assert True: ok }",
        ]
    );
}
