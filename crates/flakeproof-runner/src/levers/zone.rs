//! The lever of the time zone.

use std::path::Path;

use flakeproof_core::LeverName;

use super::{Lever, Machine, Setting};

/// The time zone.
#[derive(Debug)]
pub(super) struct Zone;

/// Zones that differ in what matters: far ahead, so that it is tomorrow there; behind, with daylight
/// saving; half an hour off; as far behind as any, so that it is yesterday; and none.
const ZONES: [&str; 5] =
    ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Pago_Pago", "UTC"];

impl Lever for Zone {
    fn name(&self) -> LeverName {
        LeverName::Zone
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let is_there = |zone: &&&str| Path::new("/usr/share/zoneinfo").join(zone).is_file();
        let own = machine.zone();
        let other = ZONES.iter().filter(is_there).filter(|zone| Some(**zone) != own.as_deref());
        let settings: Vec<Setting> =
            other.map(|zone| Setting::of_variables(zone, [("TZ", zone)])).collect();
        match settings.is_empty() {
            true => Err("this machine has no table of time zones (the package tzdata)".into()),
            false => Ok(settings),
        }
    }
}
