//! What the shop stands on. The change does not touch this crate.

pub mod backup;
pub mod customer;
pub mod discount;
pub mod lottery;
pub mod service;
pub mod settings;
