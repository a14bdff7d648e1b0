//! mocha.

use super::super::choice::Grammar;
use super::super::profile::{Beginning, Escape, ListFormat, Profile};
use super::{Ready, by_v8, words};
use crate::reports::Format;

pub(super) const MOCHA: Ready = Ready {
    name: "mocha",
    program: "mocha",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-r",
            "--require",
            "--import",
            "--config",
            "--package",
            "--extension",
            "--file",
            "--ignore",
            "--exclude",
            "-u",
            "--ui",
            "-t",
            "--timeout",
            "--timeouts",
            "-s",
            "--slow",
            "--global",
            "--globals",
            "--retries",
            "-j",
            "--jobs",
            "-R",
            "--reporter",
            "-O",
            "--reporter-option",
            "--reporter-options",
            "-g",
            "--grep",
            "-f",
            "--fgrep",
            "-n",
            "--node-option",
            "--spec",
            "--watch-files",
            "--watch-ignore",
        ],
        selecting: &[
            "-R",
            "--reporter",
            "-O",
            "--reporter-option",
            "--reporter-options",
            "-g",
            "--grep",
            "-f",
            "--fgrep",
            "-i",
            "--invert",
            "-w",
            "--watch",
            "-b",
            "--bail",
            "--dry-run",
            "--fail-zero",
        ],
        tail: None,
        only_once: &[
            "-R",
            "--reporter",
            "-O",
            "--reporter-option",
            "--reporter-options",
            "-w",
            "--watch",
        ],
    },
    marks: &[".mocharc.js", ".mocharc.cjs", ".mocharc.yml", ".mocharc.yaml", ".mocharc.json"],
    usual: &["npx", "mocha"],
    profile: || Profile {
        // Every test is told, and none is run.
        list: Some(words(
            "{options} --dry-run --reporter={mocha-reporter} --reporter-option=output={result} \
             {selectors}",
        )),
        is_list_dear: true,
        list_format: ListFormat::Report,
        run: words(
            "{options} --reporter={mocha-reporter} --reporter-option=output={result} --no-bail \
             --grep=^({tests})$ {files}",
        ),
        all: Some(words(
            "{command} --reporter={mocha-reporter} --reporter-option=output={result} --no-bail",
        )),
        result: Format::Ctrf,
        id: "{file}::{title}".to_owned(),
        format: "{full}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        coverage: Some(by_v8(
            "{options} --reporter={mocha-reporter} --reporter-option=output={result} --no-bail \
             --grep=^({tests})$ {files}",
        )),
        tests_begin: Some(Beginning::WithTheirFile),
        command_for: Some(words("{options} --grep=^({tests})$ {files}")),
        ..Profile::default()
    },
};
