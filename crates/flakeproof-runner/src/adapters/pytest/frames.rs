//! A dump of Python's stacks, reduced to what concerns the test.

/// Parts of a frame's path that belong to the machinery between the interpreter and the test.
const MACHINERY: [&str; 5] =
    ["/_pytest/", "/pluggy/", "/flakeproof_agent/", "<frozen runpy>", "/pytest/__main__.py"];

/// The dump without the frames of pytest and of the agent, which are the same for every test.
pub(super) fn of_the_test(dump: &str) -> String {
    let is_machinery = |line: &str| {
        line.trim_start().starts_with("File ") && MACHINERY.iter().any(|part| line.contains(part))
    };
    let lines: Vec<&str> = dump.lines().filter(|line| !is_machinery(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_frames_of_pytest_and_of_the_agent_go() {
        let dump = "Fatal Python error: Segmentation fault\n\n\
                    Current thread 0x1 (most recent call first):\n  \
                    File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at\n  \
                    File \"/p/tests/test_a.py\", line 3 in test_crash\n  \
                    File \"/v/site-packages/_pytest/python.py\", line 159 in pytest_pyfunc_call\n  \
                    File \"/v/site-packages/pluggy/_manager.py\", line 183 in _hookexec\n\n\
                    Extension modules: a, b";
        let left = of_the_test(dump);
        assert!(left.contains("string_at") && left.contains("test_crash"));
        assert!(left.contains("Extension modules"));
        assert!(!left.contains("_hookexec") && !left.contains("pytest_pyfunc_call"));
    }
}
