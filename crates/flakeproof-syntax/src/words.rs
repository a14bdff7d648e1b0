//! The words of a piece of code.
