//! Code as data flows through it: one small form for all languages.
//!
//! A language lowers a file to a [`Unit`]: what it imports and declares, and the statements of each
//! function reduced to where values come from and where they go. Everything that follows data (the
//! dependency graph, its paths, what a test reaches) is written once, over this form.

mod form;
mod unit;

pub use form::{Block, Expression, Operation, Statement};
pub use unit::{Declared, Field, Function, Import, Parameter, Role, Span, TypeDeclaration, Unit};
