//! The projects that are there, one for each framework.

mod cargo;
mod go;
mod javascript;
mod junit;
mod pytest;

use super::subject::Subject;
use crate::campaign;

/// So many of the other subjects have their turn each day: some of them take minutes.
const EACH_DAY: usize = 3;

/// pytest's subject and today's others; all of them if campaigns run as a whole.
#[must_use]
pub fn today() -> Vec<Subject> {
    let others: [fn() -> Subject; 6] = [
        junit::five,
        javascript::jest,
        cargo::subject,
        junit::four,
        go::subject,
        javascript::node,
    ];
    let todays = campaign::today(others.len(), EACH_DAY).into_iter().map(|at| others[at]());
    std::iter::once(pytest::subject()).chain(todays).collect()
}
