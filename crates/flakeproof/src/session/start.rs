//! What every command that runs tests starts with: the folder, a time and a chance of its own, the
//! code under test as git knows it, and an ear for Ctrl-C.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use flakeproof_core::{Base, Seed, TreeState};
use flakeproof_runner::ci::{CiFacts, before_of_event};
use flakeproof_runner::git::{Asker, NoBeginning, Repository};
use flakeproof_runner::{Cancel, Waiting, process};
use jiff::Timestamp;

use crate::problem::Problem;
use crate::view;

/// When something begins, and a chance that nothing else has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) at: Timestamp,
    chance: u64,
}

impl Start {
    /// It begins now.
    pub(crate) fn now() -> Self {
        let at = Timestamp::now();
        Self { at, chance: entropy(&at) }
    }

    /// The id of a run that begins like this.
    pub(crate) fn id(&self) -> String {
        format!("{}-{:06x}", self.at.strftime("%Y%m%d-%H%M%S"), self.chance >> 40)
    }

    /// The seed where nobody gives one.
    pub(crate) fn seed(&self) -> Seed {
        Seed(self.chance % 1_000_000_000)
    }
}

/// The code under test, as git knows it.
pub(crate) struct Code {
    pub(crate) repository: Result<Repository, String>,
    pub(crate) tree: TreeState,
    /// Where the work began that is to be judged.
    pub(crate) beginning: Result<Base, NoBeginning>,
}

impl Code {
    fn unknown(why: String, no_beginning: NoBeginning) -> Self {
        let (tree, beginning) = (TreeState::default(), Err(no_beginning));
        Self { repository: Err(why), tree, beginning }
    }
}

/// An answer that git gives while something else goes on.
pub(crate) struct CodeSoon(JoinHandle<Code>);

impl CodeSoon {
    /// Wait for the answer.
    pub(crate) fn wait(self) -> Code {
        let failed = "git could not be asked".to_owned();
        self.0.join().unwrap_or_else(|_| Code::unknown(failed, NoBeginning::Unreadable))
    }
}

/// Ask git while the tests are being collected.
pub(crate) fn code_in(folder: &Path) -> CodeSoon {
    let folder = folder.to_path_buf();
    CodeSoon(std::thread::spawn(move || match Repository::containing(&folder) {
        Ok(repository) => {
            let tree = repository.tree_state();
            let beginning = repository.beginning_of_change(&tree, &asker());
            Code { repository: Ok(repository), tree, beginning }
        }
        Err(why) => Code::unknown(why.to_string(), why.no_beginning(&folder)),
    }))
}

/// The environment variables that are text, as all are by which CI systems say anything.
pub(crate) fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Who asks, by the environment.
fn asker() -> Asker {
    let variables = variables();
    let Some(facts) = CiFacts::read(&variables) else { return Asker::Developer };
    let event = || {
        let text = std::fs::read_to_string(variables.get("GITHUB_EVENT_PATH")?).ok()?;
        before_of_event(&text)
    };
    let is_on_default_branch = facts.is_on_default_branch();
    let CiFacts { before, base, .. } = facts;
    Asker::Ci { before: before.or_else(event), base, is_on_default_branch }
}

/// Listen for interrupts until the program ends, and say then what was being waited for.
pub(crate) fn listen_for_interrupts(waiting: &Waiting) -> Cancel {
    let (canceller, cancel) = Cancel::new();
    let waiting = waiting.clone();
    let mut is_second = false;
    let listening = process::on_interrupt(move || {
        if is_second {
            process::kill_everything_below();
            std::process::exit(130);
        }
        view::interrupted(waiting.longest().as_ref());
        canceller.cancel();
        is_second = true;
    });
    listening.map_or_else(|_| Cancel::never(), |()| cancel)
}

/// The folder the program was started in.
pub(crate) fn current_folder() -> Result<PathBuf, Problem> {
    std::env::current_dir().map_err(|error| {
        Problem::broken(
            format!("the current folder cannot be read: {error}"),
            "change to a folder that exists",
        )
    })
}

/// A number that no other run has.
fn entropy(now: &Timestamp) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&now.as_nanosecond().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}
