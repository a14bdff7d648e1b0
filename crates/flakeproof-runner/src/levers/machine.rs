//! What this machine is, as far as levers differ from it, and what it allows.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::clock::year_of;
use super::{Intervention, RandomNumbers};
use crate::adapter::{Adapter, OpenOrders};
use crate::process::{answer_of, try_out};
use crate::system;

/// What this machine is, and what it allows. Nothing of it needs root.
#[derive(Debug)]
pub struct Machine {
    /// Where locales are compiled; made when one is.
    scratch: Option<tempfile::TempDir>,
    locales: Vec<String>,
    random_numbers: Result<RandomNumbers, String>,
    /// Whether the runtime of the tests keeps to its usual orders of hash tables unless a seed decides.
    has_usual_orders: bool,
}

impl Machine {
    /// Look around.
    #[must_use]
    pub fn probe() -> Self {
        let locales = answer_of("locale", &["-a"]).unwrap_or_default();
        Self {
            scratch: tempfile::Builder::new().prefix("flakeproof-").tempdir().ok(),
            locales: locales.lines().map(plain_locale).collect(),
            random_numbers: Err("that depends on the runner".to_owned()),
            has_usual_orders: false,
        }
    }

    /// Look around for the tests of an adapter.
    #[must_use]
    pub fn probe_for(adapter: &dyn Adapter) -> Self {
        Self {
            random_numbers: adapter.random_numbers(),
            has_usual_orders: adapter.open_orders() == OpenOrders::Usual,
            ..Self::probe()
        }
    }

    /// How the random numbers of tests get a seed.
    ///
    /// # Errors
    /// Why they cannot.
    pub(super) fn random_numbers(&self) -> Result<RandomNumbers, String> {
        self.random_numbers.clone()
    }

    /// Whether the runtime of the tests keeps to its usual orders of hash tables unless a seed decides.
    pub(super) fn has_usual_orders(&self) -> bool {
        self.has_usual_orders
    }

    /// A variable of our own environment, which tests inherit.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The name of the own time zone, if it is known.
    pub(super) fn zone(&self) -> Option<String> {
        self.variable("TZ").or_else(|| {
            let link = std::fs::read_link("/etc/localtime");
            let Ok(link) = link else { return Some("UTC".to_owned()) };
            let (_, zone) = link.to_str()?.split_once("zoneinfo/")?;
            Some(if matches!(zone, "Etc/UTC" | "Universal") { "UTC" } else { zone }.to_owned())
        })
    }

    /// The rights that new files do not get.
    pub(super) fn umask(&self) -> Option<u32> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(mask.trim(), 8).ok()
    }

    /// How many files may be open.
    pub(super) fn descriptors(&self) -> u64 {
        system::descriptors()
    }

    /// How many MiB of memory a process may have.
    pub(super) fn megabytes(&self) -> u64 {
        system::megabytes()
    }

    /// How many cores there are for us.
    pub(super) fn cores(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    /// The year of today.
    pub(super) fn year(&self) -> i64 {
        year_of(Self::now())
    }

    /// Seconds since 1970.
    pub(super) fn now() -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    /// What a local time is in seconds since 1970.
    pub(super) fn unix_time(&self, moment: &str) -> Option<i64> {
        answer_of("date", &["-d", moment, "+%s"])?.trim().parse().ok()
    }

    /// Whether a locale is installed.
    pub(super) fn has_locale(&self, name: &str) -> bool {
        self.locales.contains(&plain_locale(name))
    }

    /// A folder for `LOCPATH` with the locale in it, compiled from its source; `None` where that cannot be.
    pub(super) fn compiled_locale(&self, locale: &str, name: &str) -> Option<PathBuf> {
        let sources = Path::new("/usr/share/i18n/locales");
        let folder = self.scratch.as_ref()?.path();
        if !sources.join(locale).is_file() {
            return None;
        }
        let made = folder.join(name);
        // It ends with an error where it only warns.
        let _ = answer_of("localedef", &["-c", "-i", locale, "-f", "UTF-8", made.to_str()?]);
        made.join("LC_CTYPE").is_file().then(|| folder.to_path_buf())
    }

    /// Whether processes may be changed like this here.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn allows(&self, intervention: &Intervention) -> Result<(), String> {
        try_out(intervention)
    }

    /// Whether we see which processes belong to a test.
    pub(super) fn sees_processes(&self) -> Result<(), String> {
        match Path::new("/proc/self/stat").is_file() {
            true => Ok(()),
            false => Err("this system does not say which processes a test has".into()),
        }
    }

    /// Whether we may hear of the system calls of our own processes, and hold them up.
    pub(super) fn hears_calls(&self) -> Result<(), String> {
        system::can_hold_calls()
            .map_err(|cause| format!("holding system calls is not allowed here: {cause}"))
    }

    /// A place for a file that is gone with this.
    pub(super) fn file(&self, name: &str) -> Option<PathBuf> {
        self.scratch.as_ref().map(|folder| folder.path().join(name))
    }

    /// Whether we may hold threads of our own processes back.
    pub(super) fn traces(&self) -> Result<(), String> {
        system::can_hold_threads().map_err(|cause| format!("tracing is not allowed here: {cause}"))
    }
}

/// `tr_TR.utf8` and `tr_TR.UTF-8` are the same.
fn plain_locale(name: &str) -> String {
    name.replace('-', "").to_lowercase()
}
