//! C#: xUnit, NUnit and MSTest.

use crate::{find, helpers, ids, listing};

#[test]
fn attributed_methods_are_tests_and_nested_classes_are_joined_by_a_plus() {
    let found = find("Fixture.cs", include_str!("../samples/Fixture.cs"));
    assert_eq!(listing(&found), ["A.B.C.D 6-7", "A.B.C.E 8-9", "A.B.C+Inner.Z 10-10"]);
    assert_eq!(helpers(&found, "D"), ["Init", "C", "Dispose"]);
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let text = "namespace Q;\nclass A { [Fact] void x() { f(); }\n [Fact] void y() { g(";
    assert_eq!(ids(&find("A.cs", text)), ["Q.A.x", "Q.A.y"]);
}
