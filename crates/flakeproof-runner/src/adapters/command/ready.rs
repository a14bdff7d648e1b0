//! Runners that need no description: each is data, chosen by the user's command.
//!
//! Nothing is installed into the user's project: every runner reports in a format that it has
//! built in, and node:test through a reporter of ours that lies outside of the project.

use std::path::Path;

use super::choice::{Grammar, TypedWords, program_end};
use super::profile::{Beginning, CommandText, Coverage, Escape, ListFormat, Profile};
use crate::coverage::CoverageFormat;
use crate::reports::Format;

/// A runner that is known.
pub(super) struct Ready {
    /// What people call it.
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    /// The word that must follow the program.
    pub(super) verb: Option<&'static str>,
    /// An option without which it runs no tests.
    pub(super) needs: Option<&'static str>,
    pub(super) grammar: Grammar,
    /// A file or folder whose presence says that a project's tests are run like this.
    pub(super) marks: &'static [&'static str],
    pub(super) usual: &'static [&'static str],
    pub(super) profile: fn() -> Profile,
}

/// Every runner that is known, in the order in which a folder is looked at.
pub(super) const READY: [Ready; 9] = [GO, VITEST, JEST, MOCHA, NODE, RSPEC, PHPUNIT, CTEST, DOTNET];

/// The runner of a command, and the command taken apart.
pub(super) fn of_command(command: &[String]) -> Option<(&'static Ready, TypedWords)> {
    let (ready, end) = earliest(command)?;
    Some((ready, TypedWords::parse(command, end, &ready.grammar)))
}

/// Which word of a command is the program of its runner.
pub(super) fn program_in(command: &[String]) -> Option<usize> {
    let (ready, end) = earliest(command)?;
    Some(end - 1 - usize::from(ready.verb.is_some()))
}

/// The runner whose program comes first, and where its name ends: what comes later are arguments.
fn earliest(command: &[String]) -> Option<(&'static Ready, usize)> {
    let found = READY.iter().filter_map(|ready| {
        let end = program_end(command, ready.program, ready.verb)?;
        let is_asked_for =
            ready.needs.is_none_or(|needs| command[end..].iter().any(|word| word == needs));
        is_asked_for.then_some((ready, end))
    });
    found.min_by_key(|(_, end)| *end)
}

/// The command that runs the tests of a project in this folder.
pub(super) fn usual_command(folder: &Path) -> Option<Vec<String>> {
    let ready =
        READY.iter().find(|ready| ready.marks.iter().any(|mark| folder.join(mark).exists()))?;
    Some(ready.usual.iter().map(|&word| word.to_owned()).collect())
}

/// A command of words without spaces in them.
pub(super) fn words(text: &str) -> CommandText {
    CommandText::Words(text.split_whitespace().map(str::to_owned).collect())
}

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
        command_for: Some(words("{options} --grep=^({tests})$ {files}")),
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
        command_for: Some(words("{options} --test-name-pattern=^({tests})$ {files}")),
        ..Profile::default()
    },
};

pub(super) const GO: Ready = Ready {
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

pub(super) const RSPEC: Ready = Ready {
    name: "RSpec",
    program: "rspec",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-I",
            "-r",
            "--require",
            "-O",
            "--options",
            "--order",
            "--seed",
            "-f",
            "--format",
            "-o",
            "--out",
            "-P",
            "--pattern",
            "-e",
            "--example",
            "-t",
            "--tag",
        ],
        selecting: &[
            "-f",
            "--format",
            "-o",
            "--out",
            "-e",
            "--example",
            "-t",
            "--tag",
            "-P",
            "--pattern",
            "--only-failures",
            "--next-failure",
        ],
        tail: None,
        only_once: &[],
    },
    marks: &[".rspec"],
    usual: &["rspec"],
    profile: || Profile {
        list: Some(words("{command} --dry-run --format json --out {result}")),
        list_format: ListFormat::Report,
        run: words("{options} --format json --out {result} {tests}"),
        all: Some(words("{command} --format json --out {result}")),
        result: Format::RspecJson,
        id: "{id}".to_owned(),
        format: "{test}".to_owned(),
        one_process: true,
        command_for: Some(words("{options} {tests}")),
        ..Profile::default()
    },
};

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

pub(super) const CTEST: Ready = Ready {
    name: "CTest",
    program: "ctest",
    verb: None,
    needs: None,
    grammar: Grammar {
        verbs: &[],
        with_values: &[
            "-C",
            "--build-config",
            "--test-dir",
            "-j",
            "--parallel",
            "-R",
            "--tests-regex",
            "-E",
            "--exclude-regex",
            "-L",
            "-LE",
            "--timeout",
            "--preset",
            "--output-junit",
            "-I",
        ],
        selecting: &["-R", "--tests-regex", "-E", "--exclude-regex", "--output-junit", "-I"],
        tail: None,
        only_once: &[],
    },
    marks: &["CTestTestfile.cmake"],
    usual: &["ctest"],
    profile: || Profile {
        list: Some(words("{command} --show-only=json-v1")),
        list_format: ListFormat::Report,
        run: words("{options} --output-junit {result} -R ^({tests})$"),
        all: Some(words("{command} --output-junit {result}")),
        result: Format::Junit,
        id: "{name}".to_owned(),
        format: "{name}".to_owned(),
        escape: Escape::Regex,
        separator: Some("|".to_owned()),
        command_for: Some(words("{options} --output-on-failure -R ^({tests})$")),
        ..Profile::default()
    },
};

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

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(command: &str) -> Option<&'static str> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        of_command(&words).map(|(ready, _)| ready.name)
    }

    #[test]
    fn a_command_tells_its_runner() {
        for (command, name) in [
            ("go test ./...", Some("go test")),
            ("go build ./...", None),
            ("npx jest --ci", Some("jest")),
            ("node_modules/.bin/jest", Some("jest")),
            ("npx mocha --exit", Some("mocha")),
            ("npx vitest run", Some("vitest")),
            ("npx vitest", None),
            ("node --test", Some("node:test")),
            ("node --test jest", Some("node:test")),
            ("npx jest go test", Some("jest")),
            ("node server.js", None),
            ("npm test", None),
            ("bundle exec rspec spec/a_spec.rb", Some("RSpec")),
            ("vendor/bin/phpunit", Some("PHPUnit")),
            ("ctest --test-dir build", Some("CTest")),
            ("dotnet test", Some("dotnet test")),
            ("python -m pytest", None),
        ] {
            assert_eq!(name_of(command), name, "{command}");
        }
    }
}
