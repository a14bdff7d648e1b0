//! What tests can leave behind in the process they run in, and around it.
//!
//! A [`State`] is a picture of an environment between two tests: things by kind and name, each
//! with a short text of its value. The difference of two pictures is what the tests between them
//! left behind, in words that help to find the line that does it. A picture shows what can be
//! described without running any of the project's code; what it does not show may still differ.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A picture of an environment between two tests.
///
/// ```
/// use flakeproof_core::{LeftKind, State};
///
/// let before = State::default();
/// let mut after = State::default();
/// after.insert(LeftKind::Variable, "TOKEN", "\"abc\"");
/// let left = State::left_behind(&before, &after);
/// assert_eq!(left[0].to_string(), "environment variable TOKEN: unset before, \"abc\" after");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct State {
    things: Things,
    /// What things are when nothing but their own beginning has happened.
    #[serde(skip)]
    initial: Things,
}

type Things = BTreeMap<LeftKind, BTreeMap<String, String>>;

/// The kind of a thing that a test can leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeftKind {
    /// An attribute of a module or of one of its classes.
    Attribute,
    /// An environment variable.
    Variable,
    /// The working directory.
    WorkingDirectory,
    /// A file of the project.
    File,
    /// What a signal does.
    SignalHandler,
    /// A running thread.
    Thread,
    /// A filter of warnings.
    WarningsFilter,
    /// Level, handlers and switches of a logger.
    Logger,
    /// A folder that modules are imported from.
    ImportPath,
    /// An imported module, told from another of the same name.
    Module,
    /// A static field of a class.
    StaticField,
    /// A property of the JVM.
    SystemProperty,
    /// What the runtime takes where nothing else is said: a locale, a time zone, a stream.
    RuntimeDefault,
    /// Who waits for an event.
    Listener,
    /// Something that is open and keeps the process alive: a timer, a server, a socket.
    Handle,
}

/// One thing that is not as it was before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftBehind {
    /// What it is.
    pub kind: LeftKind,
    /// Its name; no two things of a kind share one.
    pub name: String,
    /// Its value before, if it was there.
    pub before: Option<String>,
    /// Its value after, if it is still there.
    pub after: Option<String>,
}

impl State {
    /// Add a thing, or give it another value.
    pub fn insert(
        &mut self,
        kind: LeftKind,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Option<String> {
        self.things.entry(kind).or_default().insert(name.into(), value.into())
    }

    /// Take a thing out.
    pub fn remove(&mut self, kind: LeftKind, name: &str) -> Option<String> {
        self.things.get_mut(&kind)?.remove(name)
    }

    /// The value of a thing, if it is there.
    #[must_use]
    pub fn get(&self, kind: LeftKind, name: &str) -> Option<&str> {
        self.things.get(&kind)?.get(name).map(String::as_str)
    }

    /// The names of all things of a kind.
    pub fn names(&self, kind: LeftKind) -> impl Iterator<Item = &str> {
        self.things.get(&kind).into_iter().flat_map(|it| it.keys().map(String::as_str))
    }

    /// The number of things.
    #[must_use]
    pub fn count(&self) -> usize {
        self.things.values().map(BTreeMap::len).sum()
    }

    /// The same picture, with what these things were at their own beginning. A class that is loaded
    /// between two pictures is in neither the one nor as it was in the other without that.
    #[must_use]
    pub fn with_initial(self, initial: Self) -> Self {
        Self { initial: initial.things, ..self }
    }

    /// What differs between two pictures of the same environment or of copies of it, by kind and
    /// name.
    ///
    /// A module that was imported in between counts once, with the modules below it and all that
    /// is in them: that is news, but no news about each of its attributes.
    #[must_use]
    pub fn left_behind(before: &Self, after: &Self) -> Vec<LeftBehind> {
        let mut begin = before.clone();
        for (&kind, things) in &after.initial {
            for (name, value) in things {
                let known = begin.things.entry(kind).or_default();
                known.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Self::differences(&begin, after)
    }

    fn differences(before: &Self, after: &Self) -> Vec<LeftBehind> {
        let mut left = Vec::new();
        for (&kind, things) in &before.things {
            for (name, value) in things {
                let now = after.get(kind, name);
                if now != Some(value.as_str()) {
                    left.push(LeftBehind {
                        kind,
                        name: name.clone(),
                        before: Some(value.clone()),
                        after: now.map(str::to_owned),
                    });
                }
            }
        }
        for (&kind, things) in &after.things {
            let is_new = |name: &str| before.get(kind, name).is_none();
            for (name, value) in things.iter().filter(|(name, _)| is_new(name)) {
                if !Self::is_part_of_an_import(before, after, kind, name) {
                    let after = Some(value.clone());
                    left.push(LeftBehind { kind, name: name.clone(), before: None, after });
                }
            }
        }
        left.sort_unstable();
        left
    }

    /// Whether a new thing is there because a module around it was imported.
    fn is_part_of_an_import(before: &Self, after: &Self, kind: LeftKind, name: &str) -> bool {
        let is_imported = |module: &str| {
            after.get(LeftKind::Module, module).is_some()
                && before.get(LeftKind::Module, module).is_none()
        };
        let mut around = name.match_indices('.').map(|(at, _)| &name[..at]);
        match kind {
            LeftKind::Attribute | LeftKind::Module => around.any(is_imported),
            LeftKind::Variable
            | LeftKind::WorkingDirectory
            | LeftKind::File
            | LeftKind::SignalHandler
            | LeftKind::Thread
            | LeftKind::WarningsFilter
            | LeftKind::Logger
            | LeftKind::ImportPath
            | LeftKind::StaticField
            | LeftKind::SystemProperty
            | LeftKind::RuntimeDefault
            | LeftKind::Listener
            | LeftKind::Handle => false,
        }
    }
}

impl LeftKind {
    /// The kind, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Attribute => "attribute",
            Self::Variable => "environment variable",
            Self::WorkingDirectory => "working directory",
            Self::File => "file",
            Self::SignalHandler => "signal handler",
            Self::Thread => "thread",
            Self::WarningsFilter => "warnings filter",
            Self::Logger => "logger",
            Self::ImportPath => "import path",
            Self::Module => "module",
            Self::StaticField => "static field",
            Self::SystemProperty => "system property",
            Self::RuntimeDefault => "default",
            Self::Listener => "listeners",
            Self::Handle => "open handle",
        }
    }
}

impl fmt::Display for LeftKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl fmt::Display for LeftBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, before, after } = self;
        // There is only one working directory, and its name would say nothing.
        match *kind == LeftKind::WorkingDirectory {
            true => write!(f, "{kind}: ")?,
            false => write!(f, "{kind} {name}: ")?,
        }
        // Values that only tell one thing from another, or that are its name, are not for people.
        let [came, went, changed] = match kind {
            LeftKind::File => ["created", "removed", "changed"],
            LeftKind::Module => ["imported", "no longer imported", "replaced by another object"],
            LeftKind::WarningsFilter | LeftKind::ImportPath => ["added", "removed", "changed"],
            LeftKind::Thread => ["started and still running", "ended", "another one"],
            LeftKind::Attribute
            | LeftKind::Variable
            | LeftKind::WorkingDirectory
            | LeftKind::SignalHandler
            | LeftKind::StaticField
            | LeftKind::SystemProperty
            | LeftKind::RuntimeDefault
            | LeftKind::Listener
            | LeftKind::Handle
            | LeftKind::Logger => {
                let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unset".into());
                return write!(f, "{} before, {} after", text(before), text(after));
            }
        };
        f.write_str(match (before, after) {
            (None, _) => came,
            (Some(_), None) => went,
            (Some(_), Some(_)) => changed,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state<'a>(things: impl IntoIterator<Item = (LeftKind, &'a str, &'a str)>) -> State {
        let mut state = State::default();
        for (kind, name, value) in things {
            state.insert(kind, name, value);
        }
        state
    }

    fn differences(before: &State, after: &State) -> Vec<String> {
        State::left_behind(before, after).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_class_that_was_loaded_in_between_counts_from_its_own_beginning() {
        let state = |value: &str| {
            let mut state = State::default();
            state.insert(LeftKind::StaticField, "a.Shop.opened", value);
            state.insert(LeftKind::StaticField, "a.Shop.name", "\"corner\"");
            state
        };
        let after = state("3").with_initial(state("0"));
        let left = State::left_behind(&State::default(), &after);
        let texts: Vec<String> = left.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["static field a.Shop.opened: 0 before, 3 after"]);
    }

    #[test]
    fn each_difference_reads_as_a_sentence() {
        let before = state([
            (LeftKind::Attribute, "app.cache", "{}"),
            (LeftKind::WorkingDirectory, ".", "/p"),
            (LeftKind::File, "data.txt", "3 bytes"),
            (LeftKind::Module, "json", "1"),
            (LeftKind::Variable, "HOME", "\"/h\""),
        ]);
        let after = state([
            (LeftKind::Attribute, "app.cache", "{1: 2}"),
            (LeftKind::WorkingDirectory, ".", "/q"),
            (LeftKind::File, "data.txt", "4 bytes"),
            (LeftKind::File, "new.txt", "1 byte"),
            (LeftKind::Module, "json", "2"),
            (LeftKind::ImportPath, "/x", "present"),
        ]);
        let expected = [
            "attribute app.cache: {} before, {1: 2} after",
            "environment variable HOME: \"/h\" before, unset after",
            "working directory: /p before, /q after",
            "file data.txt: changed",
            "file new.txt: created",
            "import path /x: added",
            "module json: replaced by another object",
        ];
        assert_eq!(differences(&before, &after), expected);
    }

    #[test]
    fn an_import_is_told_once() {
        let before = state([(LeftKind::Module, "app", "1"), (LeftKind::Attribute, "app.x", "1")]);
        let mut after = before.clone();
        for module in ["lib", "lib.inner", "app.more"] {
            after.insert(LeftKind::Module, module, "2");
        }
        for name in ["lib.VERSION", "lib.inner.Class.value", "app.more.y", "app.more"] {
            after.insert(LeftKind::Attribute, name, "3");
        }
        let expected = [
            "attribute app.more: unset before, 3 after",
            "module app.more: imported",
            "module lib: imported",
        ];
        assert_eq!(differences(&before, &after), expected);
    }

    proptest! {
        #[test]
        fn nothing_is_left_behind_exactly_when_nothing_changed(
            before in prop::collection::btree_map("[ab](\\.[ab]){0,2}", "[01]", 0..6),
            after in prop::collection::btree_map("[ab](\\.[ab]){0,2}", "[01]", 0..6),
        ) {
            let of = |things: &BTreeMap<String, String>| {
                state(things.iter().map(|(name, value)| (LeftKind::Variable, &**name, &**value)))
            };
            let left = State::left_behind(&of(&before), &of(&after));
            prop_assert_eq!(left.is_empty(), before == after);
            prop_assert!(left.is_sorted());
        }
    }
}
