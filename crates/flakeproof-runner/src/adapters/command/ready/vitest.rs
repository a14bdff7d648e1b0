//! vitest.

use super::super::choice::Grammar;
use super::super::profile::{Escape, Profile};
use super::{Ready, words};
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
        command_for: Some(words("{options} -t ^({tests})$ {files}")),
        ..Profile::default()
    },
};
