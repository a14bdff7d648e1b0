//! Rust: `cargo test`.

use flakeproof_syntax::Layout;

use crate::{find, find_in, helpers, ids, listing};

const MODULES: &str = include_str!("../samples/modules.rs");

#[test]
fn tests_are_named_by_crate_and_modules() {
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
fn the_path_of_a_file_gives_its_modules() {
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
fn calls_in_macros_and_through_super_are_followed() {
    let text = "fn h2() {}\nmod tests {\n    #[test]\n    fn a() { assert!(h1()); super::h2(); }\n    \
                fn h1() -> bool { true }\n    struct S;\n    impl S { #[test] fn no() {} }\n}\n";
    let found = find("src/lib.rs", text);
    assert_eq!(ids(&found), ["crate::tests::a"]);
    assert_eq!(helpers(&found, "a"), ["h1", "h2"]);
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let text = "mod tests {\n #[test]\n fn a() { f() }\n #[test]\n fn b() { g(";
    let found = find("src/lib.rs", text);
    assert_eq!(listing(&found), ["crate::tests::a 2-3", "crate::tests::b 4-5"]);
    assert_eq!(found.issues.len(), 1);
}
