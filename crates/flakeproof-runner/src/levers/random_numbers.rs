//! The lever of random numbers: the seed that they come from, where a runner lets us give one.
//!
//! What is set is what programs draw from without a seed of their own: the global generators of Go and
//! of JavaScript, and what pytest-randomly resets before each test. Numbers from the system's generator,
//! as keys are made of, have no seed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flakeproof_core::LeverName;
use serde::{Deserialize, Serialize};

use super::{Control, Intervention, Lever, Machine, Setting, one_of};

/// How the random numbers of a runner's tests get a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RandomNumbers {
    /// pytest-randomly gives every test the same seed.
    PytestRandomly,
    /// `Math.random` of each context begins with the seed of V8.
    Node,
    /// The global generator of `math/rand` begins like those of old: always with the same seed.
    Go,
}

/// Random numbers that come from a seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeededNumbers {
    numbers: RandomNumbers,
    /// The seed; without, all is as with one but for the seed.
    seed: Option<u32>,
    /// What Node loads first.
    script: PathBuf,
}

/// The seed of random numbers.
#[derive(Debug)]
pub(super) struct RandomSeed;

/// So many seeds are tried.
const SEEDS: u32 = 8;

const SEED_VARIABLE: &str = "FLAKEPROOF_RANDOM_SEED";

/// Sets the seed of V8 for contexts that are made from now on, and for this one before it draws.
const SCRIPT: &str = "const seed = process.env.FLAKEPROOF_RANDOM_SEED;\n\
                      if (seed) require('v8').setFlagsFromString('--random-seed=' + seed);\n";

impl Lever for RandomSeed {
    fn name(&self) -> LeverName {
        LeverName::Seed
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let numbers = machine.random_numbers()?;
        let seeds = match numbers {
            RandomNumbers::PytestRandomly | RandomNumbers::Node => 1..=SEEDS,
            RandomNumbers::Go => 1..=1,
        };
        let script = script(numbers, machine)?;
        Ok(seeds.map(|seed| setting(numbers, seed, &script)).collect())
    }

    fn setting(&self, value: &str, machine: &Machine) -> Result<Setting, String> {
        let numbers = machine.random_numbers()?;
        let seed = value.strip_prefix("the seed ").unwrap_or(value).parse();
        match (numbers, seed) {
            (RandomNumbers::PytestRandomly | RandomNumbers::Node, Ok(seed)) => {
                Ok(setting(numbers, seed, &script(numbers, machine)?))
            }
            _ => one_of(self.settings(machine)?, value),
        }
    }
}

/// What Node loads first, written down.
fn script(numbers: RandomNumbers, machine: &Machine) -> Result<PathBuf, String> {
    let place = machine.file("random-seed.cjs").ok_or("there is no place for a temporary file")?;
    if numbers == RandomNumbers::Node {
        std::fs::write(&place, SCRIPT).map_err(|error| error.to_string())?;
    }
    Ok(place)
}

fn setting(numbers: RandomNumbers, seed: u32, script: &Path) -> Setting {
    let seeded = |seed| {
        let script = script.to_path_buf();
        Intervention::SeededNumbers(SeededNumbers { numbers, seed, script })
    };
    let value = format!("the seed {seed}");
    match numbers {
        RandomNumbers::PytestRandomly => {
            Setting::new(value, seeded(Some(seed))).typed(format!("{{}} --randomly-seed={seed}"))
        }
        RandomNumbers::Node => Setting::new(value, seeded(Some(seed))).beside(Control {
            value: "the same script, and no seed".to_owned(),
            intervention: seeded(None),
        }),
        RandomNumbers::Go => {
            Setting::new(value, seeded(Some(seed))).typed("GODEBUG=randautoseed=0 ")
        }
    }
}

impl SeededNumbers {
    /// The variables that do it, on top of those of this very process.
    pub(super) fn variables(&self) -> BTreeMap<String, Option<String>> {
        let with = |name: &str, by: &str, more: String| {
            let before = std::env::var(name).ok().filter(|it| !it.is_empty());
            let all = before.map_or(more.clone(), |before| format!("{before}{by}{more}"));
            (name.to_owned(), Some(all))
        };
        let seed = self.seed.map(|seed| seed.to_string());
        let pairs = match (self.numbers, seed) {
            (RandomNumbers::PytestRandomly, Some(seed)) => {
                vec![with("PYTEST_ADDOPTS", " ", format!("--randomly-seed={seed}"))]
            }
            (RandomNumbers::Node, seed) => vec![
                with("NODE_OPTIONS", " ", format!("--require={}", self.script.display())),
                (SEED_VARIABLE.to_owned(), seed),
            ],
            (RandomNumbers::Go, Some(_)) => {
                vec![with("GODEBUG", ",", "randautoseed=0".to_owned())]
            }
            (RandomNumbers::PytestRandomly | RandomNumbers::Go, None) => Vec::new(),
        };
        pairs.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_comes_on_top_of_what_is_set_and_its_control_has_none() {
        let script = Path::new("/s.cjs");
        let node = setting(RandomNumbers::Node, 3, script);
        let variables = |it: &Intervention| match it {
            Intervention::SeededNumbers(it) => it.variables(),
            other => panic!("{other:?}"),
        };
        let seeded = variables(&node.intervention);
        assert_eq!(seeded[SEED_VARIABLE].as_deref(), Some("3"));
        let control = variables(&node.control.expect("it has one").intervention);
        assert_eq!(control[SEED_VARIABLE], None);
        assert_eq!(control["NODE_OPTIONS"], seeded["NODE_OPTIONS"]);
        let pytest = setting(RandomNumbers::PytestRandomly, 3, script);
        assert_eq!(pytest.command("pytest a").as_deref(), Some("pytest a --randomly-seed=3"));
    }
}
