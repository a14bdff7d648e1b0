//! `kill -9` at random moments of a hunt: taken up again, it ends as if nothing had happened.

use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_testkit::Project;
use serde_json::Value;

use super::program::{hunt, hunt_as_typed, shop, started};

/// How often a hunt is killed in all. The moments are drawn from a fixed seed.
const KILLS: usize = 50;
/// How often the same hunt is killed before it may end.
const KILLS_OF_ONE: usize = 5;
/// A hunt of the shop takes about as long on a machine that has nothing else to do.
const LONGEST: u64 = 4000;

#[test]
fn fifty_kills_at_random_moments_change_no_finding() {
    let undisturbed = hunt(&shop(), &[]).json;
    for round in 0..KILLS / KILLS_OF_ONE {
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
        true => super::program::resuming(project),
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
