//! Coverage reports as tools write them.

use std::collections::BTreeSet;
use std::path::Path;

use flakeproof_core::{BlindSpot, Dependencies};
use flakeproof_runner::coverage::{CoverageFormat, Error, Extent};
use proptest::prelude::*;

/// A project with these files, and a report in it.
fn project(files: &[&str], report: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("it works");
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        std::fs::write(path, "").expect("it works");
    }
    std::fs::write(folder.path().join("report"), report).expect("it works");
    folder
}

fn read(format: CoverageFormat, path: &Path, folder: &Path) -> Result<Dependencies, Error> {
    flakeproof_runner::coverage::read(format, path, folder, Extent::NamedFiles)
}

fn measured(format: CoverageFormat, folder: &Path) -> Dependencies {
    read(format, &folder.join("report"), folder).expect("it works")
}

/// The names of files, relative to the project.
fn names(files: &BTreeSet<String>, folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().expect("it works");
    let name = |file: &String| {
        Path::new(file).strip_prefix(&folder).expect("inside").to_string_lossy().into_owned()
    };
    files.iter().map(name).collect()
}

#[test]
fn lcov_of_scripts_knows_what_was_not_loaded() {
    let report = "TN:\nSF:a.js\nFN:3,f\nFNDA:1,f\nDA:1,1\nDA:4,2\nend_of_record\n\
                  SF:b.js\nDA:1,0\nDA:2,0\nend_of_record\nSF:gone.js\nDA:1,1\nend_of_record\n";
    let folder = project(&["a.js", "b.js"], report);
    let found = measured(CoverageFormat::Lcov, folder.path());
    assert_eq!(names(&found.code, folder.path()), ["a.js"]);
    assert_eq!(names(&found.within.unwrap(), folder.path()), ["a.js", "b.js"]);
    assert_eq!(found.blind_spots, [BlindSpot::Opens]);
    assert!(found.variables.contains("*"));
    assert_eq!(found.followed, BTreeSet::from([".js".to_owned()]));
}

#[test]
fn lcov_with_and_without_ends_of_functions() {
    let report = "SF:a.cc\nFN:1,9,f\nFNDA:0,f\nFNL:0,20,29\nFNA:0,3,g\nFN:40,h\nFNDA:0,h\n\
                  DA:41,0\nDA:42,0\nDA:60,1\nend_of_record\n";
    let folder = project(&["a.cc"], report);
    let found = measured(CoverageFormat::Lcov, folder.path());
    let uses = found.functions.values().next().unwrap();
    let lines: Vec<_> = uses.iter().map(|it| (it.body, it.end, it.ran)).collect();
    assert_eq!(lines, [(1, 8, false), (20, 28, true), (40, 42, false)]);
}

#[test]
fn a_go_profile_has_blocks_of_the_own_module() {
    let report = "mode: set\nexample.com/m/p/a.go:3.20,5.2 1 1\nexample.com/m/p/a.go:7.20,12.2 3 0\n\
                  example.com/m/p/a.go:7.20,12.2 3 0\nother.org/x/y.go:1.1,2.2 1 1\n";
    let folder = project(&["p/a.go"], report);
    std::fs::write(folder.path().join("go.mod"), "module example.com/m // here\n\ngo 1.20\n")
        .unwrap();
    let found = measured(CoverageFormat::Go, folder.path());
    assert_eq!(names(&found.code, folder.path()), ["p/a.go"]);
    let uses = found.functions.values().next().unwrap();
    let lines: Vec<_> = uses.iter().map(|it| (it.body, it.end, it.ran)).collect();
    assert_eq!(lines, [(3, 4, true), (7, 11, false)]);
}

#[test]
fn what_a_whole_go_program_does_not_name_is_no_part_of_it() {
    let folder = project(&["p/a.go"], "mode: set\nexample.com/m/p/a.go:3.20,5.2 1 1\n");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("go.mod", "module example.com/m\n");
    write("q/functions.go", "package q\n\nfunc F() int {\n\treturn 1\n}\n");
    write("q/constants.go", "package q\n\nconst C = 1\n");
    write("q/q_test.go", "package q\n\nfunc F2() int {\n\treturn 1\n}\n");
    write("other/go.mod", "module example.com/other\n");
    write("other/o.go", "package o\n\nfunc F() int {\n\treturn 1\n}\n");
    let report = folder.path().join("report");
    let found = flakeproof_runner::coverage::read(
        CoverageFormat::Go,
        &report,
        folder.path(),
        Extent::WholeProgram,
    );
    let found = found.unwrap();
    assert_eq!(names(&found.code, folder.path()), ["p/a.go"]);
    assert_eq!(names(&found.within.unwrap(), folder.path()), ["p/a.go", "q/functions.go"]);
}

#[test]
fn a_go_program_that_died_touched_nobody_knows_what() {
    let folder = project(&["p/a.go"], "mode: atomic\n");
    std::fs::write(folder.path().join("go.mod"), "module example.com/m\n").unwrap();
    std::fs::write(folder.path().join("p/a.go"), "package p\n\nfunc F() {\n\tpanic(1)\n}\n")
        .unwrap();
    for extent in [Extent::WholeProgram, Extent::NamedFiles] {
        let report = folder.path().join("report");
        let told =
            flakeproof_runner::coverage::read(CoverageFormat::Go, &report, folder.path(), extent);
        assert!(told.is_err(), "{told:?}");
    }
}

#[test]
fn cobertura_with_sources_and_methods() {
    let folder = project(&["src/a.cs", "src/b.py"], "");
    let report = format!(
        r#"<coverage><sources><source>{}/src</source></sources><packages><package><classes>
        <class filename="a.cs"><methods><method name="M"><lines><line number="3" hits="0"/><line number="6" hits="0"/></lines></method></methods><lines><line number="3" hits="0"/><line number="6" hits="0"/></lines></class>
        <class filename="b.py"><methods/><lines><line number="1" hits="0"/></lines></class>
        </classes></package></packages></coverage>"#,
        folder.path().display()
    );
    std::fs::write(folder.path().join("report"), report).unwrap();
    let found = measured(CoverageFormat::Cobertura, folder.path());
    assert_eq!(names(&found.code, folder.path()), ["src/a.cs"], "Python runs when it is loaded");
    assert_eq!(found.functions.len(), 1);
}

#[test]
fn jacoco_finds_sources_and_keeps_lambdas_in_their_methods() {
    let report = r#"<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="x"><package name="com/acme">
    <class name="com/acme/A" sourcefilename="A.java"><method name="idle" desc="()V" line="5"><counter type="INSTRUCTION" missed="9" covered="0"/></method>
    <method name="outer" desc="()V" line="10"><counter type="INSTRUCTION" missed="1" covered="3"/></method>
    <method name="lambda$outer$0" desc="()V" line="11"><counter type="INSTRUCTION" missed="1" covered="0"/></method></class>
    <sourcefile name="A.java"><line nr="5" mi="1" ci="0"/><line nr="7" mi="1" ci="0"/><line nr="10" mi="0" ci="1"/><line nr="11" mi="1" ci="0"/><line nr="14" mi="0" ci="1"/></sourcefile>
    <class name="com/acme/B" sourcefilename="B.java"/><sourcefile name="B.java"/></package></report>"#;
    let folder = project(
        &["src/main/java/com/acme/A.java", "one/src/com/acme/B.java", "two/src/com/acme/B.java"],
        report,
    );
    let found = measured(CoverageFormat::Jacoco, folder.path());
    assert_eq!(found.code.len(), 3, "which B ran is not known, so both count");
    let uses = found.functions.values().next().unwrap();
    let lines: Vec<_> = uses.iter().map(|it| (it.body, it.end, it.ran)).collect();
    assert_eq!(lines, [(5, 7, false), (10, 14, true)]);
}

#[test]
fn a_report_that_was_cut_off_tells_nothing() {
    for (format, report) in [
        (CoverageFormat::Lcov, "SF:a.js\nDA:1,1\n"),
        (CoverageFormat::Lcov, "SF:a.js\nDA:1,x\nend_of_record\n"),
        (CoverageFormat::Go, "a.go:1.1,2.2 1 1\n"),
        (CoverageFormat::Cobertura, "<coverage><packages>"),
        (CoverageFormat::Jacoco, "<report><package name='x'>"),
        (CoverageFormat::Jacoco, "<report></report>"),
    ] {
        let folder = project(&["a.js"], report);
        assert!(read(format, &folder.path().join("report"), folder.path()).is_err(), "{report}");
    }
}

proptest! {
    #[test]
    fn nothing_makes_a_reader_fail_badly(
        words in prop::collection::vec(prop::sample::select(vec![
            "SF:a.js\n", "DA:1,1\n", "FN:1,2,f\n", "FNL:0,1\n", "FNA:0,1\n", "end_of_record\n",
            "mode: set\n", "a.js:1.1,2.2 1 1\n", "<coverage>", "<class filename='a.js'>", "</class>",
            "<method>", "</method>", "<line number='3' hits='1'/>", "</coverage>", "<report>",
            "<package name=''>", "<sourcefile name='a.js'>", "<line nr='1' ci='1'/>", "</report>",
        ]), 0..30),
    ) {
        let folder = project(&["a.js"], &words.concat());
        for format in [CoverageFormat::Lcov, CoverageFormat::Go, CoverageFormat::Cobertura, CoverageFormat::Jacoco] {
            if let Ok(found) = read(format, &folder.path().join("report"), folder.path()) {
                let within = found.within.unwrap();
                prop_assert!(found.code.is_subset(&within));
                for uses in found.functions.values().flatten() {
                    prop_assert!(uses.body < uses.end);
                }
            }
        }
    }
}
