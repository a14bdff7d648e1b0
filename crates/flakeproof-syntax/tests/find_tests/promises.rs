//! What holds for every file, however broken. The fuzz target asserts the same.

use flakeproof_syntax::{Found, Helper, SourceFile};

/// Panics unless everything found lies in the file and says where.
pub(crate) fn assert_promises(file: &SourceFile<'_>, found: &Found<'_>) {
    let lines = u32::try_from(file.text.split('\n').count()).expect("fewer than 2^32 lines");
    for test in &found.tests {
        assert!(!test.id.as_str().is_empty(), "a test without an id");
        assert_eq!(file.text.get(test.span.clone()), Some(test.text), "{}", test.id);
        assert!(is_slice(file.text, test.text), "{}: its text is a copy", test.id);
        assert!(test.lines.start() <= test.lines.end(), "{}: {:?}", test.id, test.lines);
        assert!(*test.lines.start() >= 1 && *test.lines.end() <= lines, "{}", test.id);
        assert_eq!(line_of(file.text, test.span.start), *test.lines.start(), "{}", test.id);
        for Helper { name, lines: covered, text } in &test.helpers {
            assert!(is_slice(file.text, text), "{name}: its text is a copy");
            assert!(covered.start() <= covered.end() && *covered.end() <= lines, "{name}");
        }
    }
    let starts: Vec<usize> = found.tests.iter().map(|test| test.span.start).collect();
    assert!(starts.is_sorted(), "tests are not in the order of the file: {starts:?}");
    for issue in &found.issues {
        assert!(issue.line >= 1 && issue.line <= lines, "{issue}");
    }
}

fn is_slice(whole: &str, part: &str) -> bool {
    let (whole, part) = (whole.as_bytes().as_ptr_range(), part.as_bytes().as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

fn line_of(text: &str, offset: usize) -> u32 {
    let before = text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(before).expect("fewer than 2^32 lines") + 1
}
