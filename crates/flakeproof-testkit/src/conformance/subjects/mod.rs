//! The projects that are there, one for each framework.

mod cargo;
mod go;
mod javascript;
mod junit;
mod pytest;

use super::subject::Subject;

/// Every subject.
#[must_use]
pub fn all() -> Vec<Subject> {
    vec![
        pytest::subject(),
        junit::four(),
        junit::five(),
        cargo::subject(),
        go::subject(),
        javascript::jest(),
        javascript::node(),
    ]
}
