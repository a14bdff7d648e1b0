//! The code under test, as git knows it.

use std::path::Path;
use std::thread::JoinHandle;

use flakeproof_core::TreeState;
use flakeproof_runner::git::Repository;

/// The code under test, as git knows it.
pub(super) struct Code {
    pub(super) repository: Result<Repository, String>,
    pub(super) tree: TreeState,
}

impl Code {
    fn unknown(why: String) -> Self {
        Self { repository: Err(why), tree: TreeState::default() }
    }
}

/// An answer that git gives while something else goes on.
pub(super) struct CodeSoon(JoinHandle<Code>);

impl CodeSoon {
    /// Wait for the answer.
    pub(super) fn wait(self) -> Code {
        self.0.join().unwrap_or_else(|_| Code::unknown("git could not be asked".to_owned()))
    }
}

/// Ask git while the tests are being collected.
pub(super) fn code_in(folder: &Path) -> CodeSoon {
    let folder = folder.to_path_buf();
    CodeSoon(std::thread::spawn(move || match Repository::containing(&folder) {
        Ok(repository) => {
            let tree = repository.tree_state();
            Code { repository: Ok(repository), tree }
        }
        Err(why) => Code::unknown(why.to_string()),
    }))
}
