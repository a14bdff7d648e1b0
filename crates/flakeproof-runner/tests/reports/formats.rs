//! Formats that are not XML: the events of `go test -json`, CTRF, the JSON of jest, vitest and
//! RSpec, and the Test Anything Protocol.

use flakeproof_core::Outcome;

use crate::{has_serious_issue, lines, message, outcomes, read};

#[test]
fn outcomes_output_and_subtests() {
    let reported = read(
        r#"{"Action":"start","Package":"m/p"}
{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"    a_test.go:9: got 1\n"}
{"Action":"run","Package":"m/p","Test":"TestA/sub"}
{"Action":"skip","Package":"m/p","Test":"TestA/sub","Elapsed":0}
{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":0.25}
{"Action":"run","Package":"m/p","Test":"TestB"}
{"Action":"pass","Package":"m/p","Test":"TestB","Elapsed":0}
{"Action":"fail","Package":"m/p","Elapsed":0.3}
"#,
    );
    assert!(reported.issues.is_empty(), "{:?}", reported.issues);
    assert_eq!(lines(&reported), ["TestA/sub | skipped", "TestA | failed", "TestB | passed"]);
    let failed = &reported.tests[1];
    assert_eq!(failed.failure.as_ref().unwrap().message, "a_test.go:9: got 1");
    assert_eq!((&*failed.suite, failed.duration.unwrap().as_millis()), ("m/p", 250));
}

#[test]
fn a_test_that_takes_its_process_with_it_crashed() {
    let reported = read(
        r#"{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"fail","Package":"m/p","Elapsed":0.3}
"#,
    );
    assert_eq!(lines(&reported), ["TestA | crashed"]);
}

#[test]
fn a_package_that_does_not_build_is_an_issue_with_its_text() {
    let reported = read(
        r##"{"ImportPath":"m/p","Action":"build-output","Output":"# m/p\n./a.go:3: undefined: x\n"}
{"ImportPath":"m/p","Action":"build-fail"}
{"Action":"start","Package":"m/p"}
{"Action":"fail","Package":"m/p","Elapsed":0,"FailedBuild":"m/p"}
"##,
    );
    assert!(reported.tests.is_empty());
    assert!(has_serious_issue(&reported));
    assert!(reported.issues[0].what.contains("undefined: x"), "{:?}", reported.issues);
}

#[test]
fn ctrf_with_everything_and_with_odd_types() {
    let reported = read(
        r#"{"reportFormat":"CTRF","results":{"tool":{"name":"x"},"tests":[
        {"name":"a","status":"passed","duration":12,"suite":["s","t"],"filePath":"a.ts","line":7},
        {"name":"b","status":"failed","message":"m","trace":"t","stdout":["1","2"],
         "retryAttempts":[{"attempt":1,"status":"failed","message":"first"}]},
        {"name":3,"status":"pending","duration":null,"line":"x","extra":{"k":[1]}},
        {"status":"other"}]}}"#,
    );
    assert!(reported.issues.is_empty(), "{:?}", reported.issues);
    use Outcome::{Errored, Failed, Passed, Skipped};
    assert_eq!(outcomes(&reported), [Passed, Failed, Skipped, Errored]);
    let [a, b, number, _] = &reported.tests[..] else { panic!() };
    assert_eq!((&*a.class, a.file.as_deref(), a.line), ("s > t", Some("a.ts"), Some(7)));
    assert_eq!((message(b), &*b.output, &*b.reruns[0].failure.message), ("m", "1\n2", "first"));
    assert_eq!(number.name, "3");
}

#[test]
fn jest_and_vitest() {
    let reported = read(
        r#"{"numTotalTests":2,"testResults":[{"assertionResults":[
        {"ancestorTitles":["math","add"],"title":"works","fullName":"math add works","status":"passed","duration":3,"location":{"line":4,"column":1}},
        {"ancestorTitles":[],"title":"fails","status":"failed","failureMessages":["Error: x\n    at a.js:1:2"]}],
        "name":"/p/a.test.js","status":"failed","message":"● fails\n\n  Error: x"},
        {"assertionResults":[],"name":"/p/b.test.js","status":"failed","message":"Cannot find module"}]}"#,
    );
    assert_eq!(lines(&reported), ["math > add | works | passed", "fails | failed"]);
    assert_eq!(message(&reported.tests[1]), "Error: x");
    assert!(reported.issues[0].what.contains("Cannot find module"), "{:?}", reported.issues);
}

#[test]
fn rspec() {
    let reported = read(
        r#"{"version":"3.12","examples":[{"id":"./spec/a_spec.rb[1:1]","description":"adds","full_description":"Math adds","status":"failed","file_path":"./spec/a_spec.rb","line_number":3,"run_time":0.25,"exception":{"class":"E","message":"\nexpected 1","backtrace":["a:1"]}}],"summary":{}}"#,
    );
    let test = &reported.tests[0];
    assert_eq!(test.id.as_deref(), Some("./spec/a_spec.rb[1:1]"));
    assert_eq!((message(test), test.duration.unwrap().as_millis()), ("expected 1", 250));
}

#[test]
fn half_a_document_gives_the_tests_before_the_cut() {
    let reported = read(r#"{"results":{"tests":[{"name":"a","status":"passed"},{"name":"b","sta"#);
    assert_eq!(lines(&reported), ["a | passed"]);
    assert!(has_serious_issue(&reported));
    assert!(has_serious_issue(&read("{}")));
}

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
