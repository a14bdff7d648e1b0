//! Runners that a project describes itself.

use flakeproof_testkit::Project;

use crate::{flakeproof, project, run};

/// A runner of a few lines: it runs the named tests, or all, in one shell, and prints TAP.
/// `pollute` makes `victim` fail when it ran before in the same process.
const RUNNER: &str = r#"#!/bin/sh
[ "$1" = --list ] && { printf 'pollute\nvictim\nfine\ncrash\n'; exit 0; }
[ $# -eq 0 ] && set -- pollute victim fine
state=clean; number=0; failed=0
for test in "$@"; do
  number=$((number + 1)); result=ok
  case $test in
    pollute) state=dirty ;;
    victim) [ $state = clean ] || result="not ok" ;;
    crash) [ -e stable ] || kill -SEGV $$ ;;
  esac
  [ "$result" = ok ] || failed=1
  echo "$result $number - $test"
done
echo "1..$number"
exit $failed
"#;

const ORDERED: &str = r#"
[runner.mine]
command = "sh ./tests.sh"
list = "sh ./tests.sh --list"
run = "sh ./tests.sh {tests}"
all = "sh ./tests.sh pollute victim fine crash"
result = "tap"
one-process = true
order = true
"#;

fn described(configuration: &str) -> Project {
    project().file("tests.sh", RUNNER).file("flakeproof.toml", configuration)
}

#[test]
fn a_victim_is_found_with_its_polluter() {
    let project = described(ORDERED).file("stable", "");
    let options = ["--runs", "1", "--orders", "6", "--max-reruns", "2", "--seed", "1"];
    let ran = flakeproof(&project, "hunt", &options, &["sh", "./tests.sh"]);
    let text = ran.text();
    assert_eq!(ran.code(), Some(1), "{text}");
    assert!(text.contains("victim") && text.contains("pollute"), "{text}");
    assert!(text.contains("sh ./tests.sh pollute victim"), "{text}");
}

#[test]
fn a_crash_among_others_is_found_and_the_rest_runs() {
    let project = described(ORDERED);
    let ran = run(&project, &["sh", "./tests.sh"]);
    assert_eq!(ran.outcome("crash"), "crashed", "{}", ran.text());
    assert_eq!((ran.outcome("fine"), ran.outcome("victim")), ("passed", "failed"));
    assert_eq!(ran.verdict("victim"), "unknown", "it passes alone: {}", ran.text());
    assert_ne!(ran.verdict("crash"), "flaky");
}

#[test]
fn without_a_list_the_report_tells_the_tests() {
    let file = "[runner.mine]\nrun = [\"sh\", \"./tests.sh\", \"{tests}\"]\nresult = \"tap\"\n";
    let project = described(file);
    let ran = flakeproof(&project, "run", &["--adapter", "mine"], &["sh", "./tests.sh"]);
    assert_eq!(ran.code(), Some(1), "a pass alone excuses nothing: {}", ran.text());
    assert_eq!(ran.verdict("victim"), "unknown");
    assert_eq!(ran.outcome("pollute"), "passed");
}

#[test]
fn a_report_in_a_fixed_file_must_be_of_this_run() {
    let file = "[runner.mine]\ncommand = \"sh ./one.sh\"\nlist = \"echo a\"\nrun = \"sh ./one.sh\"\n\
                result = \"junit\"\nresult-path = \"out/report.xml\"\n";
    let report = "<testsuite name='s'><testcase name='a'/></testsuite>";
    let project = project()
        .file("flakeproof.toml", file)
        .file("one.sh", "exit 3\n")
        .file("out/report.xml", report);
    let old = std::process::Command::new("touch")
        .args(["-d", "2001-01-01", "out/report.xml"])
        .current_dir(project.path())
        .status();
    assert!(old.is_ok_and(|status| status.success()));
    let ran = run(&project, &["sh", "./one.sh"]);
    assert_eq!(ran.outcome("a"), "crashed", "{}", ran.text());
    project.write("one.sh", &format!("echo \"{report}\" > out/report.xml\n"));
    let ran = run(&project, &["sh", "./one.sh"]);
    assert_eq!((ran.code(), ran.outcome("a")), (Some(0), "passed"), "{}", ran.text());
}

#[test]
fn a_runner_that_fails_besides_its_tests_stays_red() {
    let file =
        "[runner.mine]\ncommand = \"sh ./one.sh\"\nrun = \"sh ./one.sh\"\nresult = \"tap\"\n";
    let project = project()
        .file("flakeproof.toml", file)
        .file("one.sh", "echo 'ok 1 - a'\necho 1..1\nexit 4\n");
    let ran = run(&project, &["sh", "./one.sh"]);
    assert_eq!(ran.outcome("a"), "passed", "{}", ran.text());
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert!(ran.text().contains("exit code 4"), "{}", ran.text());
}

#[test]
fn a_command_that_nobody_knows_is_told_how_to_be_described() {
    let ran = flakeproof(&project(), "run", &["--adapter", "command"], &["make", "check"]);
    assert_eq!(ran.code(), Some(2), "{}", ran.text());
    assert!(ran.text().contains("[runner.NAME]"), "{}", ran.text());
}
