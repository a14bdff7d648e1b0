//! cargo: `cargo test` and `cargo nextest run`, without an agent.
//!
//! cargo builds the tests and shows how it starts them (see `found`); then they are started
//! here, by the same commands in the same surroundings. The tests of a binary share a process of
//! Rust's own harness: where the suite runs as its own command runs it, several at the same time (see
//! `crowd`), and else one at a time (see `piece`), in the harness's own order or in one of its shuffle
//! (see `shuffle`). Tests in documentation, and all tests of nextest, have a process each.

mod apart;
mod artifacts;
mod command;
mod control;
mod crowd;
mod discovery;
mod environment;
mod execution;
mod found;
mod live;
mod measure;
mod piece;
mod process;
mod session;
mod shuffle;
mod summary;
mod switch;

use std::path::PathBuf;
use std::sync::Arc;

use flakeproof_core::{Isolation, LeverName, Notice, Piece, Suite, Surroundings, TestId};

use self::command::{CargoCommand, Runner};
use self::environment::{CargoEnvironment, Standing};
use self::session::CargoSession;
use super::{Known, RunRequest};
use crate::adapter::{
    Adapter, Blame, Capabilities, Environment, Error, Likeness, Orders, Result, Then,
};
use crate::lock::locked;
use crate::shell::shell;

/// cargo in the list of adapters.
pub(super) const KNOWN: Known = Known {
    name: "cargo",
    recognises: |command| CargoCommand::parse(command).map(|_| 0),
    usual_command: |folder| {
        let is_one = folder.join("Cargo.toml").is_file();
        is_one.then(|| vec!["cargo".to_owned(), "test".to_owned()])
    },
    open: |request| Ok(Box::new(CargoAdapter::new(request)?)),
    capabilities: || {
        let of = |name: &str, orders| capabilities(name.to_owned(), orders);
        vec![of("cargo test", Orders::Seeded), of("cargo nextest", Orders::Apart)]
    },
};

/// Runs the tests of a Rust project.
#[derive(Debug)]
pub struct CargoAdapter {
    session: Arc<CargoSession>,
}

impl CargoAdapter {
    /// Prepare to run a command; nothing is started yet.
    ///
    /// # Errors
    /// When the command does not run tests with cargo, or no temporary folder or socket can be
    /// made.
    pub fn new(settings: RunRequest) -> Result<Self> {
        let Some(command) = CargoCommand::parse(&settings.command) else {
            return Err(Error::Explained {
                blame: Blame::Usage,
                what: format!("`{}` runs no tests with cargo", settings.command.join(" ")),
                next: "use `cargo test …` or `cargo nextest run …`".to_owned(),
                details: String::new(),
            });
        };
        Ok(Self { session: Arc::new(CargoSession::new(settings, command)?) })
    }

    fn environment(&self, standing: Standing) -> Box<dyn Environment> {
        Box::new(CargoEnvironment::new(&self.session, standing))
    }
}

impl Adapter for CargoAdapter {
    fn discover(&self) -> Result<Suite> {
        discovery::discover(&self.session).map_err(session::explained)
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        match how {
            Isolation::Same => Ok(self.environment(Standing::Suite)),
            Isolation::Spawn => Ok(self.environment(Standing::Apart)),
            Isolation::Fork => {
                Err(Error::NotPossible { what: "a fork".into(), why: NO_FORK.into() })
            }
        }
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        let mut environment = self.environment(Standing::SuiteAgain);
        environment.expect(order, then)?;
        Ok(environment)
    }

    fn can(&self) -> Capabilities {
        let toolchain = self.session.found.get().map_or("cargo", |found| &found.toolchain);
        let (runner, orders) = match self.session.command.runner {
            Runner::Test => {
                let is_seeded = self.session.launches.known().is_some();
                (toolchain.to_owned(), if is_seeded { Orders::Seeded } else { Orders::Own })
            }
            Runner::Nextest => (format!("{toolchain}, nextest"), Orders::Apart),
        };
        capabilities(runner, orders)
    }

    fn find_orders(&self) -> Result<Vec<Notice>> {
        if self.session.command.runner == Runner::Nextest {
            return Ok(Vec::new());
        }
        let refused = self.session.launches.switch(&self.session)?.as_ref().err();
        let notice = |why: &String| Notice {
            what: format!("tests run only in their own order: {why}"),
            next:
                "use a toolchain of Rust 1.60 or later; a test that only another order makes fail \
                   is not found"
                    .to_owned(),
        };
        Ok(refused.map(notice).into_iter().chain(self.session.who_minds()).collect())
    }

    fn runnable(&self, order: &[TestId]) -> Vec<TestId> {
        self.session.runnable(order).unwrap_or_else(|| order.to_vec())
    }

    fn surroundings(&self) -> Surroundings {
        let found = self.session.found.get();
        found.map_or_else(Surroundings::default, |found| {
            session::surroundings_of(&self.session, found)
        })
    }

    fn root(&self) -> Option<PathBuf> {
        self.session.found.get().map(|found| found.metadata.workspace_root.clone())
    }

    fn own_failure(&self) -> Option<String> {
        locked(&self.session.own_failure).clone()
    }

    fn output(&self) -> String {
        locked(&self.session.printed).clone()
    }

    fn command_to_list(&self) -> Option<String> {
        Some(command::to_list(&self.session))
    }

    fn obstacle_to(&self, lever: LeverName) -> Option<String> {
        (lever == LeverName::HashSeed)
            .then(|| "Rust has no seed of maps that can be set".to_owned())
    }

    fn command_for(&self, test: &TestId) -> String {
        command::for_one(&self.session, test)
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        command::for_order(&self.session, order)
    }

    fn command_for_all(&self) -> String {
        shell(&self.session.settings.command)
    }
}

/// Why there are no copies.
const NO_FORK: &str = "a compiled program starts in milliseconds, and is not copied";

/// What can be done with this runner.
fn capabilities(runner: String, orders: Orders) -> Capabilities {
    Capabilities {
        runner,
        fork: Err(NO_FORK.to_owned()),
        likeness: Likeness::Alike,
        snapshot: false,
        orders,
        piece: Piece::Test,
        dependencies: true,
        features: cfg!(target_os = "linux"),
        state: false,
        examines_servers: false,
    }
}
