//! Hunts in scripted suites: what is found, what it takes, and what a cut-off hunt leaves.

mod crew;
mod finding;
mod going_on;
mod guessing;
mod hunting;
mod open_orders;
mod strategies;
