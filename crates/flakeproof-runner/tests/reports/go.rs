//! The events of `go test -json`.

use super::{has_serious_issue, lines, read};

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
