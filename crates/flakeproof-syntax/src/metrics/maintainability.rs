//! The maintainability index as radon computes it: the formula of Oman and Hagemeister with a term
//! for comments, scaled to 0..=100.

/// What the index is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    pub(super) halstead_volume: f64,
    pub(super) cyclomatic_complexity: u32,
    /// Statements; in Python what radon takes for them.
    pub(super) logical_lines: u32,
    /// Lines that are neither blank nor only comment.
    pub(super) source_lines: u32,
    pub(super) comment_lines: u32,
}

/// The index, from 0 (hard to maintain) to 100.
pub(super) fn index(parts: Parts) -> f64 {
    if parts.halstead_volume <= 0.0 || parts.logical_lines == 0 {
        return 100.0;
    }
    let percent = match parts.source_lines {
        0 => 0.0,
        lines => f64::from(parts.comment_lines) / f64::from(lines) * 100.0,
    };
    let comments = (2.46 * percent.to_radians()).sqrt().sin();
    let raw = 171.0
        - 5.2 * parts.halstead_volume.ln()
        - 0.23 * f64::from(parts.cyclomatic_complexity)
        - 16.2 * f64::from(parts.logical_lines).ln()
        + 50.0 * comments;
    (raw * 100.0 / 171.0).clamp(0.0, 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: Parts = Parts {
        halstead_volume: 100.0,
        cyclomatic_complexity: 5,
        logical_lines: 10,
        source_lines: 10,
        comment_lines: 0,
    };

    #[test]
    fn comments_make_code_easier_to_maintain() {
        // 171 - 5.2 ln 100 - 0.23 · 5 - 16.2 ln 10, of 171.
        assert!((index(PARTS) - 63.509_495_044).abs() < 1e-6, "{}", index(PARTS));
        assert!(index(Parts { comment_lines: 3, ..PARTS }) > index(PARTS));
    }

    #[test]
    fn code_without_operators_is_as_easy_as_can_be() {
        assert_eq!(index(Parts { halstead_volume: 0.0, ..PARTS }), 100.0);
        assert_eq!(index(Parts { logical_lines: 0, ..PARTS }), 100.0);
    }
}
