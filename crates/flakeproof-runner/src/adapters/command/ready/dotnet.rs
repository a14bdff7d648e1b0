//! `dotnet test`.

use super::super::choice::Grammar;
use super::super::profile::Profile;
use super::{Ready, words};
use crate::reports::Format;

pub(super) const DOTNET: Ready = Ready {
    name: "dotnet test",
    program: "dotnet",
    verb: Some("test"),
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-c",
            "--configuration",
            "-f",
            "--framework",
            "--filter",
            "-l",
            "--logger",
            "-r",
            "--runtime",
            "-s",
            "--settings",
            "-a",
            "--arch",
            "-v",
            "--verbosity",
        ],
        selecting: &["--filter", "-l", "--logger"],
        tail: Some("--"),
        only_once: &[],
    },
    marks: &[],
    usual: &["dotnet", "test"],
    profile: || Profile {
        run: words(
            "{options} {selectors} --logger trx --results-directory {result} --filter {tests} \
             {tail}",
        ),
        all: Some(words("{command} --logger trx --results-directory {result} {tail}")),
        result: Format::Junit,
        id: "{name}".to_owned(),
        format: "FullyQualifiedName={name}|DisplayName={name}".to_owned(),
        separator: Some("|".to_owned()),
        one_process: true,
        command_for: Some(words("{options} {selectors} --filter {tests} {tail}")),
        ..Profile::default()
    },
};
