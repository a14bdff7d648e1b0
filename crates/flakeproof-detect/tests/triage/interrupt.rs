//! Ctrl-C keeps what was found.

use flakeproof_core::Isolation::{Fork, Same, Spawn};
use flakeproof_core::{Attempt, ExitCode, Isolation, Policies, Verdict};
use flakeproof_detect::triage::{Event, TriageSettings, Triaged, exit_code};
use flakeproof_runner::Cancel;
use flakeproof_testkit::scripted::{Scripted, suite};

use super::scene::{Since, finding, places, says, try_triage, verdict};

/// A failure that is real if the reruns go through, and a test after it.
fn broken() -> Scripted {
    suite(["a", "b"]).always_fails("a").depends_on("a", ["/r/changed.py"])
}

fn interrupted(scripted: &Scripted, cancel: &Cancel) -> (Triaged, Vec<Attempt>) {
    let mut heard = Vec::new();
    let mut sink = |event: Event| {
        if let Event::Attempt(attempt) = event {
            heard.push(*attempt);
        }
    };
    let settings = TriageSettings::default();
    let triaged = try_triage(scripted, &settings, &Since::Pass("changed.py"), cancel, &mut sink)
        .expect("an interrupt is not an error");
    (triaged, heard)
}

#[test]
fn an_interrupt_in_any_stage_keeps_what_ran_and_leaves_the_rest_unknown() {
    let stages: [(Isolation, u32); 4] = [(Same, 2), (Same, 3), (Spawn, 1), (Fork, 1)];
    for (executions, (isolation, time)) in (1..).zip(stages) {
        let (scripted, cancel) = broken().interrupted_at("a", isolation, time);
        let (triaged, heard) = interrupted(&scripted, &cancel);
        let found = finding(&triaged, "a");
        assert!(triaged.is_interrupted);
        assert_eq!(found.attempts.len(), executions, "{isolation} {time}");
        assert_eq!(heard.iter().filter(|it| it.execution.test == found.id).count(), executions);
        assert_eq!(found.verdict, Some(Verdict::Unknown), "{isolation} {time}");
        assert!(says(found, "interrupted"));
    }
}

#[test]
fn an_interrupt_does_not_take_back_a_verdict() {
    let scripted = suite(["a", "b"]).fails_times("a", 4).always_fails("b");
    let (scripted, cancel) = scripted.interrupted_at("b", Spawn, 1);
    let (triaged, _) = interrupted(&scripted, &cancel);
    assert_eq!(verdict(&triaged, "a"), Some(Verdict::Flaky));
    assert_eq!(verdict(&triaged, "b"), Some(Verdict::Unknown));
    let code = exit_code(&triaged.tests, triaged.is_interrupted, Policies::default());
    assert_eq!(code, ExitCode::Interrupted);
}

#[test]
fn an_interrupt_between_tests_starts_no_other() {
    let scripted = suite(["a", "b", "c"]).always_fails("a");
    let (canceller, cancel) = Cancel::new();
    canceller.cancel();
    let (triaged, heard) = interrupted(&scripted, &cancel);
    assert!(triaged.is_interrupted && triaged.tests.is_empty() && heard.is_empty());
    assert!(places(&scripted, "a").is_empty());
}

#[test]
fn tests_that_did_not_run_have_no_finding() {
    let (scripted, cancel) = suite(["a", "b"]).interrupted_at("b", Same, 1);
    let (triaged, _) = interrupted(&scripted, &cancel);
    assert_eq!(triaged.tests.len(), 1);
    assert_eq!(verdict(&triaged, "a"), None);
}
