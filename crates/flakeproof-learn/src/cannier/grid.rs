//! The thresholds that are tried (CANNIER, section 5.2.4): 0 to 1 in hundredths, and 1.01.

/// The last step that a probability can reach.
pub const LAST_STEP: usize = 100;
/// The step that none reaches: an upper threshold of 1.01.
pub const UNREACHED_STEP: usize = 101;

/// The threshold of a step.
#[must_use]
pub fn threshold_of(step: usize) -> f64 {
    crate::real(step) / 100.0
}

/// The highest step whose threshold a probability reaches. It is below `threshold_of(k)` exactly when
/// its step is below `k`, so that counts by step answer for every threshold without another look.
#[must_use]
pub fn step_of(probability: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    let near = (probability * 100.0).clamp(0.0, 100.0) as usize;
    // The product may be rounded over or under a threshold.
    if near < LAST_STEP && threshold_of(near + 1) <= probability {
        near + 1
    } else if near > 0 && threshold_of(near) > probability {
        near - 1
    } else {
        near
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_threshold_reaches_its_own_step() {
        for step in 0..=LAST_STEP {
            assert_eq!(step_of(threshold_of(step)), step);
            assert_eq!(step_of(threshold_of(step).next_down()), step.saturating_sub(1));
        }
    }

    proptest! {
        #[test]
        fn steps_compare_as_probabilities_do(probability in 0.0..=1.0f64, step in 0..=UNREACHED_STEP) {
            prop_assert_eq!(probability < threshold_of(step), step_of(probability) < step);
        }
    }
}
