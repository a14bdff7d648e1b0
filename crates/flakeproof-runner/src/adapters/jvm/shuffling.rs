//! JVMs in which a seed decides the orders that the specification of the JDK leaves open: those of hash
//! tables, of what reflection tells, and of the files in a folder.
//!
//! An agent in the JVM shuffles them for calls of the project and its libraries. What the JDK does for
//! itself, and what runs the tests, stays as it is.

use flakeproof_core::Shuffle;

use super::project::Project;
use super::worker::Worker;
use crate::adapter::{Error, Result};
use crate::folders::Scratch;

/// The file in which a JVM writes down the calls, and the one with what it is told.
const CALLS: &str = "shuffled-calls";
const SETTINGS: &str = "shuffle";

/// What a JVM is told about its orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shuffling {
    shuffle: Shuffle,
    /// Whether it writes down the calls that get a shuffled order.
    is_told: bool,
}

impl Shuffling {
    /// Prepare a shuffle.
    ///
    /// # Errors
    /// When JVMs of the project cannot be told.
    pub(super) fn new(project: &Project, shuffle: Shuffle) -> Result<Self> {
        match obstacle(project) {
            Some(why) => {
                Err(Error::NotPossible { what: "another order of hash tables".into(), why })
            }
            None => Ok(Self { shuffle, is_told: false }),
        }
    }

    /// The same, with the calls written down.
    pub(super) fn told(self) -> Self {
        Self { is_told: true, ..self }
    }

    /// The option that makes a JVM do so, whose temporary files lie there.
    pub(super) fn option(&self, worker: &Worker, scratch: &Scratch) -> Result<String> {
        let jar = worker.shuffler().ok_or_else(|| {
            let why = "the agent for it could not be packed".into();
            Error::NotPossible { what: "another order of hash tables".into(), why }
        })?;
        let file = scratch.path().join(SETTINGS);
        let calls = match self.is_told {
            true => scratch.path().join(CALLS).to_string_lossy().into_owned(),
            false => String::new(),
        };
        std::fs::write(&file, self.text(&calls))
            .map_err(Error::io("write what the JVM is told about its orders"))?;
        Ok(format!("-javaagent:{}={}", jar.display(), file.display()))
    }

    fn text(&self, calls: &str) -> String {
        let Shuffle { seed, only } = &self.shuffle;
        let chosen = match only {
            None => "all\n".to_owned(),
            Some(only) => only.iter().fold("only\n".to_owned(), |text, call| text + call + "\n"),
        };
        format!("{seed}\n{calls}\n{chosen}")
    }
}

/// Why JVMs of a project cannot be told about their orders, if so.
pub(super) fn obstacle(project: &Project) -> Option<String> {
    let modules = project.modules.iter();
    modules.filter(|module| module.shuffler().is_none()).map(|module| &module.jdk).next().map(
        |jdk| match jdk.can_be_shuffled() {
            false => format!("that takes Java 9 or newer, and this is Java {}", jdk.version),
            true => "the agent for it could not be packed with the JDK's `jar`".to_owned(),
        },
    )
}

/// What a JVM wrote down.
pub(super) fn calls_in(scratch: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(scratch.path().join(CALLS)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_the_seed_where_to_write_and_which_calls() {
        let text = |shuffle| Shuffling { shuffle, is_told: false }.text("/there");
        assert_eq!(text(Shuffle::all(7)), "7\n/there\nall\n");
        let some = Shuffle::only(7, vec!["a.B.c (B.java:1): x".into(), "d".into()]);
        assert_eq!(text(some), "7\n/there\nonly\na.B.c (B.java:1): x\nd\n");
    }
}
