//! A test that crashes, hangs or ends the session is one test's outcome; the rest goes on.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use flakeproof_testkit::{Project, Ran};

/// No reruns: what matters is how the suite's own run goes on.
const ONCE: [&str; 6] = ["--retries", "0", "--postponed", "0", "--fresh", "0"];
/// Reruns in fresh environments only.
const FRESH: [&str; 6] = ["--retries", "0", "--postponed", "0", "--fresh", "2"];

fn run(options: &[&str], content: &str) -> Ran {
    let content = format!(
        "import ctypes, os, pytest, signal, sys, time\n\
         def test_before(): pass\n{content}\ndef test_after(): pass\n"
    );
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", &content);
    project.run(options, &[])
}

fn run_once(options: &[&str], content: &str) -> Ran {
    run(&[&ONCE[..], options].concat(), content)
}

/// The message of the first execution of `test_it`.
fn message(ran: &Ran) -> String {
    ran.test("test_it")["attempts"][0]["message"].as_str().unwrap_or_default().to_owned()
}

/// `test_it` ends like this, and the tests around it pass.
fn assert_alone(ran: &Ran, outcome: &str) {
    assert_eq!(ran.outcome("test_it"), outcome, "{}", ran.text());
    assert_eq!(ran.outcome("test_before"), "passed", "{}", ran.text());
    assert_eq!(ran.outcome("test_after"), "passed", "{}", ran.text());
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
}

#[test]
fn a_segfault_is_a_crash_with_the_interpreters_last_words() {
    let ran = run_once(&[], "def test_it(): ctypes.string_at(0)");
    assert_alone(&ran, "crashed");
    assert!(message(&ran).contains("SIGSEGV"), "{}", message(&ran));
    assert!(ran.text().contains("Fatal Python error: Segmentation fault"), "{}", ran.text());
    assert!(ran.text().contains("in test_it"), "{}", ran.text());
}

#[test]
fn a_segfault_in_a_fresh_environment_is_a_crash_there_too() {
    let ran = run(&FRESH, "def test_it(): ctypes.string_at(0)");
    let attempts = "first crashed, fresh(spawn) crashed, fresh(fork) crashed";
    assert_eq!(ran.attempts("test_it"), attempts, "{}", ran.text());
}

#[test]
fn a_test_that_ends_the_process_is_a_crash_even_with_exit_code_0() {
    let ran = run_once(&[], "def test_it(): os._exit(0)");
    assert_alone(&ran, "crashed");
    assert!(message(&ran).contains("exit code 0"), "{}", message(&ran));
}

#[test]
fn a_killed_test_is_a_crash_that_names_the_usual_suspect() {
    let ran = run_once(&[], "def test_it(): os.kill(os.getpid(), signal.SIGKILL)");
    assert_alone(&ran, "crashed");
    assert!(message(&ran).contains("out-of-memory"), "{}", message(&ran));
}

#[test]
fn a_crash_while_a_child_of_the_test_lives_on_is_noticed_at_once() {
    let content = "def test_it():\n    if os.fork() == 0: time.sleep(300)\n    os._exit(7)";
    let ran = run_once(&["--timeout", "60s"], content);
    assert_alone(&ran, "crashed");
}

#[test]
fn a_hanging_test_is_killed_with_its_stack_and_its_output_kept() {
    let ran = run_once(
        &["--timeout", "1s"],
        "def test_it():\n    print('so far', flush=True)\n    time.sleep(300)",
    );
    assert_alone(&ran, "timed_out");
    assert!(ran.text().contains("in test_it"), "{}", ran.text());
    assert!(ran.text().contains("so far"), "{}", ran.text());
}

#[test]
fn output_that_a_hanging_test_did_not_flush_is_kept() {
    let ran =
        run_once(&["--timeout", "1s"], "def test_it():\n    print('so far')\n    time.sleep(300)");
    assert!(ran.text().contains("so far"), "{}", ran.text());
}

#[test]
fn a_hanging_fixture_is_killed() {
    let content = "@pytest.fixture\ndef slow(): time.sleep(300)\ndef test_it(slow): pass";
    let ran = run_once(&["--timeout", "1s"], content);
    assert_alone(&ran, "timed_out");
    assert!(ran.text().contains("in slow"), "{}", ran.text());
}

#[test]
fn a_test_that_hangs_with_all_signals_blocked_is_killed() {
    let content = "def test_it():\n    \
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))\n    time.sleep(300)";
    let ran = run_once(&["--timeout", "1s"], content);
    assert_alone(&ran, "timed_out");
}

#[test]
fn sys_exit_in_a_test_is_a_failure_of_that_test() {
    let ran = run_once(&[], "def test_it(): sys.exit('enough')");
    assert_alone(&ran, "failed");
    assert!(message(&ran).contains("SystemExit: enough"), "{}", message(&ran));
}

#[test]
fn pytest_exit_fails_its_test_and_stops_the_suite_as_it_asks() {
    let ran = run_once(&[], "def test_it(): pytest.exit('no server')");
    assert_eq!(ran.outcome("test_before"), "passed", "{}", ran.text());
    assert_eq!(ran.outcome("test_it"), "failed", "{}", ran.text());
    assert!(message(&ran).contains("no server"), "{}", message(&ran));
    assert!(ran.text().contains("stopped before 1 of the tests"), "{}", ran.text());
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
}

#[test]
fn a_keyboard_interrupt_that_a_test_raises_fails_that_test_only() {
    let ran = run_once(&[], "def test_it(): raise KeyboardInterrupt");
    assert_alone(&ran, "failed");
    assert!(message(&ran).contains("KeyboardInterrupt"), "{}", message(&ran));
}

#[test]
fn the_users_interrupt_ends_the_suite_and_lets_pytest_write_its_reports() {
    let content = "import os, time\n\
        def test_before(): pass\n\
        def test_waits():\n    \
            with open('ready', 'w') as ready: ready.write('now\\n')\n    \
            time.sleep(300)\n\
        def test_after(): pass\n";
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", content);
    let ready = project.path().join("ready");
    assert!(Command::new("mkfifo").arg(&ready).status().is_ok_and(|status| status.success()));
    let python = project.python();
    let mut running = project
        .flakeproof(&["run", "--", &python, "-m", "pytest", "--junitxml=own.xml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let fifo = std::fs::File::open(&ready).expect("the test opens the other end");
    let _ = BufReader::new(fifo).read_line(&mut line);
    assert_eq!(line, "now\n");
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().is_ok_and(|it| it.success()));
    let code = running.wait().expect("it ends").code();
    assert_eq!(code, Some(130));
    let xml = std::fs::read_to_string(project.path().join("own.xml")).unwrap_or_default();
    assert!(xml.contains("test_before") && !xml.contains("test_after"), "{xml}");
}

#[test]
fn fixtures_around_an_interrupt_are_torn_down_and_set_up_anew() {
    let content = "import os, pytest, signal\n\
        @pytest.fixture\ndef one():\n    yield []\n    open('torn down', 'a').write('x')\n\
        def test_it(one):\n    one.append(1)\n    assert len(one) == 1\n    \
        if os.environ['FLAKEPROOF_ATTEMPT'] == '1': os.kill(os.getpid(), signal.SIGINT)\n";
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", content);
    let ran = project.run(&["--retries", "1", "--postponed", "0", "--fresh", "0"], &[]);
    let attempts = ran.attempts("test_it");
    assert!(attempts.starts_with("first failed, immediate passed"), "{}", ran.text());
    let torn_down = std::fs::read_to_string(project.path().join("torn down")).unwrap_or_default();
    assert_eq!(torn_down.len(), attempts.split(", ").count(), "{attempts}");
}

#[test]
fn a_crash_that_happens_once_is_flaky() {
    let content = "def test_it():\n    \
        if not os.path.exists('seen'): open('seen', 'w').close(); ctypes.string_at(0)";
    let ran = run(&FRESH, content);
    let attempts = "first crashed, fresh(spawn) passed, order(spawn) passed";
    assert_eq!(ran.attempts("test_it"), attempts, "{}", ran.text());
    assert_eq!(ran.verdict("test_it"), "flaky");
}

#[test]
fn a_crash_between_the_fixtures_of_a_module_sets_them_up_anew() {
    let content = "@pytest.fixture(scope='module')\ndef shared(): return os.getpid()\n\
        def test_one(shared): assert shared == os.getpid()\n\
        def test_it(shared): os._exit(1)\n\
        def test_two(shared): assert shared == os.getpid()\n";
    let ran = run_once(&[], content);
    assert_alone(&ran, "crashed");
    assert_eq!(ran.outcome("test_two"), "passed", "{}", ran.text());
}

#[test]
fn a_test_that_kills_its_parent_crashes_and_nothing_else_does() {
    let text = "import os\ndef test_before():\n    pass\n\
                def test_kills():\n    os.kill(os.getppid(), 9)\n\
                def test_after():\n    pass\n";
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", text);
    let ran = project.run(&[], &[]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("test_kills"), "crashed", "{}", ran.text());
    assert_ne!(ran.verdict("test_kills"), "flaky", "{}", ran.text());
    assert_eq!(ran.outcome("test_after"), "passed");
    let python = project.python();
    let hunt = project
        .flakeproof(&["hunt", "--runs", "2", "--orders", "2", "--budget", "20s"])
        .args(["--", &python, "-m", "pytest"])
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&hunt.stdout);
    assert!(hunt.status.code().is_some(), "it was killed itself: {}", hunt.status);
    assert!(!text.trim().is_empty(), "{}", String::from_utf8_lossy(&hunt.stderr));
}
