//! What the files of `make`, `tox` and `nox` say about a command that hides its runner.
//!
//! They are read to show the reader what stands there and what to type instead, never to run it.

use std::path::Path;

use regex::Regex;

use super::front::{end_of_fronts, program_name};
use super::simple_command::{SimpleCommand, simple_commands};
use crate::adapters::of_command;
use crate::shell::shell;

/// What a file says about a command.
pub(super) struct Recipe {
    /// Where it stands, and what it is.
    pub(super) place: String,
    /// Its text.
    pub(super) text: String,
    /// What has to be done once before.
    pub(super) first: Option<String>,
    /// The command of the runner in it.
    pub(super) command: Option<String>,
}

/// What a file in this folder says about a command of this program.
pub(super) fn find(program: &str, command: &[String], folder: &Path) -> Option<Recipe> {
    let module =
        (command.get(1).is_some_and(|word| word == "-m")).then(|| command.get(2)).flatten();
    let is_python = program.starts_with("python");
    match (program, module.filter(|_| is_python).map(String::as_str)) {
        ("make" | "gmake", _) => Some(of_make(command, folder)),
        ("tox", _) => Some(of_tox(&command[1..], folder)),
        (_, Some("tox")) => Some(of_tox(&command[3..], folder)),
        ("nox", _) => Some(of_nox(&command[1..], folder)),
        (_, Some("nox")) => Some(of_nox(&command[3..], folder)),
        _ => None,
    }
}

fn of_make(command: &[String], folder: &Path) -> Recipe {
    let target = command[1..].iter().find(|word| !word.starts_with('-') && !word.contains('='));
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let read = |name: &&str| std::fs::read_to_string(folder.join(name)).ok();
    let file = names.iter().find_map(|name| Some((*name, read(name)?)));
    let text = match (&file, target) {
        (Some((_, text)), Some(target)) => recipe_of_target(text, target),
        _ => String::new(),
    };
    let place = match (file, target) {
        (Some((name, _)), Some(target)) => format!("the recipe of `{target}` in {name}"),
        _ => "a Makefile".to_owned(),
    };
    Recipe { place, command: runner_in(&text), text, first: None }
}

/// The lines that make runs for a target, without the marks that make reads.
fn recipe_of_target(makefile: &str, target: &str) -> String {
    let is_rule = |line: &&str| {
        let names = line.split_once(':').filter(|(_, after)| !after.starts_with('='));
        !line.starts_with('\t')
            && names.is_some_and(|(names, _)| names.split_whitespace().any(|it| it == target))
    };
    let after = makefile.lines().skip_while(|line| !is_rule(line)).skip(1);
    let lines = after.take_while(|line| line.starts_with('\t'));
    let bare = lines.map(|line| line.trim_start_matches(['\t', ' ', '@', '-', '+']));
    bare.collect::<Vec<_>>().join("\n")
}

fn of_tox(arguments: &[String], folder: &Path) -> Recipe {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let file = ["tox.ini", "setup.cfg"].iter().find_map(|name| Some((*name, read(name)?)));
    let (name, ini) = file.unwrap_or(("tox.ini", String::new()));
    let all = value_of(&ini, "tox", &["env_list", "envlist"])
        .or_else(|| value_of(&ini, "tox:tox", &["env_list", "envlist"]))
        .unwrap_or_default();
    let all = all.split([',', '\n']).map(str::trim).filter(|it| !it.is_empty());
    let all: Vec<&str> = all.collect();
    let (own, typed) = match arguments.iter().position(|word| word == "--") {
        Some(at) => (&arguments[..at], shell(&arguments[at + 1..])),
        None => (arguments, String::new()),
    };
    let chosen = value_of_option(own, "-e").unwrap_or_else(|| all.join(", "));
    let environment = chosen.split(',').next().unwrap_or_default().trim().to_owned();
    let section = format!("testenv:{environment}");
    let text = value_of(&ini, &section, &["commands"])
        .or_else(|| value_of(&ini, "testenv", &["commands"]))
        .unwrap_or_default();
    let filled = with_arguments(&text, &typed);
    let bin = format!(".tox/{environment}/bin");
    Recipe {
        place: match chosen.contains(',') {
            true => format!("{name}, which has several environments ({chosen}), with the commands"),
            false => format!("the environment `{environment}` of {name}"),
        },
        text,
        first: Some(format!("tox -e {environment} --notest")),
        command: runner_in(&filled).map(|command| format!("{bin}/{command}")),
    }
    .unless_nameless(&environment)
}

impl Recipe {
    /// Nothing can be advised about an environment whose name nobody knows.
    fn unless_nameless(self, name: &str) -> Self {
        if name.is_empty() { Self { first: None, command: None, ..self } } else { self }
    }
}

/// `{posargs}` and `{posargs:these}`, with what was typed after `--` in their place.
fn with_arguments(commands: &str, typed: &str) -> String {
    let Ok(place) = Regex::new(r"\{posargs(?::([^{}]*))?\}") else { return commands.to_owned() };
    let filled = place.replace_all(commands, |found: &regex::Captures<'_>| {
        let usual = found.get(1).map_or("", |it| it.as_str());
        if typed.is_empty() { usual.to_owned() } else { typed.to_owned() }
    });
    filled.into_owned()
}

fn of_nox(arguments: &[String], folder: &Path) -> Recipe {
    let text = std::fs::read_to_string(folder.join("noxfile.py")).unwrap_or_default();
    let named = ["-s", "--session", "--sessions", "-e"];
    let named = named.iter().find_map(|option| value_of_option(arguments, option));
    let name = named.or_else(|| first_session(&text)).unwrap_or_else(|| "NAME".to_owned());
    let calls = text.lines().map(str::trim).filter(|line| line.starts_with("session.run"));
    Recipe {
        place: "noxfile.py".to_owned(),
        text: calls.collect::<Vec<_>>().join("\n"),
        first: Some(format!("nox -s {name} --install-only")),
        command: Some(format!(".nox/{name}/bin/python -m pytest")),
    }
}

fn first_session(noxfile: &str) -> Option<String> {
    let pattern = Regex::new(r"(?s)@nox\.session.*?\bdef\s+(\w+)").ok()?;
    Some(pattern.captures(noxfile)?.get(1)?.as_str().to_owned())
}

/// The first command of a known runner among those of a script, as it is typed.
fn runner_in(script: &str) -> Option<String> {
    let commands = simple_commands(script).into_iter().map(SimpleCommand::into_words);
    let runs = |words: &Vec<String>| {
        let behind = &words[end_of_fronts(words)..];
        let is_hidden = behind.first().is_some_and(|it| matches!(program_name(it), "tox" | "make"));
        !is_hidden && of_command(behind).is_some()
    };
    commands.filter(runs).map(|words| shell(&words)).next()
}

/// The value of an option, as its own word or after `=`.
fn value_of_option(words: &[String], name: &str) -> Option<String> {
    let at = words.iter().position(|word| word.starts_with(name))?;
    match words[at].strip_prefix(name)? {
        "" => words.get(at + 1).cloned(),
        joined => Some(joined.trim_start_matches('=').to_owned()),
    }
}

/// The value of a key in a section of an INI file, with the lines that go on with it.
fn value_of(ini: &str, section: &str, keys: &[&str]) -> Option<String> {
    let head = format!("[{section}]");
    let body = ini.lines().skip_while(|line| line.trim() != head).skip(1);
    let mut body = body.take_while(|line| !line.starts_with('[')).peekable();
    while let Some(line) = body.next() {
        let Some((key, first)) = line.split_once('=') else { continue };
        if !keys.contains(&key.trim()) || line.starts_with(char::is_whitespace) {
            continue;
        }
        let mut lines = vec![first.trim()];
        while let Some(more) = body.next_if(|it| it.starts_with(char::is_whitespace)) {
            lines.push(more.trim());
        }
        lines.retain(|line| !line.is_empty());
        return Some(lines.join("\n"));
    }
    None
}
