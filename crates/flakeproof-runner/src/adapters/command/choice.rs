//! Which description fits a request.

use super::profile::{Profile, Profiles};
use super::ready;
use super::typed_words::TypedWords;
use crate::adapter::{Blame, Error, Result};
use crate::adapters::RunRequest;

/// A runner, and the command that the user typed for it.
#[derive(Debug)]
pub(super) struct Runner {
    /// What people call it.
    pub(super) name: String,
    pub(super) profile: Profile,
    pub(super) typed: TypedWords,
}

impl Runner {
    /// The runner of a request: named, described for this command, the only one, or a known one.
    pub(super) fn of(request: &RunRequest) -> Result<Self> {
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
}
