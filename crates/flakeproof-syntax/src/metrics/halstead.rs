//! Halstead's count of operators and operands.

use std::collections::HashSet;
use std::hash::Hash;

/// Operators and operands, counted all and counted different.
#[derive(Debug)]
pub(super) struct Halstead<Operator, Operand> {
    operators: HashSet<Operator>,
    operands: HashSet<Operand>,
    occurrences: u32,
}

impl<Operator, Operand> Default for Halstead<Operator, Operand> {
    fn default() -> Self {
        Self { operators: HashSet::new(), operands: HashSet::new(), occurrences: 0 }
    }
}

impl<Operator: Hash + Eq, Operand: Hash + Eq> Halstead<Operator, Operand> {
    pub(super) fn see_operator(&mut self, operator: Operator) {
        self.occurrences = self.occurrences.saturating_add(1);
        self.operators.insert(operator);
    }

    pub(super) fn see_operand(&mut self, operand: Operand) {
        self.occurrences = self.occurrences.saturating_add(1);
        self.operands.insert(operand);
    }

    /// The volume N · log₂ η; 0 where there is no operator.
    pub(super) fn volume(&self) -> f64 {
        match self.operators.len() + self.operands.len() {
            0 => 0.0,
            different => f64::from(self.occurrences) * (different as f64).log2(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_counts_all_and_takes_the_logarithm_of_the_different() {
        let mut halstead = Halstead::default();
        for operand in ["a", "b", "a"] {
            halstead.see_operand(operand);
        }
        halstead.see_operator("+");
        halstead.see_operator("*");
        assert!((halstead.volume() - 5.0 * 2.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_has_no_volume() {
        assert_eq!(Halstead::<&str, &str>::default().volume(), 0.0);
    }
}
