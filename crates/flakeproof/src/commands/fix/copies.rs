//! Two copies of the project, one as it is and one with a patch, and running tests in them.
//!
//! The user's own tree is never run or written. A test in a new process reads its source anew, so that one
//! discovery of the suite serves all patches; what is proven in copies of an interpreter needs a new one.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakeproof_core::{
    Covered, Execution, Isolation, LeftBehind, LeftKind, Outcome, RunFacts, Shuffle, State, Suite,
    TestId,
};
use flakeproof_detect::cause::UnderLever;
use flakeproof_detect::verify::{Replay, replay};
use flakeproof_fix::PatchedFile;
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::git::{Checkout, Repository};
use flakeproof_runner::levers::InForce;
use flakeproof_runner::{Adapter, Blame, Cancel, Error, Granularity, Probe, Then};

use crate::cli::FixArguments;
use crate::problem::{self, Problem};
use crate::settings::ConfigurationFile;

/// Why a search for a patch stops.
pub(super) enum Stop {
    /// The user interrupted it.
    Interrupted,
    /// Its time is spent.
    BudgetSpent,
    /// The runner broke.
    Trouble(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Cancelled => Self::Interrupted,
            error => Self::Trouble(error),
        }
    }
}

/// A copy of the project, and the adapter that runs its tests.
pub(super) struct Copy {
    checkout: Checkout,
    pub(super) adapter: Box<dyn Adapter>,
    pub(super) suite: Suite,
    /// Files that were written since the runner took them in.
    stale: RefCell<BTreeSet<PathBuf>>,
}

/// The lines that ran, by the paths of files below the root of a copy.
pub(super) type LinesRun = Vec<(String, Vec<RangeInclusive<u32>>)>;

/// Two copies of the project.
pub(super) struct Copies<'a> {
    typed: &'a FixArguments,
    facts: &'a RunFacts,
    cancel: &'a Cancel,
    begin: Instant,
    /// The root of the project itself.
    pub(super) root: PathBuf,
    /// The folder that the command runs in, below the root.
    below: PathBuf,
    /// Folders below the root that modules are imported from, where they are installed as links.
    python_path: Vec<PathBuf>,
    /// As it is.
    pub(super) without: Copy,
    /// With whatever patch is tried.
    pub(super) with: Copy,
    /// What is in force for the processes of all copies.
    pub(super) in_force: InForce,
}

impl<'a> Copies<'a> {
    /// Copy the project twice and find its tests.
    pub(super) fn make(
        typed: &'a FixArguments,
        facts: &'a RunFacts,
        folder: &Path,
        cancel: &'a Cancel,
        begin: Instant,
    ) -> Result<Self, Problem> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let repository = Repository::containing(&folder).ok();
        let root = repository.as_ref().map_or(folder.clone(), |it| it.root().to_path_buf());
        let below = folder.strip_prefix(&root).unwrap_or(Path::new("")).to_path_buf();
        let copy = || match &repository {
            Some(repository) => repository.copy_work_tree(),
            None => Checkout::of_folder(&root),
        };
        let in_force = InForce::default();
        let open = |python_path: &[PathBuf]| -> Result<Copy, Problem> {
            let checkout = copy().map_err(|why| cannot_copy(&why.to_string()))?;
            let surroundings = Surroundings {
                typed,
                facts,
                cancel,
                root: &root,
                below: &below,
                python_path,
                in_force: &in_force,
            };
            let (adapter, suite) = surroundings.open(checkout.root())?;
            Ok(Copy { checkout, adapter, suite, stale: RefCell::default() })
        };
        let mut without = open(&[])?;
        let python_path = own_code_elsewhere(&without, &root)?;
        if !python_path.is_empty() {
            without = open(&python_path)?;
        }
        let with = open(&python_path)?;
        Ok(Self { typed, facts, cancel, begin, root, below, python_path, without, with, in_force })
    }

    /// A new discovery of the suite in the copy with a patch, which the build tool builds, if there is one.
    pub(super) fn rediscover(
        &self,
        written: &Written<'_>,
    ) -> Result<(Box<dyn Adapter>, Suite), Problem> {
        written.touch();
        let Self { typed, facts, cancel, root, below, python_path, in_force, .. } = self;
        Surroundings { typed, facts, cancel, root, below, python_path, in_force }
            .open(self.with.checkout.root())
    }

    /// Whether to go on.
    pub(super) fn may_go_on(&self) -> Result<(), Stop> {
        let budget = self.typed.budget.0;
        if self.cancel.is_cancelled() {
            Err(Stop::Interrupted)
        } else if !budget.is_zero() && self.begin.elapsed() >= budget {
            Err(Stop::BudgetSpent)
        } else {
            Ok(())
        }
    }

    /// Whether the user interrupts.
    pub(super) fn cancel(&self) -> &Cancel {
        self.cancel
    }

    /// What is left of the budget.
    pub(super) fn budget_left(&self) -> Option<Duration> {
        let budget = self.typed.budget.0;
        (!budget.is_zero()).then(|| budget.saturating_sub(self.begin.elapsed()))
    }

    /// The file of a test, relative to the project's root.
    pub(super) fn file_of(&self, test: &TestId) -> Option<String> {
        self.without.file_of(test)
    }

    /// The text of a file of the project as it is.
    pub(super) fn text(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.without.checkout.root().join(file)).ok()
    }

    /// How long a test takes alone, each time in a new process, as it is and under a lever; and how often it
    /// failed.
    pub(super) fn times_of(
        &self,
        test: &TestId,
        lever: Option<&UnderLever>,
        runs: usize,
    ) -> Result<Times, Stop> {
        let mut measured = Times::default();
        for _ in 0..runs {
            self.may_go_on()?;
            let ran = match lever {
                Some(lever) => self.without.under(lever, test)?,
                None => self.without.replayed(std::slice::from_ref(test), None)?,
            };
            match ran.map(|it| (it.outcome, it.duration)) {
                Some((Outcome::Passed, time)) => measured.passed.push(time),
                Some((outcome, _)) if outcome.is_failure() => measured.failed += 1,
                _ => {}
            }
        }
        Ok(measured)
    }

    /// The sources of classes below the project's root, by their paths.
    pub(super) fn java_sources(&self) -> Vec<(String, String)> {
        let root = self.without.checkout.root();
        let mut found = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !name.starts_with('.') && !OUTPUTS.contains(&&*name) {
                    folders.push(path);
                } else if kind.is_file()
                    && name.ends_with(".java")
                    && let (Ok(below), Ok(text)) =
                        (path.strip_prefix(root), std::fs::read_to_string(&path))
                {
                    found.push((below.to_string_lossy().into_owned(), text));
                }
            }
        }
        found.sort();
        found
    }

    /// Write a patch into the copy for it; an error is why it cannot run.
    pub(super) fn put(&self, files: &[PatchedFile]) -> Result<Result<Written<'_>, String>, Stop> {
        Written::put(&self.with, files.iter().map(|it| (it.path.as_str(), it.after.as_str())))
    }
}

/// How long runs took that passed, and how many failed.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) passed: Vec<Duration>,
    pub(super) failed: usize,
}

/// Folders that builds write.
const OUTPUTS: [&str; 4] = ["target", "build", "out", "node_modules"];

/// All that decides how the tests of a copy run.
struct Surroundings<'a> {
    typed: &'a FixArguments,
    facts: &'a RunFacts,
    cancel: &'a Cancel,
    root: &'a Path,
    below: &'a Path,
    python_path: &'a [PathBuf],
    in_force: &'a InForce,
}

impl Surroundings<'_> {
    fn open(&self, copy: &Path) -> Result<(Box<dyn Adapter>, Suite), Problem> {
        let folder = copy.join(self.below);
        let timeout = self.typed.timeout.0;
        let adapter = adapters::open(RunRequest {
            command: self.command(copy),
            folder: folder.clone(),
            adapter: self.typed.adapter.clone(),
            timeout: Some(timeout).filter(|time| !time.is_zero()),
            run: self.facts.id.clone(),
            seed: self.facts.seed,
            is_output_shown: self.typed.show_runner,
            profiles: ConfigurationFile::find(None, &folder)?.runners(),
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::New,
            cancel: self.cancel.clone(),
            in_force: self.in_force.clone(),
        })
        .map_err(problem::explain)?;
        let suite = adapter.discover().map_err(problem::explain)?;
        Ok((adapter, suite))
    }

    /// The user's command for a copy. Compiled code is not kept: a file that is written twice within a
    /// second would be taken for the same.
    fn command(&self, copy: &Path) -> Vec<String> {
        let mut command = Vec::new();
        // A build tool must come first.
        if adapters::name_for(&self.facts.command) != Some("jvm") {
            command.extend(["env".to_owned(), "PYTHONDONTWRITEBYTECODE=1".to_owned()]);
        }
        if !self.python_path.is_empty() {
            let own = self.python_path.iter().map(|it| copy.join(it).display().to_string());
            let known = std::env::var("PYTHONPATH").ok();
            let all: Vec<String> = own.chain(known).collect();
            command.push(format!("PYTHONPATH={}", all.join(":")));
        }
        let root = self.root.display().to_string();
        let moved = |word: &String| {
            let path = word.split("::").next().unwrap_or(word);
            let is_inside = Path::new(path).starts_with(self.root);
            let is_installed =
                Path::new(path).ancestors().any(|it| it.join("pyvenv.cfg").is_file());
            match is_inside && !is_installed {
                true => word.replacen(&root, &copy.display().to_string(), 1),
                false => word.clone(),
            }
        };
        command.extend(self.facts.command.iter().map(moved));
        command
    }
}

/// Folders of the project itself that modules are imported from although a copy runs, relative to its root:
/// the project is installed as a link.
fn own_code_elsewhere(copy: &Copy, root: &Path) -> Result<Vec<PathBuf>, Problem> {
    let is_python = |id: &TestId| id.as_str().contains("::");
    let first = copy.suite.tests.first().filter(|it| is_python(&it.id));
    let Some(first) = first else { return Ok(Vec::new()) };
    let probe = Probe { dependencies: Granularity::File, ..Probe::attempt(1) };
    let explain = |error| problem::explain_after_start(error, &copy.adapter.output());
    let execution = copy.one(&first.id, probe).map_err(explain)?;
    let Some(dependencies) = execution.and_then(|it| it.dependencies) else {
        return Ok(Vec::new());
    };
    let mut folders = Vec::new();
    for file in &dependencies.code {
        let file = Path::new(file);
        let is_installed = file.components().any(|it| it.as_os_str() == "site-packages");
        if !file.starts_with(root) || is_installed {
            continue;
        }
        let outside = |folder: &&Path| !folder.join("__init__.py").is_file();
        let Some(folder) = file.ancestors().skip(1).find(outside) else { continue };
        if let Ok(below) = folder.strip_prefix(root)
            && !folders.contains(&below.to_path_buf())
        {
            folders.push(below.to_path_buf());
        }
    }
    Ok(folders)
}

fn cannot_copy(why: &str) -> Problem {
    Problem::broken(
        format!("the project cannot be copied to try patches: {why}"),
        "make room in the temporary folder (TMPDIR); nothing was changed",
    )
}

impl Copy {
    /// The file of a test, relative to the root of the copy.
    pub(super) fn file_of(&self, test: &TestId) -> Option<String> {
        // Where an id names no file, the runner says where the test is written.
        let file = match test.as_str().split_once("::") {
            Some((file, _)) => file,
            None => {
                let known = self.suite.tests.iter().find(|it| it.id == *test)?;
                known.location.as_ref()?.file.as_str()
            }
        };
        let root = self.adapter.root()?;
        let path = root.join(file);
        let path = path.canonicalize().unwrap_or(path);
        let below = path.strip_prefix(self.checkout.root()).ok()?;
        Some(below.to_string_lossy().into_owned())
    }

    /// The root of the copy.
    pub(super) fn root(&self) -> &Path {
        self.checkout.root()
    }

    fn one(&self, test: &TestId, probe: Probe) -> Result<Option<Execution>, Error> {
        let mut environment = self.adapter.open(Isolation::Spawn)?;
        environment.expect(std::slice::from_ref(test), Then::End)?;
        let execution = environment.run(test, probe)?;
        let _ = environment.close();
        Ok(Some(execution))
    }

    /// The lines that the last test of an order runs, by the paths of files below the root of the copy.
    pub(super) fn lines_run(&self, order: &[TestId]) -> Result<LinesRun, Stop> {
        let below = |file: &str| {
            let path = Path::new(file).strip_prefix(self.root()).ok()?;
            Some(path.to_string_lossy().into_owned())
        };
        let is_java = order.last().and_then(|it| self.file_of(it)).is_some_and(|it| is_java(&it));
        if is_java {
            let last = self.run(order, Probe::features())?.pop().flatten();
            let Some(measured) = last.and_then(|it| it.measured) else { return Ok(Vec::new()) };
            let Covered::Lines(lines) = measured.covered else { return Ok(Vec::new()) };
            let of_file = |(file, lines): (String, flakeproof_core::Lines)| {
                Some((below(&file)?, lines.ranges().collect()))
            };
            return Ok(lines.into_iter().filter_map(of_file).collect());
        }
        let probe = Probe { dependencies: Granularity::Function, ..Probe::attempt(1) };
        let last = self.run(order, probe)?.pop().flatten();
        let Some(dependencies) = last.and_then(|it| it.dependencies) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for (file, functions) in &dependencies.functions {
            let Some(below) = below(file) else { continue };
            let ran = functions.iter().filter(|it| it.ran).map(|it| it.body..=it.end).collect();
            found.push((below, ran));
        }
        Ok(found)
    }

    /// Let the runner know of files that were written; an error is why it cannot run them.
    fn take_in_what_was_written(&self) -> Result<Result<(), String>, Error> {
        let files: Vec<PathBuf> = self.stale.borrow().iter().cloned().collect();
        if files.is_empty() {
            return Ok(Ok(()));
        }
        match self.adapter.take_in(&files) {
            Ok(()) => {
                self.stale.borrow_mut().clear();
                Ok(Ok(()))
            }
            Err(Error::Explained { blame: Blame::Runner, what, .. }) => Ok(Err(what)),
            Err(error) => Err(error),
        }
    }

    /// How a test ends that is run once under a lever; `None` if it is not reached.
    pub(super) fn under(
        &self,
        lever: &UnderLever,
        test: &TestId,
    ) -> Result<Option<Execution>, Stop> {
        self.last_of(|| lever.replay(&*self.adapter, test))
    }

    /// How the last test of an order ends in a new process, where this decides open orders; `None` if it is
    /// not reached.
    pub(super) fn replayed(
        &self,
        order: &[TestId],
        shuffle: Option<&Shuffle>,
    ) -> Result<Option<Execution>, Stop> {
        self.last_of(|| replay(&*self.adapter, order, Isolation::Spawn, shuffle))
    }

    fn last_of(
        &self,
        run: impl FnOnce() -> Result<Replay, Error>,
    ) -> Result<Option<Execution>, Stop> {
        if self.take_in_what_was_written()?.is_err() {
            return Ok(None);
        }
        match run() {
            Ok(replay) => Ok(replay.last),
            Err(Error::Cancelled) => Err(Stop::Interrupted),
            // The patch made the file unreadable for the runner, or the test vanish.
            Err(_) => Ok(None),
        }
    }

    /// How each test of an order ends in one new process; `None` for those that were not reached.
    pub(super) fn outcomes(&self, order: &[TestId]) -> Result<Vec<Option<Execution>>, Stop> {
        self.run(order, Probe::attempt(1))
    }

    fn run(&self, order: &[TestId], probe: Probe) -> Result<Vec<Option<Execution>>, Stop> {
        let mut outcomes: Vec<Option<Execution>> = vec![None; order.len()];
        if self.take_in_what_was_written()?.is_err() {
            return Ok(outcomes);
        }
        let mut environment = self.adapter.open(Isolation::Spawn)?;
        match environment.expect(order, Then::End) {
            Ok(()) => {}
            // The patch made the file unreadable for the runner, or a test vanish.
            Err(Error::Cancelled) => return Err(Stop::Interrupted),
            Err(_) => return Ok(outcomes),
        }
        for (at, test) in order.iter().enumerate() {
            let execution = match environment.run(test, probe) {
                Ok(execution) => execution,
                Err(Error::Cancelled) => return Err(Stop::Interrupted),
                Err(_) => return Ok(outcomes),
            };
            let is_gone = execution.outcome.ends_environment();
            outcomes[at] = Some(execution);
            if is_gone {
                return Ok(outcomes);
            }
        }
        let _ = environment.close();
        Ok(outcomes)
    }

    /// What each of these tests leaves behind, one after the other, and the modules that are imported then.
    pub(super) fn left_behind(
        &self,
        order: &[TestId],
    ) -> Result<(Vec<Vec<LeftBehind>>, State), Stop> {
        let how = match self.adapter.can().fork {
            Ok(()) => Isolation::Fork,
            Err(_) => Isolation::Spawn,
        };
        let mut environment = self.adapter.open(how)?;
        // Who is asked first knows that it will be asked again.
        let mut before = environment.look()?;
        environment.expect(order, Then::Open)?;
        let mut left = Vec::new();
        for test in order {
            let execution = environment.run(test, Probe::attempt(1))?;
            if execution.outcome.ends_environment() {
                left.push(Vec::new());
                break;
            }
            let after = environment.look()?;
            left.push(State::left_behind(&before, &after));
            before = after;
        }
        Ok((left, before))
    }
}

/// Files that are written in a copy until this goes away.
pub(super) struct Written<'a> {
    copy: &'a Copy,
    before: Vec<(PathBuf, Vec<u8>)>,
}

impl<'a> Written<'a> {
    /// Write files, relative to the root of the copy; an error is why they cannot run.
    pub(super) fn put<'t>(
        copy: &'a Copy,
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Result<Self, String>, Stop> {
        let mut written = Self { copy, before: Vec::new() };
        for (file, text) in files {
            let path = written.copy.root().join(file);
            let io = |error| Stop::Trouble(Error::io("write a patch into the copy")(error));
            written.before.push((path.clone(), std::fs::read(&path).map_err(io)?));
            std::fs::write(&path, text).map_err(io)?;
            copy.stale.borrow_mut().insert(path);
        }
        Ok(copy.take_in_what_was_written()?.map(|()| written))
    }

    /// Make the files newer than all that was made of them, so that a build tool builds them itself.
    fn touch(&self) {
        for (path, _) in &self.before {
            // At worst what was compiled for a try is taken as it is.
            let text = std::fs::read(path);
            let _ = text.and_then(|it| std::fs::write(path, it));
        }
    }
}

impl Drop for Written<'_> {
    fn drop(&mut self) {
        for (path, bytes) in self.before.drain(..).rev() {
            // A copy that cannot be written any more fails the next patch, loudly.
            let _ = std::fs::write(&path, bytes);
            self.copy.stale.borrow_mut().insert(path);
        }
    }
}

/// Whether a file is of Java.
pub(super) fn is_java(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|it| it == "java")
}

/// Whether an execution passed.
pub(super) fn passed(execution: Option<&Execution>) -> bool {
    execution.is_some_and(|it| it.outcome == Outcome::Passed)
}

/// The modules of a picture.
pub(super) fn modules_of(state: &State) -> std::collections::BTreeSet<String> {
    state.names(LeftKind::Module).map(str::to_owned).collect()
}
