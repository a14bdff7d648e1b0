//! What every report of an [`Overview`](flakeproof_core::Overview) needs to know about it.

mod test_view;
mod totals;

pub(crate) use test_view::{TestView, find, views, worst};
pub(crate) use totals::Totals;
