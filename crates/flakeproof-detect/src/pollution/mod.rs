//! Who makes whom fail, and who heals it again.
//!
//! [`polluters`] finds them, by pairs or by a minimal set of an order in which a test fails.
//! [`cleaning`] has the tests that go between a polluter and its victim, and shows what they clean.

pub(crate) mod cleaning;
pub(crate) mod polluters;
