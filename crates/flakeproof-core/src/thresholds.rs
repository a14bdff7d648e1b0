//! Two thresholds on a probability, and the three regions between them (CANNIER, Equation 4).
//!
//! Below the lower one a model says no, from the upper one on it says yes, and between them nobody
//! believes it: there tests are rerun. Both at 0 and just above 1, everything is rerun; both at the
//! same place, nothing is.

use serde::{Deserialize, Serialize};

/// The thresholds between which a model's word is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Typed")]
pub struct Thresholds {
    lower: f64,
    upper: f64,
}

/// Where a probability lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Region {
    /// The model says no.
    Below,
    /// The model does not know: a rerun must tell.
    Ambiguous,
    /// The model says yes.
    Above,
}

/// Why two numbers are no thresholds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdsError {
    /// The lower one.
    pub lower: f64,
    /// The upper one.
    pub upper: f64,
}

impl std::fmt::Display for ThresholdsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lower, upper } = self;
        write!(formatter, "the thresholds {lower} and {upper} are not in order from 0 to 1.01")
    }
}

impl std::error::Error for ThresholdsError {}

impl Thresholds {
    /// An upper threshold that no probability reaches: the model never says yes by itself.
    pub const UNREACHED: f64 = 1.01;

    /// Everything is ambiguous: the model is redundant.
    pub const RERUN_ALL: Self = Self { lower: 0.0, upper: Self::UNREACHED };

    /// Two thresholds.
    ///
    /// # Errors
    /// Unless 0 ≤ lower ≤ upper ≤ 1.01.
    pub fn new(lower: f64, upper: f64) -> Result<Self, ThresholdsError> {
        if 0.0 <= lower && lower <= upper && upper <= Self::UNREACHED {
            Ok(Self { lower, upper })
        } else {
            Err(ThresholdsError { lower, upper })
        }
    }

    /// Rerun what has at least this probability, and believe a yes never.
    ///
    /// # Errors
    /// Unless it lies between 0 and 1.01.
    pub fn candidates_from(lower: f64) -> Result<Self, ThresholdsError> {
        Self::new(lower, Self::UNREACHED)
    }

    /// From where on a test is ambiguous (`ω_l`).
    #[must_use]
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// From where on the model says yes (`ω_u`).
    #[must_use]
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// Where a probability lies (Equation 4).
    ///
    /// ```
    /// use flakeproof_core::{Region, Thresholds};
    ///
    /// let thresholds = Thresholds::new(0.07, 0.9).expect("they are in order");
    /// assert_eq!(thresholds.region(0.05), Region::Below);
    /// assert_eq!(thresholds.region(0.07), Region::Ambiguous);
    /// assert_eq!(thresholds.region(0.9), Region::Above);
    /// ```
    #[must_use]
    pub fn region(self, probability: f64) -> Region {
        if probability < self.lower {
            Region::Below
        } else if probability >= self.upper {
            Region::Above
        } else {
            Region::Ambiguous
        }
    }
}

/// What a file says, before it is checked.
#[derive(Deserialize)]
struct Typed {
    lower: f64,
    upper: f64,
}

impl TryFrom<Typed> for Thresholds {
    type Error = ThresholdsError;

    fn try_from(typed: Typed) -> Result<Self, ThresholdsError> {
        Self::new(typed.lower, typed.upper)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::value::MapDeserializer;

    use super::*;

    #[test]
    fn thresholds_are_in_order_and_in_range() {
        for (lower, upper) in [(0.0, 1.01), (0.07, 1.01), (0.5, 0.5), (1.0, 1.0), (0.0, 0.0)] {
            assert!(Thresholds::new(lower, upper).is_ok(), "{lower} {upper}");
        }
        for (lower, upper) in
            [(0.6, 0.5), (-0.1, 0.5), (0.5, 1.02), (f64::NAN, 1.0), (0.0, f64::NAN)]
        {
            assert!(Thresholds::new(lower, upper).is_err(), "{lower} {upper}");
        }
    }

    #[test]
    fn without_a_gap_the_model_decides_alone() {
        let model = Thresholds::new(0.5, 0.5).expect("in order");
        assert_eq!(
            [0.4, 0.5, 0.6].map(|it| model.region(it)),
            [Region::Below, Region::Above, Region::Above]
        );
    }

    #[test]
    fn a_file_with_thresholds_out_of_order_is_refused() {
        let read = |lower: f64, upper: f64| {
            let pairs = [("lower", lower), ("upper", upper)].into_iter();
            let map = MapDeserializer::<_, serde::de::value::Error>::new(pairs);
            Thresholds::deserialize(map)
        };
        assert_eq!(read(0.07, 1.01).ok(), Thresholds::new(0.07, 1.01).ok());
        let refused = read(0.8, 0.2).expect_err("it is out of order").to_string();
        assert!(refused.contains("0.8 and 0.2 are not in order"), "{refused}");
    }

    proptest! {
        #[test]
        fn everything_is_rerun_when_the_model_is_redundant(probability in 0.0..=1.0f64) {
            prop_assert_eq!(Thresholds::RERUN_ALL.region(probability), Region::Ambiguous);
        }
    }
}
