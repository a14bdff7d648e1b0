//! Any other runner: described by data, told what to run by its command line, understood by its
//! report.
//!
//! [`Profile`] is the description. Those of well-known runners are ready-made and chosen by the
//! user's command; others come from the configuration file.

mod choice;
mod environment;
mod launch;
mod profile;
mod ready;
mod session;
mod touched;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flakeproof_core::{Isolation, Notice, Piece, Suite, Surroundings, TestId};

use self::environment::CommandEnvironment;
use self::launch::Asked;
use self::ready::{READY, Ready};
use super::{Known, RunRequest, node};
use crate::adapter::{
    Adapter, Capabilities, Environment, Error, LONGEST_COMMAND, Likeness, Orders, Result, Then,
};
use crate::shell::shell;

pub(super) use self::environment::{execution, untold};
pub(super) use self::profile::Fields;
pub use self::profile::{CommandText, Coverage, Escape, ListFormat, Profile, Profiles};
pub(super) use self::session::CommandSession;
pub(super) use self::touched::measured;

/// Any runner in the list of adapters.
pub(super) const KNOWN: Known = Known {
    name: "command",
    recognises: ready::program_in,
    usual_command: ready::usual_command,
    open: |request| Ok(Box::new(CommandAdapter::new(request)?)),
    capabilities: || {
        // Go and some runners of Node have adapters that build on this one.
        let is_ours = |name: &str| name != ready::GO.name && node::kind_of(name).is_none();
        let mut all = ready_capabilities();
        all.retain(|can| is_ours(&can.runner));
        all
    },
};

/// What can be done with each runner that needs no description, told by its command line alone.
pub(super) fn ready_capabilities() -> Vec<Capabilities> {
    let of = |ready: &Ready| capabilities(ready.name.to_owned(), &(ready.profile)());
    READY.iter().map(of).collect()
}

/// Which word of a command is the program of a runner that needs no description and whose name fits.
pub(super) fn ready_in(command: &[String], fits: impl Fn(&str) -> bool) -> Option<usize> {
    let (ready, _) = ready::of_command(command)?;
    fits(ready.name).then(|| ready::program_in(command)).flatten()
}

/// Which word of a command is the program of a runner that needs no description.
pub(super) fn recognises(command: &[String]) -> Option<usize> {
    ready::program_in(command)
}

/// Whether the configuration file describes the runner of a request.
pub(super) fn is_described(request: &RunRequest) -> bool {
    match &request.adapter {
        Some(name) => request.profiles.contains_key(name),
        None => choice::by_command(&request.profiles, &request.command).is_some(),
    }
}

/// Runs tests by any command that reports on them.
#[derive(Debug)]
pub struct CommandAdapter {
    session: Arc<CommandSession>,
    notice: Option<Notice>,
}

impl CommandAdapter {
    /// Prepare to run a command; nothing is started yet.
    ///
    /// # Errors
    /// When nobody knows how the command runs its tests, or no temporary folder can be made.
    pub fn new(request: RunRequest) -> Result<Self> {
        Ok(Self { session: Arc::new(CommandSession::new(request)?), notice: None })
    }

    /// What people call the runner.
    pub(super) fn runner(&self) -> &str {
        &self.session.runner.name
    }

    /// What its environments share.
    pub(super) fn session(&self) -> &Arc<CommandSession> {
        &self.session
    }

    /// The same adapter, with something that the reader should know about its command.
    pub(super) fn with_notice(self, notice: Notice) -> Self {
        Self { notice: Some(notice), ..self }
    }

    /// The program and its options, and what it hands on to the tests.
    pub(super) fn typed_options(&self) -> (&[String], &[String]) {
        (&self.session.runner.typed.options, &self.session.runner.typed.tail)
    }

    /// The package of a test, and what it is called there.
    pub(super) fn package_and_name(&self, test: &TestId) -> Result<(&str, &str)> {
        let fields = self.session.fields(test)?;
        Ok((&fields.suite, &fields.name))
    }

    /// Whether tests stand as they do in the suite, where others may be between them.
    pub(super) fn is_in_own_order(&self, tests: &[TestId]) -> Result<bool> {
        let mut suite = self.session.project()?.suite.tests.iter();
        Ok(tests.iter().all(|test| suite.any(|it| it.id == *test)))
    }

    /// Whether these tests are the suite.
    pub(super) fn is_whole_suite(&self, tests: &[TestId]) -> Result<bool> {
        let suite = &self.session.project()?.suite.tests;
        Ok(suite.len() == tests.len() && suite.iter().zip(tests).all(|(it, test)| it.id == *test))
    }

    /// Whether the user's own command has run the suite.
    pub(super) fn has_run_all(&self) -> bool {
        self.session.has_run_all()
    }

    /// Whether the suite begins with these tests, which are several.
    pub(super) fn is_beginning_of_suite(&self, tests: &[TestId]) -> Result<bool> {
        let suite = &self.session.project()?.suite.tests;
        let is_equal = suite.iter().zip(tests).all(|(it, test)| it.id == *test);
        Ok(tests.len() > 1 && tests.len() <= suite.len() && is_equal)
    }

    /// The words of a command as a person types it for these tests.
    pub(super) fn typed_words(&self, tests: &[TestId]) -> Option<Vec<String>> {
        let profile = self.session.profile();
        let command = profile.command_for.as_ref().unwrap_or(&profile.run);
        let values = self.session.values(Asked::Tests(tests), Path::new(".")).ok()?;
        Some(values.fill(command))
    }

    /// A command as a person types it for these tests.
    fn typed(&self, tests: &[TestId]) -> Option<String> {
        let profile = self.session.profile();
        let command = profile.command_for.as_ref().unwrap_or(&profile.run);
        let values = self.session.values(Asked::Tests(tests), Path::new("."));
        values.ok().map(|values| values.typed(command))
    }
}

impl Adapter for CommandAdapter {
    fn discover(&self) -> Result<Suite> {
        self.session.discover()
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        match how {
            Isolation::Fork => {
                Err(Error::NotPossible { what: "a fork".into(), why: NO_FORK.to_owned() })
            }
            Isolation::Same | Isolation::Spawn => {
                Ok(Box::new(CommandEnvironment::new(&self.session, how)))
            }
        }
    }

    fn reopen(&self, _: &[TestId], _: Then) -> Result<Box<dyn Environment>> {
        let settings = self.session.settings.clone();
        let part = self.session.part();
        let again = Self::new(RunRequest { is_whole_suite_next: part.is_none(), ..settings })?;
        let mut tests = again.discover()?.ids();
        if let Some(part) = part {
            let part: HashSet<&TestId> = part.iter().collect();
            tests.retain(|test| part.contains(test));
            again.narrow(&tests)?;
        }
        let mut environment = again.open(Isolation::Same)?;
        environment.expect(&tests, Then::End)?;
        Ok(environment)
    }

    fn narrow(&self, part: &[TestId]) -> Result<Vec<Notice>> {
        self.session.narrow(part)
    }

    fn can(&self) -> Capabilities {
        let profile = self.session.profile();
        capabilities(self.session.runner.name.clone(), profile)
    }

    fn surroundings(&self) -> Surroundings {
        session::surroundings_of(&self.session)
    }

    fn root(&self) -> Option<PathBuf> {
        Some(self.session.folder().to_path_buf())
    }

    fn own_failure(&self) -> Option<String> {
        self.session.unexplained()
    }

    fn output(&self) -> String {
        self.session.output()
    }

    fn notices(&self) -> Vec<Notice> {
        self.notice.iter().cloned().collect()
    }

    fn most_environments(&self) -> Option<usize> {
        self.session.profile().has_fixed_files().then_some(1)
    }

    fn command_for(&self, test: &TestId) -> String {
        let typed = self.typed(std::slice::from_ref(test));
        typed.unwrap_or_else(|| shell(&self.session.settings.command))
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        let typed = match order {
            [] => None,
            [_] => self.typed(order),
            _ if self.session.profile().keeps_order() => self.typed(order),
            _ => None,
        };
        typed.filter(|command| command.chars().count() <= LONGEST_COMMAND)
    }

    fn command_for_all(&self) -> String {
        shell(&self.session.settings.command)
    }
}

const NO_FORK: &str = "a runner's process cannot be copied";

/// What can be done with a runner that this profile describes.
fn capabilities(runner: String, profile: &Profile) -> Capabilities {
    Capabilities {
        runner,
        fork: Err(NO_FORK.to_owned()),
        likeness: Likeness::Alike,
        snapshot: false,
        orders: if profile.keeps_order() { Orders::Any } else { Orders::Apart },
        // Many runners set up a file or class once for all that is in it, or run it in order.
        piece: Piece::File,
        dependencies: profile.coverage.is_some(),
        features: cfg!(target_os = "linux"),
        state: false,
        examines_servers: profile.examines_servers,
    }
}
