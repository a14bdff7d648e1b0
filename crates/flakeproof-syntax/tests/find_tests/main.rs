//! What is found in sources of each language, whole and broken.

mod hostile;
mod languages;
mod promises;

use flakeproof_syntax::{Finder, Found, Language, Layout, SourceFile, may_hold_tests};

/// The tests of a text, after everything that is always promised was checked.
fn find<'a>(path: &'a str, text: &'a str) -> Found<'a> {
    find_in(&Layout::default(), path, text)
}

fn find_in<'a>(layout: &Layout, path: &'a str, text: &'a str) -> Found<'a> {
    let file = SourceFile { path, text };
    let mut finder = Finder::default();
    let found = finder.find(&file, layout);
    promises::assert_promises(&file, &found);
    hostile::assert_same_tests(&file, &found, &finder.lower(&file, layout));
    if let (Some(language), false) = (Language::of_path(path), found.tests.is_empty()) {
        assert!(may_hold_tests(language, path, text), "{path} would never be read");
    }
    found
}

/// `id 3-5` for each test.
fn listing(found: &Found<'_>) -> Vec<String> {
    let line = |test: &flakeproof_syntax::TestSource<'_>| {
        format!("{} {}-{}", test.id, test.lines.start(), test.lines.end())
    };
    found.tests.iter().map(line).collect()
}

fn ids(found: &Found<'_>) -> Vec<String> {
    found.tests.iter().map(|test| test.id.to_string()).collect()
}

/// The names of what the test with this name runs.
fn helpers<'f>(found: &'f Found<'_>, name: &str) -> Vec<&'f str> {
    let test = found.tests.iter().find(|test| test.name == name).expect("the test is found");
    test.helpers.iter().map(|helper| helper.name.as_str()).collect()
}
