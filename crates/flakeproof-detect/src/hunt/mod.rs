//! `hunt`: find the flaky tests of a suite, their kinds, and who makes whom fail.

mod settings;

pub use settings::{
    HuntEvent, HuntSettings, HuntStage, Hunted, Journal, PolluterSearch,
};
