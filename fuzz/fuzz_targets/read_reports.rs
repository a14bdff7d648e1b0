//! Every bytes, read as every kind of report, come to an end within the limits.
//!
//! The first byte chooses the format.

#![no_main]

use flakeproof_runner::reports::{
    Counts, Format, Identity, Places, ReportedTest, declared_otherwise, may_be_report, read_each,
    started,
};
use libfuzzer_sys::fuzz_target;

const FORMATS: [Option<Format>; 5] = [
    None,
    Some(Format::Junit),
    Some(Format::Tap),
    Some(Format::Ctrf),
    Some(Format::GoJson),
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let format = FORMATS[usize::from(*choice) % FORMATS.len()];
    let mut places = Places::default();
    let mut sink = |test: ReportedTest| {
        assert!(test.name.len() <= 4 * 1024 && test.output.len() <= 64 * 1024);
        assert!(test.reruns.len() <= 100 && test.properties.len() <= 101);
        assert!(Identity::assign(&test, None, &mut places).id.as_str().len() <= 20 * 1024);
    };
    let issues = read_each(rest, format, &mut sink).expect("memory can be read");
    assert!(issues.len() <= 100);
    declared_otherwise(rest, Counts::default()).expect("memory can be read");
    let _ = started(rest);
    let _ = may_be_report(rest);
});
