//! A tiny shop.

pub mod basket;
pub mod catalogue;
pub mod offers;
pub mod receipt;
pub mod shipping;
