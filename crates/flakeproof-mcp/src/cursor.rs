//! Lists are cut: an answer has one page, and says where the next one begins.

use crate::Trouble;

/// Tests on a page, unless the client wants fewer.
const MOST: usize = 20;

/// What is wanted of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// The first of it, counted from 0.
    pub(crate) from: usize,
    /// At most so many.
    pub(crate) most: usize,
}

impl Page {
    /// The page that begins where an earlier answer said.
    pub(crate) fn at(cursor: Option<&str>, limit: Option<u32>) -> Result<Self, Trouble> {
        let from = match cursor {
            None => 0,
            Some(text) => {
                text.strip_prefix("from-").and_then(|it| it.parse().ok()).ok_or_else(|| {
                    Trouble::new(
                        "the cursor is none that this server gave",
                        "pass `next_cursor` of an earlier answer as it is, or leave it out",
                    )
                })?
            }
        };
        let most = limit.map_or(MOST, |limit| usize::try_from(limit).unwrap_or(MOST));
        Ok(Self { from, most: most.clamp(1, 10 * MOST) })
    }

    /// What of a list is on this page.
    pub(crate) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.from).take(self.most).collect()
    }

    /// Where the next page of so many begins, if there is one.
    pub(crate) fn next(self, total: usize) -> Option<String> {
        let end = self.from.saturating_add(self.most);
        (end < total).then(|| format!("from-{end}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lead_to_the_end_and_no_further() {
        let first = Page::at(None, Some(2)).expect("a page");
        assert_eq!(first.of(vec![1, 2, 3]), [1, 2]);
        let cursor = first.next(3).expect("there is more");
        let second = Page::at(Some(&cursor), Some(2)).expect("a page");
        assert_eq!((second.of(vec![1, 2, 3]), second.next(3)), (vec![3], None));
    }

    #[test]
    fn a_cursor_that_was_made_up_is_told_so() {
        for cursor in ["", "2", "from-", "from--1", "from-x"] {
            assert!(Page::at(Some(cursor), None).is_err(), "{cursor}");
        }
    }
}
