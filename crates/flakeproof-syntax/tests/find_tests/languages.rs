//! The languages about which there is less to say: Kotlin, C#, Go, Rust and Ruby.

use flakeproof_syntax::Layout;

use crate::{find, find_in, helpers, ids, listing};

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
