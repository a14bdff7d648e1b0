//! What Rust's test harness says at the end of a run: how many tests passed, and which failed.

use crate::process::Death;

/// What the harness says when all tests ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    /// What the last test printed, with its result.
    pub(super) before: String,
    /// Remarks on failures.
    remarks: String,
    /// The tests that failed.
    failed: Vec<String>,
}

impl Summary {
    /// Whether the harness ends like this after these tests: with 101 if one of them failed.
    pub(super) fn explains(&self, death: Death) -> bool {
        match death {
            Death::Exit(0) => self.failed.is_empty(),
            Death::Exit(101) => !self.failed.is_empty(),
            Death::Exit(_) | Death::Signal(_) => false,
        }
    }

    /// Read it from what was printed since the last test began. It must be about so many tests: one
    /// may print the summary of another run.
    pub(super) fn read(text: &str, tests: usize) -> Option<Self> {
        let result = text.rfind("\ntest result: ")?;
        let line = text[result + 1..].lines().next()?;
        if counted(line, &["passed", "failed", "ignored", "measured"]) != tests {
            return None;
        }
        let text = &text[..result];
        let count = counted(line, &["failed"]);
        if count == 0 {
            let (before, remarks) = (text.trim_end().to_owned(), String::new());
            return Some(Self { before, remarks, failed: Vec::new() });
        }
        let list = text.rfind("\nfailures:\n    ")?;
        let listed = text[list..].lines().filter_map(|line| line.strip_prefix("    "));
        let failed: Vec<String> = listed.map(str::to_owned).collect();
        if failed.len() != count {
            return None;
        }
        // A test may have printed the failures of another run.
        let is_own = |rest: &str| {
            let head = rest.strip_prefix("\nfailures:\n\n---- ").unwrap_or_default();
            failed.iter().any(|name| head.starts_with(&format!("{name} stdout ----\n")))
        };
        let all = text[..=list].match_indices("\nfailures:\n\n").map(|(at, _)| at);
        let remarks = all.clone().find(|at| is_own(&text[*at..])).or(all.last()).unwrap_or(list);
        Some(Self {
            before: text[..remarks].trim_end().to_owned(),
            remarks: text[remarks..list].to_owned(),
            failed,
        })
    }

    pub(super) fn has_failed(&self, name: &str) -> bool {
        self.failed.iter().any(|failed| failed == name)
    }

    /// What stands under `---- name stdout ----`.
    pub(super) fn remark_on(&self, name: &str) -> Option<String> {
        let head = format!("---- {name} stdout ----\n");
        let start = self.remarks.find(&head)? + head.len();
        let rest = &self.remarks[start..];
        let next = self
            .failed
            .iter()
            .filter_map(|name| rest.find(&format!("\n---- {name} stdout ----\n")));
        let text = rest[..next.min().unwrap_or(rest.len())].trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// How many tests of some kinds `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 4 filtered
/// out` is about.
fn counted(line: &str, kinds: &[&str]) -> usize {
    let counts = line.split_once(". ").map_or("", |(_, counts)| counts).split("; ");
    let of = |count: &str| {
        let (number, what) = count.split_once(' ')?;
        let is_about = kinds.contains(&what);
        is_about.then(|| number.parse::<usize>().ok())?
    };
    counts.filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "hello\nFAILED\n\nfailures:\n\n---- t::a stdout ----\n\
        note: test did not panic as expected at src/lib.rs:14:32\n---- t::b stdout ----\n\
        note: panic did not contain expected string\n      panic message: \"def\"\n\n\
        failures:\n    t::a\n    t::b\n\ntest result: FAILED. 3 passed; 2 failed; 1 ignored\n\n";

    #[test]
    fn the_end_of_a_run_names_who_failed_and_why() {
        let summary = Summary::read(PRINTED, 6).expect("it is all there");
        assert_eq!(summary.before, "hello\nFAILED");
        assert_eq!(summary.failed, ["t::a", "t::b"]);
        let remark = "note: test did not panic as expected at src/lib.rs:14:32";
        assert_eq!(summary.remark_on("t::a").as_deref(), Some(remark));
        assert!(summary.remark_on("t::b").is_some_and(|it| it.ends_with("\"def\"")));
        assert_eq!(summary.remark_on("t::c"), None);
    }

    #[test]
    fn a_failure_without_remarks_keeps_only_what_the_test_printed() {
        let text = "no\nFAILED\n\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 1 failed\n";
        let summary = Summary::read(text, 1).expect("it is all there");
        assert_eq!(
            (summary.before.as_str(), &summary.failed[..]),
            ("no\nFAILED", &["a".into()][..])
        );
    }

    #[test]
    fn failing_tests_explain_the_code_of_the_harness_and_no_other() {
        let failed = Summary::read(PRINTED, 6).expect("it is all there");
        assert!(failed.explains(Death::Exit(101)));
        assert!(!failed.explains(Death::Exit(7)) && !failed.explains(Death::Signal(11)));
        let text = "ok\n\ntest result: ok. 1 passed; 0 failed\n";
        let passed = Summary::read(text, 1).expect("a result");
        assert!(passed.explains(Death::Exit(0)) && !passed.explains(Death::Exit(101)));
    }

    #[test]
    fn without_a_result_there_is_no_summary() {
        assert_eq!(Summary::read("hello\nok\n", 1), None);
        let passed =
            Summary::read("ok\n\ntest result: ok. 1 passed; 0 failed\n", 1).expect("a result");
        assert_eq!((passed.before.as_str(), passed.failed.len()), ("ok", 0));
        let other = Summary::read("ok\n\ntest result: ok. 5 passed; 0 failed\n", 1);
        assert_eq!(other, None, "a test printed the summary of another run");
    }

    #[test]
    fn what_tests_print_of_other_runs_is_no_part_of_the_end() {
        let foreign = "test a ... ok\n\nfailures:\n    sample\n\ntest b ... ok\n\n\
            test result: ok. 2 passed; 0 failed\n";
        let passed = Summary::read(foreign, 2).expect("a result");
        assert!(!passed.has_failed("sample") && passed.explains(Death::Exit(0)));
        let quoted = "\nfailures:\n\n---- a stdout ----\n---- diff ----\nit printed:\n\nfailures:\n\n\
            ---- x stdout ----\nno\n\nfailures:\n    x\n\n---- b stdout ----\nbad\n\n\
            failures:\n    a\n    b\n\ntest result: FAILED. 0 passed; 2 failed\n";
        let failed = Summary::read(quoted, 2).expect("a result");
        assert!(
            failed
                .remark_on("a")
                .is_some_and(|it| it.starts_with("---- diff") && it.contains("x stdout"))
        );
        assert_eq!(failed.remark_on("b").as_deref(), Some("bad"));
    }
}
