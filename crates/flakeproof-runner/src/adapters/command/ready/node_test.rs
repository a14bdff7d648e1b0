//! node:test.

use super::super::choice::Grammar;
use super::super::profile::{Beginning, Escape, ListFormat, Profile};
use super::{Ready, by_v8, words};
use crate::reports::Format;

pub(super) const NODE: Ready = Ready {
    name: "node:test",
    program: "node",
    verb: None,
    needs: Some("--test"),
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "-C",
            "--test-name-pattern",
            "--test-reporter",
            "--test-reporter-destination",
            "--test-concurrency",
        ],
        selecting: &["--test-name-pattern", "--test-reporter", "--test-reporter-destination"],
        tail: None,
        only_once: &[],
    },
    marks: &[],
    usual: &["node", "--test"],
    profile: || Profile {
        // No name fits the pattern, so that all tests are told and none is run.
        list: Some(words(
            "{options} --test-reporter={reporter} --test-reporter-destination={result} \
             --test-name-pattern=(?!) {selectors}",
        )),
        list_format: ListFormat::Report,
        run: words(
            "{options} --test-reporter={reporter} --test-reporter-destination={result} \
             --test-name-pattern=^({tests})$ {files}",
        ),
        all: Some(words(
            "{options} --test-reporter={reporter} --test-reporter-destination={result} {selectors}",
        )),
        result: Format::Ctrf,
        id: "{file}::{title}".to_owned(),
        // A pattern is held against the name alone, and from version 22 on against the whole title.
        // One that matches a suite runs all of it, but before version 20 nothing else enters a suite.
        format: "{either}".to_owned(),
        older_format: Some("{levels}".to_owned()),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        coverage: Some(by_v8(
            "{options} --test-reporter={reporter} --test-reporter-destination={result} \
             --test-name-pattern=^({tests})$ {files}",
        )),
        tests_begin: Some(Beginning::WithTheirFile),
        command_for: Some(words("{options} --test-name-pattern=^({tests})$ {files}")),
        ..Profile::default()
    },
};
