//! The same graph, drawn for the other languages.

use crate::{all_paths, project};

#[test]
fn python_fixtures_come_by_parameter_name_and_from_conftest() {
    let found = all_paths(&project(&[
        (
            "tests/conftest.py",
            "import pytest\n@pytest.fixture\ndef db():\n    return connect(5432)\n",
        ),
        (
            "tests/test_orders.py",
            "import pytest\n@pytest.fixture\ndef order(db):\n    yield load(db, 7)\n\
             def test_total(order):\n    assert order.total() == 3\n",
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
        ("shop/basket.py", "class Basket:\n    def add(self, n):\n        self.n = n\n"),
        ("shop/other.py", "class Other:\n    def add(self, n):\n        self.n = n\n"),
        (
            "tests/test_basket.py",
            "import unittest\nfrom shop.basket import Basket\n\
             class BasketTest(unittest.TestCase):\n    def setUp(self):\n        self.basket = Basket()\n    \
             def test_adds(self):\n        self.basket.add(1)\n        self.assertEqual(1, self.basket.n)\n",
        ),
    ]));
    assert!(found.iter().any(|path| path.contains("1 -add {Basket.add(n)}-> basket")), "{found:?}");
}

#[test]
fn python_functions_are_known_by_import() {
    let found = all_paths(&project(&[
        ("src/shop/orders.py", "def load(n):\n    return n\n"),
        ("src/shop/others.py", "def load(n):\n    return n\n"),
        (
            "tests/test_orders.py",
            "from shop.orders import load\nimport shop.others as others\n\
             def test_loads():\n    assert load(1) == others.load(2)\n",
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
            "import { open } from './shop';\nlet shop;\nbeforeEach(() => { shop = open(80); });\n\
             describe('shop', () => {\n  let basket;\n  beforeEach(() => { basket = shop.basket(1); });\n  \
             it('sells', () => { expect(basket.total()).toBe(5); });\n});\n",
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
            "package orders\ntype Order struct { total int }\n\
             func New(n int) (*Order, error) { return &Order{n}, nil }\n\
             func (o *Order) Pay(n int) int { return n }\n",
        ),
        (
            "other/other.go",
            "package other\ntype O struct {}\nfunc (o *O) Pay(n int) int { return n }\n",
        ),
        (
            "orders/order_test.go",
            "package orders\nimport \"testing\"\nfunc TestPays(t *testing.T) {\n\
             order, err := New(1)\n\tif err != nil { t.Fatal(err) }\n\
             got := order.Pay(2)\n\tif got != 3 { t.Errorf(\"got %d\", got) }\n}\n",
        ),
    ]));
    let flow = "1 -New {New(int)}-> order -Pay {Order.Pay(int)}-> got";
    assert!(found.iter().any(|path| path.starts_with(flow)), "{found:?}");
}

#[test]
fn rust_finds_functions_by_use_and_methods_by_what_new_gives() {
    let found = all_paths(&project(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\n"),
        (
            "src/basket.rs",
            "pub struct Basket { n: u32 }\nimpl Basket {\n    pub fn new(n: u32) -> Self { Self { n } }\n    \
             pub fn total(&self, tax: u32) -> u32 { self.n * tax }\n}\n",
        ),
        (
            "src/other.rs",
            "pub struct Other;\nimpl Other { pub fn total(&self, tax: u32) -> u32 { tax } }\n",
        ),
        (
            "tests/sums.rs",
            "use shop::basket::Basket;\n#[test]\nfn sums() {\n    let basket = Basket::new(1);\n    \
             assert_eq!(basket.total(2), 2);\n}\n",
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
        "pub fn twice(n: u32) -> u32 { helper(n) }\nfn helper(n: u32) -> u32 { n + n }\n\
         #[cfg(test)]\nmod tests {\n    use super::*;\n    fn two() -> u32 { 2 }\n    #[test]\n    \
         fn doubles() { assert_eq!(twice(two()), 4); }\n}\n",
    )]));
    assert!(
        found.contains(&"2 -two-> two() -twice {twice(u32)}-> twice(two())".to_owned()),
        "{found:?}"
    );
}

#[test]
fn rust_paths_begin_at_the_crate_the_module_or_beside_it() {
    let found = all_paths(&project(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\n"),
        ("src/money.rs", "pub fn pay(n: u32) -> u32 { n }\npub struct Purse;\n"),
        ("src/other.rs", "pub fn pay(n: u32) -> u32 { n }\n"),
        (
            "src/lib.rs",
            "mod money;\nmod other;\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn pays() {\n        \
             assert_eq!(crate::money::pay(1), crate::other::pay(2));\n    }\n}\n",
        ),
    ]));
    let resolved = found.iter().filter(|path| path.contains("{pay(u32)}")).count();
    assert_eq!(resolved, 2, "{found:?}");
}

#[test]
fn python_super_and_dotted_modules_are_known() {
    let found = all_paths(&project(&[
        ("shop/money/bank.py", "def pay(n):\n    return n\n"),
        ("shop/other.py", "def pay(n):\n    return n\n"),
        (
            "tests/test_bank.py",
            "import unittest\nimport shop.money.bank\nclass Base(unittest.TestCase):\n    \
             def rate(self, n):\n        return n\nclass BankTest(Base):\n    \
             def rate(self, n):\n        return super().rate(n)\n    \
             def test_pays(self):\n        self.assertEqual(self.rate(7), shop.money.bank.pay(1))\n",
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
            "import Order from './order';\ntest('pays', () => {\n  const order = new Order(1);\n  \
             expect(order.pay(2)).toBe(2);\n});\n",
        ),
    ]));
    assert!(found.contains(&"2 -pay {Order.pay(n)}-> order.pay(2)".to_owned()), "{found:?}");
}

#[test]
fn what_a_package_hands_on_is_found_where_it_is_declared() {
    let found = all_paths(&project(&[
        ("shop/__init__.py", "from .basket import Basket\n"),
        ("shop/basket.py", "class Basket:\n    def add(self, n):\n        return n\n"),
        ("shop/other.py", "class Other:\n    def add(self, n):\n        return n\n"),
        (
            "tests/test_basket.py",
            "from shop import Basket\ndef test_adds():\n    assert Basket().add(1) == 1\n",
        ),
    ]));
    assert!(found.iter().any(|path| path.starts_with("1 -add {Basket.add(n)}-> ")), "{found:?}");
    let found = all_paths(&project(&[
        ("src/index.ts", "export * from './pay';\nexport { give as hand } from './give';\n"),
        ("src/pay.ts", "export function pay(n: number) { return n; }\n"),
        ("src/give.ts", "export function give(n: number) { return n; }\n"),
        (
            "tests/pay.test.ts",
            "import { pay, hand } from '../src';\ntest('pays', () => {\n  \
             expect(pay(1)).toBe(hand(2));\n});\n",
        ),
    ]));
    assert!(found.contains(&"1 -pay {pay(number)}-> pay(1)".to_owned()), "{found:?}");
    assert!(found.contains(&"2 -hand {give(number)}-> hand(2)".to_owned()), "{found:?}");
}
