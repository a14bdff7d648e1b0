//! What the threads of a process that hangs are doing, as far as the system tells.

use std::path::Path;

/// One line for each thread: its name, which for a test is the test's, and what it waits for.
pub(super) fn of(pid: u32) -> String {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return String::new();
    };
    let mut lines: Vec<String> =
        threads.filter_map(|thread| Some(line(&thread.ok()?.path()))).collect();
    lines.sort_unstable();
    match lines.is_empty() {
        true => String::new(),
        false => format!("Its threads:\n{}\n", lines.join("\n")),
    }
}

fn line(thread: &Path) -> String {
    let read = |name: &str| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
    let state = read("status");
    let state = state.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("").trim();
    let name = read("comm");
    match read("wchan").as_str() {
        "" | "0" => format!("  {}: {state}", name.trim()),
        waits => format!("  {}: {state}, in {waits}", name.trim()),
    }
}
