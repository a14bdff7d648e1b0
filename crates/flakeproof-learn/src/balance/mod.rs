//! Balancing two classes before learning: made-up rows of the smaller one, and cleaning afterwards.

mod nearest;
mod sampling;

pub use sampling::{Balance, BalanceError};
