//! What holds for every suite, however its tests behave.

use flakeproof_core::Isolation::{Fork, Same, Spawn};
use flakeproof_core::{Attempt, Evidence, Outcome, Stage, TestFinding, Verdict};
use flakeproof_detect::triage::{TriageSettings, Triaged};
use flakeproof_runner::Granularity;
use flakeproof_testkit::scripted::{Moment, Scripted, ScriptedRun, suite};
use proptest::prelude::*;

use super::scene::{Since, triaged_with};

const TESTS: [&str; 4] = ["f::a", "f::b", "g::a", "g::b"];

/// What a test does, by kind of environment and history.
#[derive(Debug, Clone)]
struct Table {
    same: Vec<Outcome>,
    fork: Vec<Outcome>,
    spawn: Vec<Outcome>,
    /// Fails after this test in the same environment.
    polluter: Option<usize>,
    says: Option<&'static str>,
    touches_the_change: bool,
}

impl Table {
    /// The outcome of an execution; the table of its environment is gone through in a circle.
    fn outcome(&self, moment: &Moment<'_>) -> Outcome {
        let is_polluted = self.polluter.is_some_and(|polluter| {
            moment.before.iter().any(|test| test.as_str() == TESTS[polluter])
        });
        let outcomes = match moment.isolation {
            Same if is_polluted => return Outcome::Failed,
            Same => &self.same,
            Fork => &self.fork,
            Spawn => &self.spawn,
        };
        outcomes[moment.times as usize % outcomes.len()]
    }
}

fn tables() -> impl Strategy<Value = Vec<Table>> {
    let outcome = || {
        prop_oneof![
            4 => Just(Outcome::Failed),
            3 => Just(Outcome::Passed),
            1 => Just(Outcome::Errored),
            1 => Just(Outcome::Skipped),
            1 => Just(Outcome::Crashed),
            1 => Just(Outcome::TimedOut),
        ]
    };
    let outcomes = move || prop::collection::vec(outcome(), 1..4);
    let table = (
        outcomes(),
        outcomes(),
        outcomes(),
        prop::option::of(0..TESTS.len()),
        prop::option::of(prop::sample::select(vec!["OSError: full", "KeyError: 'a'"])),
        any::<bool>(),
    );
    let table = table.prop_map(|(same, fork, spawn, polluter, says, touches_the_change)| Table {
        same,
        fork,
        spawn,
        polluter,
        says,
        touches_the_change,
    });
    prop::collection::vec(table, TESTS.len())
}

fn settings() -> impl Strategy<Value = TriageSettings> {
    let isolation = prop::sample::select(vec![Fork, Spawn]);
    let dependencies = prop::sample::select(vec![Granularity::Off, Granularity::File]);
    (0..3_u32, 0..3_u32, 0..4_u32, 0..4_u32, 1..4_usize, isolation, dependencies).prop_map(
        |(immediate, postponed, fresh, confirmations, jobs, isolation, dependencies)| {
            TriageSettings {
                immediate,
                postponed,
                fresh,
                confirmations,
                jobs,
                isolation,
                dependencies,
                ..TriageSettings::default()
            }
        },
    )
}

fn since() -> impl Strategy<Value = Since> {
    let all = vec![Since::Pass("changed.py"), Since::MergeBase("changed.py"), Since::Unknown];
    prop::sample::select(all)
}

fn scripted(tables: &[Table]) -> Scripted {
    TESTS.into_iter().zip(tables.iter().cloned()).fold(suite(TESTS), |scripted, (test, table)| {
        let scripted = match table.says {
            Some(message) => scripted.says(test, message),
            None => scripted,
        };
        let scripted = match table.touches_the_change {
            true => scripted.depends_on(test, ["/r/changed.py"]),
            false => scripted.depends_on(test, ["/r/other.py"]),
        };
        scripted.behaves(test, move |moment| table.outcome(moment))
    })
}

fn run(tables: &[Table], settings: &TriageSettings, since: &Since) -> (Scripted, Triaged) {
    let scripted = scripted(tables);
    let triaged = triaged_with(&scripted, settings, since);
    (scripted, triaged)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_fails_in_every_new_process_is_never_flaky(
        tables in tables(), settings in settings(), since in since()
    ) {
        let (_, triaged) = run(&tables, &settings, &since);
        for (table, found) in tables.iter().zip(&triaged.tests) {
            let always_fails = table.spawn.iter().all(|outcome| outcome.is_failure());
            if always_fails {
                prop_assert!(!found.verdict.is_some_and(Verdict::is_shown_flaky));
            }
        }
    }

    #[test]
    fn flaky_rests_on_a_pass_and_a_failure_under_the_same_conditions(
        tables in tables(), settings in settings(), since in since()
    ) {
        let (_, triaged) = run(&tables, &settings, &since);
        let is_flaky = |it: &&TestFinding| it.verdict.is_some_and(Verdict::is_shown_flaky);
        for found in triaged.tests.iter().filter(is_flaky) {
            let both = |is_one: fn(&Attempt) -> bool| {
                let outcomes: Vec<Outcome> = found
                    .attempts
                    .iter()
                    .filter(|attempt| is_one(attempt))
                    .map(|attempt| attempt.execution.outcome)
                    .collect();
                outcomes.contains(&Outcome::Passed) && outcomes.iter().any(|it| it.is_failure())
            };
            let alone = both(|it| it.stage == Stage::Fresh && it.isolation == Spawn);
            let in_order = both(|it| matches!(it.stage, Stage::First | Stage::Order));
            prop_assert!(alone || in_order, "{:?}", found.attempts);
        }
    }

    #[test]
    fn real_rests_on_contact_with_the_change_and_on_no_pass_in_a_fresh_environment(
        tables in tables(), settings in settings(), since in since()
    ) {
        let (_, triaged) = run(&tables, &settings, &since);
        for found in triaged.tests.iter().filter(|it| it.verdict == Some(Verdict::Real)) {
            let touches = |it: &Evidence| matches!(it, Evidence::Intersects { .. });
            prop_assert!(found.evidence.iter().any(touches));
            let mut fresh = found.attempts.iter().filter(|it| it.stage == Stage::Fresh);
            prop_assert!(fresh.all(|attempt| attempt.execution.outcome.is_failure()));
        }
    }

    #[test]
    fn the_number_of_executions_is_bounded_and_all_are_told(
        tables in tables(), settings in settings(), since in since()
    ) {
        let (scripted, triaged) = run(&tables, &settings, &since);
        let TriageSettings { immediate, postponed, fresh, confirmations, .. } = settings;
        // The order is run three times at most, and tried alone in between.
        let bound = 1 + immediate + postponed + fresh + 2 * confirmations + 3;
        for found in &triaged.tests {
            let runs = scripted.runs_of(found.id.as_str());
            prop_assert!(runs.len() <= bound as usize);
            // What only comes before others in the order is not an attempt at it.
            prop_assert!(found.attempts.len() <= runs.len());
            for (attempt, number) in found.attempts.iter().zip(1..) {
                prop_assert_eq!(attempt.number, number);
                let is_told = |ran: &ScriptedRun| {
                    ran.attempt == number && ran.outcome == Some(attempt.execution.outcome)
                };
                prop_assert!(runs.iter().any(is_told));
            }
        }
    }

    #[test]
    fn every_failure_has_a_verdict_with_evidence_and_nothing_else_has_one(
        tables in tables(), settings in settings(), since in since()
    ) {
        let (_, triaged) = run(&tables, &settings, &since);
        prop_assert_eq!(triaged.tests.len(), TESTS.len());
        for found in &triaged.tests {
            prop_assert_eq!(found.verdict.is_some(), found.outcome.is_failure());
            prop_assert_eq!(found.evidence.is_empty(), found.verdict.is_none());
            prop_assert_eq!(found.reproduce.is_some(), found.verdict.is_some());
        }
    }
}
