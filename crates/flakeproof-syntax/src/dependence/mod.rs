//! The test dependency graph of PEELER and its contextual paths.
//!
//! A [`Graph`] says which values of a test flow into which others, and into what it asserts
//! (Definition 1 of Qin et al., "PEELER: Learning to Effectively Predict Flakiness without Running
//! Tests", ICSME 2022, section III-A); its paths (Definition 2, Algorithm 1) are what the network
//! reads. The paper finds no path in a fifth of all tests. We go on where it stops: set-up, fields,
//! fixtures, helpers of the test code, lambdas, expected exceptions, and tests that assert nothing.
//!
//! Three differences in what the paper does define. A call that takes nothing in, such as
//! `System.currentTimeMillis()`, is a node even where it is assigned at once, as it is where the
//! value begins. A literal in an assertion flows into the values it is compared with. A call whose
//! value is dropped gives a new definition to what it is called on.

mod builder;
mod call;
mod graph;
mod statement;
mod value;

pub use graph::{
    Assertion, ContextualPath, Edge, EdgeId, Graph, Node, NodeId, NodeKind, PathLimits, Words,
};
