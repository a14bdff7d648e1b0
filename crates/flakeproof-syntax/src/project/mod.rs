//! A whole project, indexed once: which function a call means, and what a test reaches.
//!
//! A [`ProjectIndex`] is made of the [`Unit`](crate::flow::Unit)s of all its files. It resolves calls by
//! import, by the type of what they are called on and by their arguments, as far as the text alone
//! tells; what it cannot tell it leaves open. Nothing is scanned per call: names are interned and
//! looked up, and what one function calls is resolved once and kept.

mod call;
mod index;
mod names;
mod reach;
mod reader;
mod scope;
mod text_notes;
mod value;

pub(crate) use reader::{has_subject, is_this};
pub(crate) use value::FieldPlace;

pub use call::{Calls, Target};
pub use index::{ProjectIndex, TypeId};
pub use reach::{ReachLimits, Reached, TestHooks};
