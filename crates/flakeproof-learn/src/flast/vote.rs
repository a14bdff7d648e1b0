//! What the neighbours of a test say about it (Algorithm 1, lines 2 to 5).

use serde::{Deserialize, Serialize};

/// How much a neighbour's voice weighs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// The inverse of its cosine distance, as in the paper.
    InverseDistance,
    /// Its similarity to this power: the higher, the more the nearest decide.
    Power(f32),
}

/// Distances below this count as zero: two equal texts differ by rounding only.
const SAME: f64 = 1e-5;

impl Vote {
    /// The flaky share of the votes, 0 without a voter.
    ///
    /// At distance zero the paper's weight is infinite. A neighbour that is the very same text and
    /// not flaky then decides for "not flaky"; else one that is flaky decides for "flaky". This is
    /// what the paper's reference program does: a doubt never accuses a test.
    #[must_use]
    pub fn flaky_share(self, neighbours: impl Iterator<Item = (f32, bool)> + Clone) -> f64 {
        if self == Self::InverseDistance {
            let mut same = neighbours.clone().filter(|(similarity, _)| is_same(*similarity));
            if let Some((_, first)) = same.next() {
                return if first && same.all(|(_, flaky)| flaky) { 1.0 } else { 0.0 };
            }
        }
        let (mut flaky_votes, mut all_votes) = (0.0, 0.0);
        for (similarity, flaky) in neighbours {
            let weight = self.weight(similarity);
            all_votes += weight;
            if flaky {
                flaky_votes += weight;
            }
        }
        if all_votes > 0.0 { flaky_votes / all_votes } else { 0.0 }
    }

    /// The weight of a voice from this similarity.
    pub(crate) fn weight(self, similarity: f32) -> f64 {
        let similarity = f64::from(similarity);
        match self {
            Self::InverseDistance => 1.0 / (1.0 - similarity).max(SAME),
            Self::Power(exponent) => similarity.max(0.0).powf(f64::from(exponent)),
        }
    }
}

fn is_same(similarity: f32) -> bool {
    1.0 - f64::from(similarity) < SAME
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(vote: Vote, neighbours: &[(f32, bool)]) -> f64 {
        vote.flaky_share(neighbours.iter().copied())
    }

    #[test]
    fn nearer_neighbours_weigh_more() {
        // 1/0.2 = 5 flaky against 1/0.5 = 2 and 1/0.5 = 2 not flaky.
        let near = [(0.8, true), (0.5, false), (0.5, false)];
        assert!((share(Vote::InverseDistance, &near) - 5.0 / 9.0).abs() < 1e-6);
        assert!((share(Vote::Power(2.0), &near) - 0.64 / 1.14).abs() < 1e-6);
    }

    #[test]
    fn the_very_same_text_decides_and_a_doubt_never_accuses() {
        let others = [(0.9, true), (0.9, true)];
        let with = |same: &[(f32, bool)]| share(Vote::InverseDistance, &[same, &others].concat());
        assert!(with(&[(1.0, false)]) == 0.0);
        assert!(with(&[(1.0, true), (1.0, false)]) == 0.0);
        let others = [(0.9, false), (0.9, false)];
        assert!(share(Vote::InverseDistance, &[&[(1.0, true)][..], &others].concat()) == 1.0);
    }

    #[test]
    fn nobody_says_nothing() {
        assert!(share(Vote::InverseDistance, &[]) == 0.0);
        assert!(share(Vote::Power(4.0), &[]) == 0.0);
    }
}
