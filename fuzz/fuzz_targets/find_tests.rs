//! Every text, in every language, keeps the promises of the finder and of the static features.
//!
//! The first byte chooses the language, the rest is the text.

#![no_main]

#[path = "../../crates/flakeproof-syntax/tests/find_tests/promises.rs"]
mod promises;
#[path = "../../crates/flakeproof-syntax/tests/static_features/sane.rs"]
mod sane;

use std::cell::RefCell;

use flakeproof_syntax::{Finder, Layout, SourceFile};
use libfuzzer_sys::fuzz_target;

const PATHS: [&str; 10] = [
    "src/FooTest.java",
    "src/FooTest.kt",
    "tests/test_foo.py",
    "src/foo.test.js",
    "src/foo.test.ts",
    "src/foo.test.tsx",
    "pkg/foo_test.go",
    "src/foo.rs",
    "FooTest.cs",
    "spec/foo_spec.rb",
];

thread_local! {
    static FINDER: RefCell<Finder> = RefCell::default();
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let file = SourceFile { path: PATHS[usize::from(*choice) % PATHS.len()], text: &text };
    FINDER.with_borrow_mut(|finder| {
        let measured = finder.measure(&file, &Layout::default());
        promises::assert_promises(&file, &measured.found);
        sane::assert_sane(&measured);
    });
});
