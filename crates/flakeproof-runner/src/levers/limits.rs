//! Levers that processes inherit from whoever starts them: the rights of new files, the number of open
//! files, and where code and data lie in memory.

use flakeproof_core::LeverName;

use super::{Intervention, Lever, Machine, Setting, one_of};

/// The rights of files that are made.
#[derive(Debug)]
pub(super) struct Umask;

impl Lever for Umask {
    fn name(&self) -> LeverName {
        LeverName::Umask
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let masks = [0o077_u32, 0o000].into_iter().filter(|mask| Some(*mask) != machine.umask());
        Ok(masks
            .map(|mask| {
                Setting::new(format!("{mask:03o}"), Intervention::Umask(mask))
                    .typed(format!("(umask {mask:03o}; {{}})"))
            })
            .collect())
    }
}

/// How many files may be open.
#[derive(Debug)]
pub(super) struct Descriptors;

/// From so many that only a leak needs them to so few that a runtime just starts.
const LIMITS: [u64; 3] = [256, 64, 32];

impl Lever for Descriptors {
    fn name(&self) -> LeverName {
        LeverName::Descriptors
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let limits = LIMITS.into_iter().filter(|limit| *limit < machine.descriptors());
        let settings: Vec<Setting> = limits.map(descriptors).collect();
        match settings.is_empty() {
            true => Err(format!("no more than {} may be open anyway", machine.descriptors())),
            false => Ok(settings),
        }
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        match value.strip_suffix(" open files").map(str::parse) {
            Some(Ok(limit)) if limit < machine.descriptors() => Ok(descriptors(limit)),
            _ => one_of(self.settings(machine)?, value),
        }
    }

    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let limit = |setting: &Setting| match setting.intervention {
            Intervention::Descriptors(limit) => Some(limit),
            _ => None,
        };
        let low = limit(fails)?;
        let high = passes.map_or(Some(1024), limit)?;
        (high > low + 1).then(|| descriptors(u64::midpoint(low, high)))
    }
}

fn descriptors(limit: u64) -> Setting {
    Setting::new(format!("{limit} open files"), Intervention::Descriptors(limit))
        .typed(format!("(ulimit -n {limit}; {{}})"))
}

/// How much memory a process may have.
#[derive(Debug)]
pub(super) struct Memory;

/// From what only a leak needs to what a small runtime just starts with, in MiB. Runtimes that reserve
/// more than they use do not start under any of them.
const MEGABYTES: [u64; 3] = [4096, 1024, 256];

impl Lever for Memory {
    fn name(&self) -> LeverName {
        LeverName::Memory
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let most = machine.megabytes();
        let settings: Vec<Setting> =
            MEGABYTES.into_iter().filter(|it| *it < most).map(memory).collect();
        match settings.is_empty() {
            true => Err(format!("no process may have more than {most} MiB anyway")),
            false => Ok(settings),
        }
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        match value.strip_suffix(" MiB of memory").map(str::parse) {
            Some(Ok(megabytes)) if megabytes < machine.megabytes() => Ok(memory(megabytes)),
            _ => one_of(self.settings(machine)?, value),
        }
    }

    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let limit = |setting: &Setting| match setting.intervention {
            Intervention::Memory(megabytes) => Some(megabytes),
            _ => None,
        };
        let low = limit(fails)?;
        let high = passes.map_or(Some(2 * MEGABYTES[0]), limit)?;
        // A tenth more or less tells nobody anything.
        (high - low > low / 10).then(|| memory(u64::midpoint(low, high)))
    }
}

fn memory(megabytes: u64) -> Setting {
    Setting::new(format!("{megabytes} MiB of memory"), Intervention::Memory(megabytes))
        .typed(format!("(ulimit -v {}; {{}})", megabytes * 1024))
}

/// The signals that whoever starts it ignores: those who are started inherit that.
#[derive(Debug)]
pub(super) struct Signals;

impl Lever for Signals {
    fn name(&self) -> LeverName {
        LeverName::Signals
    }

    fn settings(&self, _: &Machine) -> Result<Vec<Setting>, String> {
        // What a shell does with a background job, and what `nohup` does.
        let both = [("Ctrl-C like a background job", "INT QUIT"), ("hang-ups like nohup", "HUP")];
        let setting = |(value, signals): (&str, &str)| {
            Setting::new(value, Intervention::IgnoredSignals(signals.to_owned()))
                .typed(format!("(trap '' {signals}; {{}})"))
        };
        Ok(both.map(setting).into())
    }
}

/// Where code and data lie in memory: always at the same place.
#[derive(Debug)]
pub(super) struct Addresses;

impl Lever for Addresses {
    fn name(&self) -> LeverName {
        LeverName::Addresses
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        machine.allows(&Intervention::FixedAddresses)?;
        let fixed = Setting::new("the same in every process", Intervention::FixedAddresses);
        Ok(vec![fixed.typed("setarch -R ")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_lead_to_about_the_most_memory_that_is_too_little() {
        let fails = |setting: &Setting| matches!(setting.intervention, Intervention::Memory(it) if it < 1000);
        let (mut good, mut bad) = (None, memory(256));
        while let Some(next) = Memory.between(good.as_ref(), &bad) {
            match fails(&next) {
                true => bad = next,
                false => good = Some(next),
            }
        }
        let Intervention::Memory(found) = bad.intervention else { panic!("it is about memory") };
        assert!((900..1000).contains(&found), "{found}");
    }

    #[test]
    fn halves_lead_to_the_most_open_files_that_are_too_few() {
        // A test that needs a hundred of them.
        let passes = |setting: &Setting| !matches!(setting.intervention, Intervention::Descriptors(it) if it < 100);
        let (mut good, mut bad) = (None, descriptors(32));
        while let Some(next) = Descriptors.between(good.as_ref(), &bad) {
            match passes(&next) {
                true => good = Some(next),
                false => bad = next,
            }
        }
        assert_eq!(bad.value, "99 open files");
    }
}
