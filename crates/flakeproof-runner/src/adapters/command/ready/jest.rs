//! jest.

use super::super::choice::Grammar;
use super::super::profile::{Beginning, Coverage, Escape, ListFormat, Profile};
use super::{Ready, words};
use crate::coverage::CoverageFormat;
use crate::reports::Format;

pub(super) const JEST: Ready = Ready {
    name: "jest",
    program: "jest",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-c",
            "--config",
            "-w",
            "--maxWorkers",
            "--rootDir",
            "--env",
            "-t",
            "--testNamePattern",
            "--outputFile",
            "--shard",
            "--testTimeout",
            "--selectProjects",
        ],
        selecting: &[
            "-t",
            "--testNamePattern",
            "--json",
            "--outputFile",
            "--watch",
            "--watchAll",
            "--shard",
            "-o",
            "--onlyChanged",
            "--coverage",
            "--runTestsByPath",
            "-b",
            "--bail",
        ],
        tail: None,
        only_once: &[],
    },
    marks: &["jest.config.js", "jest.config.ts", "jest.config.mjs", "node_modules/.bin/jest"],
    usual: &["npx", "jest"],
    profile: || Profile {
        // No name fits the pattern, so that all tests are told and none is run.
        list: Some(words(
            "{options} --coverage=false --json --outputFile={result} --testLocationInResults \
             -t (?!) {selectors}",
        )),
        is_list_dear: true,
        list_format: ListFormat::Report,
        run: words(
            "{options} --coverage=false --json --outputFile={result} --testLocationInResults \
             -t ^({tests})$ --runTestsByPath {files}",
        ),
        // With the user's coverage, if any: its threshold is a part of the command's word. jest
        // writes no report when it bails out.
        all: Some(words("{command} --bail=0 --json --outputFile={result} --testLocationInResults")),
        result: Format::JestJson,
        id: "{file}::{title}".to_owned(),
        format: "{full}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        coverage: Some(Coverage {
            format: CoverageFormat::Lcov,
            path: Some("{coverage}/lcov.info".to_owned()),
            is_complete: false,
            run: Some(words(
                "{options} --json --outputFile={result} --testLocationInResults --coverage \
                 --coverageReporters=lcovonly --coverageDirectory={coverage} \
                 --no-cache --no-watchman -t ^({tests})$ --runTestsByPath {files}",
            )),
        }),
        tests_begin: Some(Beginning::WithTheirFile),
        command_for: Some(words("{options} -t ^({tests})$ --runTestsByPath {files}")),
        ..Profile::default()
    },
};
