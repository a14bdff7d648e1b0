//! Coordinate descent in the dual of a support vector machine with squared loss.
//!
//! Algorithm 1 of Hsieh et al., "A Dual Coordinate Descent Method for Large-scale Linear SVM"
//! (2008), without shrinking: the rows are few enough.

use flakeproof_core::Seed;

use crate::Chance;

/// When no multiplier could change by more than this, nothing more is to be gained.
const CLOSE_ENOUGH: f64 = 0.1;
const MOST_PASSES: usize = 30;

/// A row: which columns, with which values.
pub(super) type SparseRow = Vec<(u32, f32)>;

/// The weights that separate rows with the widest margin, the last one for a constant.
///
/// `costs` says what it costs to be wrong about each row.
pub(super) fn separate(
    rows: &[SparseRow],
    positive: &[bool],
    costs: &[f64],
    columns: usize,
    seed: Seed,
) -> Vec<f32> {
    let mut weights = vec![0.0_f64; columns + 1];
    let mut multipliers = vec![0.0_f64; rows.len()];
    let norms: Vec<f64> = rows
        .iter()
        .map(|row| row.iter().map(|(_, value)| f64::from(*value).powi(2)).sum::<f64>() + 1.0)
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut chance = Chance::new(seed);
    for _ in 0..MOST_PASSES {
        chance.shuffle(&mut order);
        let mut largest = 0.0_f64;
        for &at in &order {
            let side = if positive[at] { 1.0 } else { -1.0 };
            let softness = 0.5 / costs[at];
            let gradient = side * product(&weights, &rows[at]) - 1.0 + softness * multipliers[at];
            let projected = if multipliers[at] == 0.0 { gradient.min(0.0) } else { gradient };
            largest = largest.max(projected.abs());
            if projected.abs() > 1e-12 {
                let before = multipliers[at];
                multipliers[at] = (before - gradient / (norms[at] + softness)).max(0.0);
                add(&mut weights, &rows[at], side * (multipliers[at] - before));
            }
        }
        if largest < CLOSE_ENOUGH {
            break;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "f32 is precise enough to keep")]
    let weights = weights.into_iter().map(|weight| weight as f32).collect();
    weights
}

fn product(weights: &[f64], row: &SparseRow) -> f64 {
    let constant = weights.last().copied().unwrap_or_default();
    row.iter().fold(constant, |sum, (at, value)| sum + weights[*at as usize] * f64::from(*value))
}

fn add(weights: &mut [f64], row: &SparseRow, step: f64) {
    row.iter().for_each(|(at, value)| weights[*at as usize] += step * f64::from(*value));
    if let Some(constant) = weights.last_mut() {
        *constant += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_are_separated_half_way() {
        let rows = vec![vec![(0, 1.0)], vec![(0, -1.0)]];
        let weights = separate(&rows, &[true, false], &[1e6; 2], 1, Seed(1));
        assert!((weights[0] - 1.0).abs() < 0.02 && weights[1].abs() < 0.02, "{weights:?}");
    }
}
