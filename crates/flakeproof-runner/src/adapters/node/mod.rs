//! Runners of JavaScript and TypeScript whose tests share a process: mocha, jest, vitest, node:test.
//!
//! The user's own run, a test alone in a new process and what a test touches are the plain runner's
//! word, as the `command` adapter has it. What is added are environments that run any order of tests
//! in one process: a worker of ours inside of the runner puts the tests in order by the runner's own
//! extension points, and tells of each over a socket.
//!
//! A worker has loaded the runner and no test when it is asked ([`Isolation::Fork`]: cheap and nearly
//! new; jest and vitest give each file a world of its own, mocha and node:test a process). What is found there is
//! confirmed in processes that are new from their very start ([`Isolation::Spawn`]).

mod environment;
mod recipe;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use flakeproof_core::{Isolation, LeverName, Notice, Suite, Surroundings, TestId};

use self::environment::NodeEnvironment;
use self::worker::NodeSession;
use super::command::{self, CommandAdapter};
use super::{Known, RunRequest};
use crate::adapter::{Adapter, Capabilities, Environment, Orders, Result, Then};
use crate::levers::RandomNumbers;

/// The runners of Node in the list of adapters.
pub(super) const KNOWN: Known = Known {
    name: "node",
    recognises: |command| command::ready_in(command, |name| kind_of(name).is_some()),
    usual_command: |_| None,
    open: |request| Ok(Box::new(NodeAdapter::new(request, None)?)),
    capabilities: || {
        let with_orders = |mut can: Capabilities| {
            let kind = kind_of(&can.runner)?;
            refine(&mut can, kind);
            Some(can)
        };
        command::ready_capabilities().into_iter().filter_map(with_orders).collect()
    },
};

/// A runner whose tests can be put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunnerKind {
    /// All files in one process.
    Mocha,
    /// Each file in a context of its own.
    Jest,
    /// Each file in a worker of its own, as a rule.
    Vitest,
    /// Each file in a process of its own.
    NodeTest,
}

impl RunnerKind {
    /// The worker's main file.
    fn program(self) -> &'static str {
        match self {
            Self::Mocha => "mocha.cjs",
            Self::Jest => "jest.cjs",
            Self::Vitest => "vitest.mjs",
            Self::NodeTest => "node-test.cjs",
        }
    }

    /// In which orders its tests can run in one environment.
    fn orders(self) -> Orders {
        match self {
            Self::Mocha => Orders::AnyFresh,
            Self::Jest | Self::Vitest | Self::NodeTest => Orders::ByFile,
        }
    }

    /// How many orders one worker may run one after the other: what a runner keeps in its own memory
    /// grows, and what tests do to the process stays.
    fn most_orders(self) -> u32 {
        match self {
            Self::Mocha => 1,
            Self::Jest => 40,
            Self::Vitest => 200,
            // Its files have processes of their own anyway.
            Self::NodeTest => 1_000,
        }
    }
}

/// The kind of a runner by the name that people call it.
pub(super) fn kind_of(name: &str) -> Option<RunnerKind> {
    match name {
        "mocha" => Some(RunnerKind::Mocha),
        "jest" => Some(RunnerKind::Jest),
        "vitest" => Some(RunnerKind::Vitest),
        "node:test" => Some(RunnerKind::NodeTest),
        _ => None,
    }
}

fn refine(can: &mut Capabilities, kind: RunnerKind) {
    can.orders = kind.orders();
    can.fork = Ok(());
    can.state = true;
}

/// Runs the tests of a runner of Node.
#[derive(Debug)]
pub struct NodeAdapter {
    plain: CommandAdapter,
    session: Option<Arc<NodeSession>>,
}

impl NodeAdapter {
    /// Prepare to run a command; nothing is started yet.
    ///
    /// # Errors
    /// When nobody knows how the command runs its tests, or no temporary folder can be made.
    pub fn new(request: RunRequest, notice: Option<Notice>) -> Result<Self> {
        let mut plain = CommandAdapter::new(request)?;
        if let Some(notice) = notice {
            plain = plain.with_notice(notice);
        }
        let kind = kind_of(plain.runner());
        let session = kind.map(|kind| Arc::new(NodeSession::new(plain.session(), kind)));
        Ok(Self { plain, session })
    }
}

/// The adapter for a command that a script of the project holds.
pub(super) fn of_script(request: RunRequest, notice: Notice) -> Result<Box<dyn Adapter>> {
    Ok(Box::new(NodeAdapter::new(request, Some(notice))?))
}

impl Adapter for NodeAdapter {
    fn discover(&self) -> Result<Suite> {
        self.plain.discover()
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        match (how, &self.session) {
            (Isolation::Same, _) | (_, None) => self.plain.open(how),
            (Isolation::Fork | Isolation::Spawn, Some(session)) => {
                let plain = self.plain.open(Isolation::Spawn)?;
                Ok(Box::new(NodeEnvironment::new(session, how, plain)))
            }
        }
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        self.plain.reopen(order, then)
    }

    fn narrow(&self, part: &[TestId]) -> Result<Vec<Notice>> {
        self.plain.narrow(part)
    }

    fn can(&self) -> Capabilities {
        let mut can = self.plain.can();
        if let Some(session) = &self.session {
            refine(&mut can, session.kind());
        }
        can
    }

    /// Any order is there without asking; what was seen in workers is told.
    fn find_orders(&self) -> Result<Vec<Notice>> {
        let seen = self.session.as_ref().and_then(|session| session.notice_of_retries());
        Ok(seen.into_iter().collect())
    }

    fn surroundings(&self) -> Surroundings {
        self.plain.surroundings()
    }

    fn root(&self) -> Option<PathBuf> {
        self.plain.root()
    }

    fn own_failure(&self) -> Option<String> {
        self.plain.own_failure()
    }

    fn output(&self) -> String {
        self.plain.output()
    }

    fn notices(&self) -> Vec<Notice> {
        let mut notices = self.plain.notices();
        notices.extend(self.session.as_ref().and_then(|session| session.notice()));
        notices
    }

    fn most_environments(&self) -> Option<usize> {
        self.plain.most_environments()
    }

    fn obstacle_to(&self, lever: LeverName) -> Option<String> {
        (lever == LeverName::HashSeed).then(|| {
            "Node keeps the order of its maps, and takes no seed from a variable".to_owned()
        })
    }

    fn random_numbers(&self) -> std::result::Result<RandomNumbers, String> {
        Ok(RandomNumbers::Node)
    }

    fn command_for(&self, test: &TestId) -> String {
        self.plain.command_for(test)
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        self.plain.command_for_order(order)
    }

    fn command_for_all(&self) -> String {
        self.plain.command_for_all()
    }
}
