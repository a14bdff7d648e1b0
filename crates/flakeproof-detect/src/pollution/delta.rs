//! Delta debugging: the smallest part of a list that still has an effect.
//!
//! The algorithm *ddmin* (Zeller and Hildebrandt 2002, Figure 7): try ever smaller parts and their
//! complements. What comes out has the effect, and loses it when any single item is left out.

/// A part of the items, in their order, that has the effect and is minimal.
///
/// `has_effect` is asked for parts of the items; that all of them together have the effect is known.
///
/// # Errors
/// Those of `has_effect`.
pub(crate) fn minimal<E>(
    items: &[u32],
    has_effect: &mut dyn FnMut(&[u32]) -> Result<bool, E>,
) -> Result<Vec<u32>, E> {
    let mut kept = items.to_vec();
    let mut parts = 2;
    while kept.len() > 1 {
        let size = kept.len().div_ceil(parts);
        if let Some(part) = first_with_effect(kept.chunks(size).map(<[u32]>::to_vec), has_effect)? {
            kept = part;
            parts = 2;
            continue;
        }
        let rests = (0..kept.len().div_ceil(size)).map(|number| {
            let left_out = number * size..((number + 1) * size).min(kept.len());
            let is_kept = |at: &usize| !left_out.contains(at);
            (0..kept.len()).filter(is_kept).map(|at| kept[at]).collect::<Vec<_>>()
        });
        // With two parts, the complements are the parts, which were just tried.
        let rests = rests.filter(|rest| parts > 2 && !rest.is_empty());
        if let Some(rest) = first_with_effect(rests, has_effect)? {
            kept = rest;
            parts = (parts - 1).max(2);
        } else if size == 1 {
            break;
        } else {
            parts = (parts * 2).min(kept.len());
        }
    }
    Ok(kept)
}

fn first_with_effect<E>(
    parts: impl Iterator<Item = Vec<u32>>,
    has_effect: &mut dyn FnMut(&[u32]) -> Result<bool, E>,
) -> Result<Option<Vec<u32>>, E> {
    for part in parts {
        if has_effect(&part)? {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn minimal_set(count: u32, needed: &[u32]) -> (Vec<u32>, usize) {
        let items: Vec<u32> = (0..count).collect();
        let mut asked = 0;
        let found = minimal(&items, &mut |part: &[u32]| -> Result<bool, Infallible> {
            asked += 1;
            Ok(needed.iter().all(|item| part.contains(item)))
        });
        (found.unwrap_or_default(), asked)
    }

    #[test]
    fn one_of_a_thousand_is_found_in_a_few_questions() {
        let (found, asked) = minimal_set(1000, &[777]);
        assert_eq!(found, [777]);
        assert!(asked <= 20, "{asked} questions");
    }

    #[test]
    fn two_that_are_needed_together_are_found() {
        assert_eq!(minimal_set(500, &[3, 490]).0, [3, 490]);
    }

    proptest! {
        #[test]
        fn what_comes_out_has_the_effect_and_nothing_to_spare(
            count in 1u32..80,
            needed in proptest::collection::btree_set(0u32..80, 1..6),
        ) {
            let needed: Vec<u32> = needed.into_iter().filter(|item| *item < count).collect();
            prop_assume!(!needed.is_empty());
            prop_assert_eq!(minimal_set(count, &needed).0, needed);
        }

        #[test]
        fn any_effect_leaves_a_part_that_is_minimal(count in 1u32..24, salt: u64) {
            // An arbitrary effect, as long as all items together have it.
            let items: Vec<u32> = (0..count).collect();
            let effect = |part: &[u32]| {
                let text = format!("{part:?}");
                part.len() as u32 == count || flakeproof_core::Seed(salt).split(&text).0.is_multiple_of(3)
            };
            let found = minimal(&items, &mut |part: &[u32]| -> Result<bool, Infallible> {
                Ok(effect(part))
            }).unwrap_or_default();
            prop_assert!(effect(&found));
            if found.len() > 1 {
                for left_out in 0..found.len() {
                    let mut rest = found.clone();
                    rest.remove(left_out);
                    prop_assert!(!effect(&rest), "{found:?} can lose {left_out}");
                }
            }
        }
    }
}
