//! What a test depends on.
//!
//! Its code is what is compiled into its binary: all source files of its package and of the
//! packages that it needs. Whether it reads other files, sources of other packages among them, or
//! starts other programs, only the system knows; where that cannot be asked, nothing is said about
//! such files.
//!
//! Which files a test and all that it starts open, seen by `strace` where that is installed.
//!
//! A compiled program tells nobody what it reads. The system knows: every call that names a file is
//! written down, also of programs that the test starts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flakeproof_core::{BlindSpot, Dependencies};

use super::artifacts;
use super::coverage::{CoverageRun, Functions, Instrumented};
use super::found::{Found, Group, Way};
use super::session::{Session, Variables};
use crate::adapter::{Granularity, Probe, Result};
use crate::process::{Death, End};

/// How a process is measured.
#[derive(Debug)]
pub(super) struct Measure {
    granularity: Granularity,
    /// Where the system writes down what is opened.
    trace: Option<PathBuf>,
    /// The run of an instrumented binary.
    coverage: Option<CoverageRun>,
}

impl Measure {
    /// Prepare to measure a process that runs so many tests of a group.
    pub(super) fn of(session: &Session, probe: Probe, group: &Group, tests: usize) -> Result<Self> {
        let granularity = probe.dependencies;
        // What several tests touch cannot be told apart.
        if granularity == Granularity::Off || tests > 1 {
            return Ok(Self::without_a_look(granularity));
        }
        let folder = session.folder("measure-")?;
        let is_seen = *session.can_see_opens.get_or_init(|| can_be_seen(session, &folder));
        let trace = is_seen.then(|| folder.join("trace"));
        let coverage = match granularity {
            Granularity::Off | Granularity::File => None,
            Granularity::Function => {
                let found = session.found()?;
                instrumented(session).and_then(|build| build.run_of(found, group, folder))
            }
        };
        Ok(Self { granularity, trace, coverage })
    }

    fn without_a_look(granularity: Granularity) -> Self {
        Self { granularity, trace: None, coverage: None }
    }

    /// The words before the command.
    pub(super) fn words_before(&self) -> Vec<String> {
        self.trace.as_deref().map(words).unwrap_or_default()
    }

    /// The program to run instead of the usual one.
    pub(super) fn program(&self) -> Option<&str> {
        self.coverage.as_ref().map(|run| run.program.as_str())
    }

    /// Variables on top of the usual ones.
    pub(super) fn variables(&self) -> Variables {
        self.coverage.as_ref().map(CoverageRun::variables).unwrap_or_default()
    }

    /// What was touched by a process that has ended.
    pub(super) fn dependencies(&self, session: &Session, group: &Group) -> Option<Dependencies> {
        if self.granularity == Granularity::Off {
            return None;
        }
        let found = session.found().ok()?;
        let folder = match &group.way {
            Way::Harness(binary) => &binary.folder,
            Way::OwnHarness(_) | Way::Whole(_) | Way::Documentation => &session.settings.folder,
        };
        let code = artifacts::sources_of(found, group)?;
        let functions = self.functions(session, found, &code).unwrap_or_default();
        let seen = self.trace.as_ref().and_then(|trace| read_opens(trace, folder));
        let touched = match seen {
            Some(seen) => with_opens(session, found, code, seen),
            None => without_opens(code),
        };
        Some(Dependencies { functions, ..touched })
    }

    /// The functions of the code, except in files that also run while others are built.
    fn functions(
        &self,
        session: &Session,
        found: &Found,
        code: &BTreeSet<String>,
    ) -> Option<Functions> {
        let run = self.coverage.as_ref()?;
        let building = artifacts::sources_that_build(found)?;
        let files = code.difference(&building).cloned().collect();
        instrumented(session)?.functions(session, run, &files)
    }
}

/// The instrumented build, which is made when it is first asked for.
fn instrumented(session: &Session) -> Option<&Instrumented> {
    session.instrumented.get_or_init(|| Instrumented::build(session)).as_ref()
}

/// What a test touches that is not measured while it runs.
pub(super) fn by_crates(session: &Session, probe: Probe, group: &Group) -> Option<Dependencies> {
    Measure::without_a_look(probe.dependencies).dependencies(session, group)
}

/// Everything is known: what is not among it was not touched.
fn with_opens(
    session: &Session,
    found: &Found,
    mut code: BTreeSet<String>,
    seen: Opens,
) -> Dependencies {
    let Opens { mut opened, listed, started } = seen;
    let instrumented = session.instrumented.get().and_then(Option::as_ref);
    let builds = [Some(&found.artifacts), instrumented.map(|build| &build.artifacts)];
    for artifacts in builds.into_iter().flatten() {
        for program in &started {
            let sources = artifacts::sources_of_program(found, artifacts, program);
            code.extend(sources.unwrap_or_default());
        }
        // What was built changes with its sources, which count.
        for artifact in artifacts {
            for file in artifact.filenames.iter().chain(&artifact.executable) {
                opened.remove(file);
            }
        }
    }
    Dependencies { opened, listed, ..of_code(code) }
}

/// Only what is compiled in is known to matter, and about no other file can anything be said.
fn without_opens(code: BTreeSet<String>) -> Dependencies {
    let within = Some(code.clone());
    Dependencies { within, blind_spots: vec![BlindSpot::Opens], ..of_code(code) }
}

fn of_code(code: BTreeSet<String>) -> Dependencies {
    Dependencies {
        code,
        variables: BTreeSet::from(["*".to_owned()]),
        followed: BTreeSet::from([".rs".to_owned()]),
        ..Dependencies::default()
    }
}

/// What was opened.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Opens {
    /// Files that were read, or at least looked at.
    pub(super) opened: BTreeSet<String>,
    /// Folders that were listed.
    pub(super) listed: BTreeSet<String>,
    /// Programs that were started.
    pub(super) started: BTreeSet<String>,
}

/// The words before a command that make the system write down what it opens.
pub(super) fn words(file: &Path) -> Vec<String> {
    let options = "strace -f --seccomp-bpf -qq -y -s 4096 -e signal=none";
    let mut words: Vec<String> = options.split(' ').map(str::to_owned).collect();
    words.extend(["-e".to_owned(), "trace=%file,getdents,getdents64".to_owned()]);
    words.extend(["-o".to_owned(), file.to_string_lossy().into_owned()]);
    words
}

/// Whether `strace` is installed and allowed to do its work here.
pub(super) fn can_be_seen(session: &Session, folder: &Path) -> bool {
    let file = folder.join("try");
    let mut command = words(&file);
    command.push("true".to_owned());
    let instructions = session.instructions(command, folder, Variables::default());
    let ended = session.to_end(&instructions, None);
    ended.is_ok_and(|ended| ended.how == End::Died(Death::Exit(0)))
        && std::fs::read_to_string(file).is_ok_and(|text| text.contains("execve("))
}

/// Read what was written down.
pub(super) fn read_opens(file: &Path, folder: &Path) -> Option<Opens> {
    let text = std::fs::read(file).ok()?;
    Some(parse_opens(&String::from_utf8_lossy(&text), folder))
}

fn parse_opens(text: &str, folder: &Path) -> Opens {
    let mut opens = Opens::default();
    let mut made = BTreeSet::new();
    for line in text.lines().filter(|line| !line.contains(" = -1 ")) {
        let call = line.split_once(' ').map_or("", |(_, call)| call.trim_start());
        let Some(path) = path_of(call, folder) else { continue };
        if call.contains("getdents") {
            opens.listed.insert(path);
        } else if call.starts_with("exec") {
            opens.started.insert(path.clone());
            opens.opened.insert(path);
        } else if call.contains("O_CREAT") || call.contains("O_WRONLY") {
            // What it made itself is no dependency, unless it was read before.
            made.insert(path);
        } else if !made.contains(&path) {
            opens.opened.insert(path);
        }
    }
    opens
}

/// The file that a call is about: what was opened, or what it names.
fn path_of(call: &str, folder: &Path) -> Option<String> {
    if let Some((_, result)) = call.rsplit_once(" = ")
        && let Some(path) = in_brackets(result)
    {
        return Some(path);
    }
    let arguments = call.split_once('(')?.1;
    let from = in_brackets(arguments.split(',').next()?);
    let Some(named) = in_quotes(arguments) else { return from };
    let base = from.map_or_else(|| folder.to_path_buf(), PathBuf::from);
    Some(base.join(named).to_string_lossy().into_owned())
}

/// The path in `3</etc/hosts>`.
fn in_brackets(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('<')?;
    let (path, _) = rest.rsplit_once('>')?;
    path.starts_with('/').then(|| unescaped(path))
}

/// The first text in quotes, if it is not empty.
fn in_quotes(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('"')?;
    let mut is_escaped = false;
    let end = rest.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    (end > 0).then(|| unescaped(&rest[..end]))
}

/// A text in which bytes that are no letters are written in octal digits.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        let number = rest[..digits].iter().fold(0u32, |sum, byte| sum * 8 + u32::from(byte - b'0'));
        if let (1.., Ok(byte)) = (digits, u8::try_from(number)) {
            bytes.push(byte);
            rest = &rest[digits..];
        } else if let [next, after @ ..] = rest {
            bytes.push(*next);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_is_read_listed_and_started_is_told_apart() {
        let text = "1 execve(\"/t/api-1\", [\"/t/api-1\"], 0x7f /* 3 vars */) = 0\n\
            1 openat(AT_FDCWD</p>, \"data.txt\", O_RDONLY|O_CLOEXEC) = 3</p/data.txt>\n\
            1 openat(AT_FDCWD</p>, \"gone\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
            2 openat(AT_FDCWD</p>, \"out\", O_WRONLY|O_CREAT, 0666) = 4</p/out>\n\
            2 openat(AT_FDCWD</p>, \"out\", O_RDONLY) = 5</p/out>\n\
            2 getdents64(6</p/caf\\303\\251>, 0x55 /* 4 entries */, 32768) = 104\n\
            2 statx(AT_FDCWD</p>, \"seen\", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=1}) = 0\n\
            2 <... openat resumed>) = 7</p/late>\n";
        let opens = parse_opens(text, Path::new("/p"));
        assert_eq!(opens.opened, set(&["/t/api-1", "/p/data.txt", "/p/seen", "/p/late"]));
        assert_eq!(opens.listed, set(&["/p/café"]));
        assert_eq!(opens.started, set(&["/t/api-1"]));
    }
}
