//! One file or folder per command, each thin: ask the rooms, hand the answer to `view`.

pub(crate) mod run;
