//! JUnit XML in the dialects of many runners.

use flakeproof_core::Outcome;

use super::{has_serious_issue, lines, message, outcomes, read};

#[test]
fn surefire_with_both_forms_of_reruns() {
    let reported = read(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="com.acme.FooTest" time="1,234.5" tests="3">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="stays" classname="com.acme.FooTest" time="1,000.25"/>
  <testcase name="flaky" classname="com.acme.FooTest" time="0.01">
    <flakyFailure message="expected 1" type="java.lang.AssertionError" time="0.5">
      <stackTrace><![CDATA[java.lang.AssertionError: expected 1
	at com.acme.FooTest.flaky(FooTest.java:9)]]></stackTrace>
      <system-out><![CDATA[first try]]></system-out>
    </flakyFailure>
    <flakyError type="java.io.IOException">java.io.IOException</flakyError>
  </testcase>
  <testcase name="broken" classname="com.acme.FooTest" time="0.01">
    <failure message="no &lt;1&gt;" type="E">E: no
	at x</failure>
    <rerunFailure message="again" type="E">old form</rerunFailure>
    <system-out>printed</system-out>
  </testcase>
</testsuite>"#,
    );
    assert!(reported.issues.is_empty(), "{:?}", reported.issues);
    assert_eq!(outcomes(&reported), [Outcome::Passed, Outcome::Passed, Outcome::Failed]);
    let [stays, flaky, broken] = &reported.tests[..] else { panic!() };
    assert_eq!(stays.duration.unwrap().as_millis(), 1_000_250);
    assert_eq!(stays.suite, "com.acme.FooTest");
    let [first, second] = &flaky.reruns[..] else { panic!() };
    assert!(first.failure.text.ends_with("FooTest.java:9)"), "{}", first.failure.text);
    assert_eq!((first.output.as_str(), second.outcome), ("first try", Outcome::Errored));
    assert_eq!(message(broken), "no <1>");
    assert_eq!((broken.reruns[0].failure.text.as_str(), &*broken.output), ("old form", "printed"));
}

#[test]
fn pytest_with_files_lines_and_properties() {
    let reported = read(
        r#"<testsuites><testsuite name="pytest" errors="1"><testcase classname="tests.test_a" name="test_x[1]" file="tests/test_a.py" line="3" time="0.001"><properties><property name="k" value="v"/></properties></testcase><testcase classname="tests.test_a" name="test_y" time="0"><error message="failed on setup with &quot;E&quot;">trace</error></testcase><testcase classname="tests.test_a" name="test_z"><skipped type="pytest.skip" message="no net">test_a.py:9: no net</skipped></testcase></testsuite></testsuites>"#,
    );
    assert_eq!(outcomes(&reported), [Outcome::Passed, Outcome::Errored, Outcome::Skipped]);
    let x = &reported.tests[0];
    assert_eq!((x.file.as_deref(), x.line), (Some("tests/test_a.py"), Some(3)));
    assert_eq!(x.properties, [("k".to_owned(), "v".to_owned())]);
    assert_eq!(message(&reported.tests[2]), "no net");
}

#[test]
fn phpunit_nests_suites() {
    let reported = read(
        r#"<testsuites><testsuite name="" tests="2"><testsuite name="FooTest" file="/p/FooTest.php">
        <testcase name="testA" class="FooTest" classname="FooTest" file="/p/FooTest.php" line="5" time="0.1"/>
        <testsuite name="FooTest::testB"><testcase name="testB with data set #0" class="FooTest" classname="FooTest" time="0.1"><failure type="X">FooTest::testB with data set #0
Failed asserting</failure></testcase></testsuite></testsuite></testsuite></testsuites>"#,
    );
    assert_eq!(
        lines(&reported),
        ["FooTest | testA | passed", "FooTest | testB with data set #0 | failed"]
    );
    assert_eq!(reported.tests[1].suite, "FooTest::testB");
}

#[test]
fn jest_junit_gotestsum_and_nextest() {
    let jest = read(
        r#"<testsuites name="jest tests"><testsuite name="math" timestamp="2026-01-01T00:00:00"><testcase classname="math adds" name="math adds" time="0.002"></testcase><testcase classname="math fails" name="math fails" time="0"><failure>Error: x
    at a.js:1</failure></testcase></testsuite></testsuites>"#,
    );
    assert_eq!(outcomes(&jest), [Outcome::Passed, Outcome::Failed]);
    let go = read(
        r#"<testsuites><testsuite name="example.com/m/p"><properties><property name="go.version" value="go1.26"/></properties><testcase classname="example.com/m/p" name="TestA" time="0.000000"></testcase><testcase classname="example.com/m/p" name="TestB/sub"><failure message="Failed" type="">=== RUN</failure></testcase></testsuite></testsuites>"#,
    );
    assert_eq!(go.tests[1].suite, "example.com/m/p");
    let nextest = read(
        r#"<testsuites name="r" uuid="u"><testsuite name="krate"><testcase name="a::b" classname="krate" timestamp="t" time="0.01"><flakyFailure timestamp="t" time="0.02" message="m" type="test failure">panicked<system-err>e</system-err></flakyFailure></testcase></testsuite></testsuites>"#,
    );
    assert_eq!(outcomes(&nextest), [Outcome::Passed]);
    assert_eq!(nextest.tests[0].reruns[0].failure.text, "panicked");
}

#[test]
fn states_in_attributes_count() {
    let reported = read(
        r#"<testsuite name="Linux-c++"><testcase name="a" classname="a" time="0.1" status="run"><system-out>hi</system-out></testcase><testcase name="b" status="fail"><failure message="Failed"/></testcase><testcase name="c" status="notrun"/><testcase name="d" status="disabled"/><testcase name="e" status="fail"/><testcase name="f" status="run" result="suppressed"/><testcase name="g" result="completed"/></testsuite>"#,
    );
    use Outcome::{Failed, Passed, Skipped};
    assert_eq!(outcomes(&reported), [Passed, Failed, Skipped, Skipped, Failed, Skipped, Passed]);
}

#[test]
fn tests_without_any_suite_and_with_a_failure_after_a_skip() {
    let reported = read(
        r#"<testcase name="a"><skipped/><failure message="m"/><error message="n"/></testcase>"#,
    );
    assert_eq!(outcomes(&reported), [Outcome::Failed]);
    assert_eq!(message(&reported.tests[0]), "m");
}

#[test]
fn dotnet_results_are_read_too() {
    let reported = read(
        r#"<?xml version="1.0"?><TestRun id="1"><Results><UnitTestResult testName="N.T.A" outcome="Passed" duration="00:00:01.5000000" /><UnitTestResult testName="N.T.B" outcome="Failed"><Output><StdOut>out</StdOut><ErrorInfo><Message>Assert.Equal() Failure</Message><StackTrace>at N.T.B()</StackTrace></ErrorInfo></Output></UnitTestResult><UnitTestResult testName="N.T.C" outcome="NotExecuted"/></Results></TestRun>"#,
    );
    assert_eq!(lines(&reported), ["N.T.A | passed", "N.T.B | failed", "N.T.C | skipped"]);
    assert_eq!(reported.tests[0].duration.unwrap().as_millis(), 1_500);
    assert_eq!(message(&reported.tests[1]), "Assert.Equal() Failure");
}

#[test]
fn a_report_that_was_cut_off_tells_so_and_keeps_what_is_whole() {
    let reported = read(
        r#"<testsuite name="s"><testcase name="a"/><testcase name="b"><failure message="m">te"#,
    );
    assert_eq!(lines(&reported), ["a | passed"]);
    assert!(has_serious_issue(&reported));
}

#[test]
fn nothing_is_fetched_and_no_entity_grows() {
    let reported = read(
        r#"<!DOCTYPE t [<!ENTITY a "x"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
        <testsuite name="s"><testcase name="&b;"><failure message="&f;"/></testcase></testsuite>"#,
    );
    assert_eq!(reported.tests[0].name, "&b;");
    assert_eq!(message(&reported.tests[0]), "&f;");
}

#[test]
fn long_texts_are_cut_with_an_issue() {
    let text = format!(
        r#"<testsuite><testcase name="{}"><failure>{}</failure></testcase></testsuite>"#,
        "n".repeat(10_000),
        "t".repeat(1_000_000)
    );
    let reported = read(&text);
    assert_eq!(reported.tests[0].name.len(), 4 * 1024);
    assert_eq!(reported.tests[0].failure.as_ref().unwrap().text.len(), 64 * 1024);
    assert_eq!(reported.issues.len(), 3, "{:?}", reported.issues);
    assert!(!has_serious_issue(&reported));
}

#[test]
fn a_failure_outside_of_every_test_is_not_lost() {
    let reported = read(r#"<testsuite name="s"><error message="cannot load"/></testsuite>"#);
    assert!(has_serious_issue(&reported));
    assert!(reported.issues[0].what.contains("cannot load"));
}
