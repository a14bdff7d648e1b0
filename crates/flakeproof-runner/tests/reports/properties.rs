//! What holds for every report, also for those that are none.

use flakeproof_runner::reports::{Format, read_as, read_each};
use proptest::prelude::*;

const FORMATS: [Format; 6] =
    [Format::Junit, Format::Tap, Format::Ctrf, Format::GoJson, Format::JestJson, Format::RspecJson];

/// Words that occur in reports, so that garbage gets somewhere.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "<testsuite name='s'>",
        "</testsuite>",
        "<testcase name=\"a\">",
        "</testcase>",
        "<failure message='m'>",
        "</failure>",
        "<flakyError>",
        "<stackTrace>",
        "<skipped/>",
        "<![CDATA[",
        "]]>",
        "<system-out>",
        "<TestRun>",
        "<UnitTestResult testName='x'>",
        "\n",
        "1..3\n",
        "ok 1 - a",
        "not ok",
        "    ",
        "  ---\n",
        "  ...\n",
        " # TODO",
        "Bail out!",
        "{\"results\":{\"tests\":[",
        "{\"testResults\":[",
        "{\"examples\":[",
        "{\"name\":\"a\"",
        ",\"status\":\"failed\"",
        "}",
        "]",
        ",",
        "{\"Action\":\"run\",\"Test\":\"A\"}\n",
        "{\"Action\":\"fail\"}\n",
    ]);
    let piece = prop_oneof![
        6 => words.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_makes_a_reader_fail(bytes in garbage()) {
        for format in FORMATS {
            let reported = read_as(format, &bytes).unwrap();
            for test in &reported.tests {
                prop_assert!(test.name.len() <= 4 * 1024);
            }
        }
        let by_content = read_each(&bytes[..], None, &mut |_| {});
        prop_assert!(by_content.is_ok());
    }

    #[test]
    fn what_is_written_as_junit_is_read_back(
        names in prop::collection::vec("[a-zA-Z0-9 <>&\"'é\\[\\]]{1,20}", 1..8),
        failing in any::<u8>(),
    ) {
        let escaped = |text: &str| {
            text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
        };
        let mut text = String::from("<testsuites><testsuite name=\"s\">");
        for (at, name) in names.iter().enumerate() {
            let failure = if failing >> at & 1 == 1 { "<failure message=\"m\">x</failure>" } else { "" };
            text += &format!("<testcase name=\"{}\">{failure}</testcase>", escaped(name));
        }
        text += "</testsuite></testsuites>";
        let reported = read_as(Format::Junit, text.as_bytes()).unwrap();
        prop_assert!(reported.issues.is_empty());
        let read: Vec<&str> = reported.tests.iter().map(|test| &*test.name).collect();
        prop_assert_eq!(&read, &names.iter().map(String::as_str).collect::<Vec<_>>());
        for (at, test) in reported.tests.iter().enumerate() {
            prop_assert_eq!(test.outcome.is_failure(), failing >> at & 1 == 1);
        }
    }
}
