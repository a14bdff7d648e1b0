//! Warm JVMs of a module, and how far they are trusted.
//!
//! In a warm JVM environments follow one another: each has a class loader of its own for the project's
//! classes, and the JDK's state as it was at the start. That is nearly a new JVM, and many times faster.
//! It is tried beside new JVMs first, compared with one now and then, and given up for good as soon as
//! the two disagree.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use flakeproof_core::{Notice, TestId};

use super::JvmSession;
use super::ahead::Ahead;
use super::jdk::Jdk;
use super::launch::{Purpose, ReadyModule};
use super::live::Jvm;
use super::project::{Module, Project};
use super::worker::{Frameworks, Worker};
use crate::adapter::Result;
use crate::folders::cache_folder;

/// So many orders agree before a module's warm JVMs are trusted.
const ORDERS_TO_AGREE: u32 = 5;
/// So many of them are short, so that what is compared is the start and not the tests.
const SHORT_ORDERS: usize = 3;
/// An order of so many tests is short.
const SHORT: usize = 2;
/// So many times faster they are, or they are not worth a doubt.
const WORTHWHILE: f64 = 3.0;
/// One of so many environments is compared with a new JVM.
const SPOT_CHECK: u32 = 50;
/// After so many environments, JVMs that had to be given up after one of four or fewer count.
const RETIREMENTS_COUNT: u32 = 20;
/// That the two agreed is remembered for so long, for the same classes on the same Java.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);
/// Options with which classes are found or changed in ways that a class loader of ours does not.
const UNSUITABLE: [(&str, &str); 8] = [
    ("-javaagent", "an agent changes its classes"),
    ("-agentlib", "an agent watches it"),
    ("-agentpath", "an agent watches it"),
    ("--module-path", "it has a module path"),
    ("-p=", "it has a module path"),
    ("--patch-module", "it changes modules"),
    ("--limit-modules", "it has only some modules"),
    ("-Xbootclasspath", "it changes the JDK's classes"),
];
/// Properties that the JVM reads once, at its start.
const READ_ONCE: [&str; 3] =
    ["java.util.logging.manager", "java.system.class.loader", "java.security.manager"];

/// The warm JVMs of a module.
#[derive(Debug, Default)]
pub(super) struct Warmth {
    idle: Mutex<Vec<Jvm>>,
    /// One that starts while new JVMs run tests.
    coming: Ahead,
    trust: Mutex<Trust>,
    /// Where it is written down that they are trusted, if it can be.
    file: OnceLock<Option<PathBuf>>,
}

impl Warmth {
    /// What can be said of a module before anything runs.
    pub(super) fn of(module: &Module, jdk: &Jdk, worker: &Worker, frameworks: &Frameworks) -> Self {
        match obstacle(module, jdk, worker, frameworks) {
            Some(why) => Self::cold(&why),
            None => Self::default(),
        }
    }

    /// None, for a reason.
    pub(super) fn cold(why: &str) -> Self {
        let trust = Trust { course: Course::Impossible(why.to_owned()), ..Trust::default() };
        Self { trust: Mutex::new(trust), ..Self::default() }
    }

    /// Take over what an earlier session found out about the same classes, once.
    pub(super) fn recall(&self, ready: &ReadyModule) {
        self.file.get_or_init(|| {
            let file = self.trust(|trust| trust.impossible().is_none()).then(|| place_of(ready));
            let file = file.flatten()?;
            let age = std::fs::metadata(&file).and_then(|it| it.modified()).ok();
            if age.and_then(|it| it.elapsed().ok()).is_some_and(|age| age < REMEMBERED) {
                self.trust(Trust::take_over);
            }
            Some(file)
        });
    }

    /// Write down whether they are trusted, where that has changed. What cannot be written is found out
    /// again.
    pub(super) fn write_down(&self) {
        let Some(Some(file)) = self.file.get() else { return };
        let Some(is_trusted) = self.trust(Trust::news) else { return };
        let _ = match (is_trusted, file.parent()) {
            (true, Some(folder)) => {
                std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, b""))
            }
            (true, None) => Ok(()),
            (false, _) => std::fs::remove_file(file),
        };
    }

    /// Look at, or change, how far they are trusted.
    pub(super) fn trust<T>(&self, look: impl FnOnce(&mut Trust) -> T) -> T {
        look(&mut self.trust.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A JVM in which a new environment begins.
    pub(super) fn take(&self, session: &Arc<JvmSession>, module: usize) -> Result<Jvm> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(jvm) = idle() {
            if !jvm.is_gone() {
                return Ok(jvm);
            }
        }
        match self.coming.take(session) {
            Some(jvm) => Ok(jvm),
            None => Jvm::start(session, module, Purpose::Many),
        }
    }

    /// Whether new JVMs are about to be compared with warm ones once more.
    pub(super) fn needs_another_new_one(&self) -> bool {
        self.file.get().is_some() && self.trust(|trust| trust.are_still_tried(2))
    }

    /// Let a JVM start now, because one will be taken soon.
    pub(super) fn start_ahead(&self, session: &Arc<JvmSession>, module: usize) {
        if self.idle.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.coming.start(session, module, || Purpose::Many);
        }
    }

    /// Keep a JVM whose environment has ended, if it can be made as good as new.
    pub(super) fn put_away(&self, mut jvm: Jvm) {
        match jvm.renew() {
            Ok(None) => self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(jvm),
            Ok(Some(reason)) => self.trust(|trust| trust.retire(&reason)),
            // It is gone, or does not answer; it is killed, and the next environment has another.
            Err(_) => self.trust(|trust| trust.retire("a JVM ended after its tests")),
        }
    }

    /// End those that nobody uses.
    pub(super) fn end(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.coming.end();
    }
}

/// Whether environments of a project can be warm at all; if not, why.
pub(super) fn possible(project: &Project) -> std::result::Result<(), String> {
    let mut first = None;
    for module in &project.modules {
        match module.warmth.trust(|trust| trust.impossible().map(str::to_owned)) {
            None => return Ok(()),
            Some(why) => first.get_or_insert(why),
        };
    }
    Err(first.unwrap_or_else(|| "there is no module".into()))
}

/// What the reader should know about modules that were given up.
pub(super) fn notices(project: &Project) -> Vec<Notice> {
    let several = project.modules.len() > 1;
    let given_up = project.modules.iter().filter_map(|module| {
        let why = module.warmth.trust(|trust| trust.given_up().map(str::to_owned))?;
        let whose = match (several, module.module.name.as_str()) {
            (true, name) if !name.is_empty() => format!(" of {name}"),
            _ => String::new(),
        };
        Some(Notice {
            what: format!("the tests{whose} run in a new JVM for each fresh environment: {why}"),
            next: "nothing is lost but time; `--isolation spawn` says that you know".into(),
        })
    });
    given_up.collect()
}

/// Where it is written down that a module's warm JVMs are trusted, under a digest of all that decides what
/// its tests do in them.
fn place_of(ready: &ReadyModule) -> Option<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    let mut take = |text: &str| {
        hasher.update(text.as_bytes()).update(b"\0");
    };
    let module = &ready.module;
    take(&ready.archived()[0].to_string_lossy());
    take(&format!("{} {}", module.java.display(), ready.jdk.version));
    take(&format!("{:?} {:?} {:?}", module.options, module.properties, module.variables));
    for entry in &module.class_path {
        take(&entry.to_string_lossy());
        if entry.is_dir() {
            digest_below(entry, &mut take)?;
        } else if let Ok(file) = std::fs::metadata(entry) {
            take(&format!("{} {:?}", file.len(), file.modified().ok()));
        }
    }
    let name = hasher.finalize().to_hex()[..32].to_owned();
    Some(cache_folder()?.join("flakeproof/warm").join(name))
}

fn digest_below(folder: &Path, take: &mut dyn FnMut(&str)) -> Option<()> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        take(&path.to_string_lossy());
        match path.is_dir() {
            true => digest_below(&path, take)?,
            false => take(blake3::hash(&std::fs::read(&path).ok()?).to_hex().as_str()),
        }
    }
    Some(())
}

/// Why a module cannot run warm.
fn obstacle(
    module: &Module,
    jdk: &Jdk,
    worker: &Worker,
    frameworks: &Frameworks,
) -> Option<String> {
    if !jdk.can_be_warm() {
        return Some(format!("what tests change in Java {} is not known", jdk.version));
    }
    if !worker.place.is_file() {
        return Some("there is no tool that makes jars".into());
    }
    for option in &module.options {
        let found = UNSUITABLE.iter().find(|(begin, _)| option.starts_with(begin));
        if let Some((_, why)) = found {
            return Some(format!("{why} (`{option}`)"));
        }
    }
    let set = |name: &&&str| {
        let option = format!("-D{name}=");
        module.properties.contains_key(**name)
            || module.options.iter().any(|it| it.starts_with(&option))
    };
    if let Some(name) = READ_ONCE.iter().find(set) {
        return Some(format!("`{name}` is read only when a JVM starts"));
    }
    (frameworks.jars != frameworks.movable)
        .then(|| "the test framework shares a jar or a package with other classes".into())
}

/// How far the warm JVMs of a module are trusted.
#[derive(Debug, Default)]
pub(super) struct Trust {
    course: Course,
    /// Warm environments so far.
    environments: u32,
    /// JVMs that could not be used any more after one.
    retired: u32,
    /// Tests that failed in one, and were compared then.
    failed: HashSet<TestId>,
    /// Whether it is written down that they are trusted.
    is_written: bool,
}

#[derive(Debug)]
enum Course {
    /// Nobody tries it, for a reason that the configuration gives.
    Impossible(String),
    /// New JVMs give the results, and warm ones are tried beside them.
    Tried { agreed: u32, seconds: Vec<(f64, f64)> },
    /// Warm JVMs give the results.
    Trusted,
    /// They do not do what new ones do, or are no faster.
    GivenUp(String),
}

impl Default for Course {
    fn default() -> Self {
        Self::Tried { agreed: 0, seconds: Vec::new() }
    }
}

/// Where an environment runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a new JVM.
    New,
    /// In a new JVM, and then in a warm one to compare.
    Both,
    /// In a warm one.
    Warm,
}

impl Trust {
    /// Trust them as an earlier session did.
    fn take_over(&mut self) {
        if matches!(self.course, Course::Tried { .. }) {
            (self.course, self.is_written) = (Course::Trusted, true);
        }
    }

    /// Whether they are trusted, where something else is written down.
    fn news(&mut self) -> Option<bool> {
        let is_trusted = matches!(self.course, Course::Trusted);
        let is_news = is_trusted != self.is_written;
        self.is_written = is_trusted;
        is_news.then_some(is_trusted)
    }

    /// Whether so many more orders run in both kinds of JVM, at least.
    pub(super) fn are_still_tried(&self, orders: u32) -> bool {
        matches!(self.course, Course::Tried { agreed, .. } if agreed + orders <= ORDERS_TO_AGREE)
    }

    /// Whether no environment was warm yet.
    pub(super) fn is_new(&self) -> bool {
        self.environments == 0
    }

    /// Where the next environment runs.
    pub(super) fn place(&self) -> Place {
        match self.course {
            Course::Impossible(_) | Course::GivenUp(_) => Place::New,
            Course::Tried { .. } => Place::Both,
            Course::Trusted => Place::Warm,
        }
    }

    /// Take in that both kinds of JVM did the same with an order of so many tests.
    pub(super) fn agree(&mut self, tests: usize, new: Duration, warm: Duration) {
        let Course::Tried { agreed, seconds } = &mut self.course else { return };
        *agreed += 1;
        // The first has to start the JVM that all the others find.
        if tests <= SHORT && *agreed > 1 {
            seconds.push((new.as_secs_f64(), warm.as_secs_f64()));
        }
        if *agreed < ORDERS_TO_AGREE || seconds.len() < SHORT_ORDERS {
            return;
        }
        let (new, warm) =
            (median(seconds.iter().map(|it| it.0)), median(seconds.iter().map(|it| it.1)));
        self.course = match new >= WORTHWHILE * warm {
            true => Course::Trusted,
            false => Course::GivenUp(format!(
                "a warm JVM is not much faster ({:.0} ms instead of {:.0})",
                warm * 1e3,
                new * 1e3
            )),
        };
    }

    /// Take in that a test does something else in a warm JVM than in a new one.
    pub(super) fn disagree(&mut self, test: &TestId, warm: &str, new: &str) {
        self.give_up(format!("`{test}` {warm} in a warm JVM and {new} in a new one"));
    }

    /// Trust them no more.
    pub(super) fn give_up(&mut self, why: String) {
        if !matches!(self.course, Course::Impossible(_) | Course::GivenUp(_)) {
            self.course = Course::GivenUp(why);
        }
    }

    /// Count a warm environment that has ended; whether a new JVM shall be asked about it, because it
    /// is its turn, or because it is the first in which this test fails.
    pub(super) fn is_to_be_checked(&mut self, failing: Option<&TestId>) -> bool {
        self.environments += 1;
        let is_new = failing.is_some_and(|test| self.failed.insert(test.clone()));
        is_new || self.environments.is_multiple_of(SPOT_CHECK)
    }

    /// Count a JVM that cannot be used any more.
    fn retire(&mut self, reason: &str) {
        self.retired += 1;
        if self.environments >= RETIREMENTS_COUNT && 4 * self.retired > self.environments {
            self.give_up(format!("most warm JVMs can be used only once: {reason}"));
        }
    }

    fn impossible(&self) -> Option<&str> {
        match &self.course {
            Course::Impossible(why) => Some(why),
            Course::Tried { .. } | Course::Trusted | Course::GivenUp(_) => None,
        }
    }

    fn given_up(&self) -> Option<&str> {
        match &self.course {
            Course::GivenUp(why) => Some(why),
            Course::Tried { .. } | Course::Trusted | Course::Impossible(_) => None,
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Duration = Duration::from_millis(400);
    const WARM: Duration = Duration::from_millis(20);

    fn trusted() -> Trust {
        let mut trust = Trust::default();
        for _ in 0..ORDERS_TO_AGREE {
            trust.agree(1, NEW, WARM);
        }
        trust
    }

    #[test]
    fn new_jvms_give_the_results_until_warm_ones_have_agreed_often_enough() {
        let mut trust = Trust::default();
        for _ in 1..ORDERS_TO_AGREE {
            trust.agree(1, NEW, WARM);
            assert_eq!(trust.place(), Place::Both);
        }
        trust.agree(1, NEW, WARM);
        assert_eq!(trust.place(), Place::Warm);
    }

    #[test]
    fn long_orders_say_nothing_about_speed() {
        let mut trust = Trust::default();
        for _ in 0..20 {
            trust.agree(100, NEW, NEW);
        }
        assert_eq!(trust.place(), Place::Both);
        for _ in 0..SHORT_ORDERS {
            trust.agree(2, NEW, WARM);
        }
        assert_eq!(trust.place(), Place::Warm);
    }

    #[test]
    fn what_is_not_three_times_faster_is_not_worth_a_doubt() {
        let mut trust = Trust::default();
        for _ in 0..ORDERS_TO_AGREE {
            trust.agree(1, NEW, NEW / 2);
        }
        assert_eq!(trust.place(), Place::New);
        assert!(trust.given_up().is_some_and(|why| why.contains("200 ms instead of 400")));
    }

    #[test]
    fn an_earlier_trust_is_taken_over_and_lost_by_one_disagreement() {
        let mut trust = trusted();
        assert_eq!((trust.news(), trust.news()), (Some(true), None));
        let mut later = Trust::default();
        later.take_over();
        assert_eq!((later.place(), later.news()), (Place::Warm, None));
        later.disagree(&TestId::from("a.B#c"), "passes", "fails");
        assert_eq!(later.news(), Some(false));
        later.take_over();
        assert_eq!(later.place(), Place::New);
    }

    #[test]
    fn one_disagreement_is_enough_for_good() {
        let mut trust = trusted();
        trust.disagree(&TestId::from("a.B#c"), "passes", "fails");
        trust.agree(1, NEW, WARM);
        assert_eq!(trust.place(), Place::New);
        let why = trust.given_up().unwrap_or_default();
        assert_eq!(why, "`a.B#c` passes in a warm JVM and fails in a new one");
    }

    #[test]
    fn one_of_fifty_and_the_first_failure_of_each_test_are_checked() {
        let mut trust = trusted();
        let failing = TestId::from("a.B#c");
        assert!(trust.is_to_be_checked(Some(&failing)));
        assert!(!trust.is_to_be_checked(Some(&failing)));
        let checked = (0..500).filter(|_| trust.is_to_be_checked(None)).count();
        assert_eq!(checked, 10);
    }

    #[test]
    fn jvms_that_can_be_used_only_once_are_given_up() {
        let mut trust = trusted();
        for _ in 0..RETIREMENTS_COUNT {
            trust.is_to_be_checked(None);
            trust.retire("a test loaded a native library");
        }
        assert!(trust.given_up().is_some_and(|why| why.contains("native")));
    }
}
