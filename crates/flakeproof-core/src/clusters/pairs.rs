//! Which pairs of tests fail together more often than chance explains.

use std::collections::BTreeSet;

use super::suspect::{FEWEST_SHARED, Suspect};

/// Of the pairs that are said to fail together, at most this share does so by chance, on average.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// Pairs of suspects that fail together beyond chance.
#[derive(Default)]
pub(super) struct Pairs {
    /// By the first suspect, which comes before the second; each with how alike they are, and the
    /// false discovery rate at which it is found.
    pub(super) links: Vec<Vec<Link>>,
}

#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) other: usize,
    pub(super) alike: f64,
    rate: f64,
}

impl Pairs {
    /// The pairs of a history of so many runs.
    pub(super) fn significant(suspects: &[Suspect<'_>], runs: usize) -> Self {
        let mut links = vec![Vec::new(); suspects.len()];
        let mut found = tested(suspects, runs);
        found.sort_by(|one, other| {
            let order = one.chance.total_cmp(&other.chance);
            order.then((one.first, one.second).cmp(&(other.first, other.second)))
        });
        // Pairs that share less were tested, too: their chance is taken to be 1.
        let pairs = suspects.len() as f64 * (suspects.len() as f64 - 1.0) / 2.0;
        let mut rate: f64 = 1.0;
        for (rank, pair) in found.iter().enumerate().rev() {
            rate = rate.min(pair.chance * pairs / (rank as f64 + 1.0));
            if rate <= FALSE_DISCOVERIES {
                links[pair.first].push(Link { other: pair.second, alike: pair.alike, rate });
            }
        }
        Self { links }
    }

    /// The largest rate of the links among these.
    pub(super) fn weakest(&self, group: &[usize]) -> f64 {
        let among: BTreeSet<usize> = group.iter().copied().collect();
        let links = group.iter().flat_map(|at| &self.links[*at]);
        links.filter(|link| among.contains(&link.other)).map(|link| link.rate).fold(0.0, f64::max)
    }
}

/// A pair that shares failures.
struct TestedPair {
    first: usize,
    second: usize,
    /// How likely chance alone makes it share as many.
    chance: f64,
    /// Failures that it shares, of all that either has.
    alike: f64,
}

/// Every pair that shares enough failures to be found, with how likely chance alone does that. Only runs
/// with failures are gone through.
fn tested(suspects: &[Suspect<'_>], runs: usize) -> Vec<TestedPair> {
    let mut failing: Vec<Vec<usize>> = vec![Vec::new(); runs];
    let chances = Hypergeometric::new(runs);
    let mut shared = vec![0_u32; suspects.len()];
    let mut found = Vec::new();
    // Backwards, so that each run lists only the suspects that come after.
    for (first, suspect) in suspects.iter().enumerate().rev() {
        let mut met = Vec::new();
        for run in &suspect.failures {
            for second in &failing[*run as usize] {
                if shared[*second] == 0 {
                    met.push(*second);
                }
                shared[*second] += 1;
            }
            failing[*run as usize].push(first);
        }
        for second in met {
            let together = std::mem::take(&mut shared[second]);
            if together >= FEWEST_SHARED {
                let pair = TestedPair::new(first, second, suspects, &chances);
                // Among so many, no rate is below the chance itself.
                found.extend((pair.chance <= FALSE_DISCOVERIES).then_some(pair));
            }
        }
    }
    found
}

impl TestedPair {
    fn new(
        first: usize,
        second: usize,
        suspects: &[Suspect<'_>],
        chances: &Hypergeometric,
    ) -> Self {
        let (one, other) = (&suspects[first], &suspects[second]);
        let window = one.window(other);
        let (mut both_ran, mut one_failed, mut other_failed, mut both_failed) = (0, 0, 0, 0);
        let ran = one.ran.words(window).zip(other.ran.words(window));
        let failed = one.failed.words(window).zip(other.failed.words(window));
        for ((ran, other_ran), (failed, also_failed)) in ran.zip(failed) {
            let both = ran & other_ran;
            both_ran += both.count_ones();
            one_failed += (both & failed).count_ones();
            other_failed += (both & also_failed).count_ones();
            both_failed += (failed & also_failed).count_ones();
        }
        let either = one_failed + other_failed - both_failed;
        Self {
            first,
            second,
            chance: chances.at_least(both_failed, one_failed, other_failed, both_ran),
            alike: f64::from(both_failed) / f64::from(either.max(1)),
        }
    }
}

/// Chances of drawing without putting back.
struct Hypergeometric {
    /// The logarithm of the factorial of each number.
    factorials: Vec<f64>,
}

impl Hypergeometric {
    fn new(most: usize) -> Self {
        let mut factorials = vec![0.0; most + 1];
        for number in 1..=most {
            factorials[number] = factorials[number - 1] + (number as f64).ln();
        }
        Self { factorials }
    }

    /// The chance that of `drawn` out of `all`, `marked` of which are marked, at least `hits` are.
    fn at_least(&self, hits: u32, marked: u32, drawn: u32, all: u32) -> f64 {
        let choose = |from: u32, taken: u32| {
            let of = |number: u32| self.factorials[number as usize];
            of(from) - of(taken) - of(from - taken)
        };
        let most = marked.min(drawn);
        let least = (marked + drawn).saturating_sub(all);
        if hits <= least {
            return 1.0;
        }
        let whole = choose(all, drawn);
        let chance = |hits| choose(marked, hits) + choose(all - marked, drawn - hits) - whole;
        (hits..=most).map(|hits| chance(hits).exp()).sum::<f64>().min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fishers_exact_test_is_that_of_the_book() {
        // Fisher's tea: of eight cups, all four are named right.
        let chances = Hypergeometric::new(100);
        assert!((chances.at_least(4, 4, 4, 8) - 1.0 / 70.0).abs() < 1e-12);
        assert!((chances.at_least(3, 4, 4, 8) - 17.0 / 70.0).abs() < 1e-12);
        assert_eq!(chances.at_least(0, 4, 4, 8), 1.0);
        assert!((chances.at_least(4, 6, 6, 8) - 1.0).abs() < 1e-12);
    }
}
