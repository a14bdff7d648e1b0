//! The lever of the wall clock.
//!
//! libfaketime answers for the C library when a process asks for the time; clocks that only go forward
//! and the times of files are left alone. All processes of a command get the same offset, so that none of
//! them sees a time before that of its parent. The library itself, with the true time, is the control.

use std::path::{Path, PathBuf};

use flakeproof_core::LeverName;

use super::{Control, Intervention, Lever, Machine, Setting, one_of};

/// The wall clock.
#[derive(Debug)]
pub(super) struct Clock;

const NO_LIBRARY: &str = "libfaketime is not installed here (the package faketime has it), and nothing \
                          else sets the clock of a process";

const DAY: i64 = 24 * 60 * 60;

impl Lever for Clock {
    fn name(&self) -> LeverName {
        LeverName::Clock
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let library = library().ok_or(NO_LIBRARY)?;
        let year = machine.year();
        let leap = (year..).find(|it| it % 4 == 0 && it % 100 != 0).unwrap_or(year);
        // After midnight on the first of January; before midnight on the last of December; a leap day;
        // a day like any other, next year; and one after 2038, when 32 bits are too few.
        let moments = [
            format!("{}-01-01 00:30:00", year + 1),
            format!("{year}-12-31 23:30:00"),
            format!("{}-06-15 12:00:00", year + 1),
            format!("{leap}-02-29 12:00:00"),
            format!("{}-06-15 12:00:00", 2039.max(year + 13)),
        ];
        let at = |moment: &String| Some(setting(&library, moment, machine.unix_time(moment)?));
        let settings: Vec<Setting> = moments.iter().filter_map(at).collect();
        match settings.is_empty() {
            true => Err("this machine cannot say what a date is in seconds".into()),
            false => Ok(settings),
        }
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        let library = library().ok_or(NO_LIBRARY)?;
        match machine.unix_time(value) {
            Some(at) => Ok(setting(&library, value, at)),
            None => one_of(self.settings(machine)?, value),
        }
    }

    /// Half the days between, at the same time of the day: where that fails, too, the date does not
    /// matter.
    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let moment = |setting: &Setting| match &setting.intervention {
            Intervention::Clock { library, at } => Some((library.clone(), (*at)?)),
            _ => None,
        };
        let (library, late) = moment(fails)?;
        let early = match passes {
            Some(setting) => moment(setting)?.1,
            None => Machine::now(),
        };
        let days = (late - early) / DAY;
        (days > 1).then(|| {
            let at = late - days / 2 * DAY;
            let (year, month, day) = civil(at.div_euclid(DAY));
            let seconds = at.rem_euclid(DAY);
            let (hour, minute) = (seconds / 3600, seconds / 60 % 60);
            let moment = format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:00");
            setting(&library, &moment, at)
        })
    }
}

fn setting(library: &Path, moment: &str, at: i64) -> Setting {
    let at = Intervention::Clock { library: library.to_path_buf(), at: Some(at) };
    let as_it_is = Intervention::Clock { library: library.to_path_buf(), at: None };
    Setting::new(moment, at)
        .beside(Control { value: "the true time, from libfaketime".into(), intervention: as_it_is })
        .typed(format!("faketime '{moment}' "))
}

/// The library, for programs with threads.
fn library() -> Option<PathBuf> {
    let folders = ["/usr/lib/faketime", "/usr/local/lib/faketime", "/usr/lib64/faketime"];
    let of_machine = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let of_machine = of_machine.map(|entry| entry.path().join("faketime"));
    let all = of_machine.chain(folders.map(PathBuf::from));
    all.map(|folder| folder.join("libfaketimeMT.so.1")).find(|path| path.is_file())
}

/// Year, month and day of a day since 1970 (Hinnant's algorithm).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The year of a moment in seconds since 1970.
pub(super) fn year_of(seconds: i64) -> i64 {
    civil(seconds.div_euclid(DAY)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(25_367), (2039, 6, 15));
    }

    #[test]
    fn halves_lead_to_the_first_day_that_is_too_late() {
        let library = Path::new("/lib");
        let good_until = 20_820 * DAY;
        let (mut good, mut bad) =
            (setting(library, "now", 20_776 * DAY), setting(library, "late", 25_367 * DAY));
        while let Some(next) = Clock.between(Some(&good), &bad) {
            let Intervention::Clock { at: Some(at), .. } = next.intervention else { panic!() };
            if at < good_until { good = next } else { bad = next }
        }
        assert_eq!(bad.value, "2027-01-02 00:00:00", "day 20820");
    }
}
