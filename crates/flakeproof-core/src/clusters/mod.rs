//! Tests that fail together: most flaky tests do not fail each for a reason of its own (Parry et al.,
//! *Systemic flakiness*, 2025), and what fails together is mended together.
//!
//! Only flaky failures count: what failed on code on which it never passed may be the code, and a
//! run in which nearly everything failed is an outage. Under the hypothesis that two tests fail
//! independently, how many failures they share among the runs that had both is hypergeometric
//! (Fisher's exact test, one-sided). Runs before the first and after the last failure of either are
//! left out, so that two tests that were flaky in the same month only do not look related; that can
//! only make a pair less significant. Over all pairs the false discovery rate is held at
//! [`FALSE_DISCOVERIES`] (Benjamini and Hochberg 1995), so among tests that fail independently at
//! most that share of histories shows any cluster.
//!
//! Pairs become clusters by average linkage: two groups are one while at least half of the pairs
//! between them fail together beyond chance, those first that share most. Connected groups would
//! chain: of two causes, one test that suffers from both would make one.

mod cluster;
mod linkage;
mod pairs;
mod suspect;

pub use cluster::{Cluster, Shared, Traits};
pub use pairs::FALSE_DISCOVERIES;
