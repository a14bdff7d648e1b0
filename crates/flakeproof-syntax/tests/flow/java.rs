//! Java in the flow form.

use crate::{body, fields, functions, imports, types, unit};

/// The statements of a method with these lines.
fn method(lines: &str) -> Vec<String> {
    body(&unit("A.java", &format!("class A {{ void m() {{\n{lines}\n}} }}")), "m")
}

#[test]
fn a_class_is_read_with_its_package_imports_bases_fields_and_methods() {
    let unit = unit(
        "src/com/acme/FooTest.java",
        "package com.acme;
         import com.acme.orders.Order;
         import java.util.*;
         import static org.junit.Assert.assertEquals;
         import static org.mockito.Mockito.*;
         public class FooTest extends Base<String> implements A, b.C<X> {
             private final List<Order> orders = new ArrayList<>(), more;
             static int count;
             @Before public void setUp() { count = 0; }
             @Test public void adds() throws Exception { }
             private static int sum(int a, String... rest) { return a; }
             FooTest(Order first) { super(first); }
             static { count = 1; }
             enum Colour { RED(1), BLUE; }
             class Inner { void deep() {} }
             record Point(int x, int y) {}
         }",
    );
    assert_eq!(unit.package, "com.acme");
    assert_eq!(
        imports(&unit),
        [
            "Order com.acme.orders.Order",
            "* java.util",
            "assertEquals org.junit.Assert.assertEquals member",
            "* org.mockito.Mockito member"
        ]
    );
    assert_eq!(
        types(&unit),
        ["FooTest < Base, A, b.C", "FooTest.Colour < ", "FooTest.Inner < ", "FooTest.Point < "]
    );
    assert_eq!(
        fields(&unit),
        [
            "FooTest: List<Order> orders = new ArrayList()",
            "FooTest: List<Order> more",
            "FooTest: int count",
            "FooTest.Colour: RED = new RED(1)",
            "FooTest.Colour: BLUE = new BLUE()",
            "FooTest.Point: int x",
            "FooTest.Point: int y",
        ]
    );
    assert_eq!(
        functions(&unit),
        [
            "before FooTest.setUp()",
            "test com.acme.FooTest#adds FooTest.adds()",
            "FooTest.sum(int a, String rest) -> int",
            "FooTest.FooTest(Order first)",
            "before FooTest.()",
            "FooTest.Inner.deep()",
        ]
    );
    assert_eq!(body(&unit, "FooTest"), ["new super(first)"]);
}

#[test]
fn names_are_bound_by_declarations_assignments_loops_and_handlers() {
    assert_eq!(
        method(
            "int a = 1, b;
             var c = a;
             this.x += c;
             a = b = f();
             xs[i++] = --n;
             for (int i = 0; i < 3; i++) { g(i); }
             for (Order o : orders) use(o);
             while ((line = r.read()) != null) { h(line); }
             try (R r = open(); other) { r.go(); } catch (IOException | B e) { e.p(); } finally { z(); }"
        ),
        [
            "int a = 1",
            "int b",
            "c = a",
            "this.x += c",
            "b = f()",
            "a = b",
            "n -- n",
            "i ++ i",
            "index[[](xs, i) = n",
            "int i = 0",
            "loop compare[<](i, 3) { g(i); i ++ i }",
            "loop { Order o for orders; use(o) }",
            "line = r.read()",
            "loop compare[!=](line, null) { h(line) }",
            "try { R r = open(); other; r.go() }",
            "handler { IOException | B e catch; e.p() }",
            "handler { z() }",
        ]
    );
}

#[test]
fn branches_stand_side_by_side_however_they_are_chained() {
    assert_eq!(
        method(
            "if (a) { f(); } else if (b) g(); else { h(); }
             switch (x) { case 1: case 2: f(); break; default: g(); }
             int y = switch (x) { case ONE -> 1; case TWO -> { k(); yield 2; } default -> z; };
             synchronized (lock) { f(); }
             if (o instanceof Order p && p.ok()) {}"
        ),
        [
            "branch a { f() }",
            "branch b { g() }",
            "branch { h() }",
            "branch x { branch 1 {  }; branch 2 { f() }; branch { g() } }",
            "branch TWO { k() }",
            "int y = choose[switch](x, 1, 2, z)",
            "plain lock { f() }",
            "Order p instanceof o",
            "branch compare[&&](compare[instanceof](o, Order), p.ok()) {  }",
        ]
    );
}

#[test]
fn values_are_followed_through_every_kind_of_expression() {
    assert_eq!(
        method(
            "f(a + b * c + \"d\", !x, -1, -y);
             f((String) a, b ? c : d ? e : g, xs[0], new int[n], new int[] {1, q});
             f(a.b(c).d(e), A.B, this.z, Order.class, null, 'c', 1.5f);
             f(new Outer.Inner<T>(k), outer.new In(), new ArrayList<String>());"
        ),
        [
            "f(arithmetic[+](a, arithmetic[*](b, c), \"d\"), compare[!](x), -1, arithmetic[-](y))",
            "f(pass[String](a), choose[?](b, c, d, e, g), index[[](xs, 0), gather[int](n), \
             gather[int](1, q))",
            "f(a.b(c).d(e), A.B, this.z, Order.class, null, 'c', 1.5f)",
            "f(new Outer.Inner(k), new outer.In(), new ArrayList())",
        ]
    );
}

#[test]
fn code_that_is_handed_over_is_a_lambda() {
    assert_eq!(
        method(
            "run(() -> go(x));
             run((a, b) -> { f(a); return b; });
             run(String::length); run(Foo::new); run(this::go);
             run(new Callback(x) { int seen = 0; { seen = 1; } public void done(int n) { f(n); } });"
        ),
        [
            "run(|| { return go(x) })",
            "run(|a, b| { f(a); return b })",
            "run(|| { return String.length() })",
            "run(|| { return new Foo() })",
            "run(|| { return this.go() })",
            "int seen = 0",
            "run(new Callback(x, || { seen = 1 }, done|int n| { f(n) }))",
        ]
    );
}

#[test]
fn assertions_of_the_common_libraries_name_the_values_they_look_at() {
    assert_eq!(
        method(
            "assertEquals(1, f(x));
             Assert.assertTrue(\"m\", x);
             org.junit.Assert.assertNull(x);
             fail();
             assert x > 1 : \"m\";
             assertThat(x).isEqualTo(y);
             Assertions.assertThat(f(x)).extracting(\"a\").as(\"b\").contains(y, z);
             assertThat(x, is(y));
             assertWithMessage(\"m\").that(x).isGreaterThan(3);
             verify(mock, times(2)).foo(a);
             inOrder.verify(mock).foo();
             thrown.expect(IOException.class);
             thrown.expectIllegalArgumentException();
             mvc.perform(get(\"/\")).andExpect(status().isOk());
             page.assertTitle(\"t\");
             this.assertPaid(order);"
        ),
        [
            "assert assertEquals: 1, f(x)",
            "assert assertTrue: \"m\", x",
            "assert assertNull: x",
            "assert fail:",
            "assert assert: compare[>](x, 1), \"m\"",
            "assert assertThat isEqualTo: x, y",
            "assert assertThat extracting as contains: f(x), \"a\", \"b\", y, z",
            "assert assertThat: x, is(y)",
            "assert assertWithMessage that isGreaterThan: \"m\", x, 3",
            "assert verify foo: mock, times(2), a",
            "assert verify foo: mock",
            "assert expect: IOException.class",
            "assert expectIllegalArgumentException: thrown",
            "assert andExpect: mvc.perform(get(\"/\")), status().isOk()",
            "assert assertTitle: page, \"t\"",
            "assert assertPaid: order",
        ]
    );
}

#[test]
fn what_sets_a_mock_up_is_no_assertion() {
    assert_eq!(
        method(
            "expect(m.foo()).andReturn(1); when(m.foo()).thenReturn(2); future.fail(e); assumeTrue(x);"
        ),
        [
            "expect(m.foo()).andReturn(1)",
            "when(m.foo()).thenReturn(2)",
            "future.fail(e)",
            "assumeTrue(x)"
        ]
    );
}

#[test]
fn what_must_raise_is_set_apart_from_what_is_said_of_the_error() {
    assert_eq!(
        method(
            "assertThrows(A.class, () -> f(x));
             B e = assertThrows(B.class, () -> { return g(); });
             assertThatThrownBy(() -> f()).isInstanceOf(A.class);
             assertThatExceptionOfType(A.class).isThrownBy(x::run);
             assertAll(() -> assertEquals(1, a), () -> f());
             assertThat(xs).allMatch(x -> x > 1);"
        ),
        [
            "raises { f(x) }",
            "assert assertThrows: A.class",
            "raises { g() }",
            "assert assertThrows: B.class",
            "B e = assertThrows(B.class)",
            "raises { f() }",
            "assert assertThatThrownBy isInstanceOf: A.class",
            "raises { x.run() }",
            "assert assertThatExceptionOfType isThrownBy: A.class",
            "plain { assert assertEquals: 1, a }",
            "plain { f() }",
            "assert assertThat allMatch: xs, |x| { return compare[>](x, 1) }",
        ]
    );
    let unit = unit("A.java", "class A { @Test(expected = E.class) public void m() { f(); } }");
    assert_eq!(body(&unit, "m"), ["raises { f() }", "assert expected: E.class"]);
}

#[test]
fn a_method_being_written_keeps_its_id_and_what_is_there_of_it() {
    let unit =
        unit("FooTest.java", "class FooTest {\n@Test public void a() { int x = f();\n g(x);");
    assert_eq!(functions(&unit), ["test FooTest#a FooTest.a()"]);
    assert_eq!(body(&unit, "a"), ["int x = f()", "g(x)"]);
}
