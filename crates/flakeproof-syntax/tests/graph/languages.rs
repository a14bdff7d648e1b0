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
