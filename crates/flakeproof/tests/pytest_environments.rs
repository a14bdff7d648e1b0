//! Forked and spawned environments are fresh, separate, and look like a plain pytest from inside.

use flakeproof_testkit::{Project, Ran, finish, started_by};

const FORKED: [&str; 8] =
    ["--retries", "0", "--postponed", "0", "--fresh", "2", "--dependencies", "off"];

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// The words that tests wrote, one line per execution.
fn notes(project: &Project) -> Vec<Vec<String>> {
    let notes = std::fs::read_to_string(project.path().join("notes")).unwrap_or_default();
    notes.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

fn assert_passed(ran: &Ran, tests: &[&str]) {
    for test in tests {
        assert_eq!(ran.attempts(test), "first passed", "{test}: {}", ran.text());
    }
}

const NOTES: &str = r#"
import os, random, pytest

state = []

def note(*words):
    with open("notes", "a") as notes:
        print(*words, file=notes)

def test_it(tmp_path):
    state.append(1)
    (tmp_path / "file").write_text("x")
    note(os.getpid(), len(state), random.random(), tmp_path)
    print("said by", os.getpid())
    assert 0
"#;

#[test]
fn every_fresh_environment_is_another_process_with_fresh_state_chance_and_folder() {
    for options in [&FORKED[..], &["--isolation", "spawn", "--fresh", "2", "--retries", "0"]] {
        let project = project().file("test_a.py", NOTES);
        let ran = project.run(options, &[]);
        let notes = notes(&project);
        assert!(notes.len() >= 3, "{notes:?} {}", ran.text());
        assert!(notes.iter().skip(1).all(|it| it[1] == "1" || it[0] == notes[0][0]), "{notes:?}");
        for column in [0, 2, 3] {
            let mut fresh: Vec<&String> = notes.iter().map(|note| &note[column]).collect();
            fresh.sort_unstable();
            fresh.dedup();
            let processes = notes.iter().map(|it| &it[0]).collect::<std::collections::HashSet<_>>();
            assert!(fresh.len() >= processes.len(), "column {column}: {notes:?}");
        }
    }
}

#[test]
fn chance_that_the_project_seeds_on_import_stays_seeded_in_a_fork() {
    let project = project().file("test_a.py", &format!("import random\nrandom.seed(7)\n{NOTES}"));
    let ran = project.run(&FORKED, &[]);
    let notes = notes(&project);
    assert_eq!(notes.len(), 3, "{}", ran.text());
    assert!(notes.iter().all(|note| note[2] == notes[0][2]), "{notes:?}");
}

#[test]
fn temporary_folders_of_the_suite_survive_fresh_environments() {
    let content = r#"
import os, pathlib, pytest

@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    (folder / "file").write_text("x")
    return folder

def test_fails(shared):
    assert os.environ["FLAKEPROOF_ATTEMPT"] > "2"

def test_later(shared):
    assert (shared / "file").exists()
    with open("kept", "x") as kept:
        kept.write(str(shared / "file"))
"#;
    let project = project().file("test_a.py", content);
    let base = project.path().join("base");
    let _ = std::fs::create_dir(&base);
    let given = format!("--basetemp={}", base.display());
    for arguments in [&[][..], &[given.as_str()]] {
        let path = project.path().join("kept");
        let _ = std::fs::remove_file(&path);
        let ran = project.run(&FORKED, arguments);
        assert_eq!(ran.outcome("test_later"), "passed", "{}", ran.text());
        let kept = std::fs::read_to_string(&path).expect("written");
        assert!(std::path::Path::new(&kept).exists(), "{kept} is gone\n{}", ran.text());
    }
}

#[test]
fn threads_at_import_time_make_fresh_environments_spawned_with_a_notice() {
    let content = r#"
import threading
_stop = threading.Event()
threading.Thread(target=_stop.wait, daemon=True).start()
def test_fails(): assert 0
"#;
    let project = project().file("test_a.py", content);
    let ran = project.run(&FORKED, &[]);
    assert!(!ran.attempts("test_fails").contains("fork"), "{}", ran.attempts("test_fails"));
    assert!(ran.text().contains("spawned, not forked"), "{}", ran.text());
}

const CHILDREN: &str = r#"
import multiprocessing, os, subprocess, sys, pytest

def test_has_no_unexpected_children():
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    with pytest.raises(ChildProcessError):
        os.wait()

def test_forks():
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    assert os.waitpid(-1, 0) == (pid, 3 << 8)

def _double(n): return 2 * n

def test_multiprocessing():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_double, [1, 2]) == [2, 4]

def test_nested_pytest(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
    command = [sys.executable, "-m", "pytest", "-q", str(tmp_path)]
    inner = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert inner.returncode == 1, inner
    assert "1 failed" in inner.stdout and "flakeproof" not in inner.stdout + inner.stderr

def test_pytester(pytester):
    pytester.makepyfile("def test_a(): pass\ndef test_b(): assert 0")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    assert "flakeproof" not in result.stdout.str()
    pytester.runpytest_subprocess().assert_outcomes(passed=1, failed=1)

def test_comes_last(): pass
"#;

#[test]
fn tests_that_fork_wait_and_run_pytest_work_as_under_plain_pytest() {
    let project = project()
        .file("conftest.py", "pytest_plugins = ['pytester']\n")
        .file("test_a.py", CHILDREN);
    let ran = project.run(&[], &[]);
    let tests = [
        "test_has_no_unexpected_children",
        "test_forks",
        "test_multiprocessing",
        "test_nested_pytest",
        "test_pytester",
        "test_comes_last",
    ];
    assert_passed(&ran, &tests);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
}

#[test]
fn tests_that_fork_work_in_copies_of_the_suites_process_too() {
    let all = "def test_a(): import test_children as t; \
               t.test_has_no_unexpected_children(); t.test_forks(); t.test_multiprocessing(); \
               import os; assert os.environ['FLAKEPROOF_ATTEMPT'] != '1'";
    let project = project().file("test_children.py", CHILDREN).file("test_a.py", all);
    let ran = project.run(&FORKED, &["test_a.py"]);
    assert_eq!(
        ran.attempts("test_a"),
        "first failed, fresh(fork) passed, fresh(spawn) passed",
        "{}",
        ran.text()
    );
}

#[test]
fn a_daemon_that_a_test_leaves_behind_ends_with_the_run() {
    let content = r#"
import os, time
def test_starts_a_daemon():
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            time.sleep(300)
        os._exit(0)
    os.wait()
    with open("daemon", "wb") as file:
        file.write(os.read(read, 20))
"#;
    let project = project().file("test_a.py", content);
    let ran = project.run(&[], &[]);
    let pid = std::fs::read_to_string(project.path().join("daemon")).expect("written");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "still there: {stat}\n{}", ran.text());
}

const SURROUNDINGS: &str = r#"
import json, os, sys
def test_see():
    name = os.environ.get("SEEN", "seen")
    with open(name, "a") as seen:
        variables = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_CURRENT")}
        json.dump([variables, sys.path, sys.argv[1:], sys.flags.hash_randomization], seen,
                  sort_keys=True)
        seen.write("\n")
    assert "FLAKEPROOF" not in os.environ
"#;

/// What the test sees, without the variables that flakeproof promises.
fn without_ours(line: &str) -> serde_json::Value {
    let mut seen: serde_json::Value = serde_json::from_str(line).expect("JSON");
    if let Some(variables) = seen[0].as_object_mut() {
        let ours = ["FLAKEPROOF", "FLAKEPROOF_ATTEMPT", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED"];
        variables.retain(|name, _| !ours.contains(&name.as_str()));
    }
    seen
}

#[test]
fn tests_see_the_users_variables_and_import_path_and_nothing_of_the_agent() {
    for given in [
        &[][..],
        &[("PYTHONPATH", "/given"), ("PYTEST_ADDOPTS", "-q"), ("PYTHONHASHSEED", "random")],
    ] {
        let project = project().file("test_a.py", SURROUNDINGS);
        let plain = project.pytest(&[]).envs(given.iter().copied()).output();
        assert!(plain.is_ok(), "{plain:?}");
        let ran = project.run_with(&["--retries", "1", "--fresh", "2"], &[], given);
        let seen = std::fs::read_to_string(project.path().join("seen")).expect("written");
        let lines: Vec<_> = seen.lines().map(without_ours).collect();
        assert!(lines.len() >= 4, "{}", ran.text());
        for line in &lines[1..] {
            assert_eq!(line, &lines[0], "{}", ran.text());
        }
    }
}

#[test]
fn the_agent_warns_of_nothing_and_changes_no_header() {
    let project = project().file("test_a.py", "def test_a(): pass\n");
    let ran = project.run(&["--show-runner"], &["-W", "error", "-v"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(!ran.text().contains("flakeproof_agent"), "{}", ran.text());
}

const SPREAD: &str = r#"
import os, pytest
@pytest.mark.parametrize("n", range(8))
def test_n(n):
    with open("notes", "a") as notes:
        print(n, os.getpid(), file=notes)
    assert n != 3
"#;

#[test]
fn jobs_share_the_suite_and_come_to_the_same_verdicts() {
    let project = project().file("test_a.py", SPREAD).file("test_b.py", SPREAD);
    let options = ["--retries", "0", "--postponed", "0", "--fresh", "0"];
    let one = project.run(&options, &[]);
    let _ = std::fs::remove_file(project.path().join("notes"));
    let three = project.run(&[&options[..], &["-j", "3"]].concat(), &[]);
    let summary = |ran: &Ran| -> Vec<(String, String, String)> {
        let tests = ran.json["tests"].as_array().cloned().unwrap_or_default();
        tests
            .iter()
            .map(|it| (it["id"].to_string(), it["outcome"].to_string(), it["verdict"].to_string()))
            .collect()
    };
    assert_eq!(summary(&three), summary(&one), "{}", three.text());
    let notes = notes(&project);
    assert_eq!(notes.len(), 16, "{notes:?}");
    let processes: std::collections::HashSet<_> = notes.iter().map(|note| &note[1]).collect();
    assert!(processes.len() > 1, "{notes:?}");
}

/// A test that fails, and writes down all that it can see of its interpreter.
const LOOKS: &str = r#"
import atexit, faulthandler, gc, json, locale, os, signal, sys, threading, warnings

def look():
    handles = [name for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)]
    return {
        "handles that children get": [it for it in handles if os.get_inheritable(int(it))],
        "threads": [thread.name for thread in threading.enumerate()],
        "tasks": len(os.listdir("/proc/self/task")),
        "filters of warnings": [repr(it) for it in warnings.filters],
        "variables": {k: v for k, v in os.environ.items() if not k.startswith("FLAKEPROOF") and k != "_"},
        "modules": sorted(it for it in sys.modules if not it.startswith("flakeproof_agent")),
        "signals": {it.name: repr(signal.getsignal(it)) for it in signal.Signals},
        "blocked": sorted(int(it) for it in signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "timers": [signal.getitimer(it) for it in (signal.ITIMER_REAL, signal.ITIMER_PROF)],
        "recursion": sys.getrecursionlimit(),
        "at exit": atexit._ncallbacks(),
        "path": sys.path,
        "arguments": sys.argv,
        "traced": [repr(sys.gettrace()), repr(sys.getprofile())],
        "collector": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks)],
        "hooks": [type(it).__name__ for it in (sys.excepthook, sys.displayhook, sys.breakpointhook)],
        "dumps stacks": faulthandler.is_enabled(),
        "locale": locale.setlocale(locale.LC_ALL),
        "folder": os.getcwd(),
        "switches": sys.getswitchinterval(),
        "flags": [repr(sys.flags), sys._xoptions, sys.dont_write_bytecode],
        "streams": [type(it).__name__ for it in (sys.stdin, sys.stdout, sys.stderr)],
        "finders": [len(sys.meta_path), len(sys.path_hooks)],
        "builtins": sorted(vars(sys.modules["builtins"])),
        "replaced": sorted(
            "%s.%s" % (module, name)
            for module, content in list(sys.modules.items())
            for name, value in list(vars(content).items() if content else ())
            if callable(value)
            and str(getattr(value, "__module__", "")).startswith("flakeproof")
            and not module.startswith("flakeproof")
        ),
    }

def test_it():
    gc.collect()
    with open("looks", "a") as looks:
        print(json.dumps(look(), sort_keys=True), file=looks)
    assert 0
"#;

#[test]
fn a_test_sees_the_interpreter_that_it_would_see_without_us() {
    let strict = "[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider\n";
    let ways: [&[&str]; 3] = [&[], &FORKED, &["--isolation", "spawn", "--fresh", "2"]];
    for options in ways {
        let project = project().file("test_a.py", LOOKS).file("pytest.ini", strict);
        let looks = project.path().join("looks");
        assert_eq!(plainly(&project), Some(1));
        let plain = std::fs::read_to_string(&looks).expect("the test looked");
        std::fs::remove_file(&looks).expect("it is there");
        let ran = project.run(options, &[]);
        let seen = std::fs::read_to_string(&looks).expect("the test looked");
        assert!(seen.lines().count() >= 3, "{}", ran.text());
        for look in seen.lines() {
            assert_eq!(different(&plain, look), Vec::<String>::new(), "{options:?}");
        }
    }
}

/// pytest without us, and without what the shell that started these tests ignores.
fn plainly(project: &Project) -> Option<i32> {
    let mut pytest = started_by(&["env", "--default-signal"], &project.pytest(&[]));
    pytest.output().expect("pytest starts").status.code()
}

/// What is not the same in two looks at an interpreter.
fn different(one: &str, other: &str) -> Vec<String> {
    let read = |text| serde_json::from_str::<serde_json::Value>(text).expect("it is JSON");
    let (one, other) = (read(one), read(other));
    let all = one.as_object().expect("a look has parts");
    all.iter()
        .filter(|(part, seen)| other[part.as_str()] != **seen)
        .map(|(part, seen)| format!("{part}: {seen}\nbecame {}", other[part.as_str()]))
        .collect()
}

/// Become a program with every signal ignored that can be, and some blocked.
const DEAF: &str = r#"
import os, signal, sys
for number in signal.Signals:
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGFPE, signal.SIGILL):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD})
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn tests_hear_signals_that_our_parent_ignores_or_blocks() {
    let content = r#"
def test_it():
    with open("/proc/self/status") as status, open("notes", "a") as notes:
        print(*[line.split()[1] for line in status if line.startswith(("SigIgn", "SigBlk"))], file=notes)
    assert 0
"#;
    let project = project().file("test_a.py", content);
    assert_eq!(plainly(&project), Some(1));
    let plain = notes(&project);
    let python = project.python();
    for options in [&FORKED[..], &["--isolation", "spawn", "--fresh", "2"]] {
        let mut run = project.flakeproof(&["run"]);
        run.args(options).args(["--", &python, "-m", "pytest"]);
        let ran = finish(&mut started_by(&[&python, "-c", DEAF], &run));
        assert_eq!(ran.code(), Some(1), "{}", ran.text());
        let heard = notes(&project);
        assert!(heard.len() >= 4, "{heard:?} {}", ran.text());
        assert!(heard.iter().all(|it| *it == plain[0]), "{heard:?}");
    }
}
