//! Gauss and Legendre's points: the integral of a polynomial from a few of its values.

/// Points between 0 and 1 and their weights; the weighted sum of the values of a polynomial of degree
/// at most `2 · points − 1` is its integral from 0 to 1.
pub(super) fn points(count: usize) -> Vec<(f64, f64)> {
    let size = crate::real(count);
    let root = |number: usize| {
        let angle = std::f64::consts::PI * (crate::real(number) + 0.75) / (size + 0.5);
        let mut at = angle.cos();
        // Newton's steps double the digits; a hundred are far more than are needed.
        for _ in 0..100 {
            let (value, slope) = legendre(count, at);
            let step = value / slope;
            at -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        let (_, slope) = legendre(count, at);
        let weight = 2.0 / ((1.0 - at * at) * slope * slope);
        (f64::midpoint(at, 1.0), weight / 2.0)
    };
    (0..count).map(root).collect()
}

/// The value and the slope of a Legendre polynomial.
fn legendre(degree: usize, at: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for number in 0..degree {
        let number = crate::real(number);
        let next = ((2.0 * number + 1.0) * at * value - number * before) / (number + 1.0);
        (before, value) = (value, next);
    }
    (value, crate::real(degree) * (at * value - before) / (at * at - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for count in 1..=20 {
            for power in 0..2 * count {
                let power = i32::try_from(power).expect("a small power");
                let sum: f64 =
                    points(count).iter().map(|(at, weight)| weight * at.powi(power)).sum();
                assert!((sum - 1.0 / f64::from(power + 1)).abs() < 1e-13, "{count} {power} {sum}");
            }
        }
    }
}
