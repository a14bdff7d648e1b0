//! Levers: one thing each about the surroundings of a test that is changed on purpose.
//!
//! A [`Lever`] has settings, each of which is one [`Intervention`]: a value that any adapter's processes
//! can be started under. One value of a lever is not enough, because a test may fail in one zone and in
//! no other, so each has those that differ in what matters. What a machine or a runner does not allow is
//! found out before anything is run, and named.

mod clock;
mod company;
mod intervention;
mod limits;
mod locale;
mod machine;
mod names;
mod network;
mod pressure;
mod processor;
mod random_numbers;
mod slow_calls;
mod surroundings;
mod zone;

use flakeproof_core::LeverName;

pub use intervention::{Company, InForce, Intervention, Namespaces, Standing};
pub use machine::Machine;
pub use names::FileInPlace;
pub use pressure::Pressure;
pub use random_numbers::{RandomNumbers, SeededNumbers};
pub use slow_calls::{CallEffect, HeldCalls, SlowCall};

/// One thing about the surroundings of a test that can be changed on purpose.
pub trait Lever: Sync + std::fmt::Debug {
    /// Its name.
    fn name(&self) -> LeverName;

    /// The settings that are worth a try on this machine, the likeliest to matter first.
    ///
    /// # Errors
    /// Why it cannot be tried here, for people.
    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String>;

    /// The setting with this value: one of those that are worth a try, or one that was cut down from them.
    ///
    /// # Errors
    /// Why there is none, or why it cannot be tried here, for people.
    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        one_of(self.settings(machine)?, value)
    }

    /// A setting between one under which a test passes, or none, and one under which it fails, where there
    /// is such a thing: the way to the mildest one that is enough.
    fn between(&self, _passes: Option<&Setting>, _fails: &Setting) -> Option<Setting> {
        None
    }
}

/// One value of a lever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value, for people.
    pub value: String,
    /// What it does.
    pub intervention: Intervention,
    /// What a run beside it has, if not nothing: all of the intervention but for what matters.
    pub control: Option<Control>,
    /// What to type before or around a command to do the same in a shell; `{}` stands for the command.
    pub shell: Option<String>,
    /// Whether tests ever meet it.
    pub machines: Machines,
}

/// Whether machines on which tests run are like a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machines {
    /// Some are: what fails there is worth mending.
    SomeAreLikeIt,
    /// None is, since it takes something away that each has: what fails there needs that, which explains
    /// a failure only if nothing else does.
    NoneIsLikeIt,
}

/// What a run has to which the effect of a setting is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// What it is, for people.
    pub value: String,
    /// What it does.
    pub intervention: Intervention,
}

impl Setting {
    /// A value, and what it does.
    #[must_use]
    pub fn new(value: impl Into<String>, intervention: Intervention) -> Self {
        let (value, machines) = (value.into(), Machines::SomeAreLikeIt);
        Self { value, intervention, control: None, shell: None, machines }
    }

    /// The same where it takes something away that each machine has.
    #[must_use]
    pub fn unlike_any_machine(self) -> Self {
        Self { machines: Machines::NoneIsLikeIt, ..self }
    }

    /// The same, compared with something else than nothing.
    #[must_use]
    pub fn beside(self, control: Control) -> Self {
        Self { control: Some(control), ..self }
    }

    /// The same with what to type before a command, or around it: `(ulimit -n 64; {})`.
    #[must_use]
    pub fn typed(self, shell: impl Into<String>) -> Self {
        Self { shell: Some(shell.into()), ..self }
    }

    /// Variables with these values, which are also what to type.
    #[must_use]
    pub fn of_variables<const N: usize>(value: &str, variables: [(&str, &str); N]) -> Self {
        let typed: Vec<String> = variables
            .iter()
            .map(|(name, value)| {
                let value =
                    shlex::try_quote(value).map_or((*value).to_owned(), |it| it.to_string());
                format!("{name}={value} ")
            })
            .collect();
        Self::new(value, Intervention::variables(variables)).typed(typed.concat())
    }

    /// A command that a person types to run this one under the setting.
    #[must_use]
    pub fn command(&self, command: &str) -> Option<String> {
        let shell = self.shell.as_deref()?;
        Some(match shell.contains("{}") {
            true => shell.replace("{}", command),
            false => format!("{shell}{command}"),
        })
    }
}

/// The setting with this value among those that are tried.
fn one_of(settings: Vec<Setting>, value: &str) -> Result<Setting, String> {
    let all: Vec<String> = settings.iter().map(|it| it.value.clone()).collect();
    let found = settings.into_iter().find(|it| it.value == value);
    found.ok_or_else(|| format!("these are tried here: {}", all.join(", ")))
}

/// The lever with this name.
#[must_use]
pub fn by_name(name: LeverName) -> Option<Box<dyn Lever>> {
    all().into_iter().find(|lever| lever.name() == name)
}

/// Every lever, in the order of value for its cost.
#[must_use]
pub fn all() -> Vec<Box<dyn Lever>> {
    vec![
        Box::new(zone::Zone),
        Box::new(locale::Locale),
        Box::new(surroundings::HashSeed),
        Box::new(random_numbers::RandomSeed),
        Box::new(company::Order),
        Box::new(surroundings::Terminal),
        Box::new(surroundings::Ci),
        Box::new(surroundings::Home),
        Box::new(surroundings::Temp),
        Box::new(limits::Umask),
        Box::new(limits::Descriptors),
        Box::new(limits::Memory),
        Box::new(limits::Addresses),
        Box::new(limits::Signals),
        Box::new(company::BesideItself),
        Box::new(processor::OneCore),
        Box::new(processor::Quota),
        Box::new(processor::Load),
        Box::new(network::NoNetwork),
        Box::new(names::NoDns),
        Box::new(clock::Clock),
        Box::new(processor::Scheduling),
        Box::new(slow_calls::SlowCalls),
        Box::new(slow_calls::SlowNetwork),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_lever_of_the_vocabulary_is_there_once_and_in_its_order() {
        let names: Vec<LeverName> = all().iter().map(|lever| lever.name()).collect();
        assert_eq!(names, LeverName::ALL);
    }

    #[test]
    fn a_setting_that_was_cut_down_is_found_again_by_its_value() {
        let machine = Machine::probe();
        let setting = |name, value: &str| {
            by_name(name).expect("it is there").setting(value, &machine).map(|it| it.intervention)
        };
        assert_eq!(
            setting(LeverName::Descriptors, "101 open files"),
            Ok(Intervention::Descriptors(101))
        );
        let (running, stopped) = (Duration::from_millis(100), Duration::from_millis(337));
        assert_eq!(
            setting(LeverName::Quota, "100 ms of every 437 ms"),
            Ok(Intervention::Quota { running, stopped })
        );
        let refused = setting(LeverName::Umask, "full moon").expect_err("it is no mask");
        assert!(refused.contains("these are tried here: "), "{refused}");
        assert!(setting(LeverName::Quota, "100 ms of every 50 ms").is_err());
        assert_eq!(setting(LeverName::Memory, "300 MiB of memory"), Ok(Intervention::Memory(300)));
    }

    #[test]
    fn what_to_type_stands_before_the_command_or_around_it() {
        let zone = Setting::of_variables("UTC", [("TZ", "UTC")]);
        assert_eq!(zone.command("pytest a").as_deref(), Some("TZ=UTC pytest a"));
        let limit = Setting::new("64", Intervention::Descriptors(64)).typed("(ulimit -n 64; {})");
        assert_eq!(limit.command("pytest a").as_deref(), Some("(ulimit -n 64; pytest a)"));
        let twice = Setting::new("a copy", Intervention::OneCore).typed("({} & {}; wait $!)");
        assert_eq!(twice.command("a").as_deref(), Some("(a & a; wait $!)"));
    }

    #[test]
    fn no_two_settings_of_a_lever_have_the_same_value() {
        let machine = Machine::probe();
        for lever in all() {
            let Ok(settings) = lever.settings(&machine) else { continue };
            assert!(
                !settings.is_empty(),
                "{} has nothing to try and does not say so",
                lever.name()
            );
            let values: std::collections::BTreeSet<&str> =
                settings.iter().map(|it| it.value.as_str()).collect();
            assert_eq!(values.len(), settings.len(), "{}", lever.name());
        }
    }
}
