//! What `--help` shows: one line for each option with its default, and two examples.
//!
//! The variables that options can also be set by are named once, in the reference, and not beside
//! every option.

use clap::{Arg, ArgAction, Command};

/// Examples of a command, and what else a reader needs at once.
struct Page {
    /// The command, with those above it.
    of: &'static str,
    examples: [&'static str; 2],
    note: &'static str,
}

const fn page(of: &'static str, examples: [&'static str; 2], note: &'static str) -> Page {
    Page { of, examples, note }
}

const SETTINGS: &str =
    "Every option can also be set in `flakeproof.toml` and, in capitals, as `FLAKEPROOF_…`.";

const PAGES: [Page; 47] = [
    page("", ["flakeproof run -- pytest", "flakeproof hunt -- npx jest"], ""),
    page(
        "run",
        [
            "flakeproof run -- pytest -q tests",
            "flakeproof run -j 4 --reporter junit=out.xml -- npm test",
        ],
        SETTINGS,
    ),
    page(
        "shard",
        [
            "flakeproof shard --shard 2/4 -- pytest",
            "flakeproof shard --shard auto --files -- npx jest",
        ],
        "`flakeproof run --shard 2/4` runs them as well. All machines need the same history.",
    ),
    page(
        "hunt",
        ["flakeproof hunt -- pytest", "flakeproof hunt --diff main --budget 5m -- go test ./..."],
        "Exits with 1 if a flaky test is found, with 5 if the budget is spent and none is. Ctrl-C ends it and\n\
         shows what was found; `--resume` goes on.",
    ),
    page(
        "worker",
        [
            "flakeproof worker --fleet nightly --store postgres://ci@db.example/team -- pytest",
            "flakeproof worker --fleet nightly --wait 10m -- pytest -q tests",
        ],
        "It needs the same code, packages and command as the machine that gave `flakeproof hunt --fleet`, and\n\
         ends when that hunt is over. Ctrl-C ends it; what it had begun is given to others.",
    ),
    page("list", ["flakeproof list", "flakeproof list --owner @shop/payments"], ""),
    page(
        "repro",
        ["flakeproof repro test_cart -n 20", "flakeproof repro test_cart --bundle cart.json"],
        "Exits with 1 if the test failed at least once, and with 0 if it never did.",
    ),
    page(
        "verify",
        ["flakeproof verify test_cart", "flakeproof verify test_cart --was 3% -- pytest"],
        "Exits with 0 if it is fixed, with 1 if it failed, with 5 if neither can be said.",
    ),
    page(
        "cause",
        ["flakeproof cause test_cart", "flakeproof cause test_cart --levers zone,quota -- pytest"],
        "Exits with 1 if a lever is found, with 5 if none of those tried matters. Ctrl-C ends it and shows\n\
         what was learned; `--resume` goes on.",
    ),
    page(
        "fix",
        ["flakeproof fix test_cart", "flakeproof fix test_cart --apply -- pytest"],
        "Exits with 0 if a patch is proven, with 5 if none is. Your files are changed only by `--apply`.",
    ),
    page(
        "report",
        ["flakeproof report", "flakeproof report --reporter markdown=comment.md --reporter json=-"],
        "Types: html, markdown, gitlab-note, gitlab-quality, json, json-feed, atom.",
    ),
    page(
        "serve",
        ["flakeproof serve", "flakeproof serve --address 0.0.0.0:8765 --token-file token"],
        "Nothing can be changed through it. Other machines need a token; Ctrl-C stops it.",
    ),
    page(
        "notify",
        [
            "flakeproof notify --webhook https://hooks.example/flaky",
            "flakeproof notify --webhook https://hooks.example/flaky --dry-run",
        ],
        "Exits with 0 whether or not it was delivered, unless `--strict` is given.",
    ),
    page(
        "mcp",
        ["flakeproof mcp", "flakeproof mcp --allow-run --budget 5m -- pytest -q"],
        "A client starts it, and talks to it over standard input and output. It only reads unless you allow more.",
    ),
    page("store", ["flakeproof store stats", "flakeproof store prune --keep-days 90"], ""),
    page(
        "store sync",
        ["flakeproof store sync", "flakeproof store sync history.db postgres://ci@db.example/team"],
        "What a run could not send waits in the project's own history until then.",
    ),
    page(
        "store compact",
        ["flakeproof store compact", "flakeproof store compact --store s3://team-tests/history"],
        "It needs credentials that may list, read, add and remove objects.",
    ),
    page(
        "store stats",
        ["flakeproof store stats", "flakeproof store stats --output-format json"],
        "",
    ),
    page(
        "store prune",
        [
            "flakeproof store prune --keep-days 90 --dry-run",
            "flakeproof store prune --before 2026-01-01",
        ],
        "Texts, evidence and features of old runs go; how each test fared stays.",
    ),
    page(
        "store export",
        [
            "flakeproof store export executions.csv",
            "flakeproof store export --table runs runs.parquet",
        ],
        "",
    ),
    page(
        "ingest",
        [
            "flakeproof ingest reports/",
            "flakeproof ingest --revision 3f2c9aa 'build/**/TEST-*.xml'",
        ],
        "All files of one call are one run. Reading the same reports again adds nothing.",
    ),
    page(
        "validate",
        ["flakeproof validate report.xml", "flakeproof validate --output-format json reports/"],
        "Exits with 0 if nothing is wrong, and with 1 if something is.",
    ),
    page("quarantine", ["flakeproof quarantine list", "flakeproof quarantine check"], ""),
    page(
        "quarantine add",
        [
            "flakeproof quarantine add test_cart --reason 'slow server'",
            "flakeproof quarantine add test_cart --reason 'slow server' --expires 14d",
        ],
        "",
    ),
    page(
        "quarantine remove",
        ["flakeproof quarantine remove test_cart", "flakeproof quarantine remove 'test_cart[*]'"],
        "",
    ),
    page(
        "quarantine list",
        ["flakeproof quarantine list", "flakeproof quarantine list --output-format json"],
        "",
    ),
    page(
        "quarantine check",
        ["flakeproof quarantine check", "flakeproof quarantine check --store ci.db"],
        "",
    ),
    page(
        "predict",
        ["flakeproof predict", "flakeproof predict --diff main --reporter sarif=flaky.sarif"],
        "A suspect is no proof: it fails nothing unless you say so. Exits with 4 if there is no test.",
    ),
    page("explain", ["flakeproof explain test_cart", "flakeproof explain brittle"], ""),
    page(
        "graph",
        [
            "flakeproof graph test_cart",
            "flakeproof graph test_cart --output-format svg -o cart.svg",
        ],
        "",
    ),
    page(
        "train",
        ["flakeproof train flast --history", "flakeproof train jury --data tests.jsonl"],
        "",
    ),
    page(
        "train flast",
        [
            "flakeproof train flast --history",
            "flakeproof train flast --data tests.jsonl.zst -o my.model",
        ],
        "",
    ),
    page(
        "train forest",
        [
            "flakeproof train forest --problem nod --history",
            "flakeproof train forest --problem nod --features f.csv --outcomes o.csv",
        ],
        "Measure features with `flakeproof features` first.",
    ),
    page(
        "train peeler",
        [
            "flakeproof train peeler --data tests.jsonl",
            "flakeproof train peeler --data tests.jsonl --sources projects/",
        ],
        "",
    ),
    page(
        "train jury",
        [
            "flakeproof train jury --data tests.jsonl",
            "flakeproof train jury --data tests.jsonl --sources projects/",
        ],
        "",
    ),
    page(
        "evaluate",
        [
            "flakeproof evaluate flast --data tests.jsonl",
            "flakeproof evaluate plan --data tests.jsonl",
        ],
        "",
    ),
    page(
        "evaluate flast",
        [
            "flakeproof evaluate flast --data tests.jsonl",
            "flakeproof evaluate flast --data tests.jsonl --protocol class",
        ],
        "",
    ),
    page(
        "evaluate forest",
        [
            "flakeproof evaluate forest --problem nod --history",
            "flakeproof evaluate forest --problem nod --history --output-format json",
        ],
        "",
    ),
    page(
        "evaluate plan",
        [
            "flakeproof evaluate plan --data tests.jsonl",
            "flakeproof evaluate plan --data tests.jsonl --svg plan.svg",
        ],
        "",
    ),
    page(
        "evaluate cannier",
        [
            "flakeproof evaluate cannier --history",
            "flakeproof evaluate cannier --history --technique rerun",
        ],
        "",
    ),
    page(
        "evaluate peeler",
        [
            "flakeproof evaluate peeler --data tests.jsonl",
            "flakeproof evaluate peeler --data tests.jsonl --protocol class",
        ],
        "",
    ),
    page(
        "evaluate jury",
        [
            "flakeproof evaluate jury --data tests.jsonl",
            "flakeproof evaluate jury --data tests.jsonl --output-format json",
        ],
        "",
    ),
    page(
        "features",
        ["flakeproof features -- pytest", "flakeproof features --static src --export features.csv"],
        "",
    ),
    page("doctor", ["flakeproof doctor", "flakeproof doctor --output-format json"], ""),
    page(
        "init",
        ["flakeproof init --dry-run", "flakeproof init --ci github --yes -- pytest -q"],
        "Without a terminal it writes only with `--yes`.",
    ),
    page(
        "completions",
        ["flakeproof completions bash", "flakeproof completions fish"],
        "Write it where your shell looks: `~/.local/share/bash-completion/completions/flakeproof`,\n\
         `~/.config/fish/completions/flakeproof.fish`.",
    ),
    page("man", ["flakeproof man", "flakeproof man --output ~/.local/share/man/man1"], ""),
];

/// Where options that every command has are listed.
pub(super) const LAST: usize = 900;

/// A command with the help that users read, and all commands below it.
pub(super) fn with_help(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    let help = help.help("Print help").global(true).display_order(LAST);
    let command = command.disable_help_flag(true).arg(help);
    finished(command, "")
}

fn finished(command: Command, path: &str) -> Command {
    let short = command.long_about(None).mut_args(|argument| argument.hide_env(true));
    let short = match PAGES.iter().find(|page| page.of == path) {
        Some(page) => short.after_help(page.text()),
        None => short,
    };
    short.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        finished(below, path.trim_start())
    })
}

impl Page {
    fn text(&self) -> String {
        let examples = self.examples.map(|example| format!("  {example}")).join("\n");
        let note = if self.note.is_empty() { String::new() } else { format!("\n\n{}", self.note) };
        format!("Examples:\n{examples}{note}")
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;

    /// Every command by its path, with its help.
    fn pages_of(command: &mut Command, path: &str, pages: &mut Vec<(String, String)>) {
        pages.push((path.to_owned(), command.render_help().to_string()));
        let below = command.get_subcommands_mut().filter(|it| it.get_name() != "help");
        for below in below {
            let path = format!("{path} {}", below.get_name());
            pages_of(below, path.trim_start(), pages);
        }
    }

    fn pages() -> Vec<(String, String)> {
        let mut command = with_help(Cli::command()).term_width(100);
        command.build();
        let mut pages = Vec::new();
        pages_of(&mut command, "", &mut pages);
        pages
    }

    #[test]
    fn help_is_short_with_examples_and_without_variables() {
        for (path, text) in pages() {
            assert!(text.contains("Examples:\n"), "`{path}` has no examples:\n{text}");
            assert!(!text.contains("[env:"), "`{path}` names variables:\n{text}");
            let name =
                if path.is_empty() { "flakeproof".to_owned() } else { path.replace(' ', "_") };
            insta::assert_snapshot!(name, text);
        }
    }

    #[test]
    fn every_example_is_understood() {
        for example in PAGES.iter().flat_map(|page| page.examples) {
            let words = shlex::split(example).expect("its quotes are closed");
            if let Err(why) = Cli::try_parse_from(words) {
                panic!("`{example}`\n{why}");
            }
        }
    }

    #[test]
    fn output_has_one_name_everywhere() {
        for (path, text) in pages() {
            for old in ["--format ", "--html ", "--markdown ", "--json ", "--gitlab-note "] {
                assert!(!text.contains(old), "`{path}` offers `{old}`:\n{text}");
            }
        }
    }

    #[test]
    fn old_names_of_output_go_on_working() {
        for typed in [
            "flakeproof report --html a.html --markdown - --gitlab-note n --gitlab-quality q --json j",
            "flakeproof graph test_a --format svg",
            "flakeproof ingest --format json a.xml",
            "flakeproof validate --format json a.xml",
            "flakeproof store export --format csv a.txt",
        ] {
            let parsed = Cli::try_parse_from(typed.split(' '));
            assert!(parsed.is_ok(), "{typed}: {}", parsed.unwrap_err());
        }
    }
}
