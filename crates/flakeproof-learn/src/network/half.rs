//! Numbers of 16 bits (IEEE 754 binary16), in which model files keep weights.

/// The nearest number of 16 bits; of two equally near ones the even one. What is too large for 16
/// bits becomes the largest number there is.
pub(super) fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = u16::try_from(bits >> 16 & 0x8000).unwrap_or(0);
    if value.is_nan() {
        return sign | 0x7E00;
    }
    let value = value.abs().min(65_504.0);
    // Numbers below 2^-14 lie at equal distances of 2^-24; larger ones keep ten bits of fraction.
    let magnitude = if value < 6.103_515_6e-5 {
        // Adding 0.5 moves them to the last bits, rounded to just that distance.
        (value + 0.5).to_bits() - 0.5f32.to_bits()
    } else {
        let bits = value.to_bits() - (112 << 23);
        (bits + 0xFFF + (bits >> 13 & 1)) >> 13
    };
    sign | u16::try_from(magnitude).unwrap_or(0x7BFF).min(0x7BFF)
}

/// The number that these 16 bits mean.
pub(super) fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7FFF);
    let value = match magnitude >> 10 {
        0 => f32::from(half & 0x3FF) / 16_777_216.0,
        31 => f32::from_bits(0x7F80_0000 | (magnitude & 0x3FF) << 13),
        _ => f32::from_bits((magnitude << 13) + (112 << 23)),
    };
    f32::from_bits(value.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_finite_half_comes_back() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_finite() {
                assert_eq!(to_half(value), half, "{value}");
            } else {
                assert!(half & 0x7C00 == 0x7C00);
            }
        }
    }

    #[test]
    fn known_numbers_have_their_bits() {
        let known = [(1.0, 0x3C00), (-2.0, 0xC000), (65504.0, 0x7BFF), (5.960_464_5e-8, 1)];
        for (value, half) in known {
            assert_eq!((to_half(value), from_half(half)), (half, value));
        }
        assert_eq!(to_half(1e9), 0x7BFF);
        assert!(from_half(to_half(f32::NAN)).is_nan());
    }

    proptest! {
        #[test]
        fn no_half_is_nearer(value in -70_000.0f32..70_000.0, shrink in 0u8..40) {
            let value = value / f32::from(shrink).exp2();
            let half = to_half(value);
            let off = |half: u16| (from_half(half) - value.clamp(-65_504.0, 65_504.0)).abs();
            for other in [half.wrapping_sub(1), half.wrapping_add(1)] {
                if from_half(other).is_finite() && (other ^ half) & 0x8000 == 0 {
                    prop_assert!(off(half) <= off(other));
                }
            }
        }
    }
}
