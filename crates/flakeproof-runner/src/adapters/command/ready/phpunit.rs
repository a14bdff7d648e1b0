//! PHPUnit.

use super::super::choice::Grammar;
use super::super::profile::{Escape, Profile};
use super::{Ready, words};
use crate::reports::Format;

pub(super) const PHPUNIT: Ready = Ready {
    name: "PHPUnit",
    program: "phpunit",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-c",
            "--configuration",
            "--bootstrap",
            "--filter",
            "--group",
            "--exclude-group",
            "--testsuite",
            "--log-junit",
            "-d",
            "--include-path",
        ],
        selecting: &["--filter", "--log-junit", "--group", "--exclude-group"],
        tail: None,
        only_once: &[],
    },
    marks: &["phpunit.xml", "phpunit.xml.dist"],
    usual: &["vendor/bin/phpunit"],
    profile: || Profile {
        run: words("{options} --log-junit {result} --filter ^({tests})$ {selectors}"),
        all: Some(words("{command} --log-junit {result}")),
        result: Format::Junit,
        id: "{class}::{name}".to_owned(),
        format: "{test}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        one_process: true,
        command_for: Some(words("{options} --filter ^({tests})$ {selectors}")),
        ..Profile::default()
    },
};
