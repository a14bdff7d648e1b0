//! One folder per framework.

pub mod pytest;
