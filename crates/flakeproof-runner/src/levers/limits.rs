//! Levers that processes inherit from whoever starts them: the rights of new files, the number of open
//! files, and where code and data lie in memory.

use flakeproof_core::LeverName;

use super::{Intervention, Lever, Machine, Setting};

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
