//! Sets of tests, as spans of their numbers: tests of a suite are numbered side by side.

/// A set of numbers, as spans that rise and do not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spans(Vec<(i64, i64)>);

impl Spans {
    /// Add a span that begins after all others.
    pub(crate) fn push(&mut self, first: i64, last: i64) {
        match self.0.last_mut() {
            Some(end) if end.1 + 1 >= first => end.1 = end.1.max(last),
            _ => self.0.push((first, last)),
        }
    }

    /// What is in either.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all = Self::default();
        loop {
            let next = match (one.peek(), two.peek()) {
                (Some(left), Some(right)) if left.0 <= right.0 => one.next(),
                (Some(_), None) => one.next(),
                (_, Some(_)) => two.next(),
                (None, None) => return all,
            };
            if let Some((first, last)) = next {
                all.push(*first, *last);
            }
        }
    }

    /// What is in this and not in the other.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut rest = Self::default();
        let mut others = other.0.iter().copied().peekable();
        for (mut first, last) in self.0.iter().copied() {
            while others.next_if(|(_, end)| *end < first).is_some() {}
            while let Some((start, end)) =
                others.peek().copied().filter(|(start, _)| *start <= last)
            {
                if start > first {
                    rest.push(first, start - 1);
                }
                first = first.max(end.saturating_add(1));
                if end > last {
                    break;
                }
                others.next();
            }
            if first <= last {
                rest.push(first, last);
            }
        }
        rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every number.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i64> {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn spans(numbers: &BTreeSet<i64>) -> Spans {
        let mut spans = Spans::default();
        numbers.iter().for_each(|number| spans.push(*number, *number));
        spans
    }

    proptest! {
        #[test]
        fn they_are_sets(
            one in prop::collection::btree_set(0..60_i64, 0..30),
            two in prop::collection::btree_set(0..60_i64, 0..30),
        ) {
            let (left, right) = (spans(&one), spans(&two));
            prop_assert_eq!(left.numbers().collect::<BTreeSet<_>>(), one.clone());
            prop_assert_eq!(left.with(&right), spans(&one.union(&two).copied().collect()));
            let rest: BTreeSet<i64> = one.difference(&two).copied().collect();
            prop_assert_eq!(left.without(&right).is_empty(), rest.is_empty());
            prop_assert_eq!(left.without(&right), spans(&rest));
        }
    }
}
