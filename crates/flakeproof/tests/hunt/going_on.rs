//! A hunt that was stopped goes on where it stood; also after `kill -9` at random moments it ends as if
//! nothing had happened.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_testkit::{Project, Ran, campaign};
use serde_json::Value;

use crate::{assert_says, hunt, hunt_as_typed, shop, started};

/// Wait until a hunt says this.
fn wait_for(child: &mut Child, words: &str) {
    let err = child.stderr.take().expect("is piped");
    let mut lines = BufReader::new(err).lines().map_while(Result::ok);
    assert!(lines.by_ref().any(|line| line.contains(words)), "it never said `{words}`");
    // Somebody must go on reading, or it waits for us.
    std::thread::spawn(move || lines.for_each(drop));
}

/// A hunt that was killed while it ran other orders.
fn killed() -> Project {
    let project = shop();
    let mut child = started(&project);
    wait_for(&mut child, "runs in other orders");
    child.kill().expect("is killed");
    child.wait().expect("ends");
    project
}

fn resumed(project: &Project, options: &[&str]) -> Ran {
    hunt_as_typed(project, &[&["--resume"], options].concat())
}

#[test]
fn a_killed_hunt_ends_as_if_it_had_not_been() {
    let ran = resumed(&killed(), &["-j", "2"]);
    let undisturbed = hunt(&shop(), &[]);
    assert_says(&ran, 1, &["VICTIM (1)"]);
    assert_eq!(ran.json["tests"], undisturbed.json["tests"]);
    assert_eq!(ran.json["seed"], 7);
    assert_eq!(ran.json["cost"]["executions"], undisturbed.json["cost"]["executions"]);
}

#[test]
fn a_spent_budget_is_gone_on_with() {
    let project = shop();
    let first = hunt(&project, &["--budget", "1ms"]);
    assert_says(&first, 5, &["--resume"]);
    let ran = resumed(&project, &["--budget", "10m"]);
    assert_says(&ran, 1, &["VICTIM (1)", "BRITTLE (1)"]);
    assert_eq!(ran.json["run"]["id"], first.json["run"]["id"]);
    assert_says(&resumed(&project, &[]), 2, &["no unfinished hunt"]);
}

#[test]
fn an_interrupted_hunt_prints_what_it_found_and_how_to_go_on() {
    let project = shop();
    let mut child = started(&project);
    wait_for(&mut child, "reruns of single tests");
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signalled.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("ends");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{out}");
    assert!(out.contains("VICTIM (1)"), "{out}");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.contains("go on: flakeproof hunt --resume -- "), "{out}");
}

#[test]
fn nothing_to_go_on_with_is_told() {
    assert_says(&resumed(&shop(), &[]), 2, &["no unfinished hunt", "without `--resume`"]);
}

#[test]
fn a_hunt_cannot_go_on_with_other_settings() {
    let project = killed();
    for option in [["--runs", "4"], ["--seed", "8"], ["--isolation", "spawn"]] {
        assert_says(&resumed(&project, &option), 2, &[option[0], "without `--resume`"]);
    }
    assert_says(&resumed(&project, &["--runs", "3", "--seed", "7"]), 1, &["VICTIM (1)"]);
}

#[test]
fn a_hunt_cannot_go_on_with_other_code() {
    let project = shop();
    project.commit();
    hunt(&project, &["--budget", "1ms"]);
    project.write("state.py", "currency = 'USD'\nsession = 'open'\n");
    assert_says(&resumed(&project, &[]), 2, &["the code changed since", "without `--resume`"]);
    project.write("state.py", "currency = 'USD'\nsession = None\n");
    project.write("notes.txt", "what tests write is no code\n");
    assert_says(&resumed(&project, &[]), 1, &["VICTIM (1)"]);
}

#[test]
fn a_hunt_cannot_go_on_with_another_suite() {
    let project = shop();
    hunt(&project, &["--budget", "1ms"]);
    project.write("test_new.py", "def test_new(): pass\n");
    assert_says(&resumed(&project, &[]), 2, &["the suite has other tests since"]);
}

#[test]
fn a_new_hunt_says_that_another_could_go_on() {
    let project = shop();
    hunt(&project, &["--budget", "1ms"]);
    assert_says(&hunt(&project, &[]), 1, &["was not finished", "`--resume` goes on with it"]);
}

/// How often a hunt is killed in all. The moments are drawn from a fixed seed.
const KILLS: usize = 50;
/// How often the same hunt is killed before it may end.
const KILLS_OF_ONE: usize = 5;
/// So many hunts are killed each day.
const ROUNDS_TODAY: usize = 3;
/// A hunt of the shop takes about as long on a machine that has nothing else to do.
const LONGEST: u64 = 4000;

#[test]
fn fifty_kills_at_random_moments_change_no_finding() {
    let undisturbed = hunt(&shop(), &[]).json;
    for round in campaign::today(KILLS / KILLS_OF_ONE, ROUNDS_TODAY) {
        let project = shop();
        for kill in 0..KILLS_OF_ONE {
            kill_at_a_random_moment(&project, &format!("{round}/{kill}"));
        }
        assert_eq!(ended(&project), findings(&undisturbed), "round {round}");
    }
}

/// Begin a hunt, or go on with it, and kill it.
fn kill_at_a_random_moment(project: &Project, which: &str) {
    let moment = Duration::from_millis(Seed(9).split(which).0 % LONGEST);
    let mut child = match is_begun(project) {
        true => crate::resuming(project),
        false => started(project),
    };
    // The moment is the point of this test, and it has no other name than a time.
    std::thread::sleep(moment);
    let _ = child.kill();
    child.wait().expect("it ends");
}

/// Let the hunt go on to its end, or begin it if no kill let it; give what it found.
fn ended(project: &Project) -> Value {
    if is_finished(project) {
        return findings(&hunt(&shop(), &[]).json);
    }
    let ran = match is_begun(project) {
        true => hunt_as_typed(project, &["--resume"]),
        false => hunt(project, &[]),
    };
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    findings(&ran.json)
}

/// What must be the same: all but the time that it took.
fn findings(report: &Value) -> Value {
    serde_json::json!({
        "tests": report["tests"], "pairs": report["pairs"], "end": report["end"],
        "executions": report["cost"]["executions"], "seed": report["seed"],
    })
}

fn is_begun(project: &Project) -> bool {
    state_of_hunt(project).as_deref() == Some("open")
}

fn is_finished(project: &Project) -> bool {
    state_of_hunt(project).as_deref() == Some("finished")
}

fn state_of_hunt(project: &Project) -> Option<String> {
    let database = project.path().join(".flakeproof/history.db");
    if !database.exists() {
        return None;
    }
    let history = rusqlite::Connection::open(database).expect("the history opens");
    let health: String = history
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the history answers");
    assert_eq!(health, "ok");
    history.query_row("SELECT state FROM hunt ORDER BY number DESC", [], |row| row.get(0)).ok()
}
