//! Numbers as Python compares them: `1`, `1.0`, `0x1`, `True` and `1 + 0j` are one value.

/// A number that a literal stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Number {
    /// A whole number, of whichever type, as digits to base 2³², lowest first.
    Whole(Vec<u32>),
    /// Any other float, by its bits.
    Float(u64),
    /// An imaginary number other than 0.
    Imaginary(u64),
}

/// Longer numbers are not valid Python either, unless they are hexadecimal.
const MOST_DIGITS: usize = 4_300;

impl Number {
    pub(super) const ZERO: Self = Self::Whole(Vec::new());

    pub(super) fn one() -> Self {
        Self::Whole(vec![1])
    }

    /// The number a literal stands for, unless nobody would write it.
    pub(super) fn of_literal(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|&letter| letter != '_').collect();
        if text.len() > MOST_DIGITS {
            return None;
        }
        let text = text.to_ascii_lowercase();
        for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if let Some(digits) = text.strip_prefix(prefix) {
                return whole(digits, base);
            }
        }
        if let Some(imaginary) = text.strip_suffix('j') {
            let value: f64 = imaginary.parse().ok()?;
            return Some(if value == 0.0 { Self::ZERO } else { Self::Imaginary(value.to_bits()) });
        }
        whole(&text, 10).or_else(|| text.parse().ok().map(Self::of_float))
    }

    fn of_float(value: f64) -> Self {
        if !value.is_finite() || value.fract() != 0.0 {
            return Self::Float(value.to_bits());
        }
        // A literal has no sign, and a whole float has its first bit or is 0.
        let exponent = (value.to_bits() >> 52) as usize;
        let fraction = value.to_bits() & ((1 << 52) - 1);
        if exponent == 0 {
            return Self::ZERO;
        }
        let mantissa = u128::from(fraction | (1 << 52));
        let mut digits = Vec::new();
        match exponent.checked_sub(1023 + 52) {
            None => push_all(&mut digits, mantissa >> (1023 + 52 - exponent)),
            Some(shift) => {
                digits.resize(shift / 32, 0);
                push_all(&mut digits, mantissa << (shift % 32));
            }
        }
        Self::Whole(digits)
    }
}

fn push_all(digits: &mut Vec<u32>, mut value: u128) {
    while value != 0 {
        digits.push((value & u128::from(u32::MAX)) as u32);
        value >>= 32;
    }
}

fn whole(text: &str, base: u32) -> Option<Number> {
    let mut digits: Vec<u32> = Vec::new();
    for letter in text.chars() {
        let mut carry = u64::from(letter.to_digit(base)?);
        for digit in &mut digits {
            let value = u64::from(*digit) * u64::from(base) + carry;
            *digit = (value & u64::from(u32::MAX)) as u32;
            carry = value >> 32;
        }
        if carry != 0 {
            digits.push(carry as u32);
        }
    }
    (!text.is_empty()).then_some(Number::Whole(digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::of_literal(text).expect("a literal")
    }

    #[test]
    fn one_value_has_many_spellings() {
        for same in ["16", "0x10", "0o2_0", "0B10000", "16.", "1.6e1", "160e-1"] {
            assert_eq!(number(same), number("16"), "{same}");
        }
        for zero in ["0", "00", "0.0", "0j", "0e9"] {
            assert_eq!(number(zero), Number::ZERO, "{zero}");
        }
        assert_eq!(number("1e22"), number("10000000000000000000000"));
        assert_ne!(number("1e23"), number("100000000000000000000000"));
    }

    #[test]
    fn imaginary_and_broken_numbers_are_others() {
        assert_ne!(number("1j"), number("1"));
        assert_ne!(number("1.5"), number("1.25"));
        assert_eq!(number("1e999"), number("2e999"));
        assert_eq!(Number::of_literal("0x"), None);
        assert_eq!(Number::of_literal(&"9".repeat(5_000)), None);
    }

    proptest! {
        #[test]
        fn whole_floats_equal_whole_numbers(value: u64) {
            let float = value as f64;
            prop_assert_eq!(number(&format!("{float:e}")), number(&format!("{float:.0}")));
        }
    }
}
