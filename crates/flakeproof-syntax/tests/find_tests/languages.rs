//! The tests of each language, in whole files and in files that do not compile: Java (JUnit 3, 4 and
//! 5, TestNG), JavaScript and TypeScript, Python (pytest and unittest), Kotlin, C#, Go, Rust, Ruby.

use flakeproof_syntax::{IssueKind, Layout};

use crate::{find, find_in, helpers, ids, listing};

const FOO: &str = include_str!("../samples/FooTest.java");

#[test]
fn annotated_methods_are_tests_and_nested_classes_are_joined_by_a_dollar() {
    let found = find("src/test/java/com/acme/FooTest.java", FOO);
    assert_eq!(
        listing(&found),
        [
            "com.acme.FooTest#adds 13-18",
            "com.acme.FooTest#waits 20-20",
            "com.acme.FooTest$Inner#each 30-31",
        ]
    );
    assert_eq!(found.issues, []);
    assert_eq!(found.tests[2].enclosing, ["FooTest", "Inner"]);
    assert!(found.tests[0].text.starts_with("@Test(expected"));
    assert!(found.tests[0].text.ends_with('}'));
}

#[test]
fn helpers_come_in_the_order_in_which_they_run_each_once() {
    let found = find("FooTest.java", FOO);
    assert_eq!(helpers(&found, "adds"), ["setUp", "reset", "check", "compare", "make"]);
    assert_eq!(helpers(&found, "waits"), ["setUp", "reset"]);
    assert_eq!(helpers(&found, "each"), ["setUp", "reset", "check", "compare"]);
}

#[test]
fn a_class_without_a_package_is_named_alone() {
    let found = find("A.java", "class A { @org.junit.Test void x() {} }");
    assert_eq!(ids(&found), ["A#x"]);
}

#[test]
fn junit3_needs_a_base_class_and_a_name_about_tests() {
    let body = "{ public void testA() {} public void testB(int n) {} static void testC() {} \
                void testD() {} public int testE() { return 1; } protected void setUp() { f(); } \
                void f() {} }";
    let of = |head: &str| ids(&find("X.java", &format!("{head} {body}")));
    assert_eq!(of("class X extends junit.framework.TestCase"), ["X#testA"]);
    assert_eq!(of("class XTest extends Base<Y>"), ["XTest#testA"]);
    assert!(of("class XTest").is_empty());
    assert!(of("class X extends Base").is_empty());

    let text = format!("class X extends TestCase {body}");
    assert_eq!(helpers(&find("X.java", &text), "testA"), ["setUp", "f"]);
}

#[test]
fn a_class_that_annotates_its_tests_is_not_junit3() {
    let text = "class XTest extends Base { @Test public void a() {} public void testB() {} }";
    assert_eq!(ids(&find("X.java", text)), ["XTest#a"]);
}

#[test]
fn an_override_of_a_test_runs_without_an_annotation_of_its_own() {
    let text = "class XTest extends Base { @Test public void a() {}
        @Override public void testB() {} @Override public void run() {} }";
    assert_eq!(ids(&find("X.java", text)), ["XTest#a", "XTest#testB"]);
}

#[test]
fn testng_makes_tests_of_the_public_methods_of_an_annotated_class() {
    let text = "@Test(groups = \"x\") public class A {
        @BeforeMethod public void before() {} public void a() {} void b() {} private void c() {}
        public static void d() {} @DataProvider public Object[][] e() { return null; }
        @AfterTest public void after() {} }";
    let found = find("A.java", text);
    assert_eq!(ids(&found), ["A#a"]);
    assert_eq!(helpers(&found, "a"), ["before", "after"]);
}

#[test]
fn interfaces_records_enums_and_abstract_classes_hold_tests_too() {
    let text = "package p; interface I { @Test default void a() {} @Test void none(); }
        record R(int x) { @Test void b() {} } enum E { ONE; @RepeatedTest(3) void c() {} }
        abstract class Q { @TestFactory abstract Object d(); @IntegrationTest void e() {} }";
    assert_eq!(ids(&find("A.java", text)), ["p.I#a", "p.R#b", "p.E#c", "p.Q#e"]);
}

#[test]
fn set_up_in_a_base_class_of_the_same_file_counts() {
    let text = "class Base { @BeforeEach void up() { deep(); } void deep() {} void shared() {} }
        class ATest extends Base { @Test void a() { shared(); super.deep(); } }";
    assert_eq!(helpers(&find("ATest.java", text), "a"), ["up", "deep", "shared"]);
}

#[test]
fn half_written_java_gives_the_tests_written_so_far() {
    let text = "package a.b;\npublic class ATest extends B {\n @Test public void x() { f(); }\n \
                @Nested class In { @Test void n() {} }\n @Test public void y() { g(";
    let found = find("ATest.java", text);
    assert_eq!(ids(&found), ["a.b.ATest#x", "a.b.ATest$In#n", "a.b.ATest#y"]);
    assert_eq!(found.issues.len(), 1);
    assert_eq!(found.issues[0].kind, IssueKind::SyntaxError);
}

#[test]
fn a_test_with_an_error_in_its_body_still_counts() {
    let text = "class ATest {\n @Test void x() { f(; }\n @Test void y() { int = ; }\n \
                @Test void z() { }\n}";
    assert_eq!(ids(&find("ATest.java", text)), ["ATest#x", "ATest#y", "ATest#z"]);
}

#[test]
fn methods_that_lost_their_class_belong_to_the_class_of_the_files_name() {
    let text = "package p;\n @Test public void x() { f(); }\n}\n";
    assert_eq!(ids(&find("src/ATest.java", text)), ["p.ATest#x"]);
}

const SUMS: &str = include_str!("../samples/sums.test.ts");

#[test]
fn tests_are_named_by_the_titles_around_them() {
    let found = find("src/sums.test.ts", SUMS);
    assert_eq!(
        ids(&found),
        [
            "src/sums.test.ts > outer > adds %i",
            "src/sums.test.ts > outer > x $a",
            "src/sums.test.ts > outer > tpl ${x}",
            "src/sums.test.ts > outer > name + 'x'",
            "src/sums.test.ts > outer > inner > deep",
            "src/sums.test.ts > loop",
            "src/sums.test.ts > n",
            "src/sums.test.ts > named",
            "src/sums.test.ts > d %s > cond",
            "src/sums.test.ts > opts",
            "src/sums.test.ts > esc 'q' \\n",
        ]
    );
    assert_eq!(found.issues, []);
    assert_eq!(found.tests[4].enclosing, ["outer", "inner"]);
    assert_eq!(found.tests[1].lines, 7..=8);
    assert_eq!(helpers(&found, "deep"), ["beforeEach", "h2", "helper"]);
    assert_eq!(helpers(&found, "loop"), [""; 0]);
}

#[test]
fn jsx_and_commonjs_are_read() {
    let found = find("cases.test.jsx", include_str!("../samples/cases.test.jsx"));
    assert_eq!(
        listing(&found),
        [
            "cases.test.jsx > view > renders 6-6",
            "cases.test.jsx > view > n ${n} 7-7",
            "cases.test.jsx > view > later 8-8",
        ]
    );
    assert_eq!(helpers(&found, "renders"), ["render", "afterEach", "cleanup"]);
}

#[test]
fn a_file_counts_by_its_name_its_folder_or_its_imports() {
    let text = "it('a', () => {})";
    for path in ["a.spec.js", "__tests__/a.js", "e2e/b/a.ts", "test/a.mjs"] {
        assert_eq!(find(path, text).tests.len(), 1, "{path}");
    }
    assert!(find("src/a.js", text).tests.is_empty());
    let text = format!("import {{ it }} from \"bun:test\";\n{text}");
    assert_eq!(find("src/a.ts", &text).tests.len(), 1);
}

#[test]
fn what_only_looks_like_a_test_is_none() {
    let text = "/x/.test(y); it.todo('a'); test.use({}); test.skip(a === b, 'why'); \
                test.step('s', () => {}); t.it('x', () => {}); test(); it(42); \
                test.describe.configure({ mode: 'serial' });";
    assert_eq!(ids(&find("a.test.ts", text)), [""; 0]);
}

#[test]
fn hooks_of_playwright_are_helpers() {
    let text = "test.beforeEach(async ({ page }) => { await login(page) });\n\
                test.describe.serial('s', () => { test.fixme('t', async () => {}) });\n\
                async function login(page) {}\n";
    let found = find("a.spec.ts", text);
    assert_eq!(ids(&found), ["a.spec.ts > s > t"]);
    assert_eq!(helpers(&found, "t"), ["test.beforeEach", "login"]);
}

#[test]
fn half_written_javascript_gives_the_tests_written_so_far() {
    let text = "describe('a', () => {\n it('b', () => { x() });\n it('c', () => { y(";
    for path in ["a.test.js", "a.test.ts", "a.test.tsx"] {
        let found = find(path, text);
        assert_eq!(ids(&found), [format!("{path} > a > b"), format!("{path} > a > c")]);
        assert_eq!(found.issues.len(), 1);
    }
}

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
fn half_written_python_gives_the_tests_written_so_far() {
    let text = "class TestA:\n    def test_x(self):\n        f(\n\n    def test_y(self):\n        \
                pass\n\ndef test_z():\n    pass\n\ndef test_last(";
    let found = find("test_a.py", text);
    let ids = ids(&found);
    for id in ["TestA::test_x", "TestA::test_y", "test_z", "test_last"] {
        assert!(ids.contains(&format!("test_a.py::{id}")), "{id} is not in {ids:?}");
    }
    assert_eq!(found.issues.len(), 1);
}

const SUITE: &str = include_str!("../samples/suite_test.go");
const MODULES: &str = include_str!("../samples/modules.rs");

#[test]
fn annotated_functions_of_kotlin_are_tests_and_backticks_are_no_part_of_a_name() {
    let text = "package a.b\n\nclass ATest : Base(), I {\n    @BeforeEach\n    fun up() { deep() }\n    \
                @Test\n    fun `does a thing`() = runTest {\n        list.forEach { helper() }\n    \
                }\n    private fun helper() {}\n    @Nested\n    inner class In {\n        \
                @org.junit.jupiter.api.Test\n        internal fun z() {\n            \
                this@ATest.helper()\n        }\n    }\n    companion object {\n        \
                fun deep() {}\n    }\n}\n";
    let found = find("src/test/kotlin/ATest.kt", text);
    assert_eq!(listing(&found), ["a.b.ATest#does a thing 6-9", "a.b.ATest$In#z 13-16"]);
    assert_eq!(helpers(&found, "does a thing"), ["up", "deep", "helper"]);
    assert_eq!(helpers(&found, "z")[..2], ["up", "deep"]);
}

#[test]
fn a_function_of_kotlin_outside_of_classes_belongs_to_the_class_of_its_file() {
    let found = find("sums/AddTest.kt", "package sums\n\n@Test\nfun adds() {\n}\n");
    assert_eq!(ids(&found), ["sums.AddTestKt#adds"]);
}

#[test]
fn a_class_of_kotlin_derived_from_a_test_case_names_its_tests() {
    let text = "class A : LightTestCase() {\n    fun testX() {}\n    fun helper() {}\n}\n";
    assert_eq!(ids(&find("A.kt", text)), ["A#testX"]);
}

#[test]
fn half_written_kotlin_gives_the_tests_written_so_far() {
    let text = "package a\nclass A : B() {\n  @Test\n  fun x() { f() }\n  @Test fun y() { g(";
    let found = find("A.kt", text);
    assert_eq!(ids(&found), ["a.A#x", "a.A#y"]);
    assert_eq!(found.issues.len(), 1);
}

#[test]
fn attributed_methods_of_c_sharp_are_tests_and_nested_classes_are_joined_by_a_plus() {
    let found = find("Fixture.cs", include_str!("../samples/Fixture.cs"));
    assert_eq!(listing(&found), ["A.B.C.D 6-7", "A.B.C.E 8-9", "A.B.C+Inner.Z 10-10"]);
    assert_eq!(helpers(&found, "D"), ["Init", "C", "Dispose"]);
}

#[test]
fn half_written_c_sharp_gives_the_tests_written_so_far() {
    let text = "namespace Q;\nclass A { [Fact] void x() { f(); }\n [Fact] void y() { g(";
    assert_eq!(ids(&find("A.cs", text)), ["Q.A.x", "Q.A.y"]);
}

#[test]
fn tests_of_go_are_named_by_import_path_and_subtests_are_part_of_them() {
    let layout = Layout::of_manifests([("mod/go.mod", "module example.com/m\n")]);
    let found = find_in(&layout, "mod/pkg/suite_test.go", SUITE);
    assert_eq!(
        listing(&found),
        [
            "example.com/m/pkg.TestA 8-11",
            "example.com/m/pkg.(*S).TestB 13-13",
            "example.com/m/pkg.(G).TestC 14-14",
            "example.com/m/pkg.FuzzX 15-15",
            "example.com/m/pkg.ExampleA 17-19",
        ]
    );
    assert_eq!(helpers(&found, "TestA"), ["TestMain", "helper"]);
    assert_eq!(helpers(&found, "TestB"), ["TestMain", "SetupTest", "helper"]);
}

#[test]
fn without_a_manifest_the_folder_names_the_package_of_go() {
    let text = "package a\nfunc TestX(t *testing.T) {}\n";
    assert_eq!(ids(&find("a/b/x_test.go", text)), ["a/b.TestX"]);
    assert_eq!(ids(&find("x_test.go", text)), ["TestX"]);
}

#[test]
fn only_what_go_test_runs_is_a_test() {
    let text = "package a\nfunc Testing(t *testing.T) {}\nfunc TestX(n int) {}\n\
                func BenchmarkX(b *testing.B) {}\nfunc ExampleX() {}\nfunc Test(t *testing.T) {}\n";
    assert_eq!(ids(&find("x_test.go", text)), ["Test"]);
    assert!(find("x.go", text).tests.is_empty());
}

#[test]
fn half_written_go_gives_the_tests_written_so_far() {
    let text = "package x\nfunc TestA(t *testing.T) { f() }\nfunc TestB(t *testing.T) { g(";
    let found = find("x_test.go", text);
    assert_eq!(ids(&found), ["TestA", "TestB"]);
    assert_eq!(found.issues.len(), 1);
}

#[test]
fn tests_of_rust_are_named_by_crate_and_modules() {
    let layout = Layout::of_manifests([("a/Cargo.toml", "[package]\nname = \"my-crate\"\n")]);
    let found = find_in(&layout, "a/src/x/mod.rs", MODULES);
    assert_eq!(
        listing(&found),
        [
            "my_crate::x::tests::a 6-8",
            "my_crate::x::tests::b 9-10",
            "my_crate::x::tests::c 11-12",
            "my_crate::x::tests::p 14-15",
        ]
    );
    assert_eq!(helpers(&found, "a"), ["new"]);
}

#[test]
fn the_path_of_a_file_of_rust_gives_its_modules() {
    let layout = Layout::of_manifests([("Cargo.toml", "[package]\nname = \"c\"\n")]);
    let id = |path| ids(&find_in(&layout, path, "#[tokio::test] async fn t() {}"));
    assert_eq!(id("src/lib.rs"), ["c::t"]);
    assert_eq!(id("src/main.rs"), ["c::t"]);
    assert_eq!(id("src/a/b.rs"), ["c::a::b::t"]);
    assert_eq!(id("tests/foo.rs"), ["c::foo::t"]);
    assert_eq!(id("tests/foo/main.rs"), ["c::foo::t"]);
    assert_eq!(id("tests/foo/bar.rs"), ["c::foo::bar::t"]);
    let unknown = |path| ids(&find(path, "#[test] fn t() {}"));
    assert_eq!(unknown("my-crate/src/a.rs"), ["my_crate::a::t"]);
    assert_eq!(unknown("src/lib.rs"), ["crate::t"]);
}

#[test]
fn calls_in_macros_of_rust_and_through_super_are_followed() {
    let text = "fn h2() {}\nmod tests {\n    #[test]\n    fn a() { assert!(h1()); super::h2(); }\n    \
                fn h1() -> bool { true }\n    struct S;\n    impl S { #[test] fn no() {} }\n}\n";
    let found = find("src/lib.rs", text);
    assert_eq!(ids(&found), ["crate::tests::a"]);
    assert_eq!(helpers(&found, "a"), ["h1", "h2"]);
}

#[test]
fn half_written_rust_gives_the_tests_written_so_far() {
    let text = "mod tests {\n #[test]\n fn a() { f() }\n #[test]\n fn b() { g(";
    let found = find("src/lib.rs", text);
    assert_eq!(listing(&found), ["crate::tests::a 2-3", "crate::tests::b 4-5"]);
    assert_eq!(found.issues.len(), 1);
}

#[test]
fn examples_and_test_methods_of_ruby_are_tests() {
    let found = find("spec/user_spec.rb", include_str!("../samples/user_spec.rb"));
    assert_eq!(
        listing(&found),
        [
            "spec/user_spec.rb > User > #name > works 6-8",
            "spec/user_spec.rb > User > #name > is_expected.to x 9-9",
            "FooTest#test_a 15-18",
            "FooTest#test_some_thing 19-20",
        ]
    );
    assert_eq!(helpers(&found, "works"), ["before", "a", "helper"]);
    assert_eq!(helpers(&found, "test_a"), ["setup"]);
}
