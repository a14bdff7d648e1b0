//! A suite in the shell: a process of it starts in a millisecond, where an interpreter with a test runner
//! takes a third of a second. An experiment has dozens of them.

use flakeproof_testkit::{Project, Ran};

use super::cause_by;

/// What to type to run the suite.
pub(crate) const COMMAND: [&str; 2] = ["sh", "suite.sh"];

const RUNNER: &str = r#"
[runner.shell]
command = "sh suite.sh"
list = ["sh", "suite.sh", "--list"]
run = ["sh", "suite.sh", "{tests}"]
all = ["sh", "suite.sh", "--all"]
result = "tap"
one-process = true
order = true
"#;

/// Behind the functions that are the tests: each runs in the same shell, prints what it has to say as a
/// diagnostic, and is skipped by the status 77.
const MAIN: &str = r#"
tests=$(sed -n 's/^\([a-z_]*\)() {.*/\1/p' "$0")
case "$1" in
--list) printf '%s\n' $tests; exit ;;
--all) set -- $tests ;;
esac
for test; do
    $test >&2
    case $? in
    0) echo "ok - $test" ;;
    77) echo "ok - $test # SKIP" ;;
    *) echo "not ok - $test" ;;
    esac
done
"#;

/// A project with these functions as tests, each on lines of its own, and one that always passes.
pub(crate) fn suite(tests: &str) -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("flakeproof.toml", RUNNER)
        .file("suite.sh", &format!("{tests}\nis_fine() {{ :; }}\n{MAIN}"))
}

/// `flakeproof cause TEST --levers LEVERS` in such a project.
pub(crate) fn cause_in_shell(project: &Project, test: &str, levers: &str) -> Ran {
    cause_by(project, test, levers, &COMMAND)
}
