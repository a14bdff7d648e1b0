//! What is read of a project's source: its files, the tests in them, the code around these, and
//! what a change touches.

pub(crate) mod changed_tests;
pub(crate) mod code_places;
pub(crate) mod files;
mod pack;
pub(crate) mod project_source;
pub(crate) mod source_cache;
pub(crate) mod source_tests;
mod source_text;
