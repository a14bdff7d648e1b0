//! Reports with random damage: the reader neither fails nor grows, whatever it is given.
//!
//! The damage is a function of fixed seeds, so that a failure can be seen again. The fuzz target
//! `read_reports` looks for what these do not find.

use flakeproof_core::IdRules;
use flakeproof_runner::reports::{
    Counts, Identity, Places, ReportedTest, declared_otherwise, may_be_report, read_each, started,
};

/// Reports as real tools wrote them, shortened.
const REPORTS: [&str; 6] = [
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><testsuites name=\"pytest tests\"><testsuite name=\"pytest\" \
     errors=\"0\" failures=\"1\" skipped=\"1\" tests=\"3\" timestamp=\"2026-11-15T10:15:00.1+00:00\">\
     <testcase classname=\"tests.test_a.TestB\" name=\"test_x[0x7f3a2b1c0d10]\" time=\"0.001\" />\
     <testcase classname=\"tests.test_a\" name=\"test_y\" time=\"0.1\"><failure message=\"assert 1 == 2\">\
     def test_y():&#10;&gt; assert 1 == 2</failure><system-out>a &amp; b</system-out></testcase>\
     <testcase classname=\"tests.test_a\" name=\"test_z\"><skipped type=\"pytest.skip\" message=\"later\">x\
     </skipped></testcase></testsuite></testsuites>",
    "<testsuite xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" name=\"com.acme.SumTest\" tests=\"2\">\
     <properties><property name=\"java.version\" value=\"17\"/></properties>\
     <testcase name=\"flaky\" classname=\"com.acme.SumTest\" time=\"0.01\"><flakyFailure message=\"m\" \
     type=\"E\"><stackTrace><![CDATA[E: m ]] > at x]]></stackTrace><system-out><![CDATA[out]]></system-out>\
     </flakyFailure></testcase><testcase name=\"fails\" classname=\"com.acme.SumTest\" time=\"1,234.5\">\
     <failure message=\"m\" type=\"E\"><![CDATA[E: m]]></failure><rerunFailure message=\"m\" type=\"E\">\
     <stackTrace>E: m</stackTrace></rerunFailure></testcase></testsuite>",
    "{\"results\":{\"tool\":{\"name\":\"jest\"},\"summary\":{\"tests\":2,\"passed\":1,\"failed\":1,\
     \"start\":1794737700123},\"tests\":[{\"name\":\"math adds\",\"status\":\"passed\",\"duration\":10,\
     \"filePath\":\"/x/a.test.js\",\"suite\":\"a.test.js > math\"},{\"name\":\"math \\u00e9\",\"status\":\
     \"failed\",\"message\":\"boom\\n\",\"trace\":\"at x\",\"retryAttempts\":[{\"status\":\"failed\"}]}]}}",
    "TAP version 14\n# Subtest: math\n    ok 1 - adds\n      ---\n      duration_ms: 0.3\n      ...\n    \
     not ok 2 - fails\n      ---\n      error: |-\n        boom\n      ...\n    1..2\nnot ok 1 - math\n\
     ok 2 - later # SKIP why\n1..2\n",
    "{\"Time\":\"2026-11-15T10:15:00Z\",\"Action\":\"run\",\"Package\":\"acme/web\",\"Test\":\"TestA\"}\n\
     {\"Action\":\"output\",\"Package\":\"acme/web\",\"Test\":\"TestA\",\"Output\":\"boom\\n\"}\n\
     {\"Action\":\"fail\",\"Package\":\"acme/web\",\"Test\":\"TestA\",\"Elapsed\":0.1}\n\
     {\"Action\":\"fail\",\"Package\":\"acme/web\",\"Elapsed\":0.2}\n",
    "{\"numTotalTests\":1,\"startTime\":1794737700123,\"testResults\":[{\"name\":\"/x/a.test.js\",\"status\":\
     \"failed\",\"message\":\"m\",\"assertionResults\":[{\"ancestorTitles\":[\"math\"],\"title\":\"fails\",\
     \"status\":\"failed\",\"failureMessages\":[\"boom\"],\"location\":{\"line\":3}}]}]}",
];

/// So many damaged reports are read.
const ROUNDS: u64 = 12_000;

/// A generator whose stream never changes (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A report with some bytes changed, cut out, doubled, or taken from another report.
fn damaged(chance: &mut Chance) -> Vec<u8> {
    const MARKS: &[u8] = b"<>&\"'[]!?-/=;{}:,\\\n\0\xff\xc3 #";
    let mut bytes = REPORTS[chance.below(REPORTS.len())].as_bytes().to_vec();
    for _ in 0..=chance.below(6) {
        let (at, length) = (chance.below(bytes.len() + 1), chance.below(40));
        let end = (at + length).min(bytes.len());
        match chance.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let many = piece.repeat(chance.below(50));
                bytes.splice(at..at, many);
            }
            3 => {
                let other = REPORTS[chance.below(REPORTS.len())].as_bytes();
                let from = chance.below(other.len());
                let to = (from + chance.below(120)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            4 => bytes.insert(at, MARKS[chance.below(MARKS.len())]),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = chance.next() as u8;
                }
            }
        }
    }
    bytes
}

#[test]
fn damage_neither_stops_a_reader_nor_makes_it_grow() {
    let rules = IdRules::of_run("2026-11-15");
    let mut places = Places::default();
    for round in 0..ROUNDS {
        let bytes = damaged(&mut Chance(round));
        let mut tests = 0;
        let mut sink = |test: ReportedTest| {
            tests += 1;
            assert!(test.name.len() <= 4 * 1024 && test.output.len() <= 64 * 1024, "{round}");
            assert!(test.reruns.len() <= 100 && test.properties.len() <= 101, "{round}");
            let id = Identity::assign(&test, Some(&rules), &mut places).id;
            assert!(id.as_str().len() <= 20 * 1024, "{round}");
        };
        let issues = read_each(&bytes[..], None, &mut sink).expect("memory can be read");
        assert!(issues.len() <= 100 && tests <= bytes.len(), "{round}");
        declared_otherwise(&bytes[..], Counts::default()).expect("memory can be read");
        let _ = started(&bytes);
        let _ = may_be_report(&bytes);
    }
}
