//! CTest.

use super::super::choice::Grammar;
use super::super::profile::{Escape, ListFormat, Profile};
use super::{Ready, words};
use crate::reports::Format;

pub(super) const CTEST: Ready = Ready {
    name: "CTest",
    program: "ctest",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-C",
            "--build-config",
            "--test-dir",
            "-j",
            "--parallel",
            "-R",
            "--tests-regex",
            "-E",
            "--exclude-regex",
            "-L",
            "-LE",
            "--timeout",
            "--preset",
            "--output-junit",
            "-I",
        ],
        selecting: &["-R", "--tests-regex", "-E", "--exclude-regex", "--output-junit", "-I"],
        tail: None,
        only_once: &[],
    },
    marks: &["CTestTestfile.cmake"],
    usual: &["ctest"],
    profile: || Profile {
        list: Some(words("{command} --show-only=json-v1")),
        list_format: ListFormat::Report,
        run: words("{options} --output-junit {result} -R ^({tests})$"),
        all: Some(words("{command} --output-junit {result}")),
        result: Format::Junit,
        id: "{name}".to_owned(),
        format: "{name}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        command_for: Some(words("{options} --output-on-failure -R ^({tests})$")),
        ..Profile::default()
    },
};
