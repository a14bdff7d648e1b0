//! The same graph, drawn for the other languages.

use crate::{all_paths, project};

fn lines<const COUNT: usize>(lines: [&str; COUNT]) -> String {
    lines.join("\n")
}

#[test]
fn python_fixtures_come_by_parameter_name_and_from_conftest() {
    let found = all_paths(&project(&[
        (
            "tests/conftest.py",
            &lines(["import pytest", "@pytest.fixture", "def db():", "    return connect(5432)"]),
        ),
        (
            "tests/test_orders.py",
            &lines([
                "import pytest",
                "@pytest.fixture",
                "def order(db):",
                "    yield load(db, 7)",
                "def test_total(order):",
                "    assert order.total() == 3",
            ]),
        ),
    ]));
    assert!(
        found.contains(&"5432 -db-> db -order-> order -total-> order.total()".to_owned()),
        "{found:?}"
    );
    assert!(found.contains(&"3 -assert-> order.total()".to_owned()), "{found:?}");
}

#[test]
fn python_methods_are_known_by_what_set_up_gives_an_attribute() {
    let found = all_paths(&project(&[
        (
            "shop/basket.py",
            &lines(["class Basket:", "    def add(self, n):", "        self.n = n"]),
        ),
        ("shop/other.py", &lines(["class Other:", "    def add(self, n):", "        self.n = n"])),
        (
            "tests/test_basket.py",
            &lines([
                "import unittest",
                "from shop.basket import Basket",
                "class BasketTest(unittest.TestCase):",
                "    def setUp(self):",
                "        self.basket = Basket()",
                "    def test_adds(self):",
                "        self.basket.add(1)",
                "        self.assertEqual(1, self.basket.n)",
            ]),
        ),
    ]));
    assert!(found.iter().any(|path| path.contains("1 -add {Basket.add(n)}-> basket")), "{found:?}");
}

#[test]
fn python_functions_are_known_by_import() {
    let found = all_paths(&project(&[
        ("src/shop/orders.py", &lines(["def load(n):", "    return n"])),
        ("src/shop/others.py", &lines(["def load(n):", "    return n"])),
        (
            "tests/test_orders.py",
            &lines([
                "from shop.orders import load",
                "import shop.others as others",
                "def test_loads():",
                "    assert load(1) == others.load(2)",
            ]),
        ),
    ]));
    assert!(found.contains(&"1 -load {load(n)}-> load(1)".to_owned()), "{found:?}");
    assert!(found.contains(&"2 -load {load(n)}-> others.load(2)".to_owned()), "{found:?}");
}

#[test]
fn javascript_runs_before_each_of_all_blocks_around() {
    let found = all_paths(&project(&[
        ("src/shop.js", "export function open(port) { return port; }\n"),
        (
            "src/shop.test.js",
            &lines([
                "import { open } from './shop';",
                "let shop;",
                "beforeEach(() => { shop = open(80); });",
                "describe('shop', () => {",
                "  let basket;",
                "  beforeEach(() => { basket = shop.basket(1); });",
                "  it('sells', () => { expect(basket.total()).toBe(5); });",
                "});",
            ]),
        ),
    ]));
    assert!(
        found.contains(
            &"80 -open {open(port)}-> shop -basket-> basket -total-> basket.total()".to_owned()
        ),
        "{found:?}"
    );
}

#[test]
fn go_finds_functions_of_packages_and_methods_of_types() {
    let found = all_paths(&project(&[
        ("go.mod", "module github.com/acme/shop\n"),
        (
            "orders/order.go",
            &lines([
                "package orders",
                "type Order struct { total int }",
                "func New(n int) (*Order, error) { return &Order{n}, nil }",
                "func (o *Order) Pay(n int) int { return n }",
            ]),
        ),
        (
            "other/other.go",
            &lines([
                "package other",
                "type O struct {}",
                "func (o *O) Pay(n int) int { return n }",
            ]),
        ),
        (
            "orders/order_test.go",
            &lines([
                "package orders",
                "import \"testing\"",
                "func TestPays(t *testing.T) {",
                "order, err := New(1)",
                "\tif err != nil { t.Fatal(err) }",
                "got := order.Pay(2)",
                "\tif got != 3 { t.Errorf(\"got %d\", got) }",
                "}",
            ]),
        ),
    ]));
    let flow = "1 -New {New(int)}-> order -Pay {Order.Pay(int)}-> got";
    assert!(found.iter().any(|path| path.starts_with(flow)), "{found:?}");
}

#[test]
fn rust_finds_functions_by_use_and_methods_by_what_new_gives() {
    let found = all_paths(&project(&[
        ("Cargo.toml", &lines(["[package]", "name = \"shop\""])),
        (
            "src/basket.rs",
            &lines([
                "pub struct Basket { n: u32 }",
                "impl Basket {",
                "    pub fn new(n: u32) -> Self { Self { n } }",
                "    pub fn total(&self, tax: u32) -> u32 { self.n * tax }",
                "}",
            ]),
        ),
        (
            "src/other.rs",
            &lines([
                "pub struct Other;",
                "impl Other { pub fn total(&self, tax: u32) -> u32 { tax } }",
            ]),
        ),
        (
            "tests/sums.rs",
            &lines([
                "use shop::basket::Basket;",
                "#[test]",
                "fn sums() {",
                "    let basket = Basket::new(1);",
                "    assert_eq!(basket.total(2), 2);",
                "}",
            ]),
        ),
    ]));
    assert!(
        found.contains(
            &"1 -new {Basket.new(u32)}-> basket -total {Basket.total(u32)}-> basket.total(2)"
                .to_owned()
        ),
        "{found:?}"
    );
}

#[test]
fn rust_unit_tests_do_not_follow_the_code_beside_them() {
    let found = all_paths(&project(&[(
        "src/lib.rs",
        &lines([
            "pub fn twice(n: u32) -> u32 { helper(n) }",
            "fn helper(n: u32) -> u32 { n + n }",
            "#[cfg(test)]",
            "mod tests {",
            "    use super::*;",
            "    fn two() -> u32 { 2 }",
            "    #[test]",
            "    fn doubles() { assert_eq!(twice(two()), 4); }",
            "}",
        ]),
    )]));
    assert!(
        found.contains(&"2 -two-> two() -twice {twice(u32)}-> twice(two())".to_owned()),
        "{found:?}"
    );
}

#[test]
fn rust_paths_begin_at_the_crate_the_module_or_beside_it() {
    let found = all_paths(&project(&[
        ("Cargo.toml", &lines(["[package]", "name = \"shop\""])),
        ("src/money.rs", &lines(["pub fn pay(n: u32) -> u32 { n }", "pub struct Purse;"])),
        ("src/other.rs", "pub fn pay(n: u32) -> u32 { n }\n"),
        (
            "src/lib.rs",
            &lines([
                "mod money;",
                "mod other;",
                "#[cfg(test)]",
                "mod tests {",
                "    #[test]",
                "    fn pays() {",
                "        assert_eq!(crate::money::pay(1), crate::other::pay(2));",
                "    }",
                "}",
            ]),
        ),
    ]));
    let resolved = found.iter().filter(|path| path.contains("{pay(u32)}")).count();
    assert_eq!(resolved, 2, "{found:?}");
}

#[test]
fn python_super_and_dotted_modules_are_known() {
    let found = all_paths(&project(&[
        ("shop/money/bank.py", &lines(["def pay(n):", "    return n"])),
        ("shop/other.py", &lines(["def pay(n):", "    return n"])),
        (
            "tests/test_bank.py",
            &lines([
                "import unittest",
                "import shop.money.bank",
                "class Base(unittest.TestCase):",
                "    def rate(self, n):",
                "        return n",
                "class BankTest(Base):",
                "    def rate(self, n):",
                "        return super().rate(n)",
                "    def test_pays(self):",
                "        self.assertEqual(self.rate(7), shop.money.bank.pay(1))",
            ]),
        ),
    ]));
    assert!(found.iter().any(|path| path.starts_with("1 -pay {pay(n)}-> ")), "{found:?}");
    assert!(found.iter().any(|path| path.starts_with("7 -rate-> n -rate-> n ")), "{found:?}");
}

#[test]
fn javascript_default_imports_mean_what_has_their_name() {
    let found = all_paths(&project(&[
        ("src/order.js", "export default class Order { pay(n) { return n; } }\n"),
        ("src/other.js", "export class Other { pay(n) { return n; } }\n"),
        (
            "src/order.test.js",
            &lines([
                "import Order from './order';",
                "test('pays', () => {",
                "  const order = new Order(1);",
                "  expect(order.pay(2)).toBe(2);",
                "});",
            ]),
        ),
    ]));
    assert!(found.contains(&"2 -pay {Order.pay(n)}-> order.pay(2)".to_owned()), "{found:?}");
}

#[test]
fn what_a_package_hands_on_is_found_where_it_is_declared() {
    let found = all_paths(&project(&[
        ("shop/__init__.py", "from .basket import Basket\n"),
        ("shop/basket.py", &lines(["class Basket:", "    def add(self, n):", "        return n"])),
        ("shop/other.py", &lines(["class Other:", "    def add(self, n):", "        return n"])),
        (
            "tests/test_basket.py",
            &lines([
                "from shop import Basket",
                "def test_adds():",
                "    assert Basket().add(1) == 1",
            ]),
        ),
    ]));
    assert!(found.iter().any(|path| path.starts_with("1 -add {Basket.add(n)}-> ")), "{found:?}");
    let found = all_paths(&project(&[
        (
            "src/index.ts",
            &lines(["export * from './pay';", "export { give as hand } from './give';"]),
        ),
        ("src/pay.ts", "export function pay(n: number) { return n; }\n"),
        ("src/give.ts", "export function give(n: number) { return n; }\n"),
        (
            "tests/pay.test.ts",
            &lines([
                "import { pay, hand } from '../src';",
                "test('pays', () => {",
                "  expect(pay(1)).toBe(hand(2));",
                "});",
            ]),
        ),
    ]));
    assert!(found.contains(&"1 -pay {pay(number)}-> pay(1)".to_owned()), "{found:?}");
    assert!(found.contains(&"2 -hand {give(number)}-> hand(2)".to_owned()), "{found:?}");
}

#[test]
fn python_fixtures_that_are_not_named_run_too() {
    let conftest =
        lines(["import pytest", "@pytest.fixture(autouse=True)", "def clean():", "    wipe(1)"]);
    let project = project(&[
        ("tests/a/conftest.py", &conftest),
        ("tests/ab/conftest.py", &conftest),
        ("tests/a/test_x.py", &lines(["def test_x():", "    assert go(2)"])),
    ]);
    let (_, test) = project.tests().next().expect("there is a test");
    let found = project.test_hooks(test, None).fixtures;
    let units = found.iter().filter_map(|it| project.unit(*it));
    let paths: Vec<&str> = units.map(|unit| unit.path.as_str()).collect();
    assert_eq!(paths, ["tests/a/conftest.py"]);
}
