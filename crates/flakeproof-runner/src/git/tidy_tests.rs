//! What is removed, and what never is.

use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::super::sandbox::Sandbox;
use super::*;

fn sandbox() -> Sandbox {
    let sandbox =
        Sandbox::with([("a.py", "1\n"), ("data/keep.csv", "1\n"), (".gitignore", "*.log\nout/\n")]);
    sandbox.write("mine.txt", "not yet added\n");
    sandbox.write("run.log", "ignored\n");
    sandbox
}

fn begin(sandbox: &Sandbox) -> Tidying {
    Tidying::begin(&sandbox.path(""), Vec::new()).unwrap()
}

fn is_there(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.path(name).symlink_metadata().is_ok()
}

#[test]
fn what_tests_leave_is_removed_and_the_rest_stays() {
    let sandbox = sandbox();
    let tidying = begin(&sandbox);
    sandbox.write("data/left/deep/file.csv", "x");
    sandbox.write("left.txt", "x");
    fs::create_dir_all(sandbox.path("empty/inside")).unwrap();
    let mut removed = tidying.tidy().unwrap();
    removed.sort();
    let expected = [
        "data/left",
        "data/left/deep",
        "data/left/deep/file.csv",
        "empty",
        "empty/inside",
        "left.txt",
    ];
    assert_eq!(removed, expected);
    for name in ["a.py", "data/keep.csv", ".gitignore", "mine.txt", "run.log"] {
        assert!(is_there(&sandbox, name), "{name}");
    }
    assert_eq!(tidying.tidy().unwrap(), [""; 0]);
}

#[test]
fn ignored_files_and_folders_stay() {
    let sandbox = sandbox();
    let tidying = begin(&sandbox);
    sandbox.write("new.log", "x");
    sandbox.write("left/new.log", "x");
    fs::create_dir(sandbox.path("out")).unwrap();
    assert_eq!(tidying.tidy().unwrap(), [""; 0]);
    assert!(is_there(&sandbox, "left/new.log") && is_there(&sandbox, "out"));
}

#[test]
fn what_was_ignored_at_the_beginning_stays_when_it_no_longer_is() {
    let sandbox = sandbox();
    sandbox.write("out/old.bin", "precious");
    let tidying = begin(&sandbox);
    sandbox.write(".gitignore", "");
    assert_eq!(tidying.tidy().unwrap(), [""; 0]);
    assert!(is_there(&sandbox, "out/old.bin") && is_there(&sandbox, "run.log"));
    assert_eq!(tidying.edited_since().unwrap(), [".gitignore"]);
}

#[test]
fn what_was_moved_stays() {
    let sandbox = sandbox();
    let tidying = begin(&sandbox);
    fs::rename(sandbox.path("mine.txt"), sandbox.path("moved.txt")).unwrap();
    fs::rename(sandbox.path("data"), sandbox.path("elsewhere")).unwrap();
    assert_eq!(tidying.tidy().unwrap(), [""; 0]);
    assert!(is_there(&sandbox, "moved.txt") && is_there(&sandbox, "elsewhere/keep.csv"));
}

#[test]
fn links_are_removed_and_not_followed() {
    let sandbox = sandbox();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "x").unwrap();
    let tidying = begin(&sandbox);
    symlink(outside.path(), sandbox.path("to-folder")).unwrap();
    symlink(outside.path().join("precious"), sandbox.path("to-file")).unwrap();
    let mut removed = tidying.tidy().unwrap();
    removed.sort();
    assert_eq!(removed, ["to-file", "to-folder"]);
    assert!(outside.path().join("precious").exists());
}

#[test]
fn a_folder_that_became_a_link_leads_nowhere() {
    let sandbox = sandbox();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "x").unwrap();
    let tidying = begin(&sandbox);
    symlink(outside.path(), sandbox.path("link")).unwrap();
    assert!(!tidying.is_new(&sandbox.path("link/file").canonicalize().unwrap(), false));
    assert!(!tidying.is_new(&tidying.folder.join("link/file"), false));
    assert!(!tidying.is_new(&tidying.folder.join("data/../../x"), false));
}

#[test]
fn another_repository_inside_is_not_entered() {
    let sandbox = sandbox();
    let tidying = begin(&sandbox);
    fs::create_dir_all(sandbox.path("inner/empty")).unwrap();
    sandbox.git(&["init", "-q", "inner"]);
    sandbox.write("inner/file.txt", "x");
    assert_eq!(tidying.tidy().unwrap(), [""; 0]);
    assert!(is_there(&sandbox, "inner/file.txt") && is_there(&sandbox, "inner/empty"));
}

#[test]
fn what_others_still_write_and_our_own_files_stay() {
    let sandbox = sandbox();
    let history = sandbox.path("").canonicalize().unwrap().join("history.db");
    let tidying = Tidying::begin(&sandbox.path(""), vec![history]).unwrap();
    for name in ["history.db", "history.db-wal", ".flakeproof/history.db"] {
        sandbox.write(name, "x");
    }
    assert_eq!(tidying.tidy().unwrap(), [""; 0]);
    assert!(is_there(&sandbox, "history.db-wal") && is_there(&sandbox, ".flakeproof/history.db"));
}

#[test]
fn only_the_folder_itself_is_tidied() {
    let sandbox = sandbox();
    let tidying = Tidying::begin(&sandbox.path("data"), Vec::new()).unwrap();
    sandbox.write("beside.txt", "x");
    sandbox.write("data/left.txt", "x");
    assert_eq!(tidying.tidy().unwrap(), ["left.txt"]);
    assert!(is_there(&sandbox, "beside.txt"));
}

#[test]
fn a_folder_without_git_is_not_tidied() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Tidying::begin(folder.path(), Vec::new());
    assert!(matches!(refused, Err(CannotTidy::NoRepository(NoRepository::NotARepository))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn nothing_that_was_there_is_ever_removed(
        before in prop::collection::btree_set("[ab]/[abc]{1,2}", 1..8),
        after in prop::collection::btree_set("[abx]/[abc]{1,2}", 1..8),
        is_committed: bool,
    ) {
        let sandbox = sandbox();
        before.iter().for_each(|name| sandbox.write(name, "before"));
        if is_committed {
            sandbox.commit([]);
        }
        let tidying = begin(&sandbox);
        after.iter().for_each(|name| sandbox.write(name, "after"));
        tidying.tidy().unwrap();
        for name in before.iter().map(String::as_str).chain(["a.py", "mine.txt", "run.log"]) {
            prop_assert!(is_there(&sandbox, name), "{}", name);
        }
        for name in after.difference(&before) {
            prop_assert!(!is_there(&sandbox, name), "{}", name);
        }
    }
}
