//! The queue of a hunt on many machines: whatever the network, machines and clocks do, every trial that is asked
//! for is kept exactly once. Shown for a model of the queue under a simulated network; and the queue in
//! PostgreSQL does what the model does.

mod faults;
mod model;
mod network;
mod same_as_model;
