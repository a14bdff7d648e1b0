//! Tests that only another order than the harness's own makes fail: polluters come after their
//! victims here, and the state-setter before the one that needs it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

static RECEIPTS: AtomicU32 = AtomicU32::new(0);
static HAS_RATES: AtomicBool = AtomicBool::new(false);

/// The till is locked by a file with the number of the process that holds it, and its start: a number
/// comes again, and a lock of an earlier run lies there still.
fn lock() -> PathBuf {
    static OPENED: OnceLock<u128> = OnceLock::new();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos());
    let opened = OPENED.get_or_init(now);
    env::temp_dir().join(format!("flaky-zoo-till-{}-{opened}.lock", process::id()))
}

#[test]
fn a_victim_of_the_variable() {
    assert!(env::var_os("SHOP_CLOSED").is_none(), "the shop is closed");
}

#[test]
fn b_victim_of_the_folder() {
    assert!(Path::new("Cargo.toml").is_file(), "this is another folder");
}

#[test]
fn c_victim_of_the_static() {
    assert_eq!(RECEIPTS.load(Ordering::SeqCst), 0, "receipts before the first sale");
}

#[test]
fn d_victim_of_the_file() {
    assert!(!lock().exists(), "somebody holds the till");
}

#[test]
fn e_beside_the_others() {
    assert_eq!(2 + 2, 4);
}

#[test]
fn f_beside_the_others() {
    assert!(env::temp_dir().is_absolute());
}

#[test]
fn n_polluter_sets_a_variable() {
    env::set_var("SHOP_CLOSED", "1");
    assert!(env::var_os("SHOP_CLOSED").is_some());
}

#[test]
fn o_polluter_changes_the_folder() {
    env::set_current_dir(env::temp_dir()).unwrap();
}

#[test]
fn p_polluter_counts_a_receipt() {
    assert_eq!(RECEIPTS.fetch_add(1, Ordering::SeqCst) + 1, 1);
}

#[test]
fn q_polluter_leaves_a_file() {
    fs::write(lock(), "taken").unwrap();
    assert!(lock().exists());
}

#[test]
fn r_state_setter_loads_the_rates() {
    HAS_RATES.store(true, Ordering::SeqCst);
}

#[test]
fn s_brittle_needs_the_rates() {
    assert!(HAS_RATES.load(Ordering::SeqCst), "there are no rates");
}
