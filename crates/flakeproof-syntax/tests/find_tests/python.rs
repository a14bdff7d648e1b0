//! Python: pytest and unittest.

use crate::{find, helpers, ids, listing};

#[test]
fn pytest_collects_functions_and_classes_by_name() {
    let text = "import pytest\n\n@pytest.mark.slow\n@pytest.mark.parametrize('n', [1])\n\
                async def test_a(n):\n    def test_inner():\n        pass\n    assert n\n\n\
                class TestX:\n    def test_b(self):\n        pass\n    class TestY:\n        \
                def test_c(self): pass\n    def helper(self): pass\n\nclass TestZ:\n    \
                def __init__(self): pass\n    def test_d(self): pass\n\nclass Other:\n    \
                def test_e(self): pass\n\nif True:\n    def test_f():\n        pass\n";
    assert_eq!(
        listing(&find("tests/test_a.py", text)),
        [
            "tests/test_a.py::test_a 3-8",
            "tests/test_a.py::TestX::test_b 11-12",
            "tests/test_a.py::TestX::TestY::test_c 14-14",
            "tests/test_a.py::test_f 25-26",
        ]
    );
}

#[test]
fn only_test_cases_count_in_files_that_pytest_does_not_collect_by_name() {
    let text = "import unittest\ndef test_a(): pass\nclass TestB:\n    def test_b(self): pass\n\
                class C(unittest.TestCase):\n    def testC(self): pass\n\
                class D(C):\n    def test_d(self): pass\n\
                class E(django.test.SimpleTestCase[int], Mixin):\n    def test_e(self): pass\n";
    assert_eq!(
        ids(&find("app/tests.py", text)),
        ["app/tests.py::C::testC", "app/tests.py::D::test_d", "app/tests.py::E::test_e"]
    );
}

#[test]
fn fixtures_are_helpers_by_the_name_of_a_parameter() {
    let text = "import pytest\n@pytest.fixture\ndef db(path): return open(path)\n\
                @pytest.fixture()\ndef path(): return where()\n\
                @pytest.fixture(autouse=True)\ndef clean(): pass\n\
                @pytest.fixture\ndef loud(): pass\n\
                def where(): pass\ndef plain(): pass\n\
                @pytest.mark.usefixtures('loud')\ndef test_a(db: Db, plain, *args): db.query()\n\
                def test_b(): helper()\ndef helper(): where()\n";
    let found = find("test_a.py", text);
    assert_eq!(helpers(&found, "test_a"), ["clean", "loud", "db", "path", "where"]);
    assert_eq!(helpers(&found, "test_b"), ["clean", "helper", "where"]);
}

#[test]
fn set_up_and_own_methods_of_a_class_are_helpers() {
    let text = "class Base(TestCase):\n    def setUp(self): self.up()\n    def up(self): pass\n\
                class A(Base):\n    def tearDown(self): pass\n    def test_a(self):\n        \
                self.check()\n        Base.up(self)\n    def check(self): free()\n\
                def free(): pass\n";
    let found = find("test_a.py", text);
    assert_eq!(helpers(&found, "test_a"), ["setUp", "up", "check", "free", "tearDown"]);
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let text = "class TestA:\n    def test_x(self):\n        f(\n\n    def test_y(self):\n        \
                pass\n\ndef test_z():\n    pass\n\ndef test_last(";
    let found = find("test_a.py", text);
    let ids = ids(&found);
    for id in ["TestA::test_x", "TestA::test_y", "test_z", "test_last"] {
        assert!(ids.contains(&format!("test_a.py::{id}")), "{id} is not in {ids:?}");
    }
    assert_eq!(found.issues.len(), 1);
}
