//! vitest.

use super::super::choice::Grammar;
use super::super::profile::{Beginning, Escape, ListFormat, Profile};
use super::{Ready, by_v8, words};
use crate::reports::Format;

pub(super) const VITEST: Ready = Ready {
    name: "vitest",
    program: "vitest",
    verb: Some("run"),
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-c",
            "--config",
            "-r",
            "--root",
            "-t",
            "--testNamePattern",
            "--dir",
            "--reporter",
            "--outputFile",
            "--project",
            "--environment",
            "--pool",
            "--maxWorkers",
        ],
        selecting: &["-t", "--testNamePattern", "--reporter", "--outputFile", "--coverage"],
        tail: None,
        only_once: &[],
    },
    marks: &["vitest.config.ts", "vitest.config.js", "vitest.config.mts", "vitest.config.mjs"],
    usual: &["npx", "vitest", "run"],
    profile: || Profile {
        // No name fits the pattern, so that all tests are told and none is run.
        list: Some(words("{options} --reporter=json --outputFile={result} -t (?!) {selectors}")),
        is_list_dear: true,
        list_format: ListFormat::Report,
        run: words(
            "{options} --reporter=json --outputFile={result} \
             -t ^({tests})$ {files}",
        ),
        all: Some(words("{command} --reporter=json --outputFile={result}")),
        result: Format::JestJson,
        id: "{file}::{title}".to_owned(),
        format: "{full}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        coverage: Some(by_v8(
            "NODE_OPTIONS={node-options} {options} --reporter=json --outputFile={result} \
             -t ^({tests})$ {files}",
        )),
        tests_begin: Some(Beginning::WithTheirFile),
        command_for: Some(words("{options} -t ^({tests})$ {files}")),
        ..Profile::default()
    },
};
