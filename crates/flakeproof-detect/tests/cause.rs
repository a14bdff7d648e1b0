//! What is named as the cause of a failure, and what never is.

use std::cell::Cell;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use flakeproof_core::{
    CauseAnswer, CauseEnd, CauseProgress, FailureTrace, Isolation, LeverName, Outcome, Seed, TestId,
};
use flakeproof_detect::cause::{CauseEvent, Found, Question, Tries, find_cause};
use flakeproof_runner::Cancel;
use flakeproof_runner::levers::{Company, Control, Intervention, Lever, Machine, Setting};
use flakeproof_testkit::scripted::{Moment, Scripted, suite};

/// A lever whose settings are values of a variable of the same name.
#[derive(Debug)]
struct Values {
    name: LeverName,
    /// Whether numbers lie between numbers.
    is_ordered: bool,
}

impl Lever for Values {
    fn name(&self) -> LeverName {
        self.name
    }

    fn settings(&self, _: &Machine) -> Result<Vec<Setting>, String> {
        Err("the test says what is tried".into())
    }

    fn between(&self, passes: Option<&Setting>, fails: &Setting) -> Option<Setting> {
        let number = |setting: &Setting| setting.value.parse::<u32>().ok();
        let (low, high) = (passes.and_then(number).unwrap_or(0), number(fails)?);
        (self.is_ordered && high > low + 1)
            .then(|| value(self.name, &(low.midpoint(high)).to_string()))
    }
}

fn value(lever: LeverName, value: &str) -> Setting {
    Setting::of_variables(value, [(lever.word(), value)])
}

/// Settings of a lever, to be tried.
fn tries(name: LeverName, values: &[&str]) -> Tries {
    let settings = values.iter().map(|it| value(name, it)).collect();
    Tries { lever: Box::new(Values { name, is_ordered: false }), settings }
}

fn of_company(name: LeverName, company: Company) -> Tries {
    let setting = Setting::new("company", Intervention::Company(company));
    Tries { lever: Box::new(Values { name, is_ordered: false }), settings: vec![setting] }
}

/// Many levers, of which most do nothing.
fn usual() -> Vec<Tries> {
    vec![
        tries(LeverName::Zone, &["kiritimati", "kolkata", "utc"]),
        tries(LeverName::Locale, &["c", "turkish", "german"]),
        tries(LeverName::HashSeed, &["0", "1", "2", "3"]),
        tries(LeverName::Terminal, &["40", "200"]),
        tries(LeverName::Umask, &["077"]),
    ]
}

fn question(tries: Vec<Tries>) -> Question {
    Question {
        test: "t".into(),
        suite: ["p", "t", "q"].map(TestId::from).to_vec(),
        tries,
        not_tried: Vec::new(),
        known: Vec::new(),
        seed: Seed(7),
        budget: None,
        timeout: None,
        progress: CauseProgress::default(),
    }
}

fn tests() -> Scripted {
    suite(["p", "t", "q"])
}

fn found(suite: &Scripted, question: &Question) -> Found {
    let clock = || Duration::ZERO;
    let cancel = Cancel::never();
    find_cause(suite, &suite.in_force(), question, &clock, &cancel, &mut |_| {}).expect("an answer")
}

/// Whether a variable is set to this on purpose.
fn is_set(moment: &Moment<'_>, lever: LeverName, value: &str) -> bool {
    is_under(moment.intervention, lever, value)
}

fn is_under(intervention: &Intervention, lever: LeverName, value: &str) -> bool {
    let Intervention::Variables(variables) = intervention else { return false };
    variables.get(lever.word()) == Some(&Some(value.to_owned()))
}

fn chance(moment: &Moment<'_>, seed: u64, rate: f64) -> bool {
    let drawn =
        u32::try_from(Seed(seed).split(&moment.times.to_string()).0 >> 32).expect("half of a seed");
    f64::from(drawn) < rate * f64::from(u32::MAX)
}

/// The levers that are named, with what is said of them.
fn named(found: &Found) -> Vec<(LeverName, &str, CauseAnswer)> {
    let proven = found.cause.levers.iter().filter_map(|it| Some((it, it.answer?)));
    proven.map(|(it, answer)| (it.name, it.value.as_str(), answer)).collect()
}

#[test]
fn what_makes_it_fail_every_time_is_the_cause_and_nothing_else_is() {
    let suite = tests().fails_if("t", |moment| is_set(moment, LeverName::Zone, "kolkata"));
    let found = found(&suite, &question(usual()));
    assert_eq!(named(&found), [(LeverName::Zone, "kolkata", CauseAnswer::CausedBy)]);
    assert_eq!(found.cause.answer, CauseAnswer::CausedBy);
    assert_eq!(found.cause.category.as_deref(), Some("time"));
    assert_eq!(found.cause.command.as_deref(), Some("zone=kolkata scripted t"));
    assert!(found.cause.failure.is_some());
    let all_new = suite.runs().iter().all(|it| it.isolation == Isolation::Spawn);
    assert!(all_new, "only new processes count");
}

/// A lever that takes away what no machine lacks.
fn without(name: LeverName) -> Tries {
    let settings = vec![value(name, "none").unlike_any_machine()];
    Tries { lever: Box::new(Values { name, is_ordered: false }), settings }
}

#[test]
fn what_every_machine_has_is_a_need_beside_a_cause() {
    let suite = tests().fails_if("t", |moment| {
        is_set(moment, LeverName::Clock, "2039") || is_set(moment, LeverName::NoDns, "none")
    });
    // Whichever is tried first.
    for tried in [[0, 1], [1, 0]] {
        let both = [|| without(LeverName::NoDns), || tries(LeverName::Clock, &["2039"])];
        let found = found(&suite, &question(tried.map(|at| both[at]()).into()));
        assert_eq!(named(&found), [(LeverName::Clock, "2039", CauseAnswer::CausedBy)]);
        assert_eq!(found.cause.category.as_deref(), Some("time"));
        let names = found.cause.levers.iter().find(|it| it.name == LeverName::NoDns);
        assert!(names.is_some_and(|it| it.remark.is_some() && it.with.failures > 0));
    }
}

#[test]
fn what_every_machine_has_is_a_cause_where_there_is_no_other() {
    let suite = tests().fails_if("t", |moment| {
        is_set(moment, LeverName::NoDns, "none") || is_set(moment, LeverName::NoNetwork, "none")
    });
    let mut tried = usual();
    tried.extend([LeverName::NoDns, LeverName::NoNetwork].map(without));
    let found = found(&suite, &question(tried));
    assert_eq!(named(&found), [(LeverName::NoNetwork, "none", CauseAnswer::CausedBy)]);
}

#[test]
fn a_claim_takes_turns_with_its_opposite_before_it_is_printed() {
    let suite = tests().fails_if("t", |moment| is_set(moment, LeverName::Zone, "kolkata"));
    let lever = found(&suite, &question(usual())).cause.levers.remove(0);
    assert!(lever.with.runs >= 9 && lever.with.always_fails(), "{lever:?}");
    assert!(lever.plain.runs >= 9 && lever.plain.failures == 0, "{lever:?}");
}

#[test]
fn an_effect_that_does_not_hold_in_turns_is_not_named() {
    // It fails under the zone until somebody believes it: six pairs are enough for that.
    let left = AtomicU32::new(6);
    let suite = tests().fails_if("t", move |moment| {
        is_set(moment, LeverName::Zone, "kolkata")
            && left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    });
    let found = found(&suite, &question(usual()));
    assert_eq!(named(&found), []);
}

/// A copy at the same time, compared with a copy in turn.
fn a_copy() -> Vec<Tries> {
    let control = Control {
        value: "in turn".into(),
        intervention: Intervention::Company(Company::ItselfInTurn),
    };
    let setting = Setting::new("a copy", Intervention::Company(Company::Itself)).beside(control);
    let lever = Box::new(Values { name: LeverName::BesideItself, is_ordered: false });
    vec![Tries { lever, settings: vec![setting] }]
}

#[test]
fn two_copies_that_fail_by_chance_are_not_in_each_others_way() {
    let mut wrong = 0;
    for seed in 0..100 {
        for rate in [0.1, 0.3, 0.5] {
            let suite = tests().fails_if("t", move |moment| chance(moment, seed, rate));
            wrong += u32::from(!named(&found(&suite, &question(a_copy()))).is_empty());
        }
    }
    assert!(wrong <= 15, "{wrong} of 300");
    let in_turns = tests().fails_if("t", |moment| moment.times % 2 == 1);
    assert_eq!(named(&found(&in_turns, &question(a_copy()))), []);
}

#[test]
fn a_test_that_fails_at_random_is_blamed_on_no_lever() {
    for seed in 0..60 {
        for rate in [0.05, 0.3, 0.6] {
            let suite = tests().fails_if("t", move |moment| chance(moment, seed, rate));
            let question = Question { seed: Seed(seed), ..question(usual()) };
            let found = found(&suite, &question);
            assert_eq!(named(&found), [], "seed {seed}, rate {rate}");
        }
    }
}

#[test]
fn a_test_that_fails_every_other_time_is_blamed_on_no_lever() {
    for seed in 0..40 {
        let suite = tests().fails_if("t", |moment| moment.times % 2 == 1);
        let question = Question { seed: Seed(seed), ..question(usual()) };
        assert_eq!(named(&found(&suite, &question)), [], "seed {seed}");
    }
}

#[test]
fn drift_is_blamed_on_no_lever() {
    for (seed, begin) in (0..40).map(|seed| (seed, u32::try_from(seed).unwrap() * 2 + 3)) {
        let broken_later = tests().fails_if("t", move |moment| moment.times > begin);
        let bursts = tests().fails_if("t", move |moment| (moment.times / begin) % 2 == 1);
        for suite in [broken_later, bursts] {
            let question = Question { seed: Seed(seed), ..question(usual()) };
            assert_eq!(named(&found(&suite, &question)), [], "seed {seed}, from run {begin} on");
        }
    }
}

#[test]
fn what_makes_it_fail_more_often_raises_it() {
    let suite = tests().fails_if("t", |moment| {
        let rate = if moment.intervention == &Intervention::OneCore { 0.6 } else { 0.04 };
        chance(moment, 3, rate)
    });
    let one_core = Setting::new("one core", Intervention::OneCore);
    let lever = Box::new(Values { name: LeverName::OneCore, is_ordered: false });
    let tries = [usual(), vec![Tries { lever, settings: vec![one_core] }]].concat_all();
    let found = found(&suite, &question(tries));
    assert_eq!(named(&found), [(LeverName::OneCore, "one core", CauseAnswer::RaisedBy)]);
}

#[test]
fn what_makes_a_flaky_test_pass_stabilises_it() {
    let suite = tests().fails_if("t", |moment| {
        moment.intervention != &Intervention::OneCore && chance(moment, 3, 0.5)
    });
    let one_core = Setting::new("one core", Intervention::OneCore);
    let lever = Box::new(Values { name: LeverName::OneCore, is_ordered: false });
    let tries = [usual(), vec![Tries { lever, settings: vec![one_core] }]].concat_all();
    let found = found(&suite, &question(tries));
    assert_eq!(named(&found), [(LeverName::OneCore, "one core", CauseAnswer::StabilisedBy)]);
}

#[test]
fn a_value_that_always_fails_is_compared_with_one_that_never_does() {
    // By itself, every run has a seed of its own, and every third one fails.
    let suite = tests().fails_if("t", |moment| match moment.intervention {
        Intervention::Variables(variables) if variables.contains_key("hash-seed") => {
            is_set(moment, LeverName::HashSeed, "1")
        }
        _ => chance(moment, 5, 0.35),
    });
    let found = found(&suite, &question(usual()));
    let lever = found.cause.lever().expect("a lever").clone();
    assert_eq!((lever.name, lever.value.as_str()), (LeverName::HashSeed, "1"));
    assert_eq!(lever.answer, Some(CauseAnswer::CausedBy));
    assert_eq!(lever.beside.as_deref(), Some("hash-seed 0"));
    assert_eq!(lever.plain.failures, 0);
    assert!(named(&found).iter().all(|(name, ..)| *name == LeverName::HashSeed));
}

#[test]
fn another_failure_than_the_known_one_is_no_cause() {
    let suite = tests()
        .fails_if("t", |moment| {
            is_set(moment, LeverName::Locale, "turkish") || chance(moment, 11, 0.2)
        })
        .says("t", "AssertionError: too late")
        .says_under("t", "UnicodeError: no such letter", |intervention| {
            is_under(intervention, LeverName::Locale, "turkish")
        });
    let found = found(&suite, &question(usual()));
    assert_eq!(named(&found), []);
    let turkish = found.cause.levers.iter().find(|it| it.value == "turkish").expect("it was tried");
    let remark = turkish.remark.as_deref().unwrap_or_default();
    assert!(remark.contains("in another way"), "{turkish:?}");
}

#[test]
fn how_it_failed_before_counts_too() {
    let suite = tests().fails_if("t", |moment| is_set(moment, LeverName::Zone, "utc"));
    let mut seen = tests().always_fails("t").says("t", "OSError: something else");
    seen = seen.says("t", "OSError: something else");
    let mut environment = flakeproof_runner::Adapter::open(&seen, Isolation::Spawn).unwrap();
    let failed = environment.run(&"t".into(), flakeproof_runner::Probe::attempt(1)).unwrap();
    let known = vec![FailureTrace::of(&failed).expect("it failed")];
    let found = found(&suite, &Question { known, ..question(usual()) });
    assert_eq!(named(&found), []);
    assert_eq!(found.cause.answer, CauseAnswer::None);
}

#[test]
fn a_runner_that_does_not_start_is_no_evidence() {
    let suite = tests().does_not_start_under(|it| is_under(it, LeverName::Umask, "077"));
    let found = found(&suite, &question(usual()));
    assert_eq!(named(&found), []);
    assert_eq!(found.cause.answer, CauseAnswer::NotReproduced);
    let why = &found.cause.not_tried.iter().find(|it| it.name == LeverName::Umask).unwrap().why;
    assert!(why.contains("the runner does not work under it"), "{why}");
}

#[test]
fn a_runner_under_which_no_test_passes_is_no_evidence() {
    let starved = |moment: &Moment<'_>| match is_set(moment, LeverName::Umask, "077") {
        true => Outcome::Crashed,
        false => Outcome::Passed,
    };
    let all = tests().behaves("t", starved).behaves("p", starved).behaves("q", starved);
    assert_eq!(named(&found(&all, &question(usual()))), []);
    let only_this_one = tests().behaves("t", starved);
    let found = found(&only_this_one, &question(usual()));
    assert_eq!(named(&found), [(LeverName::Umask, "077", CauseAnswer::CausedBy)]);
}

#[test]
fn what_the_control_does_too_is_not_the_lever() {
    let user = Intervention::variables([("user", "mapped")]);
    let network = Intervention::variables([("user", "mapped"), ("network", "none")]);
    let control = Control { value: "a user namespace".into(), intervention: user };
    let setting = Setting::new("none", network).beside(control);
    let tries = || {
        let lever = Box::new(Values { name: LeverName::NoNetwork, is_ordered: false });
        vec![Tries { lever, settings: vec![setting.clone()] }]
    };
    let set = |moment: &Moment<'_>, name: &str| matches!(moment.intervention, Intervention::Variables(it) if it.contains_key(name));
    let for_the_user = tests().fails_if("t", move |moment| set(moment, "user"));
    assert_eq!(named(&found(&for_the_user, &question(tries()))), []);
    let for_the_network = tests().fails_if("t", move |moment| set(moment, "network"));
    let found = found(&for_the_network, &question(tries()));
    assert_eq!(named(&found), [(LeverName::NoNetwork, "none", CauseAnswer::CausedBy)]);
    assert_eq!(found.cause.levers[0].beside.as_deref(), Some("a user namespace"));
}

#[test]
fn the_mildest_value_that_is_enough_is_named() {
    let number = |moment: &Moment<'_>| match moment.intervention {
        Intervention::Variables(it) => it.get("quota")?.as_ref()?.parse::<u32>().ok(),
        _ => None,
    };
    let suite = tests().fails_if("t", move |moment| number(moment).is_some_and(|it| it >= 37));
    let lever = Box::new(Values { name: LeverName::Quota, is_ordered: true });
    let tries = vec![Tries { lever, settings: vec![value(LeverName::Quota, "100")] }];
    let found = found(&suite, &question(tries));
    assert_eq!(found.cause.lever().expect("a lever").value, "37");
}

#[test]
fn the_order_of_tests_is_a_lever() {
    let order = || {
        [
            usual(),
            vec![
                of_company(LeverName::Order, Company::SuiteBefore),
                of_company(LeverName::BesideItself, Company::Itself),
            ],
        ]
        .concat_all()
    };
    let victim = tests().with_polluter("t", "p");
    let found_victim = found(&victim, &question(order()));
    assert_eq!(named(&found_victim), [(LeverName::Order, "company", CauseAnswer::CausedBy)]);
    assert_eq!(found_victim.cause.command.as_deref(), Some("scripted p t"));
    let brittle = tests().brittle("t", "p");
    let found_brittle = found(&brittle, &question(order()));
    assert_eq!(named(&found_brittle), [(LeverName::Order, "company", CauseAnswer::StabilisedBy)]);
    let clashing = tests()
        .fails_if("t", |moment| moment.intervention == &Intervention::Company(Company::Itself));
    let found_clashing = found(&clashing, &question(order()));
    assert_eq!(
        named(&found_clashing),
        [(LeverName::BesideItself, "company", CauseAnswer::CausedBy)]
    );
}

#[test]
fn a_test_that_always_fails_is_broken_and_costs_little() {
    let suite = tests().always_fails("t");
    let found = found(&suite, &question(usual()));
    assert!(found.cause.always_fails());
    assert_eq!((found.cause.answer, found.end), (CauseAnswer::None, CauseEnd::Decided));
    assert!(found.executions < 60, "{}", found.executions);
}

#[test]
fn a_test_that_never_fails_is_not_reproduced() {
    let found = found(&tests(), &question(usual()));
    assert_eq!((found.cause.answer, found.end), (CauseAnswer::NotReproduced, CauseEnd::Decided));
    assert!(found.executions < 60, "{}", found.executions);
}

#[test]
fn a_skipped_test_says_nothing() {
    let found = found(&tests().skips("t"), &question(usual()));
    assert_eq!(found.end, CauseEnd::NotReached);
}

#[test]
fn a_spent_budget_tells_what_there_was_no_time_for() {
    let runs = Cell::new(0);
    let clock = || {
        runs.set(runs.get() + 1);
        Duration::from_secs(runs.get())
    };
    let question = Question { budget: Some(Duration::from_secs(8)), ..question(usual()) };
    let suite = tests();
    let found =
        find_cause(&suite, &suite.in_force(), &question, &clock, &Cancel::never(), &mut |_| {})
            .expect("an answer");
    assert_eq!(found.end, CauseEnd::BudgetSpent);
    let left = found.cause.not_tried.iter().find(|it| it.name == LeverName::Umask);
    assert_eq!(left.expect("it is named").why, "there was no time left");
}

#[test]
fn an_interrupted_experiment_goes_on_where_it_was() {
    let (suite, cancel) = tests()
        .fails_if("t", |moment| is_set(moment, LeverName::Umask, "077"))
        .interrupted_at("t", Isolation::Spawn, 15);
    let mut kept = CauseProgress::default();
    let mut keep = |event: CauseEvent| {
        if let CauseEvent::Learned(progress) = event {
            kept = progress;
        }
    };
    let clock = || Duration::ZERO;
    let first =
        find_cause(&suite, &suite.in_force(), &question(usual()), &clock, &cancel, &mut keep)
            .expect("what was learned");
    assert_eq!(first.end, CauseEnd::Interrupted);
    assert_eq!(first.progress.tried, kept.tried);
    let tried = kept.tried.len();
    assert!(tried >= 4, "{tried} settings were tried");
    let suite = tests().fails_if("t", |moment| is_set(moment, LeverName::Umask, "077"));
    let again = found(&suite, &Question { progress: kept, ..question(usual()) });
    assert_eq!(named(&again), [(LeverName::Umask, "077", CauseAnswer::CausedBy)]);
    let from_the_start = tests().fails_if("t", |moment| is_set(moment, LeverName::Umask, "077"));
    let whole = found(&from_the_start, &question(usual()));
    assert!(again.executions < whole.executions, "what was learned is not run again");
}

trait ConcatAll {
    fn concat_all(self) -> Vec<Tries>;
}

impl<const N: usize> ConcatAll for [Vec<Tries>; N] {
    fn concat_all(self) -> Vec<Tries> {
        self.into_iter().flatten().collect()
    }
}
