//! A subject copied to a temporary folder, adapters opened on it, and what its tests note there
//! about themselves and their processes.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use flakeproof_core::{Execution, Isolation, Outcome, Seed, Suite, TestId};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::{Adapter, Cancel, Capabilities, Environment, Orders, Probe, Result, Then};

use super::subjects::{Discovery, Subject, TestRole};

/// The run's id, which tests must see.
pub(super) const RUN: &str = "conformance";
/// The seed, which tests must see.
pub(super) const SEED: Seed = Seed(7);
/// A limit that no test reaches unless something is wrong.
const FAR_LIMIT: Duration = Duration::from_secs(120);

/// A subject that is ready to be run.
pub(super) struct Scene<'a> {
    pub(super) subject: &'a Subject,
    pub(super) notes: Notes,
    folder: tempfile::TempDir,
    files: BTreeMap<PathBuf, blake3::Hash>,
    shared: OnceCell<Rc<Opened>>,
}

/// An adapter that has discovered its tests.
pub(super) struct Opened {
    pub(super) adapter: Box<dyn Adapter>,
    pub(super) suite: Suite,
}

impl<'a> Scene<'a> {
    /// Copy a subject and prepare it.
    ///
    /// # Errors
    /// When what it needs cannot be had here.
    pub(super) fn new(subject: &'a Subject) -> std::result::Result<Self, String> {
        if let Some(tool) = subject.missing_tool() {
            return Err(format!("there is no `{tool}` on this machine"));
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let outside = folder.path().join("outside");
        std::fs::create_dir_all(&outside).map_err(|error| error.to_string())?;
        copy(&subject.source(), &folder.path().join("project"))?;
        (subject.prepare)(&folder.path().join("project"))?;
        let notes = Notes::in_folder(&outside);
        let (files, shared) = (BTreeMap::new(), OnceCell::new());
        let mut scene = Self { subject, notes, folder, files, shared };
        scene.files = scene.files_now();
        Ok(scene)
    }

    /// The project's folder.
    pub(super) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The adapter that claims share which open only fresh environments.
    pub(super) fn shared(&self) -> &Rc<Opened> {
        self.shared.get_or_init(|| Rc::new(self.new_one()))
    }

    /// An adapter whose own environment was not opened yet, unless that costs too much.
    pub(super) fn own(&self) -> Rc<Opened> {
        match self.subject.discovery {
            Discovery::Cheap => Rc::new(self.new_one()),
            Discovery::Dear => Rc::clone(self.shared()),
        }
    }

    /// Another adapter on the same project.
    pub(super) fn new_one(&self) -> Opened {
        self.another(FAR_LIMIT, Cancel::never())
    }

    /// The same with a time limit, and something that can interrupt it.
    pub(super) fn another(&self, limit: Duration, cancel: Cancel) -> Opened {
        let adapter = adapters::open(self.request(limit, cancel));
        let adapter = adapter.unwrap_or_else(|error| panic!("no adapter: {error}"));
        let suite = adapter.discover().unwrap_or_else(|error| panic!("nothing found: {error:?}"));
        adapter.find_orders().unwrap_or_else(|error| panic!("no orders found: {error:?}"));
        Opened { adapter, suite }
    }

    fn request(&self, limit: Duration, cancel: Cancel) -> RunRequest {
        RunRequest {
            command: self.subject.command.clone(),
            folder: self.project(),
            adapter: None,
            timeout: Some(limit),
            run: RUN.into(),
            seed: SEED,
            is_output_shown: false,
            profiles: adapters::command::Profiles::default(),
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::New,
            cancel,
            in_force: flakeproof_runner::levers::InForce::default(),
        }
    }

    /// The id of the test in a role; an error says that the framework has no such test.
    pub(super) fn id(&self, role: TestRole) -> std::result::Result<TestId, String> {
        let found = self.subject.tests.iter().find(|(it, _)| *it == role);
        let missing = || format!("{} has no test in the role `{}`", self.subject.name, role.word());
        found.map(|(_, id)| TestId::from(*id)).ok_or_else(missing)
    }

    /// The ids of several roles, or which of them is missing.
    pub(super) fn ids<const N: usize>(
        &self,
        roles: [TestRole; N],
    ) -> std::result::Result<[TestId; N], String> {
        let ids = roles.map(|role| self.id(role));
        if let Some(why) = ids.iter().find_map(|id| id.as_ref().err()) {
            return Err(why.clone());
        }
        Ok(ids.map(|id| id.unwrap_or_else(|why| panic!("{why}"))))
    }

    /// The tests after which their process goes on, in the suite's order.
    pub(super) fn survived(&self) -> Vec<(TestRole, TestId)> {
        let tests = self.subject.tests.iter().filter(|(role, _)| role.is_survived());
        tests.map(|(role, id)| (*role, TestId::from(*id))).collect()
    }

    /// Files of the project that are not as they were, beside what the framework writes.
    pub(super) fn changed_files(&self) -> Vec<PathBuf> {
        let now = self.files_now();
        let before = self.files.iter().filter(|(path, digest)| now.get(*path) != Some(digest));
        let added = now.keys().filter(|path| !self.files.contains_key(*path));
        before.map(|(path, _)| path).chain(added).cloned().collect()
    }

    fn files_now(&self) -> BTreeMap<PathBuf, blake3::Hash> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.project()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if self.subject.written.contains(&name.as_str()) {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ => {
                        let content = std::fs::read(entry.path()).unwrap_or_default();
                        files.insert(entry.path(), blake3::hash(&content));
                    }
                }
            }
        }
        files
    }
}

impl Opened {
    /// An environment of this kind.
    pub(super) fn open(&self, how: Isolation) -> Box<dyn Environment> {
        let environment = self.adapter.open(how);
        environment.unwrap_or_else(|error| panic!("no {how} environment: {error:?}"))
    }

    /// The kinds of fresh environments that the adapter has.
    pub(super) fn fresh(&self) -> Vec<Isolation> {
        let fork = self.can().fork.is_ok().then_some(Isolation::Fork);
        std::iter::once(Isolation::Spawn).chain(fork).collect()
    }

    /// Whether tests of one environment of a kind share a process.
    ///
    /// # Errors
    /// When each has its own.
    pub(super) fn shares_processes(&self, how: Isolation) -> std::result::Result<(), String> {
        match (self.can().orders, how) {
            (Orders::Any | Orders::Seeded | Orders::Own, _)
            | (Orders::AnyFresh | Orders::ByFile, Isolation::Fork | Isolation::Spawn) => Ok(()),
            (Orders::Apart, _) | (Orders::AnyFresh | Orders::ByFile, Isolation::Same) => {
                Err("each test has a process of its own".into())
            }
        }
    }

    /// What the adapter can do.
    pub(super) fn can(&self) -> Capabilities {
        self.adapter.can()
    }

    /// Run an order in a new environment and close it.
    pub(super) fn run(&self, how: Isolation, order: &[TestId]) -> Vec<Execution> {
        let mut environment = self.open(how);
        let executions = run(&mut *environment, order, Then::End);
        let executions = executions.unwrap_or_else(|error| panic!("{how} {order:?}: {error:?}"));
        environment.close().unwrap_or_else(|error| panic!("{how} does not end: {error:?}"));
        executions
    }
}

/// Announce an order and run it.
pub(super) fn run(
    environment: &mut dyn Environment,
    order: &[TestId],
    then: Then,
) -> Result<Vec<Execution>> {
    environment.expect(order, then)?;
    order.iter().map(|test| environment.run(test, Probe::attempt(1))).collect()
}

/// Announce one test, run it, and give its outcome.
pub(super) fn outcome(environment: &mut dyn Environment, test: &TestId, then: Then) -> Outcome {
    let ran = run(environment, std::slice::from_ref(test), then);
    let ran = ran.unwrap_or_else(|error| panic!("`{test}`: {error:?}"));
    ran.first().unwrap_or_else(|| panic!("`{test}` did not run")).outcome
}

/// Copy a folder.
fn copy(from: &Path, to: &Path) -> std::result::Result<(), String> {
    let text = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(text)?;
    for entry in std::fs::read_dir(from).map_err(text)? {
        let entry = entry.map_err(text)?;
        let target = to.join(entry.file_name());
        match entry.file_type().map_err(text)?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => std::fs::copy(entry.path(), target).map(drop).map_err(text)?,
        }
    }
    Ok(())
}

/// How long to wait for something that is bound to happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// One line that a test wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// The test's name, or what else it notes.
    pub(super) what: String,
    /// The process that wrote it.
    pub(super) pid: u32,
}

/// The file of notes.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
}

impl Notes {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("notes") }
    }

    /// Everything noted since the last [`forget`](Self::forget), in order.
    pub(super) fn all(&self) -> Vec<Note> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().filter_map(note).collect()
    }

    /// Only what was noted, not by whom.
    pub(super) fn words(&self) -> Vec<String> {
        self.all().into_iter().map(|note| note.what).collect()
    }

    /// Which tests noted themselves, in order.
    pub(super) fn tests(&self) -> Vec<String> {
        let is_of_class = |word: &String| word.ends_with("class");
        self.words().into_iter().filter(|word| !is_of_class(word)).collect()
    }

    /// The process of the last test that noted this.
    pub(super) fn process_of(&self, what: &str) -> u32 {
        let all = self.all();
        let found = all.iter().rev().find(|note| note.what == what);
        found.unwrap_or_else(|| panic!("`{what}` is not noted: {all:?}")).pid
    }

    /// Wait until so many tests have noted this.
    pub(super) fn wait_for(&self, what: &str, times: usize) {
        let count = || self.words().iter().filter(|it| *it == what).count();
        assert!(wait_until(|| count() >= times), "`{what}` was noted {} times", count());
    }

    /// Start anew.
    pub(super) fn forget(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn note(line: &str) -> Option<Note> {
    let (what, pid) = line.rsplit_once(' ')?;
    Some(Note { what: what.to_owned(), pid: pid.parse().ok()? })
}

/// Wait until a process is gone.
pub(super) fn wait_for_end_of(process: u32) {
    assert!(wait_until(|| !is_alive(process)), "process {process} outlives what started it");
}

/// Whether a process runs; a dead one that nobody has asked about yet does not.
pub(super) fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some(Some('Z' | 'X')))
}

fn wait_until(holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        // There is no event to wait on: these processes are not our children.
        std::thread::sleep(BETWEEN_LOOKS);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_written_note_is_no_note() {
        assert_eq!(note("passes 12"), Some(Note { what: "passes".into(), pid: 12 }));
        assert_eq!(
            note("variables:1,a b,3 12").map(|it| it.what),
            Some("variables:1,a b,3".into())
        );
        assert_eq!(note("passes"), None);
    }

    #[test]
    fn this_process_is_alive() {
        assert!(is_alive(std::process::id()));
    }
}
