//! A hunt, as a person reads it: how far it is and what it has found so far, on stderr; in the end
//! flaky tests by kind, who makes them fail, and what the rest is worth.

use std::fmt::Write as _;
use std::time::Duration;

use flakeproof_core::foreign_text::on_one_line;
use flakeproof_core::{Cause, FlakyKind, HuntEnd, HuntFindings, HuntedTest, Notice, TestId};
use flakeproof_detect::hunt::HuntEvent;
use flakeproof_detect::provoke::ProvokeEvent;
use flakeproof_report::words::{self, Rest};
use flakeproof_runner::Waiting;

use super::known::{flaky, shortened};
use super::progress::ProgressLine;
use super::terminal::{self, BAD, CHANCE, DIM, Detail, GOOD, OPEN, STRONG, count};

/// Sets of tests, and tests, named in a list; the rest is counted.
const NAMED: usize = 5;
/// Tests that are set aside, listed by name.
const LISTED: usize = 20;

/// What the view needs besides the findings.
#[derive(Debug, Default)]
pub(crate) struct ShownHunt {
    /// The test that the hunt was for, if it was for one.
    pub(crate) victim: Option<TestId>,
    /// Whether somebody looked for polluters and state-setters.
    pub(crate) are_polluters_sought: bool,
    /// The command that goes on with the hunt, if there is more to do.
    pub(crate) resume: Option<String>,
    /// Whether stdout carries data.
    pub(crate) is_stdout_taken: bool,
}

/// Print what a hunt found: to stdout, or to stderr where stdout carries data.
pub(crate) fn hunt(findings: &HuntFindings, shown: &ShownHunt) {
    let text = rendered(findings, shown, Detail::decided());
    // A reader that went away has all it wanted.
    let _ = if shown.is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
}

fn rendered(findings: &HuntFindings, shown: &ShownHunt, detail: Detail) -> String {
    let mut text = String::new();
    for kind in FlakyKind::ALL {
        of_kind(&mut text, findings, kind, shown);
    }
    let rest = words::rest(findings);
    let what = "failed at times and passed at times; of what kind is not known";
    listed(&mut text, &format!("{OPEN}OPEN{OPEN:#}"), what, &rest.open);
    let broken: Vec<&HuntedTest> = findings.always_failing().collect();
    let what = "failed every time, and so nothing shows them to be flaky";
    listed(&mut text, &format!("{BAD}SET ASIDE{BAD:#}"), what, &broken);
    latent(&mut text, &findings.latent);
    for notice in &findings.notices {
        let _ = writeln!(text, "{OPEN}note{OPEN:#}: {}\n      {}\n", notice.what, notice.next);
    }
    headline(&mut text, findings, shown, broken.len());
    if shown.victim.is_none() {
        about_the_rest(&mut text, &rest, detail);
        about_the_hidden(&mut text, findings, detail);
    }
    closing(&mut text, findings, shown);
    text
}

/// All flaky tests of one kind.
fn of_kind(text: &mut String, findings: &HuntFindings, kind: FlakyKind, shown: &ShownHunt) {
    let tests: Vec<&HuntedTest> = findings.flaky().filter(|it| it.kind == Some(kind)).collect();
    if tests.is_empty() {
        return;
    }
    let sentence = words::flaky_kind(kind);
    let (word, what) = sentence.split_once(": ").unwrap_or((kind.word(), sentence));
    let word = word.to_uppercase();
    let _ = writeln!(text, "{CHANCE}{word}{CHANCE:#} {DIM}({}): {what}{DIM:#}", tests.len());
    let is_over = findings.end == HuntEnd::Finished;
    for test in tests {
        flaky(text, test, shown.are_polluters_sought && is_over, NAMED);
    }
    text.push('\n');
}

/// Tests that fail under a lever only.
fn latent(text: &mut String, causes: &[Cause]) {
    if causes.is_empty() {
        return;
    }
    let what = "always passed here, and fails under a lever: not flaky yet";
    let _ = writeln!(text, "{OPEN}LATENT{OPEN:#} {DIM}({}): {what}{DIM:#}", causes.len());
    for cause in causes {
        let lever = cause.lever().map(|it| it.name.word()).unwrap_or_default();
        let _ = writeln!(text, "  {STRONG}{}{STRONG:#}", cause.test.shown());
        let _ = writeln!(text, "      {} {lever}: {}", cause.answer, words::cause(cause));
        let again = words::command(&["flakeproof".into(), "repro".into(), cause.test.to_string()]);
        let command = cause.command.as_deref().unwrap_or(&again);
        let _ = writeln!(text, "      make it fail: {STRONG}{command}{STRONG:#}");
    }
    text.push('\n');
}

/// How far the provocation of a suite is, on stderr.
pub(crate) struct ProvokeProgress {
    settings: usize,
    begun: usize,
}

impl ProvokeProgress {
    /// Say what is about to happen.
    pub(crate) fn start(settings: usize) -> Self {
        let times = count(settings, "lever setting");
        let _ = terminal::err(&format!("{DIM}the suite once under each of {times}{DIM:#}\n"));
        Self { settings, begun: 0 }
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: &ProvokeEvent) {
        let line = match event {
            ProvokeEvent::Suite(lever, value) => {
                self.begun += 1;
                format!("{DIM}{}/{} {lever}: {value}{DIM:#}\n", self.begun, self.settings)
            }
            ProvokeEvent::Proving(test) => {
                format!("{DIM}    {} failed; with and without, in turns{DIM:#}\n", test.shown())
            }
        };
        let _ = terminal::err(&line);
    }
}

/// Tests of which little is to be said, a line each.
fn listed(text: &mut String, head: &str, what: &str, tests: &[&HuntedTest]) {
    if tests.is_empty() {
        return;
    }
    let _ = writeln!(text, "{head} {DIM}({}): {what}{DIM:#}", tests.len());
    for test in tests.iter().take(LISTED) {
        let failure = test.failure.as_ref().map(|it| shortened(&it.message));
        let _ =
            writeln!(text, "  {}  {DIM}{}{DIM:#}", test.id.shown(), failure.unwrap_or_default());
    }
    if tests.len() > LISTED {
        let more = tests.len() - LISTED;
        let _ = writeln!(text, "  {DIM}and {more} more; `--reporter json=FILE` has all{DIM:#}");
    }
    text.push('\n');
}

/// What it comes to.
fn headline(text: &mut String, findings: &HuntFindings, shown: &ShownHunt, broken: usize) {
    let tests = findings.tests.len();
    let flaky = findings.flaky().count();
    if let (Some(victim), 0) = (&shown.victim, flaky) {
        let _ = writeln!(text, "`{victim}` did not show that it depends on other tests");
        return;
    }
    if shown.victim.is_some() {
        // It stands above with all that is known, and the others were not looked at.
        return;
    }
    if tests > 0 && broken == tests {
        let all = if tests == 1 { "the only test fails" } else { "every test fails" };
        let _ = writeln!(
            text,
            "{BAD}{all} every time{BAD:#}: there is nothing to hunt; mend that first, or look at the \
             command"
        );
        return;
    }
    let open = words::rest(findings).open.len();
    let words = match (flaky, open) {
        (0, 0) => format!("{GOOD}no flaky test{GOOD:#}"),
        (0, open) => format!("{OPEN}{} that may be flaky{OPEN:#}", count(open, "test")),
        (_, 0) => format!("{CHANCE}{}{CHANCE:#}", words::flaky_tests(findings)),
        (_, open) => {
            format!("{CHANCE}{}{CHANCE:#} and {open} that may be", words::flaky_tests(findings))
        }
    };
    let _ = writeln!(text, "{words} among {}", count(tests, "test"));
    if tests == 1 {
        let _ = writeln!(text, "one test has no order: only what it does by itself can show");
    }
}

fn about_the_rest(text: &mut String, rest: &Rest<'_>, detail: Detail) {
    if rest.passed > 0 {
        let sentence = match detail {
            Detail::Short if rest.missed < 0.5 => {
                format!("{} always passed", count(rest.passed, "test"))
            }
            Detail::Short | Detail::Full => words::always_passed(rest),
        };
        let _ = writeln!(text, "{sentence}");
    }
    if rest.not_run > 0 {
        let tests = count(rest.not_run, "test");
        let _ = writeln!(text, "{tests} did not run: skipped, or not reached");
    }
}

/// What a plan may have missed.
fn about_the_hidden(text: &mut String, findings: &HuntFindings, detail: Detail) {
    if let Some(hidden) = findings.hidden {
        let sentence = match detail {
            Detail::Short => words::expected_hidden(hidden),
            Detail::Full => words::hidden(hidden),
        };
        let _ = writeln!(text, "{sentence}");
    }
}

/// What it took, and what to do next.
fn closing(text: &mut String, findings: &HuntFindings, shown: &ShownHunt) {
    let (runner, seed) = (&findings.run.runner, findings.run.seed);
    let cost = words::hunt_cost(findings);
    let _ = writeln!(text, "{cost} {DIM}({runner}, seed {seed}){DIM:#}");
    if findings.flaky().next().is_some() {
        let _ = writeln!(
            text,
            "{DIM}`flakeproof repro TEST` shows a failure again, `flakeproof explain TEST` tells all \
             about a test{DIM:#}"
        );
    }
    if let Some(end) = words::hunt_end(findings.end) {
        let _ = match &shown.resume {
            Some(command) => writeln!(text, "{end}; go on: {STRONG}{command}{STRONG:#}"),
            None => writeln!(text, "{end}"),
        };
    }
}

/// How far a hunt is, with what it found above it.
pub(crate) struct HuntProgress {
    line: ProgressLine,
    executions: u64,
    flaky: usize,
}

impl HuntProgress {
    /// Show that tests are being collected.
    pub(crate) fn start(waiting: Waiting) -> Self {
        Self { line: ProgressLine::start(waiting), executions: 0, flaky: 0 }
    }

    /// It goes on for so long.
    pub(crate) fn ends_in(&self, left: Duration) {
        self.line.ends_in(left);
    }

    /// Say something that the reader should know before the hunt begins.
    pub(crate) fn note(&self, notice: &Notice) {
        let text = format!("{OPEN}note{OPEN:#}: {}\n      {}", notice.what, notice.next);
        self.line.line(&text);
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: &HuntEvent) {
        match event {
            HuntEvent::Stage(stage, trials) => self.line.begin(stage.words(), *trials),
            HuntEvent::Left(left) => self.line.ends_in(*left),
            HuntEvent::Trial { executions } => {
                self.executions += u64::from(*executions);
                self.line.step(1, self.counts());
            }
            HuntEvent::Flaky(test, kind) => {
                self.flaky += 1;
                let word = kind.word();
                let test = test.shown();
                self.line.line(&format!("{CHANCE}{word:<8}{CHANCE:#}{STRONG}{test}{STRONG:#}"));
                self.line.step(0, self.counts());
            }
            HuntEvent::Influence(tests, test) => {
                let by = words::together(tests);
                let (test, by) = (test.shown(), on_one_line(&by));
                self.line.line(&format!("        {DIM}{test} depends on{DIM:#} {by}"));
            }
        }
    }

    fn counts(&self) -> String {
        let flaky = match self.flaky {
            0 => "nothing flaky so far".to_owned(),
            flaky => format!("{flaky} flaky"),
        };
        format!("{} executions, {flaky}", words::grouped(self.executions))
    }

    /// Clear it.
    pub(crate) fn end(&mut self) {
        self.line.end();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flakeproof_core::{
        ExitCode, Failure, Hidden, HuntCost, Isolation, LeftBehind, LeftKind, Phase, Reproduction,
        RunFacts, Seed, Signature, Tally,
    };

    use super::*;

    fn plain(findings: &HuntFindings, shown: &ShownHunt) -> String {
        anstream::adapter::strip_str(&rendered(findings, shown, Detail::Full)).to_string()
    }

    fn tested(id: &str, [baseline, shuffled, alone]: [(u32, u32); 3]) -> HuntedTest {
        let tally = |(runs, failures)| Tally { runs, failures };
        let mut test = HuntedTest::new(id.into(), None);
        test.baseline = tally(baseline);
        test.shuffled = tally(shuffled);
        test.alone = tally(alone);
        if test.all().failures > 0 {
            let message = "AssertionError: assert 'EUR' == 'USD'";
            test.failure = Some(Failure {
                phase: Phase::Call,
                message: message.into(),
                text: message.into(),
                location: None,
                signature: Signature::compute(message, None),
            });
        }
        test
    }

    fn sound(id: &str) -> HuntedTest {
        tested(id, [(10, 0), (20, 0), (20, 0)])
    }

    fn broken(id: &str) -> HuntedTest {
        tested(id, [(10, 10), (0, 0), (1, 1)])
    }

    fn victim() -> HuntedTest {
        let id = "tests/test_pay.py::test_total";
        let mut test = tested(id, [(10, 0), (20, 3), (3, 0)]);
        test.kind = Some(FlakyKind::Victim);
        let polluter = |number: usize| vec![format!("tests/test_cart.py::test_{number}").into()];
        test.polluters = (0..6).map(polluter).collect();
        test.polluters.insert(1, vec!["test_a".into(), "test_b".into()]);
        test.cleaners = vec!["tests/test_pay.py::test_reset".into()];
        test.left_behind = vec![LeftBehind {
            kind: LeftKind::Variable,
            name: "CURRENCY".into(),
            before: None,
            after: Some("'EUR'".into()),
        }];
        test.reproduction = Some(Reproduction {
            order: vec!["tests/test_cart.py::test_0".into(), id.into()],
            isolation: Isolation::Spawn,
            command: format!("pytest tests/test_cart.py::test_0 {id}"),
        });
        test
    }

    fn brittle() -> HuntedTest {
        let mut test = tested("tests/test_pay.py::test_receipt", [(10, 0), (20, 9), (4, 4)]);
        test.kind = Some(FlakyKind::Brittle);
        test.setters = vec![vec!["tests/test_pay.py::test_login".into()]];
        test
    }

    fn nod() -> HuntedTest {
        let mut test = tested("tests/test_net.py::test_get", [(10, 1), (20, 4), (20, 2)]);
        test.kind = Some(FlakyKind::Nod);
        test
    }

    fn findings(tests: Vec<HuntedTest>, end: HuntEnd) -> HuntFindings {
        HuntFindings {
            run: RunFacts {
                id: "1".into(),
                command: vec!["pytest".into()],
                runner: "pytest 8.3.5, Python 3.11.7".into(),
                started: "2026-11-20T10:00:00Z".into(),
                duration: Duration::from_secs(92),
                seed: Seed(7),
                revision: None,
                version: "0.2.0".into(),
            },
            tests,
            cost: HuntCost {
                executions: 1_234,
                time: Duration::from_secs(92),
                ..HuntCost::default()
            },
            end,
            latent: Vec::new(),
            hidden: None,
            notices: Vec::new(),
            exit: ExitCode::Failures,
        }
    }

    fn whole() -> ShownHunt {
        ShownHunt { are_polluters_sought: true, ..ShownHunt::default() }
    }

    #[test]
    fn flaky_tests_stand_by_kind_with_who_makes_them_fail() {
        let open = tested("tests/test_old.py::test_late", [(10, 0), (3, 1), (1, 0)]);
        let skipped = HuntedTest::new("tests/test_io.py::test_windows".into(), None);
        let tests = vec![
            sound("tests/test_a.py::test_1"),
            victim(),
            brittle(),
            nod(),
            broken("tests/test_old.py::test_broken"),
            open,
            skipped,
        ];
        insta::assert_snapshot!(plain(&findings(tests, HuntEnd::Finished), &whole()));
    }

    #[test]
    fn a_hunt_that_was_stopped_ends_with_how_to_go_on() {
        let resume = Some("flakeproof hunt --resume -- pytest".to_owned());
        let shown = ShownHunt { resume, ..whole() };
        let text = plain(&findings(vec![sound("a"), nod()], HuntEnd::BudgetSpent), &shown);
        let last = text.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            "the budget is spent before all was looked at; go on: flakeproof hunt --resume -- pytest"
        );
    }

    #[test]
    fn nothing_found_says_what_that_is_worth() {
        let text = plain(&findings(vec![sound("a"), sound("b")], HuntEnd::Finished), &whole());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_plan_says_what_remains_hidden() {
        let mut found = findings(vec![sound("a"), nod()], HuntEnd::Finished);
        found.hidden = Some(Hidden { expected: 0.4, at_most: 2, failing: 0.05 });
        let text = plain(&found, &whole());
        let words = "about 0.4 flaky tests that fail at least 1 time in 20 are expected to be still \
                     hidden (with 95 %: at most 2)";
        assert!(text.contains(words), "{text}");
    }

    #[test]
    fn a_suite_where_everything_fails_is_told_to_be_mended() {
        let text = plain(&findings(vec![broken("a"), broken("b")], HuntEnd::Finished), &whole());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_suite_of_one_test_says_that_it_has_no_order() {
        let text = plain(&findings(vec![sound("a")], HuntEnd::Finished), &whole());
        assert!(text.starts_with("no flaky test among 1 test\none test has no order"), "{text}");
    }

    #[test]
    fn a_victim_that_no_longer_fails_is_told() {
        let shown = ShownHunt { victim: Some("a".into()), ..whole() };
        let unmeasured = HuntedTest::new("a".into(), None);
        let text = plain(&findings(vec![unmeasured], HuntEnd::Finished), &shown);
        assert!(
            text.starts_with("`a` did not show that it depends on other tests\n1,234"),
            "{text}"
        );
    }

    #[test]
    fn a_victim_without_a_cause_says_that_none_was_found() {
        let mut lonely = victim();
        lonely.polluters.clear();
        let text = plain(&findings(vec![lonely.clone()], HuntEnd::Finished), &whole());
        assert!(text.contains("no test was found that makes it fail each time"), "{text}");
        let text = plain(&findings(vec![lonely], HuntEnd::Interrupted), &whole());
        assert!(!text.contains("no test was found"), "{text}");
    }
}
