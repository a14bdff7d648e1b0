//! The rules by name: what each is called, what it looks for, what it would make a test flaky by, and
//! whether it is on unless you say otherwise.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $rule:ident $id:literal $name:literal $cause:literal $state:ident: $advice:literal;)+) => {
        /// Something in a test that is known to make tests flaky.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule {
            $($(#[doc = $doc])+ $rule,)+
        }

        impl Rule {
            /// All of them, by id.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            /// Its id, which never changes: `FP001`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$rule => $id,)+ }
            }

            /// What people call it: `unseeded-random`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }

            /// What it makes a test flaky by, in the words of `flakeproof cause`, where that is known.
            #[must_use]
            pub fn cause(self) -> Option<&'static str> {
                let cause = match self { $(Self::$rule => $cause,)+ };
                (!cause.is_empty()).then_some(cause)
            }

            /// What to do about it, in the imperative.
            #[must_use]
            pub fn advice(self) -> &'static str {
                match self { $(Self::$rule => $advice,)+ }
            }

            /// What it looks for, in a sentence.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$rule => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// Whether it is on unless you say otherwise.
            #[must_use]
            pub fn is_default(self) -> bool {
                match self { $(Self::$rule => rules!(@ $state),)+ }
            }
        }
    };
    (@ on) => { true };
    (@ off) => { false };
}

rules! {
    /// A value drawn without a seed decides an assertion.
    UnseededRandom "FP001" "unseeded-random" "randomness" on:
        "set the seed, or assert what holds for every value";
    /// The clock is read twice, or compared with a fixed time, and the readings must be equal.
    ClockCompared "FP010" "clock-compared" "time" on:
        "give the code a clock that the test sets, or compare with a tolerance";
    /// What is expected is made of today's date.
    TodayExpected "FP011" "today-expected" "time" on:
        "give the code a fixed date";
    /// A measured time must stay below a bound of less than a second.
    ElapsedBound "FP012" "elapsed-bound" "time" on:
        "assert what was done instead of how long it took, or use a clock that the test moves";
    /// A date without a zone is compared with fixed text or a fixed hour.
    LocalTime "FP013" "local-time" "time" on:
        "name the zone, best UTC";
    /// The test sleeps for a fixed time and then asserts.
    SleepBeforeAssert "FP020" "sleep-before-assert" "async_wait" on:
        "wait for the event itself, with a generous deadline";
    /// The test gives up on something it waits for after less than a second.
    ShortTimeout "FP021" "short-timeout" "async_wait" on:
        "wait up to ten seconds or more: a deadline costs nothing unless it is reached";
    /// An assertion about a promise that nobody waits for.
    UnawaitedPromise "FP022" "unawaited-promise" "async_wait" on:
        "put `await` in front of it, or return it";
    /// An assertion in a callback that may run after the test has ended.
    AssertionInCallback "FP023" "assertion-in-callback" "async_wait" on:
        "wait for the callback: await a promise, or call `done` in it";
    /// A thread, task or goroutine is started, nobody waits for it, and then the test asserts.
    UnjoinedThread "FP030" "unjoined-thread" "concurrency" on:
        "join it, or wait for what it signals, before you assert";
    /// An assertion about what the garbage collector has done.
    GarbageCollected "FP032" "garbage-collected" "resource_leak" on:
        "ask again until a deadline, or test what releases the object";
    /// A server listens on a port that is written in the test.
    FixedPort "FP040" "fixed-port" "network" on:
        "listen on port 0 and ask which port it became";
    /// A request leaves the machine.
    RemoteHost "FP041" "remote-host" "network" on:
        "answer from a server of the test's own, or replace the client";
    /// The order of a set or map is compared with a sequence.
    UnorderedSequence "FP050" "unordered-sequence" "unordered_collections" on:
        "sort before you compare, or compare as sets";
    /// The order in which a folder is listed is compared with a sequence.
    ListingOrder "FP051" "listing-order" "unordered_collections" on:
        "sort the names before you compare";
    /// The order in which reflection gives members decides an assertion.
    ReflectionOrder "FP052" "reflection-order" "unordered_collections" on:
        "look members up by name, or sort them";
    /// Text made of an unordered object is compared with fixed text.
    UnorderedText "FP053" "unordered-text" "unordered_collections" on:
        "parse the text and compare values";
    /// An environment variable or system property is set and not restored.
    EnvironmentLeft "FP060" "environment-left" "test_order_dependency" on:
        "restore it when the test ends, also when it fails";
    /// The working directory is changed and not restored.
    DirectoryLeft "FP061" "directory-left" "test_order_dependency" on:
        "restore it when the test ends, also when it fails";
    /// The default time zone or locale is set and not restored.
    DefaultLeft "FP062" "default-left" "test_order_dependency" on:
        "restore it when the test ends, also when it fails";
    /// A member of an imported module is replaced and not restored.
    PatchLeft "FP063" "patch-left" "test_order_dependency" on:
        "patch by what undoes it: `monkeypatch`, `mock.patch`, a spy that is restored";
    /// A variable that outlives the test is changed here and read by another test.
    SharedState "FP064" "shared-state" "test_order_dependency" on:
        "make it anew before each test";
    /// Fake timers are switched on and stay so.
    FakeTimersLeft "FP065" "fake-timers-left" "test_order_dependency" on:
        "call `useRealTimers` after each test";
    /// A file with a fixed name in the folder for temporary files is written.
    FixedTempPath "FP070" "fixed-temp-path" "io" on:
        "let the test framework or the system choose the name";
    /// The name of a temporary file is made of the clock, or chosen before the file is made.
    HandmadeTempName "FP071" "handmade-temp-name" "io" on:
        "let the test framework or the system choose the name";
    /// Computed floating-point numbers are compared exactly.
    FloatEquality "FP080" "float-equality" "floating_point" off:
        "compare with a tolerance";
    /// Text in the format of the machine's locale is compared with fixed text.
    DefaultLocale "FP081" "default-locale" "platform_dependency" on:
        "name the locale";
    /// The test is marked as flaky, or runs again when it fails.
    MarkedFlaky "FP090" "marked-flaky" "" on:
        "find out why with `flakeproof cause`, mend it and take the mark away";
    /// The tests of a class run in an order that is written down.
    FixedTestOrder "FP091" "fixed-test-order" "test_order_dependency" off:
        "let every test set up what it needs";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id(), self.name())
    }
}

impl FromStr for Rule {
    type Err = String;

    /// A rule by its id or its name.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_meant = |rule: &&Self| rule.id().eq_ignore_ascii_case(text) || rule.name() == text;
        Self::ALL.iter().find(is_meant).copied().ok_or_else(|| {
            format!("there is no rule `{text}`: write an id such as FP001 or a name such as unseeded-random")
        })
    }
}

/// Which rules are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSet {
    on: Vec<Rule>,
}

impl Default for RuleSet {
    fn default() -> Self {
        Self { on: Rule::ALL.iter().copied().filter(|rule| rule.is_default()).collect() }
    }
}

impl RuleSet {
    /// Every rule, also those that are off by default.
    #[must_use]
    pub fn all() -> Self {
        Self { on: Rule::ALL.to_vec() }
    }

    /// Those that are selected, by default the ones that are on, without those that are ignored.
    ///
    /// A rule is meant by its id, its name, the beginning of its id (`FP04`) or `all`.
    ///
    /// # Errors
    ///
    /// What was written, where it means no rule.
    pub fn choose(select: &[String], ignore: &[String]) -> Result<Self, String> {
        let mut set = Self::default();
        if !select.is_empty() {
            set.on = meant(select)?;
        }
        let ignored = meant(ignore)?;
        set.on.retain(|rule| !ignored.contains(rule));
        Ok(set)
    }

    /// Whether a rule is on.
    #[must_use]
    pub fn has(&self, rule: Rule) -> bool {
        self.on.contains(&rule)
    }
}

/// The rules that some words mean.
fn meant(words: &[String]) -> Result<Vec<Rule>, String> {
    let mut found = Vec::new();
    for word in words {
        let before = found.len();
        let beginning = word.to_ascii_uppercase();
        let is_family = beginning.len() >= 2 && "FP".starts_with(&beginning[..2]);
        for rule in Rule::ALL {
            let is_meant = word.eq_ignore_ascii_case("all")
                || (is_family && rule.id().starts_with(&beginning))
                || rule.name() == word;
            if is_meant && !found.contains(rule) {
                found.push(*rule);
            }
        }
        if found.len() == before && !word.eq_ignore_ascii_case("all") {
            word.parse::<Rule>()?;
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// What a rule found in a test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The line, counted from 1.
    pub line: u32,
    /// The rule.
    pub rule: Rule,
    /// What is wrong there.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn ids_and_names_are_unique_and_ids_are_in_order() {
        let mut ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert!(ids.is_sorted());
        let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        let count = Rule::ALL.len();
        ids.dedup();
        names.dedup();
        assert_eq!((ids.len(), names.len()), (count, count));
    }

    #[test]
    fn rules_are_chosen_by_id_by_name_by_family_and_all_at_once() {
        let only =
            RuleSet::choose(&words(&["FP04"]), &words(&["remote-host"])).expect("they are there");
        assert!(
            only.has(Rule::FixedPort)
                && !only.has(Rule::RemoteHost)
                && !only.has(Rule::UnseededRandom)
        );
        assert!(RuleSet::choose(&words(&["all"]), &[]).expect("it is").has(Rule::FloatEquality));
        assert!(!RuleSet::default().has(Rule::FloatEquality));
        assert!(RuleSet::choose(&words(&["FP999"]), &[]).is_err());
        assert!(RuleSet::choose(&[], &words(&["ports"])).is_err());
    }
}
