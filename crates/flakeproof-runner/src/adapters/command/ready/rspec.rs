//! RSpec.

use super::super::choice::Grammar;
use super::super::profile::{ListFormat, Profile};
use super::{Ready, words};
use crate::reports::Format;

pub(super) const RSPEC: Ready = Ready {
    name: "RSpec",
    program: "rspec",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-I",
            "-r",
            "--require",
            "-O",
            "--options",
            "--order",
            "--seed",
            "-f",
            "--format",
            "-o",
            "--out",
            "-P",
            "--pattern",
            "-e",
            "--example",
            "-t",
            "--tag",
        ],
        selecting: &[
            "-f",
            "--format",
            "-o",
            "--out",
            "-e",
            "--example",
            "-t",
            "--tag",
            "-P",
            "--pattern",
            "--only-failures",
            "--next-failure",
        ],
        tail: None,
        only_once: &[],
    },
    marks: &[".rspec"],
    usual: &["rspec"],
    profile: || Profile {
        list: Some(words("{command} --dry-run --format json --out {result}")),
        list_format: ListFormat::Report,
        run: words("{options} --format json --out {result} {tests}"),
        all: Some(words("{command} --format json --out {result}")),
        result: Format::RspecJson,
        id: "{id}".to_owned(),
        format: "{test}".to_owned(),
        one_process: true,
        command_for: Some(words("{options} {tests}")),
        ..Profile::default()
    },
};
