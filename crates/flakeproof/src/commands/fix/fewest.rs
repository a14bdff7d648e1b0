//! Delta debugging: the fewest of several things that still do something.

use super::copies::Stop;

/// As few of these as still do it, none of which can be left out: delta debugging, one at a time from
/// halves on. `None` if all together do not do it.
pub(super) fn fewest<T: Clone>(
    all: Vec<T>,
    does_it: &mut dyn FnMut(&[T]) -> Result<bool, Stop>,
) -> Result<Option<Vec<T>>, Stop> {
    if all.is_empty() || !does_it(&all)? {
        return Ok(None);
    }
    let mut kept = all;
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < kept.len() && kept.len() > 1 {
            let end = (at + size).min(kept.len());
            let rest = [&kept[..at], &kept[end..]].concat();
            if !rest.is_empty() && does_it(&rest)? {
                kept = rest;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    Ok(Some(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_needed() {
        let mut runs = 0;
        let found = fewest((0..9).collect(), &mut |chosen: &[i32]| {
            runs += 1;
            Ok(chosen.contains(&2) && chosen.contains(&7))
        });
        assert_eq!(found.ok().flatten(), Some(vec![2, 7]));
        assert!(runs < 20, "{runs}");
        let none = fewest(vec![1], &mut |_: &[i32]| Ok(false));
        assert_eq!(none.ok().flatten(), None);
    }
}
