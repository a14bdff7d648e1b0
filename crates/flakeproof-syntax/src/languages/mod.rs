//! One file or folder for each language: its grammar, what a test is, how tests are named, what a
//! call is, and how its code becomes the flow form. Adding one is a file here and a line in
//! [`Language`](crate::Language).

mod csharp;
mod go;
mod java;
mod javascript;
mod junit;
mod kotlin;
mod lowering;
mod python;
mod ruby;
mod rust;
mod shapes;

pub(crate) use csharp::CSHARP;
pub(crate) use go::GO;
pub(crate) use java::JAVA;
pub(crate) use javascript::{JAVASCRIPT, TYPESCRIPT};
pub(crate) use kotlin::KOTLIN;
pub(crate) use lowering::{Lowering, Pieces};
pub(crate) use python::PYTHON;
pub(crate) use ruby::RUBY;
pub(crate) use rust::RUST;
