//! The user's command, taken apart: what is built, what is selected, what the tests are told.
//!
//! `cargo +nightly test -p core --features net parser -- --skip slow` has the program `cargo
//! +nightly`, the options `-p core` and `--features net`, the filter `parser`, and the rest is for
//! Rust's own test harness ([`HarnessOptions`]). The same parts make the commands that show a
//! failure again.

use flakeproof_core::TestId;

use super::found::{Found, Group, Place, Way};
use super::session::CargoSession;
use super::switch::{ALLOWANCE, Switch};
use crate::adapter::LONGEST_COMMAND;
use crate::shell::shell;

/// Options of `cargo test` and `cargo nextest run` that are followed by a value.
const WITH_VALUE: [&str; 43] = [
    "--archive-file",
    "--archive-format",
    "--bench",
    "--bin",
    "--build-jobs",
    "--cargo-metadata",
    "--cargo-profile",
    "--color",
    "--config",
    "--config-file",
    "--example",
    "--exclude",
    "--failure-output",
    "--features",
    "--filter-expr",
    "--filterset",
    "--final-status-level",
    "--jobs",
    "--lockfile-path",
    "--manifest-path",
    "--max-fail",
    "--message-format",
    "--no-tests",
    "--package",
    "--partition",
    "--profile",
    "--retries",
    "--run-ignored",
    "--show-progress",
    "--status-level",
    "--success-output",
    "--target",
    "--target-dir",
    "--test",
    "--test-threads",
    "--tool-config-file",
    "-C",
    "-E",
    "-F",
    "-P",
    "-Z",
    "-j",
    "-p",
];

/// Options that choose targets.
const TARGETS: [&str; 11] = [
    "--all-targets",
    "--bench",
    "--benches",
    "--bin",
    "--bins",
    "--doc",
    "--example",
    "--examples",
    "--lib",
    "--test",
    "--tests",
];

/// Options that choose packages.
const PACKAGES: [&str; 5] = ["--all", "--exclude", "--package", "--workspace", "-p"];

/// Options that say how things are shown, or when to stop.
const LOOKS: [&str; 16] = [
    "--color",
    "--fail-fast",
    "--failure-output",
    "--final-status-level",
    "--hide-progress-bar",
    "--max-fail",
    "--message-format",
    "--no-fail-fast",
    "--quiet",
    "--show-progress",
    "--status-level",
    "--success-output",
    "--verbose",
    "-q",
    "-v",
    "-vv",
];

/// How nextest chooses among the tests it built, and how often and how many at once it runs them.
const NEXTEST_ONLY: [&str; 14] = [
    "--config-file",
    "--filter-expr",
    "--filterset",
    "--ff",
    "--no-capture",
    "--nocapture",
    "--no-tests",
    "--partition",
    "--retries",
    "--run-ignored",
    "--test-threads",
    "--tool-config-file",
    "-E",
    "-P",
];

/// Which of cargo's two test commands it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runner {
    /// `cargo test`: the tests of a binary share a process.
    Test,
    /// `cargo nextest run`: a process for each test.
    Nextest,
}

/// What an option is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// How the code is built.
    Build,
    Targets,
    Packages,
    Looks,
    Nextest,
}

/// An option and, where it has one, its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CargoOption {
    about: About,
    words: Vec<String>,
}

/// The user's command, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CargoCommand {
    /// `cargo`, with the toolchain and the options before the subcommand.
    pub(super) program: Vec<String>,
    pub(super) runner: Runner,
    options: Vec<CargoOption>,
    /// Parts of names of tests before `--`.
    pub(super) filters: Vec<String>,
    /// What stands after `--`.
    pub(super) harness: HarnessOptions,
}

impl CargoCommand {
    /// Take a command apart; `None` if it is not one that runs tests with cargo.
    pub(super) fn parse(command: &[String]) -> Option<Self> {
        let (program, words) = split_at_subcommand(command)?;
        let (subcommand, words) = words.split_first()?;
        let (runner, words) = match subcommand.as_str() {
            "test" | "t" => (Runner::Test, words),
            "nextest" => {
                let (run, words) = words.split_first()?;
                matches!(run.as_str(), "run" | "r").then_some((Runner::Nextest, words))?
            }
            _ => return None,
        };
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let (options, filters) = options(&words[..end], runner);
        let harness = HarnessOptions::parse(words.get(end + 1..).unwrap_or_default());
        Some(Self { program: program.to_vec(), runner, options, filters, harness })
    }

    /// Whether the command has an option.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name() == name)
    }

    /// The options that choose and build what is tested, as `cargo test` knows them.
    pub(super) fn building(&self) -> Vec<String> {
        let words = self.words_about(&[About::Build, About::Targets, About::Packages]);
        match self.runner {
            Runner::Test => words,
            Runner::Nextest => words.iter().map(|word| as_cargo_says(word)).collect(),
        }
    }

    /// The same without one of them.
    pub(super) fn building_without(&self, name: &str) -> Vec<String> {
        let others = self.options.iter().filter(|option| option.name() != name).cloned();
        Self { options: others.collect(), ..self.clone() }.building()
    }

    /// The options of cargo that say how it is built, without the choice of packages and targets.
    pub(super) fn only_building(&self) -> Vec<String> {
        self.words_about(&[About::Build])
    }

    /// Everything that was typed for nextest besides filters and the harness.
    pub(super) fn for_nextest(&self) -> Vec<String> {
        let all = [About::Build, About::Targets, About::Packages, About::Nextest];
        self.words_about(&all)
    }

    /// The options that `cargo metadata` knows, too.
    pub(super) fn for_metadata(&self) -> Vec<String> {
        const KNOWN: [&str; 6] =
            ["--config", "--frozen", "--locked", "--manifest-path", "--offline", "-Z"];
        let known = self.options.iter().filter(|option| KNOWN.contains(&option.name()));
        known.flat_map(|option| option.words.clone()).collect()
    }

    /// All parts of names that select tests.
    pub(super) fn all_filters(&self) -> Vec<String> {
        self.filters.iter().chain(&self.harness.filters).cloned().collect()
    }

    /// A command of cargo.
    pub(super) fn cargo(&self, words: &[&str]) -> Vec<String> {
        let mut command = self.program.clone();
        command.extend(words.iter().map(|&word| word.to_owned()));
        command
    }

    fn words_about(&self, what: &[About]) -> Vec<String> {
        let wanted = self.options.iter().filter(|option| what.contains(&option.about));
        wanted.flat_map(|option| option.words.clone()).collect()
    }
}

impl CargoOption {
    /// The option's name, without a value that is joined to it.
    fn name(&self) -> &str {
        self.words.first().map_or("", |word| name_of(word))
    }
}

/// An option of nextest under the name that cargo has for it.
fn as_cargo_says(word: &str) -> String {
    for (theirs, of_cargo) in [("--cargo-profile", "--profile"), ("--build-jobs", "--jobs")] {
        if name_of(word) == theirs {
            return word.replacen(theirs, of_cargo, 1);
        }
    }
    word.to_owned()
}

fn name_of(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// Where the subcommand is: after the program, a toolchain and options for every subcommand.
fn split_at_subcommand(command: &[String]) -> Option<(&[String], &[String])> {
    let program = command.first()?;
    if program.rsplit('/').next() != Some("cargo") {
        return None;
    }
    let mut at = 1;
    while let Some(word) = command.get(at) {
        if !word.starts_with(['-', '+']) {
            return Some(command.split_at(at));
        }
        at += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
    }
    None
}

fn options(words: &[String], runner: Runner) -> (Vec<CargoOption>, Vec<String>) {
    let mut found = Vec::new();
    let mut filters = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            filters.push(word.clone());
            continue;
        }
        let mut option = vec![word.clone()];
        if WITH_VALUE.contains(&word.as_str()) {
            option.extend(words.next().cloned());
        }
        found.push(CargoOption { about: about(name_of(word), runner), words: option });
    }
    (found, filters)
}

fn about(name: &str, runner: Runner) -> About {
    // For nextest a profile is one of its configuration, and jobs are tests at a time.
    let is_nextest = NEXTEST_ONLY.contains(&name) || ["--profile", "-j", "--jobs"].contains(&name);
    match name {
        _ if TARGETS.contains(&name) => About::Targets,
        _ if PACKAGES.contains(&name) => About::Packages,
        _ if LOOKS.contains(&name) => About::Looks,
        _ if runner == Runner::Nextest && is_nextest => About::Nextest,
        _ => About::Build,
    }
}

/// The user's command for one test alone.
pub(super) fn for_one(session: &CargoSession, test: &TestId) -> String {
    let place = session.found().ok().and_then(|found| Some((found, found.places.get(test)?)));
    match place {
        Some((found, place)) => shell(&for_places(session, &found.groups[place.group], &[*place])),
        None => shell(&session.settings.command),
    }
}

/// The user's command for some tests in this order; `None` where the harness would not run them so.
pub(super) fn for_order(session: &CargoSession, order: &[TestId]) -> Option<String> {
    let found = session.found().ok()?;
    let places = order.iter().map(|test| found.places.get(test).copied());
    let places = places.collect::<Option<Vec<_>>>()?;
    if places.len() == 1 {
        return order.first().map(|test| for_one(session, test));
    }
    let group = group_of_order(found, &places)?;
    if !group.is_shared() || session.command.runner != Runner::Test {
        return None;
    }
    let launch = session.launches.launch(session, &places).ok()?;
    // Where others run after them, it is not these tests that the command runs.
    if launch.places != places {
        return None;
    }
    let mut words = for_places(session, group, &places);
    if let Some(seed) = launch.seed {
        words.extend(Switch::arguments(seed));
        if session.launches.known().is_some_and(|switch| switch.needs_allowance) {
            let after = session.command.program.len() + 1;
            words.splice(after..after, allowing());
        }
    }
    let command = shell(&words);
    (command.chars().count() <= LONGEST_COMMAND).then_some(command)
}

/// The options by which cargo sets the variable for the test binary and for nothing else: set for
/// cargo, build scripts would see it, and some build other code then.
fn allowing() -> [String; 2] {
    let runner = format!("target.\"cfg(all())\".runner=\"env {ALLOWANCE}=1\"");
    ["--config".to_owned(), runner]
}

/// A command that lists the ids that Rust's own harness knows.
pub(super) fn to_list(session: &CargoSession) -> String {
    let mut words = session.command.cargo(match session.command.runner {
        Runner::Test => &["test"],
        Runner::Nextest => &["nextest", "list"],
    });
    words.extend(session.command.building());
    if session.command.runner == Runner::Test {
        words.extend(["--".to_owned(), "--list".to_owned()]);
    }
    shell(&words)
}

fn group_of_order<'a>(found: &'a Found, places: &[Place]) -> Option<&'a Group> {
    let first = places.first()?;
    let is_one = places.iter().all(|place| place.group == first.group);
    is_one.then(|| &found.groups[first.group])
}

fn for_places(session: &CargoSession, group: &Group, places: &[Place]) -> Vec<String> {
    let command = &session.command;
    let names = places.iter().map(|place| group.tests[place.index].name.as_str());
    let mut words = command.cargo(match command.runner {
        Runner::Test => &["test"],
        Runner::Nextest => &["nextest", "run"],
    });
    words.extend(command.only_building());
    words.extend(["-p".to_owned(), group.package.clone()]);
    words.extend(group.target.options());
    words.push("--".to_owned());
    match &group.way {
        // rustdoc takes names apart at spaces, so the last part has to do: the line.
        Way::Documentation => {
            let last = names.filter_map(|name| name.split_once("(line ")).map(|(_, line)| line);
            words.extend(command.harness.for_any());
            words.extend(last.map(|line| line.split_whitespace().next().unwrap_or("").to_owned()));
        }
        Way::Whole(_) => words.extend(command.harness.typed.iter().cloned()),
        Way::Harness(_) | Way::OwnHarness(_) => words.extend(command.harness.naming(names)),
    }
    if places.len() > 1 {
        words.push("--test-threads=1".to_owned());
    }
    if words.last().is_some_and(|word| word == "--") {
        words.pop();
    }
    words
}

/// Options of the harness that are followed by a value.
const OF_HARNESS_WITH_VALUE: [&str; 7] =
    ["--color", "--format", "--logfile", "--shuffle-seed", "--skip", "--test-threads", "-Z"];

/// Options that are not passed on: in which order tests run and how that is shown is decided here.
const DECIDED_HERE: [&str; 14] = [
    "--color",
    "--ensure-time",
    "--exact",
    "--format",
    "--ignored",
    "--include-ignored",
    "--logfile",
    "--no-capture",
    "--nocapture",
    "--quiet",
    "--report-time",
    "--show-output",
    "--shuffle",
    "--shuffle-seed",
];

/// Which tests run that are marked `#[ignore]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    /// None of them.
    Skipped,
    /// Only they.
    Only,
    /// They as well.
    Included,
}

/// What stands after `--`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HarnessOptions {
    /// All of it, as it was typed.
    pub(super) typed: Vec<String>,
    /// Parts of names that select tests, or whole names.
    pub(super) filters: Vec<String>,
    /// Parts of names that leave tests out.
    pub(super) skipped: Vec<String>,
    pub(super) is_exact: bool,
    pub(super) ignored: Ignored,
    /// How many tests run at the same time, where that was said.
    pub(super) threads: Option<String>,
    /// Whether the user only wants a list, or help.
    pub(super) prints_only: bool,
    /// What is passed on as it is.
    others: Vec<String>,
}

impl HarnessOptions {
    pub(super) fn parse(words: &[String]) -> Self {
        let mut options = Self {
            typed: words.to_vec(),
            filters: Vec::new(),
            skipped: Vec::new(),
            is_exact: false,
            ignored: Ignored::Skipped,
            threads: None,
            prints_only: false,
            others: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let value = match OF_HARNESS_WITH_VALUE.contains(&name) {
                true => joined.or_else(|| words.next().cloned()),
                false => None,
            };
            options.read(word, name, value);
        }
        options
    }

    fn read(&mut self, word: &str, name: &str, value: Option<String>) {
        match name {
            "--skip" => self.skipped.extend(value),
            "--exact" => self.is_exact = true,
            "--ignored" => self.ignored = Ignored::Only,
            "--include-ignored" => self.ignored = Ignored::Included,
            "--test-threads" => self.threads = value,
            "--list" | "--help" | "-h" => self.prints_only = true,
            "-q" => {}
            _ if DECIDED_HERE.contains(&name) => {}
            _ if name.starts_with('-') => {
                self.others.push(name.to_owned());
                self.others.extend(value);
            }
            _ => self.filters.push(word.to_owned()),
        }
    }

    /// The arguments that select what the user's command selects.
    pub(super) fn selecting(&self, filters: &[String]) -> Vec<String> {
        let mut arguments = self.for_any();
        if self.is_exact {
            arguments.push("--exact".to_owned());
        }
        for skipped in &self.skipped {
            arguments.extend(["--skip".to_owned(), skipped.clone()]);
        }
        arguments.extend(filters.iter().cloned());
        arguments
    }

    /// The arguments that select these tests and no others.
    pub(super) fn naming<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut arguments = self.for_any();
        arguments.push("--exact".to_owned());
        arguments.extend(names.map(str::to_owned));
        arguments
    }

    /// The arguments that hold for any selection.
    pub(super) fn for_any(&self) -> Vec<String> {
        let mut arguments = self.others.clone();
        arguments.extend(self.ignored.option().map(str::to_owned));
        arguments
    }
}

impl Ignored {
    pub(super) fn option(self) -> Option<&'static str> {
        match self {
            Self::Skipped => None,
            Self::Only => Some("--ignored"),
            Self::Included => Some("--include-ignored"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<CargoCommand> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        CargoCommand::parse(&words)
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_command_is_taken_apart_at_its_two_dashes() {
        let command = parsed(
            "cargo +nightly --offline test -p core --features net parser -- --skip slow fast",
        );
        let command = command.expect("it runs tests");
        assert_eq!(command.program, words("cargo +nightly --offline"));
        assert_eq!(command.building(), words("-p core --features net"));
        assert_eq!(command.only_building(), words("--features net"));
        assert_eq!(command.all_filters(), words("parser fast"));
        assert_eq!(command.harness.skipped, words("slow"));
    }

    #[test]
    fn only_commands_that_run_tests_are_taken() {
        assert!(parsed("cargo test").is_some());
        assert!(parsed("/opt/bin/cargo --color never t --lib").is_some());
        assert!(parsed("cargo nextest run -E test(a)").is_some());
        for other in ["cargo build", "cargo", "cargo nextest list", "pytest test", "cargo --list"] {
            assert!(parsed(other).is_none(), "{other}");
        }
    }

    #[test]
    fn the_value_of_an_option_is_no_filter() {
        let command = parsed("cargo test --test api -j 2 --profile=ci -q works").expect("runs");
        assert_eq!(command.filters, words("works"));
        assert_eq!(command.only_building(), words("-j 2 --profile=ci"));
        assert!(command.has("--profile") && command.has("-q"));
    }

    #[test]
    fn a_profile_of_nextest_is_not_one_of_cargo() {
        let typed = "--profile ci --cargo-profile=fast -j 4";
        let command = parsed(&format!("cargo nextest run {typed}")).expect("runs");
        assert_eq!(command.building(), words("--profile=fast"));
        assert_eq!(command.for_nextest(), words(typed));
    }

    #[test]
    fn what_selects_is_told_from_what_shows() {
        let typed = "--nocapture --skip=a parse --test-threads 4 --ignored --format pretty --bench";
        let options = HarnessOptions::parse(&words(typed));
        assert_eq!(options.filters, words("parse"));
        assert_eq!(options.skipped, words("a"));
        assert_eq!(options.ignored, Ignored::Only);
        let selecting = options.selecting(&options.filters);
        assert_eq!(selecting, words("--bench --ignored --skip a parse"));
        let naming = options.naming(["m::x"].into_iter());
        assert_eq!(naming, words("--bench --ignored --exact m::x"));
    }
}
