//! Playwright test.

use super::super::choice::Grammar;
use super::super::profile::{Escape, ListFormat, Profile};
use super::{Ready, words};
use crate::reports::Format;

pub(super) const PLAYWRIGHT: Ready = Ready {
    name: "playwright",
    program: "playwright",
    verb: Some("test"),
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-c",
            "--config",
            "-g",
            "--grep",
            "--grep-invert",
            "--project",
            "--reporter",
            "--retries",
            "-j",
            "--workers",
            "--shard",
            "--timeout",
            "--global-timeout",
            "--max-failures",
            "--output",
            "--repeat-each",
            "--test-list",
            "--trace",
            "--tsconfig",
        ],
        selecting: &[
            "-g",
            "--grep",
            "--shard",
            "--last-failed",
            "--only-changed",
            "--repeat-each",
            "--test-list",
        ],
        tail: None,
        only_once: &["--reporter", "--retries", "--max-failures", "-x", "--ui", "--debug"],
    },
    marks: &["playwright.config.ts", "playwright.config.js", "playwright.config.mjs"],
    usual: &["npx", "playwright", "test"],
    profile: || Profile {
        list: Some(words(
            "env FLAKEPROOF_REPORT={result} {options} --list --reporter={playwright-reporter} \
             {selectors}",
        )),
        list_format: ListFormat::Report,
        // Retries are ours: its own would hide the first failure.
        run: words(
            "env FLAKEPROOF_REPORT={result} {options} --retries=0 \
             --reporter={playwright-reporter} --grep=^\\s*({tests})(\\s@.*)?$ {files}",
        ),
        all: Some(words(
            "env FLAKEPROOF_REPORT={result} {command} --retries=0 --max-failures=0 \
             --reporter={playwright-reporter}",
        )),
        result: Format::Ctrf,
        // Project, file, groups and name, as Playwright itself has them.
        id: "{title}".to_owned(),
        format: "{full}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        examines_servers: true,
        command_for: Some(words("{options} --retries=0 --grep=^\\s*({tests})(\\s@.*)?$ {files}")),
        ..Profile::default()
    },
};
