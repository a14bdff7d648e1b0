//! Rust in the flow form.

use flakeproof_syntax::Layout;

use crate::{body, fields, functions, imports, types, unit, unit_in};

/// The statements of a function with these lines.
fn function(lines: &str) -> Vec<String> {
    body(&unit("src/a.rs", &format!("fn f() {{\n{lines}\n}}\n")), "f")
}

#[test]
fn a_file_is_read_with_its_imports_types_and_functions() {
    let layout = Layout::of_manifests([("Cargo.toml", "[package]\nname = \"shop\"\n")]);
    let unit = unit_in(
        &layout,
        "src/orders.rs",
        "use std::collections::{HashMap, hash_map::{self, Entry as E}};
use crate::money::*;
use super::rate;
const LIMIT: u32 = 3;
pub struct Order<T> { total: u32, items: Vec<T> }
impl<T> Order<T> { pub fn new(total: u32) -> Self { Order { total, items: vec![] } } }
impl<T> fmt::Display for Order<T> { fn fmt(&self, f: &mut F) -> R { f.write(self.total) } }
trait Shape: Sized + Base<X> { fn area(&self) -> u32 { 1 } }
enum Colour { Red, Blue(u8) }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    #[should_panic(expected = \"no\")]
    fn pays() { pay(); }
    async fn helper(a: u32, (b, c): (u8, u8)) {}
}
",
    );
    assert_eq!(unit.package, "shop::orders");
    assert_eq!(
        imports(&unit),
        [
            "HashMap std::collections::HashMap",
            "hash_map std::collections::hash_map member",
            "E std::collections::hash_map::Entry",
            "* shop::money",
            "rate shop::rate member",
            "* shop::orders",
        ]
    );
    assert_eq!(types(&unit), ["Order < fmt::Display", "Shape < Sized, Base", "Colour < "]);
    assert_eq!(
        fields(&unit),
        [
            ": u32 LIMIT = 3",
            "Order: u32 total",
            "Order: Vec<T> items",
            "Colour: Red",
            "Colour: Blue",
        ]
    );
    assert_eq!(
        functions(&unit),
        [
            "Order.new(u32 total) -> Self",
            "Order.fmt(&mut F f) -> R",
            "Shape.area() -> u32",
            "test shop::orders::tests::pays pays()",
            "helper(u32 a, (u8, u8) (b, c))",
        ]
    );
    assert_eq!(body(&unit, "new"), ["return new Order(total, gather[vec]())"]);
    assert_eq!(body(&unit, "pays"), ["raises { pay() }", "assert should_panic: \"no\""]);
    assert_eq!(body(&unit, "helper"), ["b, c  (b, c)"]);
}

#[test]
fn names_are_bound_by_declarations_patterns_and_loops() {
    assert_eq!(
        function(
            "let a: u32 = 1;
let mut b;
let (c, Some(d)) = g();
let Point { x, y: py } = p else { return; };
let _ = h();
self.n += a;
b = a;
for (i, v) in xs.iter().enumerate() { use_it(i, v); }
while let Some(top) = stack.pop() { use_it(top, 1); }
loop { break; }
if let Ok(n) = parse() { h1(n); } else if a > b { h2(); } else { h3(); }
match cmd { Command::Go(n) if n > 1 => go(n), other => { stop(other); } }
fn inner(z: u8) -> u8 { z }
const K: u8 = 1;"
        ),
        [
            "u32 a = 1",
            "b",
            "c, d = g()",
            "x, py = p",
            "branch { return }",
            "h()",
            "self.n += a",
            "b = a",
            "loop { i, v for xs.iter().enumerate(); use_it(i, v) }",
            "top let stack.pop()",
            "loop compare[let](stack.pop()) { use_it(top, 1) }",
            "loop {  }",
            "n let parse()",
            "branch compare[let](parse()) { h1(n) }",
            "branch compare[>](a, b) { h2() }",
            "branch { h3() }",
            "branch cmd { branch compare[>](n, 1) { n => cmd; go(n) }; \
             branch { other => cmd; stop(other) } }",
            "inner fn inner|u8 z| { return z }",
            "u8 K = 1",
        ]
    );
}

#[test]
fn values_are_followed_through_every_kind_of_expression() {
    assert_eq!(
        function(
            "g(a + b * c + 1, !x, -1, -y, a == b && c);
g(xs[0], &mut v, *p, t?, w.await, n as u8, 1..k, (a, b), [1, q], Foo { a, b: c, ..d });
a.b(c).d::<T>(e)?;
let r = Foo::<u8>::new(1).bar(|u| u + 1);
let s = if a { 1 } else { let z = k(); z };
let t = match m { A::B(i) => i, _ => 0 };
let u = { let w = k(); w + 1 };
let c = move || { h(); };
Some(x);
println!(\"{}\", a.b(c));
format!(\"{x}\");
vec![1; n];"
        ),
        [
            "g(arithmetic[+](a, arithmetic[*](b, c), 1), compare[!](x), -1, arithmetic[-](y), \
             compare[&&](compare[==](a, b), c))",
            "g(index[[](xs, 0), pass[&](v), pass[*](p), pass[?](t), pass[.](w), pass[u8](n), \
             gather[..](1, k), gather[(](a, b), gather[[](1, q), new Foo(a, c, d))",
            "pass[?](a.b(c).d(e))",
            "r = Foo.new(1).bar(|u| { return arithmetic[+](u, 1) })",
            "branch { z = k() }",
            "s = choose[if](a, 1, z)",
            "i => m",
            "t = choose[match](m, i, 0)",
            "w = k()",
            "u = arithmetic[+](w, 1)",
            "c = || { h() }",
            "new Some(x)",
            "println(\"{}\", a.b(c))",
            "format(\"{x}\")",
            "gather[vec](1, n)",
        ]
    );
}

#[test]
fn assertions_name_the_values_they_look_at() {
    assert_eq!(
        function(
            "assert!(f(x) > 1, \"m {}\", y);
assert_eq!(a.b::<A, B>(c), vec![1, d]);
debug_assert_ne!(a, b);
assert!(matches!(x.y(), Some(_) | None if z));
assert_matches!(x, Ok(_));
insta::assert_snapshot!(render(x));
prop_assert_eq!(a, b);
assert_paid(&order);
assert_send::<T>();
run(x).assert().success().code(3);
x.unwrap().expect(\"m\");
panic!(\"no\");"
        ),
        [
            "assert assert: compare[>](f(x), 1), \"m {}\", y",
            "assert assert_eq: a.b(c), gather[vec](1, d)",
            "assert debug_assert_ne: a, b",
            "assert assert: compare[matches](x.y())",
            "assert assert_matches: x",
            "assert assert_snapshot: render(x)",
            "assert prop_assert_eq: a, b",
            "assert assert_paid: pass[&](order)",
            "assert assert_send:",
            "assert assert success code: run(x), 3",
            "x.unwrap().expect(\"m\")",
            "assert panic: \"no\"",
        ]
    );
}

#[test]
fn tests_inside_a_macro_have_bodies() {
    let unit = unit(
        "src/lib.rs",
        "proptest! {\n#[test]\nfn adds(x in 0..9) { let y = f(x); prop_assert!(y > 1); }\n}\n",
    );
    assert_eq!(body(&unit, "adds"), ["y = f(x)", "assert prop_assert: compare[>](y, 1)"]);
}
