//! Kotlin: JUnit, TestNG and kotlin.test.

use crate::{find, helpers, ids, listing};

#[test]
fn annotated_functions_are_tests_and_backticks_are_no_part_of_a_name() {
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
fn a_function_outside_of_classes_belongs_to_the_class_of_its_file() {
    let found = find("sums/AddTest.kt", "package sums\n\n@Test\nfun adds() {\n}\n");
    assert_eq!(ids(&found), ["sums.AddTestKt#adds"]);
}

#[test]
fn a_class_derived_from_a_test_case_names_its_tests() {
    let text = "class A : LightTestCase() {\n    fun testX() {}\n    fun helper() {}\n}\n";
    assert_eq!(ids(&find("A.kt", text)), ["A#testX"]);
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let text = "package a\nclass A : B() {\n  @Test\n  fun x() { f() }\n  @Test fun y() { g(";
    let found = find("A.kt", text);
    assert_eq!(ids(&found), ["a.A#x", "a.A#y"]);
    assert_eq!(found.issues.len(), 1);
}
