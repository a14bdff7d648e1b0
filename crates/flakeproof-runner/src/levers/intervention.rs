//! One thing that is changed about the processes of a test, as a value.
//!
//! It is an enum and not a struct of options: a lever changes one thing. How it reaches the processes of
//! any runner: every process that an adapter starts goes through the same door, and whoever opens it asks
//! what is [in force](InForce). What can be inherited (variables, limits, cores, namespaces) is set up by
//! the guard before it starts the command; what must go on while the test runs (a quota, competing load,
//! threads held back) is a [`Pressure`](super::Pressure) of the program itself, so that it begins when
//! the runner is ready and ends with it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flakeproof_core::Shuffle;
use serde::{Deserialize, Serialize};

use super::{FileInPlace, HeldCalls, Machine, SeededNumbers};
use crate::system;

/// One thing that is changed about the processes of a test.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intervention {
    /// Nothing is.
    #[default]
    Nothing,
    /// Variables of the environment; `None` removes one.
    Variables(BTreeMap<String, Option<String>>),
    /// A variable that names a new, empty folder.
    NewFolder(String),
    /// The rights that new files do not get.
    Umask(u32),
    /// The number of files that may be open.
    Descriptors(u64),
    /// The memory that each process may have, in MiB.
    Memory(u64),
    /// Signals that are ignored by whoever starts the command, by their names in a shell.
    IgnoredSignals(String),
    /// All threads and processes on one core.
    OneCore,
    /// Code and data always at the same place in memory.
    FixedAddresses,
    /// Namespaces of their own.
    Namespaces(Namespaces),
    /// Another time of the day and another date.
    Clock {
        /// The library that answers for the system.
        library: PathBuf,
        /// Seconds since 1970 when the command starts; the true time without.
        at: Option<i64>,
    },
    /// Everything stops and goes on in turns.
    Quota {
        /// How long it runs.
        running: Duration,
        /// How long it stops then.
        stopped: Duration,
    },
    /// So many threads of other work.
    Load(usize),
    /// Random threads are held back for random times.
    HeldThreads(u64),
    /// System calls take long, or fail.
    HeldCalls(HeldCalls),
    /// The tests that run before it, or beside it.
    Company(Company),
    /// Orders that the language leaves open, where the adapter lets a seed decide them.
    OpenOrders(Shuffle),
    /// Random numbers from a seed.
    SeededNumbers(SeededNumbers),
    /// Files that stand in the place of others.
    FilesInPlace(Vec<FileInPlace>),
}

/// Namespaces of their own for the processes of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Namespaces {
    /// Users, each mapped to itself: what the others need, and nothing else.
    User,
    /// And a network in which only this machine itself can be reached.
    Loopback,
    /// And a network in which nothing can be reached.
    NoNetwork,
}

/// Which tests run with a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Company {
    /// Those that come before it in the suite, in that order.
    SuiteBefore,
    /// Those that come after it in the suite, the last one first.
    SuiteReversed,
    /// A copy of itself, at the same time in the same folder.
    Itself,
    /// A copy of itself, one after the other: the control of the other one. Either copy may fail by
    /// chance, so that two of them fail more often than one.
    ItselfInTurn,
}

impl Intervention {
    /// Variables with these values.
    #[must_use]
    pub fn variables<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let set = |(name, value): (&str, &str)| (name.to_owned(), Some(value.to_owned()));
        Self::Variables(variables.into_iter().map(set).collect())
    }

    /// The variables that it sets or removes, if that is what it does; new folders are made in `scratch`.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub(crate) fn variables_in(
        &self,
        scratch: &Path,
        name: &str,
    ) -> std::io::Result<BTreeMap<String, Option<String>>> {
        match self {
            Self::Variables(variables) => Ok(variables.clone()),
            Self::NewFolder(variable) => {
                let folder = scratch.join(format!("{variable}-of-{name}"));
                std::fs::create_dir_all(&folder)?;
                let folder = folder.to_string_lossy().into_owned();
                Ok(BTreeMap::from([(variable.clone(), Some(folder))]))
            }
            Self::Clock { library, at } => Ok(clock_variables(library, *at)),
            Self::SeededNumbers(seeded) => Ok(seeded.variables()),
            _ => Ok(BTreeMap::new()),
        }
    }

    /// Change this very process, and with it all that it starts. It must have one thread.
    ///
    /// # Errors
    /// What the system says where it does not allow it.
    pub(crate) fn take_on(&self) -> std::io::Result<()> {
        match self {
            Self::Umask(mask) => system::set_umask(*mask),
            Self::Descriptors(limit) => system::limit_descriptors(*limit),
            Self::Memory(megabytes) => system::limit_memory(*megabytes),
            Self::OneCore => system::keep_to_one_core(),
            Self::FixedAddresses => system::fix_addresses(),
            Self::Namespaces(which) => system::enter_namespaces(*which),
            Self::FilesInPlace(files) => system::have_files_in_place(files),
            Self::Nothing
            | Self::Variables(_)
            | Self::NewFolder(_)
            | Self::IgnoredSignals(_)
            | Self::Clock { .. }
            | Self::Quota { .. }
            | Self::Load(_)
            | Self::HeldThreads(_)
            | Self::HeldCalls(_)
            | Self::Company(_)
            | Self::OpenOrders(_)
            | Self::SeededNumbers(_) => Ok(()),
        }
    }
}

impl Intervention {
    /// The command as it is started: behind a shell that ignores signals, where that is what it does. Only
    /// who ignores them itself can hand that on, and a guard must hear them.
    pub(crate) fn around(&self, command: &[OsString]) -> Vec<OsString> {
        let shell = match self {
            Self::IgnoredSignals(signals) => {
                vec![
                    "sh".into(),
                    "-c".into(),
                    format!("trap '' {signals}; exec \"$0\" \"$@\"").into(),
                ]
            }
            _ => Vec::new(),
        };
        [shell.as_slice(), command].concat()
    }
}

/// What makes the library answer for the system. Times of files, and clocks that only go forward, stay as
/// they are.
fn clock_variables(library: &Path, at: Option<i64>) -> BTreeMap<String, Option<String>> {
    let offset = at.map_or(0, |at| at - Machine::now());
    let preloaded = std::env::var("LD_PRELOAD").ok().filter(|it| !it.is_empty());
    let library = library.to_string_lossy();
    let preload = preloaded.map_or_else(|| library.to_string(), |it| format!("{library}:{it}"));
    let variables = [
        ("LD_PRELOAD", preload),
        ("FAKETIME", format!("{offset:+}")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("NO_FAKE_STAT", "1".to_owned()),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), Some(value))).collect()
}

/// What is changed about processes that are started from now on. Clones share the same state.
#[derive(Debug, Clone, Default)]
pub struct InForce(Arc<Mutex<Intervention>>);

impl InForce {
    /// An intervention that stays in force.
    #[must_use]
    pub fn always(intervention: Intervention) -> Self {
        Self(Arc::new(Mutex::new(intervention)))
    }

    /// Put an intervention into force until what is given back is dropped.
    #[must_use = "it ends when this is dropped"]
    pub fn put(&self, intervention: Intervention) -> Standing<'_> {
        self.set(intervention);
        Standing(self)
    }

    /// What is in force.
    #[must_use]
    pub fn now(&self) -> Intervention {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, intervention: Intervention) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = intervention;
    }
}

/// An intervention in force.
#[derive(Debug)]
pub struct Standing<'a>(&'a InForce);

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        self.0.set(Intervention::Nothing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intervention_is_in_force_until_it_is_dropped() {
        let (here, elsewhere) = (InForce::default(), InForce::default());
        let shared = here.clone();
        let standing = here.put(Intervention::OneCore);
        assert_eq!((shared.now(), elsewhere.now()), (Intervention::OneCore, Intervention::Nothing));
        drop(standing);
        assert_eq!(shared.now(), Intervention::Nothing);
    }

    #[test]
    fn a_new_folder_is_empty_and_another_one_for_every_process() {
        let scratch = tempfile::tempdir().unwrap();
        let home = Intervention::NewFolder("HOME".into());
        let folder = |name: &str| home.variables_in(scratch.path(), name).unwrap()["HOME"].clone();
        assert_ne!(folder("a"), folder("b"));
        assert_eq!(std::fs::read_dir(folder("a").unwrap()).unwrap().count(), 0);
    }
}
