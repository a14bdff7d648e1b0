//! CTRF, and the JSON of jest, vitest and RSpec.

use flakeproof_core::Outcome;

use super::{has_serious_issue, lines, message, outcomes, read};

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
