//! Code that runs on the base and is not the base's: the head's own, and what was installed or made of it before
//! the tests began. What fails there with it says nothing of the code from before the change.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use flakeproof_core::{BlindSpot, Dependencies};
use flakeproof_runner::git::{Checkout, is_of_another_work_tree, is_own_code};

use super::servers;
use crate::build_files::{self, Content, Decides};
use crate::intersect::is_installed_copy;

/// What is asked of each execution on the base.
#[derive(Debug)]
pub(super) struct ForeignCode {
    /// The project.
    pub(super) head: PathBuf,
    /// The base, beside it.
    pub(super) checkout: Rc<Checkout>,
    /// The files that differ between them.
    pub(super) changed: Vec<String>,
    /// What runs the tests.
    pub(super) command: Vec<String>,
    /// Whether its tests ask servers whose code nobody sees.
    pub(super) examines_servers: bool,
}

impl ForeignCode {
    /// Which code that an execution there used is not the base's, if there may be any.
    pub(super) fn of(&self, used: Option<&Dependencies>) -> Option<String> {
        let own = match used {
            Some(used) => self.seen_in(used),
            None if is_built_where_it_runs(&self.command) && !self.examines_servers => None,
            None => Some("which code it runs there is not measured".to_owned()),
        };
        own.or_else(|| self.prepared(used)).or_else(|| self.brought(used))
    }

    fn seen_in(&self, used: &Dependencies) -> Option<String> {
        let is_of_head = |path: &&String| {
            let path = Path::new(path.as_str());
            let is_there = path.starts_with(self.checkout.root()) || self.checkout.is_linked(path);
            path.starts_with(&self.head) && !is_there
        };
        if let Some(path) = used.code.iter().chain(&used.opened).find(is_of_head) {
            return Some(format!("it uses {path} of the project there, not of the base"));
        }
        if let Some(why) = servers::code_of_the_change(used, &self.changed) {
            return Some(why);
        }
        let is_outside =
            |path: &&String| !Path::new(path.as_str()).starts_with(self.checkout.root());
        used.code.iter().filter(is_outside).find_map(|path| {
            if let Some(copy) = self.changed.iter().find(|it| is_installed_copy(path, it)) {
                return Some(format!("it runs {path}, an installed copy of {copy}"));
            }
            let path = Path::new(path).canonicalize().ok()?;
            let is_elsewhere = is_of_another_work_tree(&path, &[&self.head, self.checkout.root()]);
            is_elsewhere.then(|| format!("it runs {}, which is edited elsewhere", path.display()))
        })
    }

    /// Both sides run with the packages that are installed, and with what is compiled, as the head wants them.
    fn prepared(&self, used: Option<&Dependencies>) -> Option<String> {
        let builds_itself = reads_its_packages(&self.command);
        let can_be_compiled = used.is_none_or(|used| {
            used.blind_spots.iter().any(|spot| {
                matches!(
                    spot,
                    BlindSpot::NativeCode { .. }
                        | BlindSpot::Process { .. }
                        | BlindSpot::Server { .. }
                )
            })
        });
        let path = self.changed.iter().find(|path| match build_files::decides(path) {
            Some(Decides::Machine) => true,
            Some(Decides::Packages) => !builds_itself,
            Some(Decides::Compiling | Decides::Compiled) => !builds_itself && can_be_compiled,
            Some(Decides::Runner) => false,
            None => match build_files::content(path) {
                Content::ForPeople | Content::Code | Content::Key | Content::Data => false,
                // One that runs where it lies runs on each side for itself.
                Content::Script => !used.is_some_and(|used| self.uses(used, path)),
            },
        })?;
        Some(format!(
            "{path} changed, and what is installed or built by it is the same there as here"
        ))
    }

    fn uses(&self, used: &Dependencies, path: &str) -> bool {
        let there = self.checkout.root().join(path);
        let there = there.to_string_lossy();
        used.opened.contains(&*there) || used.code.contains(&*there)
    }

    /// What git ignores came along from the head, of whose files it may have been made: code of any, and data of
    /// what is no code that the tests run.
    fn brought(&self, used: Option<&Dependencies>) -> Option<String> {
        let is_followed = |path: &String| {
            used.is_some_and(|used| used.followed.iter().any(|it| path.ends_with(it.as_str())))
        };
        let is_made_of =
            |path: &String| build_files::content(path) != Content::ForPeople && !is_followed(path);
        let can_be_data = self.changed.iter().any(is_made_of);
        let root = self.checkout.root();
        let mut brought = (self.checkout.files_from_the_head().into_iter())
            .filter(|path| can_be_data || is_own_code(root, &root.join(path)));
        let path = match used {
            Some(used) => brought.find(|path| {
                let there = root.join(path);
                let there = there.to_string_lossy();
                used.code.contains(&*there) || used.opened.contains(&*there)
            }),
            None => brought.find(|path| is_own_code(root, &root.join(path))),
        };
        path.map(|path| {
            let path = path.display();
            format!("git ignores {path}, which came along and may be made of the code here")
        })
    }
}

/// The program of a command, behind what only prepares its variables.
fn program(command: &[String]) -> Option<&str> {
    let mut words = command.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
    words.find(|word| *word != "env" && !word.contains('='))
}

/// Whether a command runs the code of its folder and nothing else of the project: what is installed
/// beside it was looked at before.
fn is_built_where_it_runs(command: &[String]) -> bool {
    matches!(
        program(command),
        Some(
            "go" | "cargo" | "node" | "npx" | "npm" | "pnpm" | "yarn" | "jest" | "vitest" | "mocha"
        )
    )
}

/// Whether a command reads itself which packages it needs, gets them, and compiles, in every folder anew.
fn reads_its_packages(command: &[String]) -> bool {
    matches!(
        program(command),
        Some("go" | "cargo" | "mvn" | "mvnw" | "mvnd" | "gradle" | "gradlew")
    )
}

/// Why a command on the base would use code that was built from the head, where that is known before.
pub(super) fn from_elsewhere(command: &[String], below: &Path, root: &Path) -> Option<String> {
    // Also behind programs that only prepare what surrounds it: `env A=1 mvn test`.
    let name = |word: &String| word.rsplit('/').next().unwrap_or(word).to_owned();
    let is_maven =
        command.iter().map(name).any(|it| matches!(it.as_str(), "mvn" | "mvnw" | "mvnd"));
    if is_maven && !below.as_os_str().is_empty() {
        return Some("a module of Maven's uses its siblings from the local repository".to_owned());
    }
    let configured = std::fs::read_to_string(root.join(".mvn/maven.config")).unwrap_or_default();
    let everywhere = std::env::var("MAVEN_ARGS").unwrap_or_default();
    let words: Vec<&str> = (command.iter().map(String::as_str))
        .chain(configured.split_whitespace())
        .chain(everywhere.split_whitespace())
        .collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let begins = |word: &str, options: &[&str]| options.iter().any(|it| word.starts_with(it));
    let is_part = |word: &&str| begins(word, &["-pl", "--projects"]);
    // `-fae`, `-ff` and `-fn` say how to go on after a failure.
    let is_elsewhere = |word: &&str| {
        begins(word, &["-f", "--file", "-rf", "--resume-from"])
            && !matches!(*word, "-fae" | "-ff" | "-fn" | "--fail-fast")
    };
    let builds_siblings = has(&["-am", "--also-make"]) && !words.iter().any(is_elsewhere);
    if is_maven && words.iter().any(|it| is_part(it) || is_elsewhere(it)) && !builds_siblings {
        return Some(
            "modules that are not built (`-pl` without `-am`, `-f`, `-rf`) come from the local \
             repository"
                .to_owned(),
        );
    }
    let modules = std::fs::read_to_string(root.join(below).join("go.mod")).unwrap_or_default();
    let leaves = |line: &&str| line.split("=>").nth(1).is_some_and(|to| to.trim().starts_with('/'));
    if let Some(line) = modules.lines().find(leaves) {
        return Some(format!("go.mod takes code from elsewhere: {}", line.trim()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_builds_itself_is_known_by_its_program() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(reads_its_packages(&words("env A=1 ./mvnw test")));
        assert!(reads_its_packages(&words("cargo test")));
        assert!(!reads_its_packages(&words("python -m pytest cargo")));
        assert!(
            is_built_where_it_runs(&words("npx mocha")) && !reads_its_packages(&words("npx mocha"))
        );
    }

    #[test]
    fn siblings_from_a_local_repository_are_no_base() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let folder = tempfile::tempdir().unwrap();
        let why = |command: &str, below: &str| {
            from_elsewhere(&words(command), Path::new(below), folder.path())
        };
        assert!(why("mvn test -pl web", "").is_some());
        assert!(why("mvn test -pl web -am", "").is_none());
        assert!(why("mvn test", "web").is_some());
        assert!(why("mvn test", "").is_none());
        assert!(why("mvn -fae test", "").is_none());
        for hidden in [
            "env A=1 mvn test -pl web",
            "./mvnw -pl=web test",
            "mvn --projects=web test",
            "mvn -f web/pom.xml test",
            "mvn -f web/pom.xml -am test",
            "mvn test -rf :web",
        ] {
            assert!(why(hidden, "").is_some(), "{hidden}");
        }
        std::fs::create_dir(folder.path().join(".mvn")).unwrap();
        std::fs::write(folder.path().join(".mvn/maven.config"), "-pl\nweb\n").unwrap();
        assert!(why("mvn test", "").is_some());
        std::fs::write(folder.path().join("go.mod"), "replace a.b/c => /elsewhere/c\n").unwrap();
        assert!(why("go test ./...", "").is_some());
    }
}
