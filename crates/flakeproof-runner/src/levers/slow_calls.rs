//! The lever of system calls that take long or fail: a slow disk, a slow network, a server that is not
//! there.
//!
//! Each call is a setting of its own, so that what is named is the one that is enough; how long it has to
//! take is found by halving. The control has every such call told to us and answered at once: what comes
//! with the telling (no new rights, a moment of waiting) is no effect of slowness.

use std::path::PathBuf;
use std::time::Duration;

use flakeproof_core::LeverName;
use serde::{Deserialize, Serialize};

use super::{Control, Intervention, Lever, Machine, Setting, one_of};

/// System calls that take long, or fail.
#[derive(Debug)]
pub(super) struct SlowCalls;

/// A system call, or those that do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowCall {
    /// Reach a server.
    Connect,
    /// Take in a client.
    Accept,
    /// Send to a socket.
    Send,
    /// Receive from a socket.
    Receive,
    /// Open a file.
    Open,
    /// Wait until a file is on the disk.
    Sync,
    /// Give a file another name.
    Rename,
    /// Reach another machine, or send to it, or receive from it.
    Network,
}

impl SlowCall {
    const ALL: [Self; 7] = [
        Self::Connect,
        Self::Accept,
        Self::Send,
        Self::Receive,
        Self::Open,
        Self::Sync,
        Self::Rename,
    ];

    /// The call as the manual of the system names it.
    fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Accept => "accept",
            Self::Send => "send",
            Self::Receive => "recv",
            Self::Open => "openat",
            Self::Sync => "fsync",
            Self::Rename => "rename",
            Self::Network => "the network",
        }
    }
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallEffect {
    /// It takes so much longer.
    Delayed(Duration),
    /// It fails.
    Refused,
}

/// Calls that are held up or refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCalls {
    /// Which.
    pub call: SlowCall,
    /// What happens to them.
    pub effect: CallEffect,
    /// They are, as long as there is a file here: while a test runs.
    pub gate: PathBuf,
}

/// So much longer a call takes at first.
const DELAY: Duration = Duration::from_millis(200);
/// The same for a call that any program makes dozens of times.
const DELAY_OF_MANY: Duration = Duration::from_millis(20);
/// A shorter delay is what any busy machine has.
const SHORTEST: Duration = Duration::from_millis(5);

impl Lever for SlowCalls {
    fn name(&self) -> LeverName {
        LeverName::SlowCalls
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let gate = gate(machine)?;
        let delayed = SlowCall::ALL.map(|call| {
            let delay = if call == SlowCall::Open { DELAY_OF_MANY } else { DELAY };
            setting(call, CallEffect::Delayed(delay), &gate)
        });
        let refused = setting(SlowCall::Connect, CallEffect::Refused, &gate);
        Ok(delayed.into_iter().chain([refused]).collect())
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        let gate = gate(machine)?;
        let found = SlowCall::ALL.into_iter().find_map(|call| {
            let effect = value.strip_prefix(call.word())?;
            if effect == " refused" {
                return Some(setting(call, CallEffect::Refused, &gate));
            }
            let millis = effect.strip_prefix(" delayed by ")?.strip_suffix(" ms")?.parse().ok()?;
            Some(setting(call, CallEffect::Delayed(Duration::from_millis(millis)), &gate))
        });
        found.map_or_else(|| one_of(self.settings(machine)?, value), Ok)
    }

    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let Intervention::HeldCalls(HeldCalls { call, .. }) = fails.intervention else {
            return None;
        };
        let (next, gate) = halfway(passes, fails)?;
        Some(setting(call, CallEffect::Delayed(next), &gate))
    }
}

/// A network that takes long.
#[derive(Debug)]
pub(super) struct SlowNetwork;

/// So much longer each step takes at first.
const DELAY_OF_NETWORK: Duration = Duration::from_millis(100);

impl Lever for SlowNetwork {
    fn name(&self) -> LeverName {
        LeverName::SlowNetwork
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        Ok(vec![network(DELAY_OF_NETWORK, &gate(machine)?)])
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        let millis = value.strip_suffix(OF_NETWORK).and_then(|it| it.parse().ok());
        match millis {
            Some(millis) => Ok(network(Duration::from_millis(millis), &gate(machine)?)),
            None => one_of(self.settings(machine)?, value),
        }
    }

    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let (next, gate) = halfway(passes, fails)?;
        Some(network(next, &gate))
    }
}

const OF_NETWORK: &str = " ms for each step";

fn network(delay: Duration, gate: &std::path::Path) -> Setting {
    let setting = setting(SlowCall::Network, CallEffect::Delayed(delay), gate);
    Setting { value: format!("{}{OF_NETWORK}", delay.as_millis()), ..setting }
}

/// The delay between two, or between none and one, where there is a telling one.
fn halfway(passes: Option<&Setting>, fails: &Setting) -> Option<(Duration, PathBuf)> {
    let delayed = |setting: &Setting| match &setting.intervention {
        Intervention::HeldCalls(HeldCalls { effect: CallEffect::Delayed(time), gate, .. }) => {
            Some((*time, gate.clone()))
        }
        _ => None,
    };
    let (high, gate) = delayed(fails)?;
    let low = passes.map_or(Some(Duration::ZERO), |it| delayed(it).map(|it| it.0))?;
    let next = (low + high) / 2;
    // A fifth more or less tells nobody anything.
    let is_telling = high.saturating_sub(low) > high / 5 && next >= SHORTEST;
    is_telling.then_some((next, gate))
}

/// Where the file is while a test runs, if calls can be held up here.
fn gate(machine: &Machine) -> Result<PathBuf, String> {
    machine.hears_calls()?;
    machine
        .file("calls-are-held")
        .ok_or_else(|| "there is no place for a temporary file".to_owned())
}

fn setting(call: SlowCall, effect: CallEffect, gate: &std::path::Path) -> Setting {
    let held =
        |effect| Intervention::HeldCalls(HeldCalls { call, effect, gate: gate.to_path_buf() });
    let value = match effect {
        CallEffect::Delayed(time) => format!("{} delayed by {} ms", call.word(), time.as_millis()),
        CallEffect::Refused => format!("{} refused", call.word()),
    };
    let each = if call == SlowCall::Network { "call of " } else { "" };
    let control = Control {
        value: format!("every {each}{} told and let through at once", call.word()),
        intervention: held(CallEffect::Delayed(Duration::ZERO)),
    };
    let setting = Setting::new(value, held(effect)).beside(control);
    match effect {
        CallEffect::Delayed(_) => setting,
        // The tests' own servers refuse it, too.
        CallEffect::Refused => setting.unlike_any_machine(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_lead_to_about_the_shortest_delay_that_is_too_long() {
        let gate = std::path::Path::new("/gate");
        let delay = |setting: &Setting| match &setting.intervention {
            Intervention::HeldCalls(HeldCalls { effect: CallEffect::Delayed(time), .. }) => *time,
            _ => Duration::ZERO,
        };
        let first = setting(SlowCall::Connect, CallEffect::Delayed(DELAY), gate);
        let (mut good, mut bad) = (None, first);
        while let Some(next) = SlowCalls.between(good.as_ref(), &bad) {
            match delay(&next) > Duration::from_millis(60) {
                true => bad = next,
                false => good = Some(next),
            }
        }
        let found = delay(&bad).as_millis();
        assert!((60..80).contains(&found), "{found} ms");
    }

    #[test]
    fn what_is_refused_has_nothing_milder() {
        let gate = std::path::Path::new("/gate");
        let refused = setting(SlowCall::Connect, CallEffect::Refused, gate);
        assert_eq!(refused.value, "connect refused");
        assert_eq!(SlowCalls.between(None, &refused), None);
    }
}
