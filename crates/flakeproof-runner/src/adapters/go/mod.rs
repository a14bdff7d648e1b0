//! `go test`.
//!
//! The user's own run, its reruns and what tests touch are those of the profile of the `command`
//! adapter. What comes on top is orders: the tests of a package share a process, and any of them can
//! run there in any order, because the standard package `testing` takes one from us. See
//! `overlay` for how, and `environment` for where that is not needed.

mod environment;
mod flags;
mod framing;
mod overlay;
mod process;
mod session;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flakeproof_core::{Isolation, LeverName, Notice, Piece, Suite, Surroundings, TestId};

use self::environment::{GoEnvironment, names_of};
use self::flags::GoFlags;
use self::session::{GoSession, Shuffle};
use super::command::{self, CommandAdapter};
use super::{Known, RunRequest};
use crate::adapter::{
    Adapter, Capabilities, Environment, Error, LONGEST_COMMAND, Likeness, Orders, Result, Then,
};
use crate::levers::RandomNumbers;
use crate::shell::shell;

/// What people call it.
const RUNNER: &str = "go test";

/// `go test` in the list of adapters.
pub(super) const KNOWN: Known = Known {
    name: "go",
    recognises: |command| command::ready_in(command, |name| name == RUNNER),
    usual_command: |folder| {
        let is_there = ["go.mod", "go.work"].iter().any(|mark| folder.join(mark).exists());
        is_there.then(|| ["go", "test", "./..."].map(str::to_owned).to_vec())
    },
    open: |request| Ok(Box::new(GoAdapter::new(request)?)),
    capabilities: || vec![capabilities(Ok(()))],
};

/// Runs the tests of Go packages.
#[derive(Debug)]
pub struct GoAdapter {
    /// The user's own run, and whatever `go test` does best itself.
    runner: Arc<CommandAdapter>,
    session: Arc<GoSession>,
    /// Whether the user's own run has only a part of the suite.
    is_part: AtomicBool,
}

impl GoAdapter {
    /// Prepare to run a command; nothing is started yet.
    ///
    /// # Errors
    /// When it is no `go test`, or no temporary folder can be made.
    pub fn new(request: RunRequest) -> Result<Self> {
        let runner = CommandAdapter::new(request.clone())?;
        let (options, tail) = runner.typed_options();
        let flags = GoFlags::of(options, tail);
        let session = Arc::new(GoSession::new(request, flags)?);
        Ok(Self { runner: Arc::new(runner), session, is_part: AtomicBool::new(false) })
    }
}

impl Adapter for GoAdapter {
    fn discover(&self) -> Result<Suite> {
        self.runner.discover()
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        let can_order = self.session.installed();
        match (how, can_order) {
            (Isolation::Same | Isolation::Spawn, Err(_)) => self.runner.open(how),
            // What a run of the whole suite did not come to runs as it did before.
            (Isolation::Same, Ok(_)) if self.runner.has_run_all() => self.runner.open(how),
            (Isolation::Fork, Err(why)) => {
                Err(Error::NotPossible { what: "a prepared process".into(), why })
            }
            (Isolation::Fork | Isolation::Spawn | Isolation::Same, Ok(_)) => {
                Ok(Box::new(GoEnvironment::new(&self.session, &self.runner, how)))
            }
        }
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        let is_part = self.is_part.load(Ordering::Relaxed) && !self.runner.has_run_all();
        let is_share = is_part || (order.len() > 1 && !self.runner.is_beginning_of_suite(order)?);
        if !is_share || self.session.installed().is_err() {
            return self.runner.reopen(order, then);
        }
        let mut share = self.open(Isolation::Spawn)?;
        share.expect(order, then)?;
        Ok(share)
    }

    fn narrow(&self, part: &[TestId]) -> Result<Vec<Notice>> {
        self.is_part.store(true, Ordering::Relaxed);
        self.runner.narrow(part)
    }

    fn can(&self) -> Capabilities {
        capabilities(self.session.installed().map(drop))
    }

    fn surroundings(&self) -> Surroundings {
        self.runner.surroundings()
    }

    fn root(&self) -> Option<PathBuf> {
        self.runner.root()
    }

    fn own_failure(&self) -> Option<String> {
        self.runner.own_failure().or_else(|| self.session.unexplained())
    }

    fn output(&self) -> String {
        self.runner.output()
    }

    fn notices(&self) -> Vec<Notice> {
        let cannot = self.session.installed().err();
        let cannot = cannot.or_else(|| self.session.unbuilt()).map(|why| Notice {
            what: format!("tests of a package cannot run in another order in one process: {why}"),
            next: "each has a process of its own; who depends on others is not found there".into(),
        });
        self.runner.notices().into_iter().chain(cannot).collect()
    }

    fn most_environments(&self) -> Option<usize> {
        self.runner.most_environments()
    }

    fn obstacle_to(&self, lever: LeverName) -> Option<String> {
        match lever {
            LeverName::Clock => {
                Some("programs in Go ask the system for the time without the C library".to_owned())
            }
            LeverName::HashSeed => Some("Go has no seed of maps that can be set".to_owned()),
            _ => None,
        }
    }

    fn random_numbers(&self) -> std::result::Result<RandomNumbers, String> {
        Ok(RandomNumbers::Go)
    }

    fn command_for(&self, test: &TestId) -> String {
        self.runner.command_for(test)
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        let [first, _, ..] = order else { return self.runner.command_for_order(order) };
        let package = self.runner.package_and_name(first).ok()?.0;
        let is_of_it = |test: &TestId| {
            self.runner.package_and_name(test).is_ok_and(|(other, _)| other == package)
        };
        if !order.iter().all(is_of_it) {
            return None;
        }
        let mut words = self.runner.typed_words(order)?;
        if words.iter().map(|word| word.len() + 1).sum::<usize>() > LONGEST_COMMAND {
            return None;
        }
        let is_own = self.runner.is_in_own_order(order).ok()?;
        let names = names_of(&self.runner, order).ok()?;
        let shuffle = self.session.shuffle_for(&self.session.package(package), &names, is_own)?;
        if let Shuffle::Seed(_) = shuffle {
            let at = words.iter().position(|word| word == "-count=1")?;
            words.insert(at, format!("-shuffle={}", shuffle.value()));
        }
        Some(shell(&words))
    }

    fn command_for_all(&self) -> String {
        self.runner.command_for_all()
    }
}

/// What can be done where tests can be told an order, or why they cannot.
fn capabilities(ordered: std::result::Result<(), String>) -> Capabilities {
    Capabilities {
        runner: RUNNER.to_owned(),
        orders: if ordered.is_ok() { Orders::Any } else { Orders::Apart },
        piece: Piece::Test,
        fork: ordered,
        likeness: Likeness::Alike,
        snapshot: false,
        dependencies: true,
        features: cfg!(target_os = "linux"),
        state: false,
        examines_servers: false,
    }
}
