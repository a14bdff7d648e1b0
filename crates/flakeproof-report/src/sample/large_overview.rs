//! A project of any size, the same every time: what pages must stay fluid with.

use flakeproof_core::{Overview, Scores, TestTimeline, Timeline};

use super::overview::{self, WORST, marks, run};

/// A project with so many tests in so many runs, one test in fifty of them flaky.
pub(crate) fn large_overview(tests: u32, runs: u32) -> Overview {
    let timeline = Timeline {
        runs: (0..runs).map(|number| run(number, runs)).collect(),
        tests: (0..tests).map(|number| test(number, runs)).collect(),
    };
    let scores = Scores::of(&timeline);
    let mut overview = overview::overview();
    overview.project = "warehouse".into();
    let mut everything = overview.details.remove(WORST).unwrap_or_default();
    let id = timeline.tests[0].test.clone();
    everything.reproduce = Some(format!("flakeproof repro {id}"));
    everything.hunted.iter_mut().for_each(|hunted| hunted.location = None);
    everything
        .prediction
        .iter_mut()
        .for_each(|it| it.file = "tests/orders/test_orders_0.py".into());
    overview.details.insert(id, everything);
    Overview { timeline, scores, ..overview }
}

fn test(number: u32, runs: u32) -> TestTimeline {
    const AREAS: [&str; 6] = ["orders", "billing", "search", "stock", "accounts", "mail"];
    const VERBS: [&str; 5] = ["creates", "rejects", "retries", "lists", "expires"];
    let area = AREAS[number as usize % AREAS.len()];
    let verb = VERBS[number as usize / AREAS.len() % VERBS.len()];
    let id = format!("tests/{area}/test_{area}_{}.py::test_{verb}_{number}", number % 40);
    let letters: String = (0..runs).map(|run| letter(number, run, runs)).collect();
    TestTimeline { test: id.into(), marks: marks(&letters) }
}

/// Tests are told apart by their number: some are flaky, few are broken, some appeared lately.
fn letter(test: u32, run: u32, runs: u32) -> char {
    let chance = mixed(test, run) % 1000;
    match test % 50 {
        0 if chance < 15 + test % 90 + u32::from(test == 0) * 60 => {
            ['r', 'k', 'F'][chance as usize % 3]
        }
        1 if test % 300 == 1 && run + 6 > runs => 'X',
        2 if test % 100 == 2 && run == runs / 2 + test % 20 => 'E',
        3 if test % 150 == 3 && run + 8 < runs => ' ',
        4 if chance < 300 => 's',
        _ if run == runs / 3 && test.is_multiple_of(3) => 'F',
        _ => '.',
    }
}

/// A number that looks like chance and is the same every time.
fn mixed(one: u32, other: u32) -> u32 {
    let mut bits = one.wrapping_mul(0x9e37_79b9) ^ other.wrapping_mul(0x85eb_ca6b);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x2c1b_3c6d);
    bits ^ (bits >> 13)
}
