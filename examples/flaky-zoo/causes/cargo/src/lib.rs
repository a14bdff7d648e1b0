//! Tests that are flaky for one known reason each, in the way that real ones are.

#[cfg(test)]
mod company;
#[cfg(test)]
mod nothing;
#[cfg(test)]
mod surroundings;
#[cfg(test)]
mod waiting;
