//! CTest.

use std::process::Command;

use super::scene::{has, project, run};

#[test]
fn ctest_with_failing_and_missing_programs() {
    if !has("cmake", "ctest_with_failing_and_missing_programs") {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nenable_testing()\n\
                 add_test(NAME good COMMAND true)\nadd_test(NAME bad.one COMMAND false)\n\
                 add_test(NAME lost COMMAND no-such-program)\n";
    let project = project().file("CMakeLists.txt", lists);
    let made = Command::new("cmake").args(["-B", "build"]).current_dir(project.path()).output();
    assert!(made.is_ok_and(|output| output.status.success()));
    let ran = run(&project, &["ctest", "--test-dir", "build"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!((ran.outcome("good"), ran.outcome("bad.one")), ("passed", "failed"));
    assert_ne!(ran.verdict("bad.one"), "flaky");
    assert!(ran.text().contains(r"-R '^(bad\.one)$'"), "{}", ran.text());
}
