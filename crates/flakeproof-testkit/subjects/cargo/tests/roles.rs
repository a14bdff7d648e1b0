//! One test for each role; the harness runs them by name.

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

static STATE: AtomicBool = AtomicBool::new(false);

fn note(what: &str) {
    note_of(what, std::process::id());
}

fn note_of(what: &str, pid: u32) {
    let mut options = std::fs::OpenOptions::new();
    let mut notes = options.create(true).append(true).open("../outside/notes").unwrap();
    notes.write_all(format!("{what} {pid}\n").as_bytes()).unwrap();
}

#[test]
fn a_passes() {
    note("passes");
}

#[test]
fn b_fails() {
    note("fails");
    conformance::price();
    panic!("expected 1 but was 2");
}

#[test]
#[ignore = "not today"]
fn c_skipped() {
    note("skipped");
}

#[test]
fn d_crashes() {
    note("crashes");
    conformance::price();
    std::process::abort();
}

#[test]
fn e_exits() {
    note("exits");
    conformance::price();
    std::process::exit(0);
}

#[test]
fn f_hangs() {
    note("hangs");
    conformance::price();
    note_of("child", Command::new("sleep").arg("600").spawn().unwrap().id());
    loop {
        std::thread::park();
    }
}

#[test]
fn g_prints() {
    note("prints");
    println!("said on stdout");
    eprintln!("said on stderr");
}

#[test]
fn h_polluter() {
    note("polluter");
    STATE.store(true, Ordering::SeqCst);
}

#[test]
fn i_victim() {
    note("victim");
    assert!(!STATE.load(Ordering::SeqCst));
}

#[test]
fn j_größe() {
    note("odd_name");
}

#[test]
fn k_sees_variables() {
    note("sees_variables");
    let names = ["FLAKEPROOF", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED", "FLAKEPROOF_ATTEMPT"];
    let seen = names.map(|name| std::env::var(name).unwrap_or_default());
    note(&format!("variables:{}", seen.join(",")));
}

#[test]
fn l_touches() {
    note("touches");
    assert_eq!(conformance::price(), 40);
}
