//! What models learn from and where they are kept, and what they say about tests.

pub(crate) mod decision;
pub(crate) mod figures;
pub(crate) mod forest_data;
pub(crate) mod kept_answer;
pub(crate) mod labelled_tests;
pub(crate) mod model;
pub(crate) mod network_teacher;
pub(crate) mod predictor;
pub(crate) mod record;
pub(crate) mod rule_check;
pub(crate) mod test_reader;
