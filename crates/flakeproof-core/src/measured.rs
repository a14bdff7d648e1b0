//! What was measured about one execution, besides its outcome: what it used, and the lines that ran.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What one execution used and covered, from the start of its set-up to the end of its teardown.
///
/// These are the measurements behind the dynamic features of CANNIER's Table 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// How often a file system had to read, for this process and its children that ended.
    pub read_count: u64,
    /// How often a file system had to write, for this process and its children that ended.
    pub write_count: u64,
    /// How long it took.
    pub run_time: Duration,
    /// How long its main thread waited for disks; `None` where the kernel does not account for it.
    pub wait_time: Option<Duration>,
    /// How often it gave the processor away, children that ended included.
    pub context_switches: u64,
    /// The most threads of the runtime at once.
    pub max_threads: u32,
    /// The most child processes at once; `None` where the system does not tell.
    pub max_children: Option<u32>,
    /// The most memory in use at once, in bytes.
    pub max_memory: u64,
    /// The lines that ran, or why they are not known.
    pub covered: Covered,
}

/// The lines of the project that ran in one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covered {
    /// The lines, by the absolute path of their file.
    Lines(BTreeMap<String, Lines>),
    /// They could not be followed.
    Unknown {
        /// Why not, for people.
        reason: String,
    },
}

/// Lines of one file, counted from 1, kept as ranges because neighbours run together.
///
/// Written as the first and last line of each range, one after the other: lines 3, 4, 5 and 9 are
/// `[3, 5, 9, 9]`.
///
/// ```
/// use flakeproof_core::Lines;
///
/// let lines: Lines = [9, 3, 5, 4, 3].into_iter().collect();
/// assert_eq!(lines.count(), 4);
/// assert_eq!(lines.ranges().collect::<Vec<_>>(), [3..=5, 9..=9]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// First and last line of each range; sorted, and no two touch each other.
    ranges: Vec<(u32, u32)>,
}

impl Lines {
    /// The number of lines.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::RangeInclusive<u32>> {
        self.ranges.iter().map(|(first, last)| *first..=*last)
    }
}

impl FromIterator<u32> for Lines {
    fn from_iter<T: IntoIterator<Item = u32>>(lines: T) -> Self {
        let mut lines: Vec<u32> = lines.into_iter().collect();
        lines.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            match ranges.last_mut() {
                Some((_, last)) if line - *last <= 1 => *last = line,
                _ => ranges.push((line, line)),
            }
        }
        Self { ranges }
    }
}

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.ranges.iter().flat_map(|(first, last)| [*first, *last]))
    }
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ends = Vec::<u32>::deserialize(deserializer)?;
        let (pairs, rest) = ends.as_chunks::<2>();
        let ranges: Vec<(u32, u32)> = pairs.iter().map(|[first, last]| (*first, *last)).collect();
        let is_ordered = ranges.iter().all(|(first, last)| first <= last)
            && ranges.is_sorted_by(|(_, before), (after, _)| before < after);
        if !rest.is_empty() || !is_ordered {
            return Err(D::Error::custom("lines are pairs of first and last, in order"));
        }
        Ok(Self { ranges })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_of_lines_comes_back_as_it_was(lines in prop::collection::btree_set(0..90u32, 0..40)) {
            let set: Lines = lines.iter().copied().collect();
            let back: BTreeSet<u32> = set.ranges().flatten().collect();
            prop_assert_eq!(set.count(), lines.len() as u64);
            prop_assert_eq!(set.is_empty(), lines.is_empty());
            prop_assert_eq!(back, lines);
        }

        #[test]
        fn ranges_never_touch_each_other(lines in prop::collection::vec(0..90u32, 0..40)) {
            let set: Lines = lines.into_iter().collect();
            let ranges: Vec<_> = set.ranges().collect();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end() + 1 < *pair[1].start()));
        }
    }
}
