//! What a number of executions can and cannot say.

/// The share of passes that `failures` failures in a row do not rule out.
///
/// A test that passes more often than this would have shown a pass with the given confidence;
/// "failed 5 of 5" leaves room for a test that passes up to 45 % of the time (95 %).
///
/// ```
/// let bound = flakeproof_core::statistics::pass_rate_not_ruled_out(5, 0.95);
/// assert!((bound - 0.451).abs() < 0.001);
/// ```
#[must_use]
pub fn pass_rate_not_ruled_out(failures: u32, confidence: f64) -> f64 {
    if failures == 0 {
        return 1.0;
    }
    1.0 - (1.0 - confidence).powf(1.0 / f64::from(failures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_rules_nothing_out() {
        assert!((pass_rate_not_ruled_out(0, 0.95) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn more_failures_leave_less_room() {
        let rates: Vec<f64> = (1..50).map(|n| pass_rate_not_ruled_out(n, 0.95)).collect();
        assert!(rates.is_sorted_by(|a, b| a > b));
    }
}
