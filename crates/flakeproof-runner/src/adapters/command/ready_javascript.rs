//! The runners of JavaScript that need no description.

use super::profile::{Coverage, Escape, ListFormat, Profile};
use super::ready::{Ready, words};
use super::typed_words::Grammar;
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
    },
    marks: &["jest.config.js", "jest.config.ts", "jest.config.mjs", "node_modules/.bin/jest"],
    usual: &["npx", "jest"],
    profile: || Profile {
        // No name fits the pattern, so that all tests are told and none is run.
        list: Some(words(
            "{options} --coverage=false --json --outputFile={result} --testLocationInResults \
             -t (?!) {selectors}",
        )),
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
                 -t ^({tests})$ --runTestsByPath {files}",
            )),
        }),
        command_for: Some(words("{options} -t ^({tests})$ --runTestsByPath {files}")),
        ..Profile::default()
    },
};

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
    },
    marks: &["vitest.config.ts", "vitest.config.js", "vitest.config.mts", "vitest.config.mjs"],
    usual: &["npx", "vitest", "run"],
    profile: || Profile {
        run: words(
            "{options} --reporter=json --outputFile={result} --includeTaskLocation \
             -t ^({tests})$ {files}",
        ),
        all: Some(words("{command} --reporter=json --outputFile={result} --includeTaskLocation")),
        result: Format::JestJson,
        id: "{file}::{title}".to_owned(),
        format: "{full}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        command_for: Some(words("{options} -t ^({tests})$ {files}")),
        ..Profile::default()
    },
};

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
        command_for: Some(words("{options} --test-name-pattern=^({tests})$ {files}")),
        ..Profile::default()
    },
};
