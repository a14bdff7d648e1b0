//! Calling the `git` program.
//!
//! Every call is read-only, asks nobody anything, runs no program that the repository's
//! configuration names (filters, hooks, monitors, external diffs), and gives the same bytes whatever
//! the user's language, pager and variables are. A call that hangs or floods is killed. Should flakeproof
//! itself be killed, git ends at its next write, and until then it only reads.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use crate::system::{kill_group, under_own_group};

/// How long a call may take. Only a file system that hangs is slower.
const DEADLINE: Duration = Duration::from_secs(120);
/// How much a call may print.
const STDOUT_CAP: u64 = 256 * 1024 * 1024;
/// How much of its complaints is kept.
const STDERR_CAP: u64 = 64 * 1024;

/// Variables that would point git at another repository or change what it means by a path. They
/// are set when flakeproof runs inside a git hook.
const FOREIGN_VARIABLES: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_DIFF_OPTS",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// There is no git.
    #[error("git is not installed")]
    Missing,
    /// The system did not start it, or its output could not be read.
    #[error("git cannot be run")]
    Io(#[source] std::io::Error),
    /// It ended with another exit code than 0.
    #[error("{stderr}")]
    Refused {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// What it said.
        stderr: String,
    },
    /// It did not end in time.
    #[error("no answer within {} seconds", DEADLINE.as_secs())]
    TooSlow,
    /// It printed more than anyone wants to read.
    #[error("more than {} MiB of output", STDOUT_CAP / 1024 / 1024)]
    TooMuch,
    /// It printed what no known version prints.
    #[error("output that is not understood")]
    Unreadable,
}

impl Failure {
    /// The reason in full, for a message.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Io(source) => format!("{self}: {source}"),
            Self::Missing
            | Self::Refused { .. }
            | Self::TooSlow
            | Self::TooMuch
            | Self::Unreadable => self.to_string(),
        }
    }
}

/// Questions that git answers from its own files: they need no list of filters, which is another call.
const ABOUT_ITS_OWN: [&str; 5] =
    ["config", "rev-parse", "for-each-ref", "merge-base", "check-ignore"];

/// Ask git a question about the repository that contains `folder`; gives what it printed.
pub(super) fn ask(folder: &Path, question: &[&str]) -> Result<Vec<u8>, Failure> {
    let mut command = command(folder);
    let reads_files = question.first().is_none_or(|it| !ABOUT_ITS_OWN.contains(it));
    if reads_files {
        without_filters(&mut command, &filters_of(folder));
    }
    command.args(question);
    answer_of(command, DEADLINE)
}

/// The names of the filters that the configuration of a repository knows.
fn filters_of(folder: &Path) -> Vec<String> {
    let mut command = command(folder);
    command.args(["config", "--null", "--name-only", "--get-regexp", r"^filter\."]);
    // Without any, git ends with 1. Where it cannot tell, the question itself fails as well.
    let names = answer_of(command, DEADLINE).unwrap_or_default();
    let names = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    let names = names.filter_map(|name| name.strip_prefix("filter.")?.rsplit_once('.'));
    let mut filters: Vec<String> = names.map(|(filter, _)| filter.to_owned()).collect();
    filters.sort_unstable();
    filters.dedup();
    filters
}

/// Make filters of these names do nothing. A file that one of them would change counts as edited
/// if it was touched.
///
/// By variables, for a name may contain what ends the name on the command line.
fn without_filters(command: &mut Command, filters: &[String]) {
    let own = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok());
    let mut count: usize = own.unwrap_or(0);
    for filter in filters {
        for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
        {
            command.env(format!("GIT_CONFIG_KEY_{count}"), format!("filter.{filter}.{key}"));
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
}

/// git with everything set that all calls share.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(["--no-pager", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false"])
        // Otherwise a diff rewrites the index to remember that a touched file is the same.
        .args(["-c", "diff.autoRefreshIndex=false"])
        // A file whose time was set back is another one all the same.
        .args(["-c", "core.trustctime=true", "-c", "core.checkStat=default"])
        // Also `git status` fails if the user's order file does not exist.
        .args(["-c", "diff.orderFile=/dev/null"])
        .args(["-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"])
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        // A git that does not know the variable above still finds no protocol to fetch with.
        .env("GIT_ALLOW_PROTOCOL", "none");
    for variable in FOREIGN_VARIABLES {
        command.env_remove(variable);
    }
    // What a developer has configured must not decide whether a test passes.
    #[cfg(test)]
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

fn answer_of(mut command: Command, deadline: Duration) -> Result<Vec<u8>, Failure> {
    let end = Instant::now() + deadline;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = under_own_group(&mut command).spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::Missing,
        _ => Failure::Io(error),
    })?;
    let stdout = child.stdout.take().map(|stream| read_aside(stream, STDOUT_CAP));
    let stderr = child.stderr.take().map(|stream| read_aside(stream, STDERR_CAP));
    let printed = awaited(stdout, end).and_then(|printed| {
        let is_flood = u64::try_from(printed.len()).is_ok_and(|size| size > STDOUT_CAP);
        if is_flood { Err(Failure::TooMuch) } else { Ok((printed, awaited(stderr, end)?)) }
    });
    if printed.is_err() {
        kill_group(child.id());
    }
    let status = child.wait().map_err(Failure::Io)?;
    let (stdout, stderr) = printed?;
    if status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
    Err(Failure::Refused { code: status.code(), stderr })
}

/// Read a stream in the background, up to one byte more than `cap`.
fn read_aside(stream: impl Read + Send + 'static, cap: u64) -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = bounded(1);
    std::thread::spawn(move || {
        let mut stream = stream;
        let mut kept = Vec::new();
        let outcome = stream.by_ref().take(cap + 1).read_to_end(&mut kept).map(|_| kept);
        // Nobody listens any more when the call was given up.
        let _ = sender.send(outcome);
        // The rest is dropped, so that git does not block on a full pipe.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    receiver
}

fn awaited(
    stream: Option<Receiver<std::io::Result<Vec<u8>>>>,
    end: Instant,
) -> Result<Vec<u8>, Failure> {
    let Some(stream) = stream else { return Ok(Vec::new()) };
    let read = stream.recv_deadline(end).map_err(|_| Failure::TooSlow)?;
    read.map_err(Failure::Io)
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_hangs_is_killed_at_its_deadline() {
        let answer = answer_of(shell("exec sleep 1000"), Duration::ZERO);
        assert!(matches!(answer, Err(Failure::TooSlow)), "{answer:?}");
    }

    #[test]
    fn a_flood_of_complaints_does_not_block_and_is_cut() {
        let answer = answer_of(shell("head -c 1000000 /dev/zero >&2; exit 3"), DEADLINE);
        let Err(Failure::Refused { code, stderr }) = answer else { panic!("{answer:?}") };
        assert_eq!(code, Some(3));
        assert!(stderr.len() <= 64 * 1024 + 1);
    }

    #[test]
    fn no_program_of_the_configuration_is_run() {
        let sandbox = Sandbox::with([
            (".gitattributes", "*.py filter=a=b.c diff=d\n*.txt filter=plain\n"),
            ("a.py", "1\n"),
            ("a.txt", "1\n"),
        ]);
        let ran = sandbox.path("ran");
        let touch = format!("touch '{}'; cat", ran.display());
        for key in [
            "filter.a=b.c.clean",
            "filter.a=b.c.process",
            "filter.plain.clean",
            "filter.plain.smudge",
            "diff.d.textconv",
            "diff.d.command",
            "diff.external",
            "core.fsmonitor",
        ] {
            sandbox.git(&["config", key, &touch]);
        }
        sandbox.git(&["config", "filter.plain.required", "true"]);
        sandbox.write("a.py", "2\n");
        sandbox.write("a.txt", "2\n");
        let _ = std::fs::remove_file(&ran);
        let folder = sandbox.path("");
        let diff = ["diff", "--no-ext-diff", "--no-textconv", "HEAD", "--"];
        let printed = String::from_utf8(ask(&folder, &diff).unwrap()).unwrap();
        assert!(printed.contains("+2"), "{printed}");
        ask(&folder, &["status", "--porcelain=v2", "-z"]).unwrap();
        for own in ABOUT_ITS_OWN {
            let question: &[&str] = match own {
                "config" => &["config", "filter.plain.required"],
                "merge-base" => &["merge-base", "HEAD", "HEAD"],
                "check-ignore" => &["check-ignore", "--quiet", "--non-matching", "-v", "a.txt"],
                _ => &[own, "HEAD"],
            };
            let _ = ask(&folder, question);
        }
        assert!(!ran.exists(), "a program of the configuration was run");
    }

    #[test]
    fn a_program_that_is_not_there_is_missing() {
        let answer = answer_of(Command::new("/nonexistent/git"), DEADLINE);
        assert!(matches!(answer, Err(Failure::Missing)), "{answer:?}");
    }
}
