//! Levers that are variables of the environment: the seed of hashes, the terminal, the signs of CI, and
//! the folders of a user.

use flakeproof_core::{LeverName, Shuffle};

use super::{Control, Intervention, Lever, Machine, Setting};

/// The seed by which sets and dictionaries are ordered.
#[derive(Debug)]
pub(super) struct HashSeed;

/// So many seeds are tried: a test that compares two names in the order of a set fails with every other.
const SEEDS: u32 = 8;

impl Lever for HashSeed {
    fn name(&self) -> LeverName {
        LeverName::HashSeed
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        if machine.has_usual_orders() {
            return Ok((0..SEEDS).map(usual_orders_left).collect());
        }
        let own = machine.variable("PYTHONHASHSEED");
        let seeds = (0..SEEDS).map(|seed| seed.to_string());
        let other = seeds.filter(|seed| Some(seed.as_str()) != own.as_deref());
        Ok(other
            .map(|seed| {
                let variables = [("PYTHONHASHSEED", seed.as_str()), ("PERL_HASH_SEED", &seed)];
                Setting::new(&seed, Intervention::variables(variables))
                    .typed(format!("PYTHONHASHSEED={seed} "))
            })
            .collect())
    }
}

/// Orders of a seed, where the runtime would keep to its own. What decides them is there in the control,
/// too, and decides none.
fn usual_orders_left(seed: u32) -> Setting {
    let orders = |shuffle| Intervention::OpenOrders(shuffle);
    let control = Control {
        value: "the usual orders, with the agent that would shuffle them".to_owned(),
        intervention: orders(Shuffle::only(seed, Vec::new())),
    };
    Setting::new(seed.to_string(), orders(Shuffle::all(seed))).beside(control)
}

/// The width and the abilities of the terminal.
#[derive(Debug)]
pub(super) struct Terminal;

impl Lever for Terminal {
    fn name(&self) -> LeverName {
        LeverName::Terminal
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let no_colours = Setting::of_variables("no colours", [("NO_COLOR", "1")]);
        let no_colours = machine.variable("NO_COLOR").is_none().then_some(no_colours);
        let others = vec![
            Setting::of_variables("40 columns", [("COLUMNS", "40")]),
            Setting::of_variables("200 columns", [("COLUMNS", "200")]),
            Setting::of_variables("no abilities", [("TERM", "dumb")]),
            Setting::of_variables(
                "forced colours",
                [("CLICOLOR_FORCE", "1"), ("FORCE_COLOR", "1")],
            ),
        ];
        Ok(others.into_iter().chain(no_colours).collect())
    }
}

/// The variables by which programs know that they run in CI.
#[derive(Debug)]
pub(super) struct Ci;

impl Lever for Ci {
    fn name(&self) -> LeverName {
        LeverName::Ci
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        const SIGNS: [&str; 2] = ["CI", "GITHUB_ACTIONS"];
        if SIGNS.iter().any(|name| machine.variable(name).is_some()) {
            let removed = SIGNS.iter().map(|name| ((*name).to_owned(), None)).collect();
            let typed = format!("env -u {} ", SIGNS.join(" -u "));
            return Ok(vec![Setting::new("none", Intervention::Variables(removed)).typed(typed)]);
        }
        Ok(vec![Setting::of_variables("set", SIGNS.map(|name| (name, "true")))])
    }
}

/// An empty home folder.
#[derive(Debug)]
pub(super) struct Home;

impl Lever for Home {
    fn name(&self) -> LeverName {
        LeverName::Home
    }

    fn settings(&self, _: &Machine) -> Result<Vec<Setting>, String> {
        Ok(vec![new_folder("HOME")])
    }
}

/// Another, empty folder for temporary files.
#[derive(Debug)]
pub(super) struct Temp;

impl Lever for Temp {
    fn name(&self) -> LeverName {
        LeverName::Temp
    }

    fn settings(&self, _: &Machine) -> Result<Vec<Setting>, String> {
        Ok(vec![new_folder("TMPDIR")])
    }
}

fn new_folder(variable: &str) -> Setting {
    Setting::new("an empty folder", Intervention::NewFolder(variable.to_owned()))
        .typed(format!("{variable}=$(mktemp -d) "))
}
