//! Scripts of `package.json`, as `npm test`, `yarn test` and `pnpm test` run them.
//!
//! A script is resolved where it is one command of a known runner, and nothing runs before or after
//! it. The package manager still sets up what it sets up for a script: `PATH` with the programs of
//! the project, and variables about the package.

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::Notice;
use serde::Deserialize;

use super::front::{end_of_fronts, program_name};
use super::refusal::{self, Script};
use super::simple_command::SimpleCommand;
use crate::adapter::Result;
use crate::adapters::command;
use crate::shell::shell;

/// How deep scripts may call each other.
const DEEPEST: usize = 8;

/// What a command asks of a package manager.
pub(super) enum Called {
    /// To run a script.
    Script(ScriptCall),
    /// Something with a script, and why it cannot be told what.
    Unclear(String),
    /// Nothing with a script.
    NoScript,
}

/// A program that runs scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Yarn,
    Pnpm,
}

/// A script that is to run, with more arguments for it.
#[derive(Debug, Clone)]
pub(super) struct ScriptCall {
    manager: Manager,
    typed: Vec<String>,
    name: String,
    /// Whether the name may also be that of a program in the project.
    is_maybe_a_program: bool,
    arguments: Vec<String>,
}

/// A script that was replaced by the command in it.
pub(super) struct ResolvedScript {
    typed: Vec<String>,
    text: String,
    /// The command, which names its runner.
    pub(super) command: Vec<String>,
}

impl ResolvedScript {
    /// What the reader should know, where another command runs than was typed.
    pub(super) fn notice(&self) -> Option<Notice> {
        (self.command != self.typed).then(|| Notice {
            what: format!("`{}` is the script `{}` of package.json", shell(&self.typed), self.text),
            next: format!("it runs as `{}`", shell(&self.command)),
        })
    }
}

/// What a command asks of a package manager.
pub(super) fn called(command: &[String]) -> Called {
    let Some((program, words)) = command.split_first() else { return Called::NoScript };
    let manager = match program_name(program) {
        "npm" => Manager::Npm,
        "yarn" | "yarnpkg" => Manager::Yarn,
        "pnpm" => Manager::Pnpm,
        _ => return Called::NoScript,
    };
    let mut words = words.iter().filter(|word| !is_quiet(word)).map(String::as_str).peekable();
    let verb = match words.next() {
        Some(option) if option.starts_with('-') => {
            return Called::Unclear(format!("`{option}` changes what is run, or where"));
        }
        verb => verb.unwrap_or_default(),
    };
    let (name, is_maybe_a_program) = match (verb, manager) {
        ("test" | "t" | "tst", Manager::Npm | Manager::Pnpm) => ("test", false),
        ("run" | "run-script", _) => (words.next().unwrap_or_default(), manager != Manager::Npm),
        (name, Manager::Yarn | Manager::Pnpm) => (name, true),
        _ => return Called::NoScript,
    };
    let rest: Vec<String> = words.map(str::to_owned).collect();
    match arguments(manager, &rest) {
        Ok(arguments) => Called::Script(ScriptCall {
            manager,
            typed: command.to_vec(),
            name: name.to_owned(),
            is_maybe_a_program,
            arguments,
        }),
        Err(why) => Called::Unclear(why),
    }
}

fn is_quiet(word: &str) -> bool {
    matches!(word, "-s" | "--silent")
}

/// What a manager hands on to the script. npm keeps options before `--` for itself; the others
/// hand on everything, but not all of their versions treat `--` alike.
fn arguments(manager: Manager, words: &[String]) -> std::result::Result<Vec<String>, String> {
    let dashes = words.iter().position(|word| word == "--");
    if manager != Manager::Npm {
        return match dashes {
            Some(_) => Err("not every version hands on `--`; leave it out".to_owned()),
            None => Ok(words.to_vec()),
        };
    }
    let (own, after) = words.split_at(dashes.unwrap_or(words.len()));
    if let Some(option) = own.iter().find(|word| word.starts_with('-')) {
        return Err(format!("`{option}` is an option of npm; what is for the script follows `--`"));
    }
    Ok(own.iter().chain(after.iter().skip(1)).cloned().collect())
}

/// What is read of `package.json`.
#[derive(Debug, Default, Deserialize)]
struct Package {
    #[serde(default)]
    scripts: BTreeMap<String, String>,
}

impl Package {
    fn read(call: &ScriptCall, folder: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(folder.join("package.json"))
            .map_err(|why| refusal::no_package(&call.typed, &why.to_string()))?;
        serde_json::from_str(&text)
            .map_err(|why| refusal::no_package(&call.typed, &why.to_string()))
    }
}

impl ScriptCall {
    /// The one command that the script is.
    ///
    /// # Errors
    /// When it is more than that, or not one of a known runner.
    pub(super) fn resolve(self, folder: &Path) -> Result<ResolvedScript> {
        let package = Package::read(&self, folder)?;
        let typed = self.typed.clone();
        let is_program = self.is_maybe_a_program && !package.scripts.contains_key(&self.name);
        if is_program && command::recognises(&typed).is_some() {
            return Ok(ResolvedScript { text: self.name.clone(), command: typed.clone(), typed });
        }
        let mut call = self;
        for _ in 0..DEEPEST {
            let text = call.text(&package)?;
            let script = Script { typed: &typed, name: &call.name, text: &text };
            let simple = SimpleCommand::read(&text).ok_or_else(|| {
                refusal::more_than_a_command(&script, &|it| call.started(it, folder))
            })?;
            if let Called::Script(mut inner) = called(&simple.words)
                && simple.variables.is_empty()
            {
                inner.arguments.append(&mut call.arguments);
                call = inner;
                continue;
            }
            let around = call.around(&package);
            if !around.is_empty() {
                let command = call.started(&simple, folder);
                return Err(refusal::not_alone(&script, &around, command.as_deref()));
            }
            let mut command =
                call.started(&simple, folder).ok_or_else(|| refusal::script_of_nobody(&script))?;
            command.append(&mut call.arguments);
            return Ok(ResolvedScript { typed, text, command });
        }
        let script = Script { typed: &typed, name: &call.name, text: "" };
        Err(refusal::script_of_nobody(&script))
    }

    fn text(&self, package: &Package) -> Result<String> {
        package.scripts.get(&self.name).cloned().ok_or_else(|| {
            let names: Vec<&str> = package.scripts.keys().map(String::as_str).collect();
            refusal::no_script(&self.typed, &self.name, &names)
        })
    }

    /// The scripts that run before and after this one.
    fn around(&self, package: &Package) -> Vec<String> {
        let names = ["pre", "post"].map(|when| format!("{when}{}", self.name));
        let found = names.iter().filter_map(|name| package.scripts.get_key_value(name));
        found.map(|(name, text)| format!("{name}: {text}")).collect()
    }

    /// A command of a script as the manager starts it, if its own program is a runner that takes
    /// its options after what stands there already.
    fn started(&self, simple: &SimpleCommand, folder: &Path) -> Option<Vec<String>> {
        let behind = &simple.words[end_of_fronts(&simple.words)..];
        let at = command::recognises(behind)?;
        let is_run_by_node = behind.first().is_some_and(|word| word == "node")
            && behind[1..at.max(1)].iter().all(|word| word.starts_with('-'));
        if at > 0 && !is_run_by_node {
            return None;
        }
        let program = simple.words.first()?.as_str();
        let is_here = folder.join("node_modules/.bin").join(program).exists();
        let front: &[&str] = match (self.manager, program) {
            (_, "npx" | "env") => &[],
            (Manager::Npm, _) if is_here => &["npx"],
            (Manager::Npm, _) => &["npm", "run", "--silent", "env", "--"],
            (Manager::Yarn, "node") => &["yarn"],
            (Manager::Yarn, _) => &["yarn", "run"],
            (Manager::Pnpm, _) => &["pnpm", "exec"],
        };
        let front = front.iter().map(|&word| word.to_owned());
        let words = front.chain(simple.words.iter().cloned()).collect();
        Some(SimpleCommand { variables: simple.variables.clone(), words }.into_words())
    }
}
