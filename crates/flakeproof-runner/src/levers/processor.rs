//! Levers of the processor: one core, a share of one, other work on all of them, and threads that are
//! held back.
//!
//! A quota shows what load does not: under load a test that only waits is never late, because it needs no
//! processor while it waits and gets one soon after.

use std::time::Duration;

use flakeproof_core::LeverName;

use super::{Intervention, Lever, Machine, Setting, one_of};

/// One core for all threads and processes.
#[derive(Debug)]
pub(super) struct OneCore;

impl Lever for OneCore {
    fn name(&self) -> LeverName {
        LeverName::OneCore
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        if machine.cores() < 2 {
            return Err("there is no more than one core here anyway".into());
        }
        machine.allows(&Intervention::OneCore)?;
        Ok(vec![Setting::new("one core", Intervention::OneCore).typed("taskset -c 0 ")])
    }
}

/// A share of a core, in slices.
#[derive(Debug)]
pub(super) struct Quota;

impl Lever for Quota {
    fn name(&self) -> LeverName {
        LeverName::Quota
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        machine.sees_processes()?;
        // Long slices show what compares two times, short ones what is slow all the time.
        Ok(vec![quota(100, 900), quota(10, 90)])
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        let parts = value.strip_suffix(" ms").and_then(|it| it.split_once(" ms of every "));
        let times = parts.map(|(running, all)| (running.parse::<u64>(), all.parse::<u64>()));
        match times {
            Some((Ok(running), Ok(all))) if 0 < running && running < all => {
                machine.sees_processes()?;
                Ok(quota(running, all - running))
            }
            _ => one_of(self.settings(machine)?, value),
        }
    }

    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let stopped = |setting: &Setting| match setting.intervention {
            Intervention::Quota { stopped, running } => Some((stopped, running)),
            _ => None,
        };
        let (high, running) = stopped(fails)?;
        let low = passes.map_or(Some(Duration::ZERO), |it| stopped(it).map(|(it, _)| it))?;
        // A fifth more or less tells nobody anything.
        let next = (low + high) / 2;
        let is_telling = high.saturating_sub(low) > high / 5 && next > running;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        is_telling.then(|| quota(millis(running), millis(next)))
    }
}

fn quota(running: u64, stopped: u64) -> Setting {
    let intervention = Intervention::Quota {
        running: Duration::from_millis(running),
        stopped: Duration::from_millis(stopped),
    };
    Setting::new(format!("{running} ms of every {} ms", running + stopped), intervention)
}

/// Other work on all cores.
#[derive(Debug)]
pub(super) struct Load;

/// So many threads of it for every core.
const PER_CORE: usize = 4;

impl Lever for Load {
    fn name(&self) -> LeverName {
        LeverName::Load
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let threads = machine.cores() * PER_CORE;
        let setting = Setting::new(format!("{threads} busy threads"), Intervention::Load(threads));
        Ok(vec![setting.typed(format!("stress-ng --quiet --cpu {threads} & {{}}; kill $!"))])
    }
}

/// Threads that are held back at random.
#[derive(Debug)]
pub(super) struct Scheduling;

impl Lever for Scheduling {
    fn name(&self) -> LeverName {
        LeverName::Scheduling
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        machine.traces()?;
        Ok(vec![Setting::new("random threads held back", Intervention::HeldThreads(1))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_lead_to_the_shortest_stop_that_is_too_long() {
        let fails = |setting: &Setting| matches!(setting.intervention, Intervention::Quota { stopped, .. } if stopped > Duration::from_millis(300));
        let (mut good, mut bad) = (None, quota(100, 900));
        let mut steps = 0;
        while let Some(next) = Quota.between(good.as_ref(), &bad) {
            steps += 1;
            match fails(&next) {
                true => bad = next,
                false => good = Some(next),
            }
        }
        assert!(bad.value.contains("every 437 ms"), "{} after {steps} steps", bad.value);
    }
}
