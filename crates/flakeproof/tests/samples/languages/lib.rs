//! Sums.

#[cfg(test)]
mod tests {
    #[test]
    fn one_and_one_is_two() {
        assert_eq!(1 + 1, 2);
    }
}
