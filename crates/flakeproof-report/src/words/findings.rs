//! What findings mean: the evidence, the verdicts, the failures and their groups; and the phrases
//! that every subject uses: counts, shares, excerpts, whole sentences.

use flakeproof_core::foreign_text::on_one_line;
use flakeproof_core::{
    Attempt, ComparedWith, Evidence, Group, GroupCause, Hold, Isolation, Kind, Outcome,
    QuarantineEntry, Quarantined, Stage, Verdict,
};

/// A list of files longer than this is cut and counted.
const FILES_NAMED: usize = 5;

/// The sentence for one piece of evidence.
///
/// ```
/// use flakeproof_core::{Evidence, Isolation, Stage};
///
/// let evidence = Evidence::Passed { stage: Stage::Fresh, isolation: Isolation::Spawn };
/// assert_eq!(
///     flakeproof_report::words::evidence(&evidence),
///     "passed in a fresh environment (spawn)"
/// );
/// ```
#[must_use]
pub fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed { stage, isolation } => passed(*stage, *isolation),
        Evidence::FailedFresh { attempts, pass_rate_not_ruled_out } => {
            failed_fresh(*attempts, *pass_rate_not_ruled_out)
        }
        Evidence::Disjoint { changed, dependencies, base, passed_at_base } => {
            let facts = disjoint(changed, *dependencies, base);
            if *passed_at_base {
                facts
            } else {
                format!("{facts}; no run on record has it passing there")
            }
        }
        Evidence::Intersects { files, base } if files.is_empty() => {
            format!("touches the change since {base}")
        }
        Evidence::Intersects { files, base } => {
            format!("touches the change since {base}: {}", named(files))
        }
        Evidence::Silent { reason } => {
            format!("whether it touches the change cannot be said: {reason}")
        }
        Evidence::NotRerun { reason } => format!("is not run again: {reason}"),
        Evidence::TooManyFailures { failed, limit } => {
            format!("is not run again: {} failed, more than {limit}", counted(*failed, "test"))
        }
        Evidence::Alone { passed, failed } => {
            format!("alone, in new processes: passed {passed} of {} times", passed + failed)
        }
        Evidence::InOrder { passed: 0, failed } => {
            format!("failed {failed} of {failed} times in the suite's order")
        }
        Evidence::InOrder { passed, failed } => {
            format!("passed {passed} of {} times in the suite's order", passed + failed)
        }
        Evidence::OnBase { revision, conditions, passed, failed, failed_otherwise } => {
            let times = passed + failed + failed_otherwise;
            let otherwise = match failed_otherwise {
                0 => String::new(),
                some => format!(", and {some} in another way"),
            };
            format!(
                "before the change ({revision}), {conditions}: failed {failed} of {times} times{otherwise}"
            )
        }
        Evidence::OnRecord { passes, failures: 0 } => {
            format!(
                "never failed like this in {} before the change",
                counted(*passes as usize, "run")
            )
        }
        Evidence::OnRecord { passes, failures } => {
            format!(
                "was flaky before the change too: failed like this in {failures} of {} on record",
                counted((passes + failures) as usize, "run")
            )
        }
        Evidence::MoreOften {
            conditions,
            compared_with,
            failed,
            runs,
            failed_before,
            runs_before,
        } => {
            let before = match compared_with {
                ComparedWith::Base => "in turns with the code before it",
                ComparedWith::Record => "than on record",
            };
            format!(
                "fails more often with this change, {before}: {failed} of {runs} times {conditions}, \
                 {failed_before} of {runs_before} before"
            )
        }
        Evidence::Undecided { reason } => reason.clone(),
        Evidence::AlikeReal { test } => format!("fails in the same way as {test}, which is real"),
        Evidence::LikeAnother { test } => {
            let test = on_one_line(test);
            format!("failed in the same way as {test}, which was run again for all of them")
        }
    }
}

/// What a verdict says about a failure, short enough for a title.
#[must_use]
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Flaky => "flaky failure",
        Verdict::NewlyFlaky => "failure of a test that is flaky since this change",
        Verdict::Real => "real failure",
        Verdict::Unrelated => "failure that has nothing to do with the change",
        Verdict::Unknown => "failure of unknown cause",
    }
}

/// The sentence for a kind of flaky test, which starts with the kind.
#[must_use]
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::NotBursty => "not bursty: each run has its own chance to fail",
        Kind::Bursty => "bursty: it fails for a while and passes later",
        Kind::StateDependent => {
            "state-dependent: it fails in the state that other tests leave behind"
        }
    }
}

/// What the quarantine is to a failure, in a sentence.
#[must_use]
pub fn quarantined(quarantined: &Quarantined) -> String {
    let QuarantineEntry { owner, reason, expires, .. } = &quarantined.entry;
    match quarantined.hold {
        Hold::Excused => {
            format!("in quarantine until {expires} ({owner}: {reason}): it does not fail the build")
        }
        Hold::NewWithChange => format!(
            "in quarantine ({owner}: {reason}), but for another flakiness than that of this change: it \
             fails the build"
        ),
        Hold::FailsAlways => format!(
            "in quarantine ({owner}: {reason}), but it fails every time now: it fails the build"
        ),
        Hold::NotShown => format!(
            "in quarantine ({owner}: {reason}), but nothing shows that this failure is flaky: it fails \
             the build"
        ),
        Hold::Expired => {
            format!("its quarantine ended on {expires} ({owner}: {reason}): it counts again")
        }
    }
}

/// The sentence for a group of failures, which starts with what caused them.
#[must_use]
pub fn group(group: &Group) -> String {
    let tests = counted(group.tests.len(), "test");
    let how = match group.signature.as_str() {
        "" => "in the same way".to_owned(),
        signature => format!("with {signature}"),
    };
    match group.cause {
        GroupCause::Outage => format!("one outage: {tests} failed {how} and all passed later"),
        GroupCause::SharedState => {
            format!("one polluted state: {tests} failed {how} and all passed in fresh environments")
        }
        GroupCause::SameFailure => format!("the same failure: {tests} failed {how}"),
    }
}

/// What went wrong in a failing attempt, in one line: the failure's own message where it has one.
#[must_use]
pub fn failure(attempt: &Attempt) -> String {
    let execution = &attempt.execution;
    let message =
        execution.failure.as_ref().and_then(|failure| failure.message.trim().lines().next());
    match message {
        Some(message) => message.to_owned(),
        None => outcome(execution.outcome).to_owned(),
    }
}

/// The sentence for an outcome about which nothing else is known.
#[must_use]
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "the test passed",
        Outcome::Failed => "the test failed",
        Outcome::Errored => "its set-up or teardown failed",
        Outcome::Skipped => "the test was skipped",
        Outcome::Crashed => "the process that ran the test died",
        Outcome::TimedOut => "the test was still running at its deadline",
    }
}

/// A command as you type it in a POSIX shell, with quotes only where they are needed.
#[must_use]
pub fn command(arguments: &[String]) -> String {
    arguments.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

fn passed(stage: Stage, isolation: Isolation) -> String {
    let place = match isolation {
        Isolation::Same => "in the same environment".to_owned(),
        Isolation::Fork | Isolation::Spawn => format!("in a fresh environment ({isolation})"),
    };
    match stage {
        Stage::First => format!("passed in the suite's own run, {place}"),
        Stage::Immediate => format!("passed when run again at once, {place}"),
        Stage::Postponed => format!("passed at the end of the run, {place}"),
        Stage::Fresh => format!("passed {place}"),
        Stage::Order => "passed in the suite's order, in a new process".to_owned(),
    }
}

fn failed_fresh(attempts: u32, pass_rate_not_ruled_out: f64) -> String {
    let how_often = match attempts {
        0 => return "was not run in a fresh environment".to_owned(),
        1 => "failed in 1 of 1 fresh environment".to_owned(),
        _ => format!("failed in {attempts} of {attempts} fresh environments"),
    };
    let rate = percent(pass_rate_not_ruled_out);
    format!(
        "{how_often} (a test that passes more than {rate} of the time would have passed once, 95 %)"
    )
}

fn disjoint(changed: &[String], dependencies: usize, base: &str) -> String {
    if changed.is_empty() {
        return format!("nothing changed since {base}");
    }
    format!(
        "does not touch the change since {base}: {} it depends on, {} ({})",
        counted(dependencies, "file"),
        counted(changed.len(), "changed file"),
        named(changed)
    )
}

fn named(files: &[String]) -> String {
    let shown = files.iter().take(FILES_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match files.len().checked_sub(FILES_NAMED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// A text longer than this many characters is cut where it stands among others.
const EXCERPT: usize = 500;

/// The start of a text, with an ellipsis if that is not all of it.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Words that start in lower case, as a sentence that stands alone.
pub(crate) fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).chain(['.']).collect()
}

/// A number with its noun: `1 test`, `12 tests`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// A share in percent, with a digit after the point where it is near 0 or 100.
///
/// Less than all is never written as 100 %.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 {
        format!("{percent:.1} %")
    } else if percent > 99.0 && percent < 100.0 {
        format!("{:.1} %", percent.min(99.9))
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Signature;
    use flakeproof_core::statistics::pass_rate_not_ruled_out;

    use super::*;

    fn files(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pass_names_the_stage_and_the_environment() {
        let of = |stage, isolation| evidence(&Evidence::Passed { stage, isolation });
        assert_eq!(
            of(Stage::Immediate, Isolation::Same),
            "passed when run again at once, in the same environment"
        );
        assert_eq!(
            of(Stage::Postponed, Isolation::Same),
            "passed at the end of the run, in the same environment"
        );
        assert_eq!(of(Stage::Fresh, Isolation::Fork), "passed in a fresh environment (fork)");
    }

    #[test]
    fn fresh_failures_say_what_they_do_not_rule_out() {
        let of = |attempts| {
            let pass_rate_not_ruled_out = pass_rate_not_ruled_out(attempts, 0.95);
            evidence(&Evidence::FailedFresh { attempts, pass_rate_not_ruled_out })
        };
        assert_eq!(of(0), "was not run in a fresh environment");
        assert_eq!(
            of(1),
            "failed in 1 of 1 fresh environment (a test that passes more than 95 % of the time \
             would have passed once, 95 %)"
        );
        assert_eq!(
            of(3),
            "failed in 3 of 3 fresh environments (a test that passes more than 63 % of the time \
             would have passed once, 95 %)"
        );
        assert!(of(100).contains("more than 3.0 % of the time"), "{}", of(100));
    }

    #[test]
    fn contact_with_the_change_names_the_files() {
        let base = "1a2b3c4d5e".to_owned();
        assert_eq!(
            evidence(&Evidence::Intersects { files: files(&["src/a.py", "src/b.py"]), base }),
            "touches the change since 1a2b3c4d5e: src/a.py, src/b.py"
        );
    }

    #[test]
    fn a_change_that_is_not_touched_is_counted_and_named() {
        let of = |changed: &[&str], passed_at_base| {
            evidence(&Evidence::Disjoint {
                changed: files(changed),
                dependencies: 14,
                base: "v1.2".into(),
                passed_at_base,
            })
        };
        assert_eq!(
            of(&["docs/x.md", "src/y.py"], true),
            "does not touch the change since v1.2: 14 files it depends on, 2 changed files \
             (docs/x.md, src/y.py)"
        );
        assert_eq!(
            of(&["docs/x.md"], false),
            "does not touch the change since v1.2: 14 files it depends on, 1 changed file \
             (docs/x.md); no run on record has it passing there"
        );
        assert_eq!(of(&[], true), "nothing changed since v1.2");
        assert!(
            of(&["1", "2", "3", "4", "5", "6", "7"], true).ends_with("(1, 2, 3, 4, 5 and 2 more)")
        );
    }

    #[test]
    fn what_was_not_rerun_says_why() {
        assert_eq!(
            evidence(&Evidence::NotRerun { reason: "ThreadSanitizer reported a data race".into() }),
            "is not run again: ThreadSanitizer reported a data race"
        );
        assert_eq!(
            evidence(&Evidence::TooManyFailures { failed: 120, limit: 100 }),
            "is not run again: 120 tests failed, more than 100"
        );
        assert_eq!(
            evidence(&Evidence::LikeAnother { test: "t.py::test_a".into() }),
            "failed in the same way as t.py::test_a, which was run again for all of them"
        );
        assert_eq!(
            evidence(&Evidence::Silent { reason: "uv.lock changed".into() }),
            "whether it touches the change cannot be said: uv.lock changed"
        );
    }

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let of = |arguments: &[&str]| command(&files(arguments));
        assert_eq!(of(&["pytest", "-k", "a or b", ""]), "pytest -k 'a or b' ''");
        assert_eq!(
            of(&["pytest", "t.py::test_a[1]", "it's"]),
            r"pytest 't.py::test_a[1]' 'it'\''s'"
        );
    }

    #[test]
    fn each_cause_of_a_group_has_its_sentence() {
        let of = |cause, signature: &str| {
            group(&Group {
                signature: Signature::from_normalised(signature),
                tests: vec!["a".into(), "b".into(), "c".into()],
                cause,
            })
        };
        assert_eq!(
            of(GroupCause::Outage, "ConnectionRefusedError: #"),
            "one outage: 3 tests failed with ConnectionRefusedError: # and all passed later"
        );
        assert_eq!(
            of(GroupCause::SharedState, "KeyError: 'user'"),
            "one polluted state: 3 tests failed with KeyError: 'user' and all passed in fresh \
             environments"
        );
        assert_eq!(
            of(GroupCause::SameFailure, ""),
            "the same failure: 3 tests failed in the same way"
        );
    }

    #[test]
    fn a_sentence_starts_large_and_ends() {
        assert_eq!(sentence("wait for it"), "Wait for it.");
    }

    #[test]
    fn less_than_all_is_not_a_hundred_percent() {
        let shares = [0.0, 0.05, 0.42, 0.99, 0.995, 0.99999, 1.0].map(percent);
        assert_eq!(shares, ["0.0 %", "5.0 %", "42 %", "99 %", "99.5 %", "99.9 %", "100 %"]);
    }
}
