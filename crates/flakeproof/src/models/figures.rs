//! What the model inside the program is worth, as it was measured: the file that README and the book take
//! their figures from, too.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::cli::MostSuspects;

/// What was measured on projects that were held out whole, one after another, with everything chosen without
/// them.
#[derive(Debug, Deserialize)]
pub(crate) struct Figures {
    held_out: HeldOutFigures,
}

#[derive(Debug, Deserialize)]
struct HeldOutFigures {
    /// With suspects by the threshold alone.
    all: Measured,
    /// With few suspects in each project.
    standing_out: Measured,
}

/// What a decision is worth.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Measured {
    /// The share of suspects that are flaky.
    pub(crate) precision: f64,
    /// The share of flaky tests that are suspects.
    pub(crate) recall: f64,
}

impl Figures {
    /// Those of the model inside the program.
    pub(crate) fn shipped() -> &'static Self {
        static FIGURES: OnceLock<Figures> = OnceLock::new();
        FIGURES.get_or_init(|| {
            serde_json::from_str(include_str!("../../models/figures.json"))
                .expect("the file is part of the program, and a test reads it")
        })
    }

    /// What suspects are worth when there are at most so many in a project, if that was measured.
    pub(crate) fn of(&self, most: MostSuspects) -> Option<Measured> {
        match most {
            MostSuspects::ALL => Some(self.held_out.all),
            MostSuspects::USUAL => Some(self.held_out.standing_out),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_suspects_miss_more_flaky_tests() {
        let of = |most| Figures::shipped().of(most).expect("it is measured");
        assert!(of(MostSuspects::USUAL).recall < of(MostSuspects::ALL).recall);
    }
}
