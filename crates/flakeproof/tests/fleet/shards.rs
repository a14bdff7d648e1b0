//! Machines that go through a hunt together, with an object store and nobody who steers.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use flakeproof_testkit::s3;
use serde_json::Value;

use crate::{Machines, assert_ends, ended, number_before, start};

/// A fault is expected to come about within this time.
const DEADLINE: Duration = Duration::from_secs(120);

/// Machines that meet in a folder.
struct Shards {
    machines: Machines,
    folder: tempfile::TempDir,
}

impl Shards {
    fn new(copies: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = format!("file://{}", folder.path().join("store").display());
        Self { machines: Machines::with(&store, copies), folder }
    }

    /// The command of a shard, on the machine with this copy.
    fn shard(&self, copy: usize, shard: &str) -> Command {
        self.shard_with(copy, shard, &[])
    }

    fn shard_with(&self, copy: usize, shard: &str, options: &[&str]) -> Command {
        let report = format!("json={}", self.report(copy).display());
        let own = ["--shard", shard, "--reporter", &report];
        let mut command = self.machines.hunting(&[&own, options].concat());
        command.current_dir(self.machines.copies[copy].path());
        // Machines share no cache.
        command.env("FLAKEPROOF_CACHE", self.folder.path().join(format!("cache-{copy}")));
        command
    }

    fn report(&self, copy: usize) -> PathBuf {
        self.folder.path().join(format!("{copy}.json"))
    }

    /// What a shard found.
    fn found(&self, copy: usize) -> Vec<Value> {
        crate::found_in(&self.report(copy))
    }

    /// The objects of the hunt whose names have this in them.
    fn objects(&self, part: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        below(&self.folder.path().join("store"), &mut found);
        found.retain(|path| path.to_string_lossy().contains(part));
        found
    }

    fn until(&self, count: usize, part: &str) {
        let begin = Instant::now();
        while self.objects(part).len() < count {
            assert!(begin.elapsed() < DEADLINE, "never {count} of {part}");
            std::thread::yield_now();
        }
    }
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => below(&path, found),
            path => found.push(path),
        }
    }
}

fn output(mut command: Command) -> Output {
    command.output().expect("it starts")
}

fn kill(mut child: Child) {
    child.kill().expect("it dies");
    child.wait().expect("it died");
}

const OVER: &str = "over.json";
const TRIALS: &str = "/trials/";

#[test]
fn shards_find_what_one_machine_finds_and_none_runs_what_another_ran() {
    let shards = Shards::new(3);
    let expected = shards.machines.found_alone();
    let started: Vec<Child> =
        (0..3).map(|at| start(shards.shard(at, &format!("{}/3", at + 1)))).collect();
    let mut ran = 0;
    for (copy, child) in started.into_iter().enumerate() {
        let said = assert_ends(&ended(child), 1, &["1 victim", "1 brittle", "of the hunt of"]);
        assert_eq!(shards.found(copy), expected, "shard {}: {said}", copy + 1);
        ran += ran_by(&said, copy + 1);
    }
    assert_eq!(ran, shards.objects(TRIALS).len(), "each trial ran once");
    let mut list = shards.machines.origin.flakeproof(&["list"]);
    // Clones know by their remote that they are the same project.
    list.env("FLAKEPROOF_STORE", &shards.machines.store).current_dir(&shards.machines.copies[0]);
    let listed = assert_ends(&output(list), 0, &["test_a.py::test_victim"]);
    assert_eq!(listed.matches("test_a.py::test_victim").count(), 1, "{listed}");
}

/// How many trials a shard says that it ran.
fn ran_by(said: &str, number: usize) -> usize {
    let line = said.lines().find(|line| line.contains("of this hunt")).expect("it says so");
    assert!(line.contains(&format!("shard {number}/3 ran")), "{line}");
    let word = if line.contains("ran all") { "trials" } else { "of" };
    usize::try_from(number_before(line, word)).expect("a number")
}

#[test]
fn a_shard_that_comes_late_runs_nothing_again() {
    let shards = Shards::new(2);
    let alone = assert_ends(&output(shards.shard(0, "1/2")), 1, &["no other was heard of"]);
    assert!(alone.contains("same store, command, options"), "{alone}");
    let all = shards.objects(TRIALS).len();
    let late = output(shards.shard(1, "2/2"));
    assert_ends(&late, 1, &["is over: what follows is what it found", "shard 2/2 ran 0 of the"]);
    assert_eq!(shards.found(1), shards.found(0));
    assert_eq!(shards.objects(TRIALS).len(), all);
}

#[test]
fn shards_that_are_killed_again_and_again_find_the_same() {
    let shards = Shards::new(2);
    let expected = shards.machines.found_alone();
    for killed in 1..=6 {
        let copy = killed % 2;
        let child = start(shards.shard(copy, &format!("{}/2", copy + 1)));
        // In the middle of a trial that nobody else may take, as far as anybody knows.
        shards.until(killed, "/taken/");
        kill(child);
        assert!(shards.objects(OVER).is_empty(), "it was in the middle");
    }
    let started = [0, 1].map(|copy| start(shards.shard(copy, &format!("{}/2", copy + 1))));
    for (copy, child) in started.into_iter().enumerate() {
        let said = assert_ends(&ended(child), 1, &["1 victim"]);
        assert_eq!(shards.found(copy), expected, "{said}");
    }
}

#[test]
fn what_came_of_a_trial_and_was_tampered_with_counts_for_nothing() {
    let shards = Shards::new(2);
    assert_ends(&output(shards.shard(0, "1/2")), 1, &["1 victim"]);
    let trials = shards.objects(TRIALS);
    let lie = std::fs::read_to_string(&trials[0]).expect("an object").replace('p', "f");
    std::fs::write(&trials[0], lie).expect("it is written");
    std::fs::write(&trials[1], "half of").expect("it is written");
    let other = output(shards.shard(1, "2/2"));
    assert_ends(&other, 1, &["1 victim", "of 2 trials was damaged in the store"]);
    assert_eq!(shards.found(1), shards.found(0));
}

#[test]
fn a_shard_with_other_code_is_refused_with_what_differs() {
    let shards = Shards::new(2);
    let first = start(shards.shard(0, "1/2"));
    shards.until(1, "needs.json");
    let edited = shards.machines.copies[1].path().join("test_a.py");
    let text = std::fs::read_to_string(&edited).expect("a file").replace("0.03", "0.04");
    std::fs::write(&edited, text).expect("it is written");
    let other = output(shards.shard(1, "2/2"));
    assert_ends(&other, 2, &["the code differs", "check out the same revision"]);
    assert_ends(&ended(first), 1, &["1 victim"]);
}

#[test]
fn a_shard_that_comes_late_has_the_plan_of_the_first() {
    let shards = Shards::new(2);
    let planned = |copy: usize, shard: &str| {
        output(shards.shard_with(copy, shard, &["--steer", "plan", "--budget", "10m"]))
    };
    assert_ends(&planned(0, "1/2"), 1, &["1 victim"]);
    // By now the history knows the victim, which would make it another plan.
    assert_ends(&planned(1, "2/2"), 1, &["shard 2/2 ran 0 of the", "1 victim"]);
    assert_eq!(shards.found(1), shards.found(0));
}

#[test]
fn folders_of_a_repository_have_hunts_of_their_own() {
    let shards = Shards::new(1);
    let copy = shards.machines.copies[0].path();
    assert_ends(&output(shards.shard(0, "1/2")), 1, &["1 victim"]);
    let below = copy.join("package");
    std::fs::create_dir(&below).expect("is made");
    std::fs::write(below.join("test_a.py"), "def test_victim():\n    pass\n").expect("is written");
    std::fs::write(below.join("pytest.ini"), "[pytest]\n").expect("is written");
    let mut inside = shards.shard(0, "1/2");
    inside.current_dir(&below);
    assert_ends(&output(inside), 0, &["shard 1/2 ran all"]);
}

#[test]
fn what_differs_in_the_environment_is_told() {
    let shards = Shards::new(2);
    let with = |copy: usize, shard: &str, database: &str| {
        let mut command = shards.shard(copy, shard);
        command.env("DB", database).env("GITHUB_STEP", shard);
        output(command)
    };
    let first = assert_ends(&with(0, "1/2", "lite"), 1, &["1 victim"]);
    assert!(!first.contains("the environment is not"), "{first}");
    let other =
        assert_ends(&with(1, "2/2", "pg"), 1, &["the environment is not that of the shard"]);
    assert!(other.contains("`DB`") && !other.contains("GITHUB_STEP"), "{other}");
}

#[test]
fn shards_need_a_commit_to_know_that_they_have_the_same_code() {
    let shards = Shards::new(1);
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = shards.shard(0, "1/2");
    command.current_dir(folder.path());
    assert_ends(&output(command), 2, &["the same code", "need a git repository with a commit"]);
}

#[test]
fn shards_need_a_store_of_objects() {
    let shards = Shards::new(1);
    let with = |store: &str| {
        let mut command = shards.shard(0, "1/2");
        command.env("FLAKEPROOF_STORE", store);
        output(command)
    };
    assert_ends(&with("history.db"), 2, &["meet in an object store", "file:///folder"]);
    assert_ends(&with("postgres://ci@localhost/team"), 2, &["--fleet NAME"]);
    assert_ends(&output(shards.shard(0, "3/2")), 2, &["no shard 3 of 2"]);
    let mut both = shards.machines.hunting(&["--shard", "1/2", "--fleet", "nightly"]);
    assert_ends(&both.output().expect("it starts"), 2, &["cannot be used with"]);
}

#[test]
fn shards_meet_in_a_bucket_and_one_that_may_not_look_into_it_says_so() {
    let Some(server) = s3::Server::start("shards of a hunt in a bucket") else { return };
    let shards = Shards::new(2);
    let expected = shards.machines.found_alone();
    let shard = |copy: usize, user: &str| {
        let mut command = shards.shard(copy, &format!("{}/2", copy + 1));
        command.env("FLAKEPROOF_STORE", "s3://team/hunts").envs(server.variables(user));
        command
    };
    let started = [0, 1].map(|copy| start(shard(copy, "reader")));
    for (copy, child) in started.into_iter().enumerate() {
        let said = assert_ends(&ended(child), 1, &["1 victim"]);
        assert_eq!(shards.found(copy), expected, "{said}");
    }
    let denied = output(shard(0, "writer"));
    assert_ends(&denied, 6, &["these credentials may not", "machines that share a hunt"]);
}
