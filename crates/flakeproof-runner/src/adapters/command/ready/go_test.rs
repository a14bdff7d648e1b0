//! `go test`.

use super::super::choice::Grammar;
use super::super::profile::{Beginning, Coverage, Escape, ListFormat, Profile};
use super::{Ready, words};
use crate::coverage::CoverageFormat;
use crate::reports::Format;

pub(in crate::adapters::command) const GO: Ready = Ready {
    name: "go test",
    program: "go",
    verb: Some("test"),
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-run",
            "-skip",
            "-bench",
            "-fuzz",
            "-count",
            "-tags",
            "-timeout",
            "-p",
            "-parallel",
            "-cpu",
            "-mod",
            "-modfile",
            "-overlay",
            "-gcflags",
            "-ldflags",
            "-asmflags",
            "-exec",
            "-coverprofile",
            "-covermode",
            "-coverpkg",
            "-o",
            "-outputdir",
            "-shuffle",
            "-vet",
            "-C",
            "-pgo",
            "-toolexec",
            "-cpuprofile",
            "-memprofile",
            "-blockprofile",
            "-mutexprofile",
            "-trace",
        ],
        selecting: &["-run", "-skip", "-count", "-json", "-v", "-failfast", "-shuffle"],
        tail: Some("-args"),
        only_once: &[],
    },
    marks: &["go.mod", "go.work"],
    usual: &["go", "test", "./..."],
    profile: || Profile {
        list: Some(words("{command} -list . -json {tail}")),
        is_list_dear: true,
        list_format: ListFormat::GoList,
        run: words("{options} -count=1 -json -run ^({tests})$ {suites} {tail}"),
        all: Some(words("{command} -count=1 -json {tail}")),
        result: Format::GoJson,
        id: "{suite}.{name}".to_owned(),
        parts_after: Some("/".to_owned()),
        format: "{name}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        coverage: Some(Coverage {
            format: CoverageFormat::Go,
            path: None,
            is_complete: true,
            run: Some(words(
                "{options} -count=1 -json -run ^({tests})$ -covermode=atomic -coverpkg=./... \
                 -coverprofile={coverage} {suites} {tail}",
            )),
        }),
        tests_begin: Some(Beginning::InProgram(".test")),
        command_for: Some(words("{options} -count=1 -run ^({tests})$ {suites} {tail}")),
        ..Profile::default()
    },
};
