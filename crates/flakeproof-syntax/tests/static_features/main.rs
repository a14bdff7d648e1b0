//! The static features of tests: against radon and ast on real suites, and by hand.

mod agreement;
mod by_hand;
mod hostile;
mod radon;
mod sane;
