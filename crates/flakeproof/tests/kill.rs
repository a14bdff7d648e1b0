//! `kill -9` of the program, of the agent and of a test, at random moments: the history stays
//! whole and no process is left behind.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use flakeproof_testkit::{Project, campaign};

/// How often something is killed, and how many of these each day. The moments are drawn from a fixed seed.
const KILLS: usize = 200;
const KILLS_TODAY: usize = 50;
/// How many runs go on at the same time.
const AT_ONCE: usize = 4;
/// How long the program and its processes may take to be gone after a kill.
const PATIENCE: Duration = Duration::from_secs(120);

/// Tests that take a while, start processes of their own, fail, and leave a daemon behind.
const SUITE: &str = r#"
import os, subprocess, sys, time
import pytest

def note(name):
    with open(os.environ["DIARY"], "a") as diary:
        diary.write(name + "\n")

@pytest.mark.parametrize("n", range(30))
def test_work(n):
    time.sleep(0.01)
    note(f"test_work[{n}]")

def test_with_child():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    time.sleep(0.05)
    child.kill()
    child.wait()

def test_leaves_a_daemon():
    subprocess.Popen(["sleep", "60"], start_new_session=True)

def test_fails():
    time.sleep(0.02)
    assert False
"#;

/// Who is killed.
#[derive(Debug, Clone, Copy)]
enum Target {
    Program,
    Agent,
    Descendant,
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_history_and_no_process() {
    let kills = campaign::today(KILLS, KILLS_TODAY);
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let kills = &kills;
            scope.spawn(move || {
                let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
                    .file("test_suite.py", SUITE)
                    .file("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n");
                for kill in kills.iter().skip(worker).step_by(AT_ONCE) {
                    kill_once(&project, *kill);
                }
            });
        }
    });
}

/// Fails in the project, and waits where it is run on the code before the change.
const WAITS_ON_THE_BASE: &str = r#"
import os, pathlib, time
import pytest
import product

def test_it():
    if product.IS_BROKEN:
        pytest.fail("broken")
    if os.getcwd() != os.environ["PROJECT"]:
        pathlib.Path(os.environ["DIARY"]).write_text(os.getcwd())
        time.sleep(600)
"#;

#[test]
fn the_base_that_was_checked_out_goes_away_with_a_killed_program() {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file(".gitignore", ".flakeproof\n__pycache__\ntmp\ndiary\n")
        .file("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n")
        .file("product.py", "IS_BROKEN = False\n")
        .file("test_it.py", WAITS_ON_THE_BASE);
    project.commit();
    // A change of what decides how tests are found tells nothing about whose failure it is.
    project.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider -q\n");
    project.write("product.py", "IS_BROKEN = True\n");
    let temporary = project.path().join("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let (diary, mark) = (project.path().join("diary"), format!("base-{}", std::process::id()));
    let mut run = project
        .flakeproof(&["run", "--dependencies", "off", "--", &project.python(), "-m", "pytest"])
        .env("MARK", &mark)
        .env("TMPDIR", &temporary)
        .env("DIARY", &diary)
        .env("PROJECT", project.path().canonicalize().expect("it is there"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let deadline = Instant::now() + PATIENCE;
    let checkout = loop {
        let ended = run.try_wait().expect("the program can be waited for");
        assert!(ended.is_none() && Instant::now() < deadline, "the base is not run: {ended:?}");
        match std::fs::read_to_string(&diary) {
            Ok(folder) if !folder.is_empty() => break folder,
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    assert!(Path::new(&checkout).is_dir());
    run.kill().expect("the program can be killed");
    end_of(&mut run, "a kill while the base runs");
    wait_until_gone(&mark, "a kill while the base runs");
    while Path::new(&checkout).exists() {
        assert!(Instant::now() < deadline, "{checkout} is left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
    let left: Vec<_> = std::fs::read_dir(&temporary).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

fn kill_once(project: &Project, number: usize) {
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15 ^ number as u64);
    let mark = format!("flakeproof-kill-{}-{number}", std::process::id());
    let diary = project.path().join(format!("diary-{number}"));
    let temporary = project.path().join(format!("tmp-{number}"));
    std::fs::create_dir(&temporary).expect("a folder");
    let mut run = project
        // What runs again in the suite's order only to lead up to another test is not kept.
        .flakeproof(&["run", "--evidence-budget", "0s", "--", &project.python(), "-m", "pytest"])
        // An option without effect, by which the run is found again in the history.
        .args(["-o", &format!("junit_suite_name={mark}")])
        .env("MARK", &mark)
        .env("TMPDIR", &temporary)
        .env("DIARY", &diary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let target = [Target::Program, Target::Agent, Target::Descendant][number % 3];
    // The moment is the point of this test, and it has no other name than a time.
    let moment = Duration::from_millis(chance.below(1800));
    std::thread::sleep(moment);
    let database = project.path().join(".flakeproof/history.db");
    match target {
        Target::Program => {
            wait_until_kept(&database, &diary, &mark, &mut run);
            run.kill().expect("the program can be killed");
        }
        Target::Agent | Target::Descendant => {
            let mut family = marked(&mark);
            family.retain(|pid| *pid != run.id());
            family.sort_unstable();
            let chosen = match target {
                Target::Agent => family.get(1).or(family.first()),
                _ => family.get(chance.below(family.len().max(1) as u64) as usize),
            };
            if let Some(pid) = chosen {
                let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            }
        }
    }
    let status = end_of(&mut run, &format!("kill {number} of {target:?}"));
    wait_until_gone(&mark, &format!("kill {number} of {target:?}, program ended with {status}"));
    // Killed before its guard was there, it has nobody who could clean up after it.
    if matches!(target, Target::Program) && moment > Duration::from_millis(500) {
        let left = std::fs::read_dir(&temporary).expect("a folder").count();
        assert_eq!(left, 0, "kill {number}: temporary files of a killed program are left");
    }
    check_history(&database, &diary, &mark, target);
}

/// Wait until what has ended by now is on disk: soon, and not only when the program ends in order. How
/// soon is up to the machine.
fn wait_until_kept(database: &Path, diary: &Path, mark: &str, run: &mut Child) {
    let ended = noted(diary).len();
    let deadline = Instant::now() + PATIENCE;
    while ended > IN_FLIGHT && kept(database, mark).len() + IN_FLIGHT < ended {
        if run.try_wait().expect("the program can be waited for").is_some() {
            return; // It came to its end in order.
        }
        assert!(Instant::now() < deadline, "{mark}: {ended} tests ended and are not kept");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// One test is in flight, and the result of the one before it may be on its way.
const IN_FLIGHT: usize = 2;

/// The tests that ended, as they noted it themselves.
fn noted(diary: &Path) -> Vec<String> {
    let diary = std::fs::read_to_string(diary).unwrap_or_default();
    diary.lines().map(str::to_owned).collect()
}

/// The tests of a run that are kept, in the order in which they ended; none while there is no table.
fn kept(database: &Path, mark: &str) -> Vec<String> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let reading = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let history = rusqlite::Connection::open_with_flags(database, reading)?;
        let mut executions = history.prepare(
            "SELECT test.id FROM execution
             JOIN test ON test.number = execution.test JOIN run ON run.number = execution.run
             WHERE instr(run.command, ?1) AND test.id LIKE '%test_work%' ORDER BY execution.rowid",
        )?;
        let ids = executions.query_map([mark], |row| row.get::<_, String>(0))?;
        ids.map(|id| Ok(id?.rsplit("::").next().unwrap_or_default().to_owned())).collect()
    };
    read().unwrap_or_default()
}

fn end_of(run: &mut Child, what: &str) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = run.try_wait().expect("the program can be waited for") {
            return status;
        }
        let is_late = Instant::now() > deadline;
        if is_late {
            let _ = run.kill();
        }
        assert!(!is_late, "{what}: the program does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// All living processes that carry the mark.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("MARK={mark}");
    let processes = std::fs::read_dir("/proc").expect("this system has /proc");
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        })
        .collect()
}

fn wait_until_gone(mark: &str, what: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !marked(mark).is_empty() {
        assert!(Instant::now() < deadline, "{what}: {:?} are left behind", marked(mark));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The database is whole, and every test that ended is in it but for those in flight. After a killed
/// program tests go on until its guard is heard, so there the first ones are kept, without a gap.
fn check_history(database: &Path, diary: &Path, mark: &str, target: Target) {
    if !database.exists() {
        return; // Killed before there was anything to keep.
    }
    let history = rusqlite::Connection::open(database).expect("the history opens");
    let health: String = history
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the history answers");
    assert_eq!(health, "ok", "{mark}");
    let (ended, kept) = (noted(diary), kept(database, mark));
    match target {
        Target::Program => {
            assert!(ended.starts_with(&kept), "{mark}: {ended:?} ended, {kept:?} are kept");
        }
        Target::Agent | Target::Descendant => {
            let (ended, kept) = (ended.len(), kept.len());
            assert!(kept + IN_FLIGHT >= ended, "{mark}: {ended} tests ended, {kept} are kept");
        }
    }
}

/// A small generator with a promised stream (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}
