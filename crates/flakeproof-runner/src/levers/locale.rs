//! The lever of language, country and encoding.
//!
//! Few machines have the locale that a test trips over. Where the sources of locales are installed, they
//! are compiled into a folder of our own, and `LOCPATH` leads there; that variable alone is the control.

use flakeproof_core::LeverName;

use super::{Control, Intervention, Lever, Machine, Setting};

/// Language, country and encoding.
#[derive(Debug)]
pub(super) struct Locale;

/// Locales that differ in what matters: a dotted and a dotless i; a decimal comma, with umlauts sorted
/// among the letters. Each takes seconds to compile.
const LOCALES: [&str; 2] = ["tr_TR", "de_DE"];

impl Lever for Locale {
    fn name(&self) -> LeverName {
        LeverName::Locale
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        // Without the other two, Python makes an exception for it.
        let mut settings = vec![Setting::of_variables(
            "C in ASCII",
            [("LC_ALL", "C"), ("PYTHONCOERCECLOCALE", "0"), ("PYTHONUTF8", "0")],
        )];
        let own = ["LC_ALL", "LANG"].iter().find_map(|name| machine.variable(name));
        for locale in LOCALES {
            let name = format!("{locale}.UTF-8");
            if own.as_deref() == Some(name.as_str()) {
                continue;
            }
            settings.extend(if machine.has_locale(&name) {
                Some(Setting::of_variables(&name, [("LC_ALL", &name)]))
            } else {
                compiled(machine, locale, &name)
            });
        }
        Ok(settings)
    }
}

fn compiled(machine: &Machine, locale: &str, name: &str) -> Option<Setting> {
    let folder = machine.compiled_locale(locale, name)?;
    let folder = folder.to_string_lossy();
    let control = Control {
        value: "the usual locale, with `LOCPATH` set".to_owned(),
        intervention: Intervention::variables([("LOCPATH", &folder)]),
    };
    let intervention = Intervention::variables([("LC_ALL", name), ("LOCPATH", &folder)]);
    // Our folder is gone by then: who types it needs the locale installed.
    Some(Setting::new(name, intervention).beside(control).typed(format!("LC_ALL={name} ")))
}
