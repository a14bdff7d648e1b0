//! Half price on one day of the year.

pub(super) fn apply(price: u32) -> u32 {
    price / 2
}
