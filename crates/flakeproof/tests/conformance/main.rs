//! Every adapter keeps the same promises, tried on a real project of each framework.
//!
//! The adapter starts its guard from the running program, and a program of the usual test harness
//! cannot become one. So this is a program of its own, which runs its claims as the harness would.
//! `cargo test --test conformance -- pytest::` asks for those of one framework. pytest is checked always,
//! of the others a part each day; `FLAKEPROOF_WHOLE_CAMPAIGNS=1` checks all of them. Without a name,
//! pytest is checked once more in hostile surroundings.

use std::process::{Command, ExitCode, Stdio};

use flakeproof_testkit::conformance;

fn main() -> ExitCode {
    flakeproof_runner::process::hear_own_signals();
    flakeproof_runner::process::become_guard_if_asked();
    let ended = conformance::check(&conformance::subjects::today());
    let is_whole = std::env::args_os().len() == 1;
    if ended == ExitCode::SUCCESS && is_whole { in_hostile_surroundings() } else { ended }
}

/// What a shell, a supervisor or a container may leave to the processes it starts: signals ignored and
/// blocked, no terminal, no standard input, few descriptors, a strict mask, no home, and a folder for
/// temporary files whose name has blanks.
const HOSTILE: &str = "umask 077; ulimit -n 256; exec 0<&-; \
    for signal in INT HUP QUIT TERM CHLD TTIN TTOU; do ignored=\"$ignored --ignore-signal=$signal\"; done; \
    exec setsid --wait env -u HOME $ignored --block-signal=USR1 --block-signal=INT \"$0\" pytest::";

fn in_hostile_surroundings() -> ExitCode {
    let begin = || -> std::io::Result<bool> {
        let temporary = tempfile::Builder::new().prefix("with blanks ").tempdir()?;
        let ended = Command::new("sh")
            .args(["-c", HOSTILE])
            .arg(std::env::current_exe()?)
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::null())
            .status()?;
        Ok(ended.success())
    };
    match begin() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}
