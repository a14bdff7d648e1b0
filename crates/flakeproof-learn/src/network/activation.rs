//! The exponential function and what is made of it, for whole vectors at once.
//!
//! The functions of the standard library are exact, slow, and differ between platforms. These are
//! right to about two units of the last place of 1, use plain operations only, and so vectorise and
//! give the same bits everywhere.

/// 1.5 · 2^23: adding it to a number of moderate size rounds that to a whole number, in the last
/// bits.
const ROUNDING: f32 = 12_582_912.0;

/// The natural logarithm of two in two parts, the first with so few bits that products are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// e to the `x`; between e^-87 and e^88.
#[inline(always)]
pub(super) fn exponential(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let doublings = shifted - ROUNDING;
    let rest = x - doublings * LN_2_HIGH - doublings * LN_2_LOW;
    // The series of e^x, whose next term is below 2e-7 for a rest below ln 2 / 2.
    let mut series = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * rest + coefficient;
    }
    // The last bits of `shifted` are the number of doublings: moved into the exponent, a power of
    // 2.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3F80_0000));
    series * power
}

/// The logistic function: from 0 to 1.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exponential(-x))
}

/// The hyperbolic tangent: from -1 to 1.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exponential(2.0 * x))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_close_to_the_exact_functions(x in -30.0f32..30.0) {
            let exact = f64::from(x).exp();
            prop_assert!((f64::from(exponential(x)) / exact - 1.0).abs() < 5e-7);
            prop_assert!((f64::from(sigmoid(x)) - 1.0 / (1.0 + 1.0 / exact)).abs() < 3e-7);
            prop_assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-7);
        }
    }

    #[test]
    fn they_stay_finite_at_the_ends() {
        for x in [f32::MIN, -200.0, 200.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(exponential(x).is_finite() && (0.0..=1.0).contains(&sigmoid(x)));
            assert!((-1.0..=1.0).contains(&tanh(x)));
        }
    }
}
