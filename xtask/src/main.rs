//! The commands of this workspace, the same for people and for CI.
//!
//! `cargo xtask check` runs every check, cheapest first. `cargo xtask zoo` shows the program at
//! work on the flaky zoo. Both install what they need from the package index of Python.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod capabilities;
mod check;
mod dist;
mod documents;
mod figures;
mod model;
mod platforms;
mod test_binaries;
mod written_table;
mod zoo;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use check::Skips;

const HELP: &str = "\
cargo xtask check    formatting, lints, dependency arrows, tests, documentation
cargo xtask check --every-test   the same, and nothing may be skipped but for a listed reason
cargo xtask check --quick   what takes minutes of it: lints, unit tests, one path per runner
cargo xtask test     only the tests, several binaries at a time
cargo xtask arrows   only the dependency arrows of the design
cargo xtask capabilities   write the book's table of what each adapter can do
cargo xtask dist DIR [TARGET [PROGRAM]]   pack the program for people without a Rust toolchain
cargo xtask figures  write the figures of `predict` into README and the book
cargo xtask platforms   write the book's table of where each command was tried
cargo xtask map      write the map of the workspace into CONTRIBUTING
cargo xtask model S  train the model inside the program again, given the folder S with the projects
                     of the first data set (needs the data beside the repository, and ten minutes);
                     a second argument names a file with more labelled texts
cargo xtask zoo      run flakeproof on the flaky zoo and show what it says
cargo xtask zoo N    check N runs on the zoo against what is expected";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["check"] => check::everything(Skips::Named),
        ["check", "--every-test"] => check::everything(Skips::Listed),
        ["check", "--quick"] => check::quick(),
        ["test"] => test_binaries::run(),
        ["arrows"] => check::arrows(),
        ["capabilities"] => capabilities::write(),
        ["dist", out] => dist::pack(out, None, None),
        ["dist", out, target] => dist::pack(out, Some(target), None),
        ["dist", out, target, program] => dist::pack(out, Some(target), Some(program)),
        ["figures"] => figures::write(),
        ["platforms"] => platforms::write(),
        ["map"] => documents::write_map(),
        ["model", sources] => model::train(Path::new(sources), None),
        ["model", sources, texts] => model::train(Path::new(sources), Some(Path::new(texts))),
        ["zoo"] => zoo::show(),
        ["zoo", runs] => zoo::verify(runs),
        _ => {
            println!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's folder.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Run a command and fail if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed ({status})")) }
}

/// Cargo, in the workspace.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}
