//! Who makes whom fail, and who heals it again.
//!
//! [`pairs`] is PAIRWISE (Zhang et al. 2014; CANNIER, section 2.1.3) on copies of a live environment: what
//! comes first is run once, for all that may come second. [`prefix`] finds a set in an order in which
//! a test fails, after a walk to the test after which it does. [`delta`] is delta debugging (Zeller and
//! Hildebrandt 2002), for sets of several. [`cleaners`] go between a polluter and its victim, and
//! [`left_behind`] shows what they clean.

pub(crate) mod cleaners;
pub(crate) mod delta;
pub(crate) mod left_behind;
pub(crate) mod pairs;
pub(crate) mod prefix;
mod walk;
