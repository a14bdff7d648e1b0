//! Go: `go test` and suites.

use flakeproof_syntax::Layout;

use crate::{find, find_in, helpers, ids, listing};

const SUITE: &str = include_str!("../samples/suite_test.go");

#[test]
fn tests_are_named_by_import_path_and_subtests_are_part_of_them() {
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
fn without_a_manifest_the_folder_names_the_package() {
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
fn half_written_files_give_the_tests_written_so_far() {
    let text = "package x\nfunc TestA(t *testing.T) { f() }\nfunc TestB(t *testing.T) { g(";
    let found = find("x_test.go", text);
    assert_eq!(ids(&found), ["TestA", "TestB"]);
    assert_eq!(found.issues.len(), 1);
}
