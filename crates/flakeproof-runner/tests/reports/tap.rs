//! The Test Anything Protocol.

use super::{has_serious_issue, lines, message, read};

#[test]
fn version_12_to_14_with_directives() {
    let reported = read(
        "TAP version 14\n1..5\nok 1 - a\nnot ok 2 - b\n  ---\n  message: 'it''s 1'\n  severity: fail\n  \
         duration_ms: 12.5\n  stack: |-\n    at x\n    at y\n  ...\nok 3 - c # SKIP why\nnot ok 4 # TODO later\nok 5\n",
    );
    assert!(reported.issues.is_empty(), "{:?}", reported.issues);
    assert_eq!(
        lines(&reported),
        ["a | passed", "b | failed", "c | skipped", "test 4 | skipped", "test 5 | passed"]
    );
    assert_eq!(message(&reported.tests[1]), "it's 1");
    assert_eq!(reported.tests[1].duration.unwrap().as_micros(), 12_500);
    assert!(reported.tests[1].failure.as_ref().unwrap().text.contains("at y"));
}

#[test]
fn subtests_have_their_parents_as_class() {
    let reported = read(
        "TAP version 13\n# Subtest: suite\n    # Subtest: inner\n        ok 1 - deep\n        1..1\n    \
         ok 1 - inner\n    not ok 2 - flat\n      ---\n      location: '/p/a.js:6:42'\n      error: 'boom'\n      ...\n    1..2\n\
         not ok 1 - suite\n  ---\n  type: 'suite'\n  ...\nok 2 - alone\n1..2\n",
    );
    assert!(reported.issues.is_empty(), "{:?}", reported.issues);
    assert_eq!(
        lines(&reported),
        ["suite > inner | deep | passed", "suite | flat | failed", "alone | passed"]
    );
    let flat = &reported.tests[1];
    assert_eq!(
        (flat.file.as_deref(), flat.line, message(flat)),
        (Some("/p/a.js"), Some(6), "boom")
    );
}

#[test]
fn a_parent_that_fails_alone_is_a_failure() {
    let reported = read("    ok 1 - child\n    1..1\nnot ok 1 - parent\n1..1\n");
    assert_eq!(lines(&reported), ["parent | child | passed", "parent | failed"]);
}

#[test]
fn what_is_missing_is_told() {
    for text in ["1..3\nok 1\nok 2\n", "ok 1\n", "1..2\nok 1\nBail out! disk full\n", "hello\n"] {
        assert!(has_serious_issue(&read(text)), "{text}");
    }
}
