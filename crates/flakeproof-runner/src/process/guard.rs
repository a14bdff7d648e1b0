//! The guard: a process between flakeproof and the user's command.
//!
//! The guard adopts orphans of the command (Linux: child subreaper), tells flakeproof over the
//! agents' socket how each of its processes died, and when its standard input closes, because
//! flakeproof ended or was killed, it kills everything below itself. It does nothing else, so
//! that there is little that could kill it.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus, wait};
use serde_json::json;

use super::descendants;

/// The first argument that makes this program a guard.
pub(super) const GUARD: &str = "__guard";

/// What flakeproof writes to a guard before it lets go of it in order.
pub(super) const LAST_WORD: &[u8] = b"bye\n";

/// Turn this process into a guard if it was started as one; never returns then.
///
/// Call it first in `main`, before anything else is set up.
pub fn become_guard_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != GUARD) {
        return;
    }
    let (Some(socket), Some(name)) = (arguments.next(), arguments.next()) else {
        std::process::exit(70);
    };
    let command: Vec<OsString> = arguments.collect();
    std::process::exit(guard(&socket, &name.to_string_lossy(), &command).map_or(70, |()| 0));
}

fn guard(socket: &OsString, name: &str, command: &[OsString]) -> std::io::Result<()> {
    super::adopt_orphans();
    let mut link = UnixStream::connect(socket)?;
    let mut say = move |message: serde_json::Value| {
        // Without flakeproof there is nobody to tell; the closing input ends the guard.
        let _ = link.write_all(format!("{message}\n").as_bytes());
    };
    say(json!({ "say": "hello", "name": name, "pid": std::process::id() }));
    let of_socket = PathBuf::from(socket);
    let end = std::thread::spawn(move || kill_everything_when_input_closes(&of_socket));
    let [program, arguments @ ..] = command else { return Ok(()) };
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).process_group(0).spawn();
    match child {
        Ok(child) => say(json!({ "say": "started", "pid": child.id() })),
        Err(error) => {
            say(json!({ "say": "unstartable", "cause": error.to_string() }));
            return Ok(());
        }
    }
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => say(death_notice(pid.as_raw_nonzero().get(), status)),
            Err(Errno::INTR) | Ok(None) => {}
            // Nobody is left to guard, but there may be temporary files to remove.
            Err(_) => {
                let _ = end.join();
                return Ok(());
            }
        }
    }
}

/// Wait for the end of flakeproof, and clean up after it.
///
/// A last word on the input says that it ends in order. Without it, it was killed, and nobody
/// else is left to remove its temporary files.
fn kill_everything_when_input_closes(socket: &Path) {
    let mut last_word = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut last_word);
    let left = descendants::kill_all();
    if !left.is_empty() {
        // The end of the command's output, for whoever reads it.
        let _ = writeln!(std::io::stderr(), "flakeproof could not kill: {}", left.join(", "));
    }
    if let (true, Some(folder)) = (last_word.is_empty(), socket.parent()) {
        let _ = std::fs::remove_dir_all(folder);
    }
    std::process::exit(0);
}

fn death_notice(pid: i32, status: WaitStatus) -> serde_json::Value {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => json!({ "say": "died", "pid": pid, "code": code }),
        (None, signal) => json!({ "say": "died", "pid": pid, "signal": signal }),
    }
}
