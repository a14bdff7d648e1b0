//! Every bytes, read as every kind of coverage, come to an end, and never more than the report
//! names is touched.
//!
//! The first byte chooses the format.

#![no_main]

use std::cell::RefCell;

use flakeproof_runner::coverage::{CoverageFormat, Extent, read};
use libfuzzer_sys::fuzz_target;

const FORMATS: [CoverageFormat; 4] = [
    CoverageFormat::Lcov,
    CoverageFormat::Cobertura,
    CoverageFormat::Jacoco,
    CoverageFormat::Go,
];

thread_local! {
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            std::fs::write(folder.path().join("a.js"), "").expect("a file");
            folder
        });
        let report = folder.path().join("report");
        std::fs::write(&report, rest).expect("a file");
        let format = FORMATS[usize::from(*choice) % FORMATS.len()];
        if let Ok(found) = read(format, &report, folder.path(), Extent::NamedFiles) {
            let within = found.within.expect("a report names its files");
            assert!(found.code.is_subset(&within));
        }
    });
});
