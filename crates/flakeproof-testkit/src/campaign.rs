//! Long campaigns: a part of them each day, and the whole of them on demand.

use std::time::{SystemTime, UNIX_EPOCH};

/// Set to run campaigns as a whole.
const WHOLE: &str = "FLAKEPROOF_WHOLE_CAMPAIGNS";

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// So many of the cases of a campaign, others each day until all had their turn; all of them if
/// `FLAKEPROOF_WHOLE_CAMPAIGNS` is set.
#[must_use]
pub fn today(cases: usize, part: usize) -> Vec<usize> {
    match std::env::var_os(WHOLE) {
        Some(_) => (0..cases).collect(),
        None => on_day(day(), cases, part),
    }
}

fn day() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs() / SECONDS_OF_A_DAY)
}

fn on_day(day: u64, cases: usize, part: usize) -> Vec<usize> {
    let first = usize::try_from(day).unwrap_or(0).wrapping_mul(part);
    (0..part.min(cases)).map(|at| first.wrapping_add(at) % cases).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_has_its_turn() {
        let days = (20_000..20_004).flat_map(|day| on_day(day, 200, 50));
        assert_eq!(days.collect::<BTreeSet<usize>>().len(), 200);
    }

    #[test]
    fn a_part_is_never_more_than_the_whole() {
        assert_eq!(on_day(20_000, 3, 50).len(), 3);
        assert!(on_day(20_000, 0, 50).is_empty());
    }
}
