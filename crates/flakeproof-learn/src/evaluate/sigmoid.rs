//! From scores to probabilities by a sigmoid (Platt, 1999), fitted as Lin, Lin and Weng (2007) do.
//!
//! It has two numbers only, so it needs far fewer held-out tests than isotonic regression.

use serde::{Deserialize, Serialize};

use super::HeldOut;

/// A rising or falling curve from scores to probabilities, learned on held-out scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sigmoid {
    slope: f64,
    shift: f64,
}

impl Sigmoid {
    /// The curve under which the truth is most likely. `None` unless both classes are there.
    ///
    /// Truth is drawn a little away from 0 and 1, as Platt proposes, so that scores that part the
    /// classes do not make the curve a step.
    #[must_use]
    pub fn fit(held_out: &HeldOut) -> Option<Self> {
        let weigh = |label: bool| -> f64 {
            let of_label = held_out.scored().iter().filter(|(_, flaky)| *flaky == label);
            of_label.map(|(_, flaky)| held_out.weight(*flaky)).sum()
        };
        let (flaky, others) = (weigh(true), weigh(false));
        if flaky == 0.0 || others == 0.0 {
            return None;
        }
        let aims = [1.0 / (others + 2.0), (flaky + 1.0) / (flaky + 2.0)];
        let mut best = Self { slope: 0.0, shift: ((flaky + 1.0) / (others + 1.0)).ln() };
        let mut loss = best.loss(held_out, aims);
        for _ in 0..100 {
            let Some((next, next_loss)) = best.newton(held_out, aims, loss) else { break };
            let gained = loss - next_loss;
            (best, loss) = (next, next_loss);
            if gained < 1e-12 * loss.abs().max(1.0) {
                break;
            }
        }
        Some(best)
    }

    /// The probability for a score.
    #[must_use]
    pub fn probability(&self, score: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * score + self.shift)).exp())
    }

    fn loss(&self, held_out: &HeldOut, aims: [f64; 2]) -> f64 {
        let one = |(score, flaky): &(f64, bool)| {
            let at = self.slope * score + self.shift;
            // ln(1 + e^at) without overflow.
            let log = at.max(0.0) + (-at.abs()).exp().ln_1p();
            held_out.weight(*flaky) * (log - aims[usize::from(*flaky)] * at)
        };
        held_out.scored().iter().map(one).sum()
    }

    /// One of Newton's steps, halved until it gains something.
    fn newton(&self, held_out: &HeldOut, aims: [f64; 2], loss: f64) -> Option<(Self, f64)> {
        let (mut slope, mut shift) = (0.0, 0.0);
        let (mut both, mut mixed, mut alone) = (1e-12, 0.0, 1e-12);
        for (score, flaky) in held_out.scored() {
            let probability = self.probability(*score);
            let weight = held_out.weight(*flaky);
            let off = weight * (probability - aims[usize::from(*flaky)]);
            let bend = weight * probability * (1.0 - probability);
            slope += off * score;
            shift += off;
            both += bend * score * score;
            mixed += bend * score;
            alone += bend;
        }
        let determinant = both * alone - mixed * mixed;
        let step_slope = -(alone * slope - mixed * shift) / determinant;
        let step_shift = -(both * shift - mixed * slope) / determinant;
        let mut size = 1.0;
        while size > 1e-10 {
            let slope = self.slope + size * step_slope;
            let next = Self { slope, shift: self.shift + size * step_shift };
            let next_loss = next.loss(held_out, aims);
            if next_loss < loss {
                return Some((next, next_loss));
            }
            size /= 2.0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_curve_that_is_known_is_found_again() {
        let curve = Sigmoid { slope: 6.0, shift: -4.0 };
        let scored: Vec<(f64, bool)> = (0..1000)
            .flat_map(|at| {
                let score = f64::from(at) / 1000.0;
                // Of a hundred tests with this score, as many are flaky as the curve says.
                let flaky = (curve.probability(score) * 100.0).round();
                (0..100).map(move |number| (score, f64::from(number) < flaky))
            })
            .collect();
        let others = scored.iter().filter(|(_, flaky)| !flaky).count();
        let found = Sigmoid::fit(&HeldOut::new(scored, others)).expect("both classes");
        assert!((found.slope - 6.0).abs() < 0.05 && (found.shift + 4.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn one_class_has_no_curve() {
        assert_eq!(Sigmoid::fit(&HeldOut::new(vec![(0.5, true)], 0)), None);
    }

    proptest! {
        #[test]
        fn probabilities_stay_between_zero_and_one(
            scored in proptest::collection::vec((0f64..1.0, any::<bool>()), 1..100),
        ) {
            let others = scored.iter().filter(|(_, flaky)| !flaky).count();
            if let Some(curve) = Sigmoid::fit(&HeldOut::new(scored, others)) {
                let ends = [curve.probability(0.0), curve.probability(1.0)];
                prop_assert!(ends.iter().all(|p| (0.0..=1.0).contains(p)), "{curve:?}");
            }
        }
    }
}
