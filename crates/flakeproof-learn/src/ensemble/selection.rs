//! Which members sit in an ensemble: those without which it would be worse.
//!
//! Members are added one after another, best first, as long as the blend of those that sit gains average
//! precision on parts whose weights were learned without them. Weights alone do not keep a member out that
//! is good on the projects at hand and misleads on the next: that is seen only where whole parts are held out
//! of the weights, too.

use super::base_model::Blend;
use crate::evaluate::average_precision;

/// A member must bring more than this, or chance would choose.
const SMALLEST_GAIN: f64 = 0.01;

/// What members said of tests they had not seen, to choose among them.
pub(super) struct Candidates<'h> {
    /// A list of scores for each member.
    pub(super) said: &'h [Vec<f64>],
    /// Whether each test is flaky.
    pub(super) flaky: &'h [bool],
    /// What each test counts.
    pub(super) importance: &'h [f64],
    /// The part that each test was held out with.
    pub(super) parts: &'h [usize],
}

impl Candidates<'_> {
    /// The places of those that sit, ascending; at least one.
    pub(super) fn sitting(&self) -> Vec<usize> {
        let mut sitting: Vec<usize> = Vec::new();
        let mut worth = f64::NEG_INFINITY;
        loop {
            let outside = (0..self.said.len()).filter(|member| !sitting.contains(member));
            let best = outside
                .map(|member| {
                    let with: Vec<usize> = sitting.iter().copied().chain([member]).collect();
                    (self.worth(&with), member)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            match best {
                Some((gained, member)) if gained > worth + SMALLEST_GAIN || sitting.is_empty() => {
                    sitting.push(member);
                    worth = gained;
                }
                _ => break,
            }
        }
        sitting.sort_unstable();
        sitting
    }

    /// The average precision of a blend of some members, each part scored by weights learned on the others.
    fn worth(&self, members: &[usize]) -> f64 {
        let count = self.parts.iter().max().map_or(0, |last| last + 1);
        let scored: Vec<(f64, bool)> =
            (0..count).flat_map(|part| self.scored(members, part)).collect();
        average_precision(&scored, 1.0).unwrap_or(0.0)
    }

    fn scored(&self, members: &[usize], part: usize) -> Vec<(f64, bool)> {
        let (asked, known): (Vec<usize>, Vec<usize>) =
            (0..self.flaky.len()).partition(|row| self.parts[*row] == part);
        let of = |rows: &[usize]| -> Vec<Vec<f64>> {
            let pick = |member: &usize| rows.iter().map(|row| self.said[*member][*row]).collect();
            members.iter().map(pick).collect()
        };
        let flaky: Vec<bool> = known.iter().map(|row| self.flaky[*row]).collect();
        let importance: Vec<f64> = known.iter().map(|row| self.importance[*row]).collect();
        let blend = Blend::fit(&of(&known), &flaky, &importance);
        let said = of(&asked);
        let score = |at: usize| {
            let said: Vec<Option<f64>> = said.iter().map(|scores| Some(scores[at])).collect();
            blend.ask(&said).0
        };
        asked.iter().enumerate().map(|(at, row)| (score(at), self.flaky[*row])).collect()
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;

    use super::*;
    use crate::Chance;

    #[test]
    fn a_member_that_knows_nothing_of_other_parts_sits_out() {
        let mut chance = Chance::new(Seed(5));
        let parts: Vec<usize> = (0..1500).map(|row| row % 5).collect();
        let flaky: Vec<bool> = parts.iter().map(|_| chance.unit() < 0.15).collect();
        let number = |flaky: &bool| f64::from(u8::from(*flaky));
        let one: Vec<f64> = flaky.iter().map(|it| number(it) + 1.5 * chance.unit()).collect();
        let other: Vec<f64> = flaky.iter().map(|it| number(it) + 1.5 * chance.unit()).collect();
        let guesses: Vec<f64> = flaky.iter().map(|_| chance.unit()).collect();
        let candidates = Candidates {
            said: &[guesses, one, other],
            flaky: &flaky,
            importance: &vec![1.0; 1500],
            parts: &parts,
        };
        assert_eq!(candidates.sitting(), [1, 2]);
    }
}
