//! Which description fits a request, and the user's own command taken apart.

use super::profile::{Profile, Profiles};
use super::ready;
use crate::adapter::{Blame, Error, Result};
use crate::adapters::RunRequest;

/// A runner, and the command that the user typed for it.
#[derive(Debug)]
pub(in crate::adapters) struct Runner {
    /// What people call it.
    pub(in crate::adapters) name: String,
    pub(super) profile: Profile,
    pub(super) typed: TypedWords,
}

impl Runner {
    /// The runner of a request: named, described for this command, the only one, or a known one.
    pub(super) fn choose(request: &RunRequest) -> Result<Self> {
        let described = |name: &str, profile: &Profile| Self {
            name: name.to_owned(),
            profile: profile.clone(),
            typed: TypedWords::whole(&request.command),
        };
        let named = request.adapter.as_deref().and_then(|it| request.profiles.get_key_value(it));
        let by_command = || by_command(&request.profiles, &request.command);
        if let Some((name, profile)) = named.or_else(by_command) {
            return Ok(described(name, profile));
        }
        if let Some((ready, typed)) = ready::of_command(&request.command) {
            return Ok(Self { name: ready.name.to_owned(), profile: (ready.profile)(), typed });
        }
        let mut all = request.profiles.iter();
        match (all.next(), all.next()) {
            (Some((name, profile)), None) => Ok(described(name, profile)),
            (first, _) => Err(unknown(first.is_some(), request)),
        }
    }
}

/// The description whose command is the longest beginning of this one.
pub(super) fn by_command<'p>(
    profiles: &'p Profiles,
    command: &[String],
) -> Option<(&'p String, &'p Profile)> {
    let fits = |profile: &Profile| {
        let beginning: Vec<&str> = profile.command.as_deref()?.split_whitespace().collect();
        let is_beginning = beginning.len() <= command.len()
            && beginning.iter().zip(command).all(|(one, other)| one == other);
        (is_beginning && !beginning.is_empty()).then_some(beginning.len())
    };
    let fitting = profiles.iter().filter_map(|entry| Some((fits(entry.1)?, entry)));
    fitting.max_by_key(|(length, _)| *length).map(|(_, entry)| entry)
}

fn unknown(has_profiles: bool, request: &RunRequest) -> Error {
    let names: Vec<&str> = request.profiles.keys().map(String::as_str).collect();
    let next = match has_profiles {
        true => format!("name one of its tables with `--adapter`: {}", names.join(", ")),
        false => "describe the runner in a table [runner.NAME] of flakeproof.toml".to_owned(),
    };
    Error::Explained {
        blame: Blame::Usage,
        what: format!("it is not known how `{}` runs its tests", request.command.join(" ")),
        next,
        details: String::new(),
    }
}

/// A command whose words are told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TypedWords {
    /// All of it but the tail.
    pub(super) command: Vec<String>,
    /// The program and its options, without what selects tests.
    pub(super) options: Vec<String>,
    /// What selects tests: files, folders, packages.
    pub(super) selectors: Vec<String>,
    /// What the runner hands on to the tests, with the word that begins it.
    pub(super) tail: Vec<String>,
    /// Whether it selects tests by more than where they are.
    pub(super) is_selective: bool,
}

/// Options that select tests by their names, or only some of them.
const BY_NAME: [&str; 13] = [
    "-run",
    "-skip",
    "-t",
    "--testNamePattern",
    "--test-name-pattern",
    "--shard",
    "--onlyChanged",
    "-g",
    "--grep",
    "-f",
    "--fgrep",
    "-i",
    "--invert",
];

/// What is to be known about a runner's arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    /// How many words after the program's own still name what to do: `test` in `go test`.
    pub(super) verbs: &'static [&'static str],
    /// Options whose value is the next word.
    pub(super) with_values: &'static [&'static str],
    /// Options that select tests by name, or that would fight with ours.
    pub(super) selecting: &'static [&'static str],
    /// What begins the tail.
    pub(super) tail: Option<&'static str>,
    /// Options that the runner takes only once, and that we set: left out of the whole command too.
    pub(super) only_once: &'static [&'static str],
}

impl TypedWords {
    /// A command of an unknown runner.
    pub(super) fn whole(command: &[String]) -> Self {
        Self { command: command.to_vec(), options: command.to_vec(), ..Self::default() }
    }

    /// Take a command apart whose program ends before `program_end`.
    pub(super) fn parse(command: &[String], program_end: usize, grammar: &Grammar) -> Self {
        let tail_at = grammar
            .tail
            .and_then(|tail| command.iter().position(|word| word == tail))
            .unwrap_or(command.len());
        let (head, tail) = command.split_at(tail_at);
        let mut options = head[..program_end.min(head.len())].to_vec();
        let mut selectors = Vec::new();
        let mut is_selective = false;
        let mut command: Vec<String> = Vec::new();
        let mut words = head[options.len()..].iter().peekable();
        while let Some(verb) = words.next_if(|word| grammar.verbs.contains(&word.as_str())) {
            options.push(verb.clone());
        }
        command.extend(options.iter().cloned());
        while let Some(word) = words.next() {
            if !word.starts_with('-') || word == "-" {
                selectors.push(word.clone());
                command.push(word.clone());
                continue;
            }
            let name = word.split('=').next().unwrap_or(word);
            let has_value = !word.contains('=') && grammar.with_values.contains(&name);
            let value = if has_value { words.next() } else { None };
            if !grammar.only_once.contains(&name) {
                command.extend(std::iter::once(word).chain(value).cloned());
            }
            match grammar.selecting.contains(&name) {
                true => is_selective |= BY_NAME.contains(&name),
                false => options.extend(std::iter::once(word).chain(value).cloned()),
            }
        }
        Self { command, options, selectors, tail: tail.to_vec(), is_selective }
    }
}

/// Where the program's name ends: after the word whose file name is this, followed by the verbs.
pub(super) fn program_end(command: &[String], name: &str, verb: Option<&str>) -> Option<usize> {
    let at = command.iter().position(|word| word.rsplit('/').next() == Some(name))?;
    match verb {
        None => Some(at + 1),
        Some(verb) => (command.get(at + 1).map(String::as_str) == Some(verb)).then_some(at + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_wins() {
        let profile =
            |command: &str| Profile { command: Some(command.to_owned()), ..Profile::default() };
        let profiles = Profiles::from([
            ("all".to_owned(), profile("make")),
            ("check".to_owned(), profile("make check")),
        ]);
        let name = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            by_command(&profiles, &words).map(|(name, _)| name.clone())
        };
        assert_eq!(name("make check fast").as_deref(), Some("check"));
        assert_eq!(name("make test").as_deref(), Some("all"));
        assert_eq!(name("maker"), None);
    }

    const GO: Grammar = Grammar {
        verbs: &[],
        with_values: &["-run", "-tags"],
        selecting: &["-run"],
        tail: Some("-args"),
        only_once: &[],
    };

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_selectors_and_tail_are_told_apart() {
        let command = words("go test -race -tags unit -run TestA ./... -count=2 -args -x y");
        let typed = TypedWords::parse(&command, 2, &GO);
        assert_eq!(typed.options, words("go test -race -tags unit -count=2"));
        assert_eq!(typed.selectors, words("./..."));
        assert_eq!(typed.tail, words("-args -x y"));
        assert_eq!(typed.command.len(), 9);
        assert!(typed.is_selective);
        assert!(!TypedWords::parse(&words("go test -tags unit ./..."), 2, &GO).is_selective);
    }

    #[test]
    fn a_program_is_found_behind_its_launcher() {
        assert_eq!(program_end(&words("npx jest a"), "jest", None), Some(2));
        assert_eq!(program_end(&words("node_modules/.bin/jest"), "jest", None), Some(1));
        assert_eq!(program_end(&words("go build"), "go", Some("test")), None);
    }
}
