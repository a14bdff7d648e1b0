//! Whether a test is mended, as a person reads it: what it takes, how far the proof is, on stderr,
//! and what it came to.

use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

use flakeproof_core::{
    FixEnd, FixFindings, FixVerdict, FormerRate, Isolation, LeverValue, RateSource, Tally, TestId,
    WhereSeen,
};
use flakeproof_detect::verify::{Claim, VerifyEvent};
use flakeproof_report::words;
use indicatif::{ProgressBar, ProgressStyle};

use super::known::typeable;
use super::terminal::{self, BAD, CHANCE, DIM, GOOD, OPEN, STRONG, count};

/// Orders that are named; the rest is counted.
const NAMED: usize = 5;
/// Lines of a failure's text that are shown, its last ones.
const LINES: usize = 20;

/// Print the verdict: to stdout, or to stderr where stdout carries data.
pub(crate) fn fix(findings: &FixFindings, is_stdout_taken: bool) {
    let text = rendered(findings);
    // A reader that went away has all it wanted.
    let _ = if is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
}

/// What is about to be run, how often, and why so often.
pub(super) fn planned(
    test: &TestId,
    lever: Option<&LeverValue>,
    claim: &Claim,
    was: FormerRate,
    confidence: f64,
) -> String {
    let test = test.shown();
    let how = lever.map_or_else(|| in_orders(&claim.orders), words::under_lever);
    let mut text = format!("{STRONG}{test}{STRONG:#} {how}\n");
    let (rate, sure) = (often(was.rate), percent(confidence));
    let (at_least, source) = match was.source {
        RateSource::Given => ("", "as you say".to_owned()),
        RateSource::Seen(tally, place) => {
            let seen = format!("{} {}, the low end", words::failed(tally), place_words(place));
            ("at least ", seen)
        }
        RateSource::Decided => {
            ("at least ", "no hunt calls a test order-dependent that fails less often".to_owned())
        }
    };
    let _ = writeln!(text, "before: it failed {at_least}{rate} {DIM}({source}){DIM:#}");
    let needed = words::grouped(u64::from(claim.runs.needed()));
    let each = match claim.orders.len() {
        0 | 1 => String::new(),
        _ => format!(", {} in each order", claim.runs.needed_in_each()),
    };
    let runs = if claim.runs.needed() == 1 { "clean run is" } else { "clean runs are" };
    let _ = writeln!(
        text,
        "{STRONG}{needed} {runs} needed{STRONG:#}{each}: if it still failed so often, one of them \
         would fail with {sure}"
    );
    text
}

fn in_orders(orders: &[Vec<TestId>]) -> String {
    match orders {
        [order] => match order.as_slice() {
            [before, _] => format!("after {before}"),
            [] | [_] => "alone".to_owned(),
            more => format!("after {}", count(more.len() - 1, "other test")),
        },
        many => {
            let before = |order: &Vec<TestId>| match order.as_slice() {
                [before @ .., _] if before.len() < NAMED => words::together(before),
                order => count(order.len().saturating_sub(1), "other test"),
            };
            let named: Vec<String> = many.iter().take(NAMED).map(before).collect();
            let more = match many.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!("\n      and {more} more"),
            };
            format!("in turns after\n      {}{more}", named.join("\n      "))
        }
    }
}

fn place_words(place: WhereSeen) -> &'static str {
    match place {
        WhereSeen::OwnOrder => "in the suite's own order",
        WhereSeen::OtherOrders => "in other orders",
        WhereSeen::Alone => "alone",
        WhereSeen::Anywhere => "in all",
        WhereSeen::UnderLever => "under that lever",
    }
}

fn rendered(findings: &FixFindings) -> String {
    let mut text = String::from("\n");
    let runs = findings.runs.tally();
    match findings.verdict {
        Some(FixVerdict::Fixed) => fixed(&mut text, findings, runs),
        Some(FixVerdict::StillFlaky) => {
            let failed = words::failed(runs);
            let under = under(findings);
            let _ = writeln!(text, "{CHANCE}still flaky{CHANCE:#}: it {failed}{under}");
            failure(&mut text, findings);
        }
        Some(FixVerdict::AlwaysFails) => {
            let also = if findings.kind.is_some() && runs.runs < flakeproof_core::ALWAYS {
                ", also where it used to pass"
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "{BAD}fails every time{BAD:#}{also}: broken, not flaky (failed {} of {})",
                runs.failures, runs.runs
            );
            failure(&mut text, findings);
        }
        None => undecided(&mut text, findings, runs),
    }
    for notice in &findings.notices {
        let _ = writeln!(text, "{OPEN}note{OPEN:#}: {}\n      {}", notice.what, notice.next);
    }
    let executions = words::grouped(findings.executions);
    let noun = if findings.executions == 1 { "execution" } else { "executions" };
    let time = words::lasted(findings.run.duration.as_secs_f64());
    let (runner, seed) = (&findings.run.runner, findings.run.seed);
    let _ = writeln!(text, "{executions} {noun} in {time} {DIM}({runner}, seed {seed}){DIM:#}");
    text
}

fn fixed(text: &mut String, findings: &FixFindings, runs: Tally) {
    let sure = percent(findings.confidence);
    let needed = findings.runs.needed();
    let confirmed = match (findings.isolation, runs.runs.saturating_sub(needed)) {
        (Isolation::Fork, 1) => ", the last in a new process".to_owned(),
        (Isolation::Fork, more) if more > 1 => format!(", the last {more} in new processes"),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "{GOOD}fixed, {sure}{GOOD:#}: it passed {} of {} runs{confirmed}{}",
        runs.runs,
        runs.runs,
        under(findings)
    );
    let in_each = findings.runs.needed_in_each();
    let where_run = if findings.orders.len() > 1 { " of each order" } else { "" };
    let (as_before, rarer) = (often(findings.was.rate), often(findings.runs.not_excluded()));
    let runs = count(in_each as usize, "run");
    let _ = writeln!(
        text,
        "a test that fails as often as before ({as_before}) would have shown itself in {runs}\
         {where_run} with {sure}; one that fails less than {rarer} is not excluded"
    );
}

/// The circumstances of all runs, where a lever made them.
fn under(findings: &FixFindings) -> String {
    findings.lever.as_ref().map(|it| format!(" {}", words::under_lever(it))).unwrap_or_default()
}

fn undecided(text: &mut String, findings: &FixFindings, runs: Tally) {
    let why = match findings.end {
        FixEnd::BudgetSpent => "the budget is spent",
        FixEnd::Interrupted => "interrupted",
        FixEnd::NotReached => "the test is skipped, or never reached",
        FixEnd::Decided => "nothing can be said",
    };
    let needed = findings.runs.needed();
    let _ = writeln!(text, "{OPEN}not decided{OPEN:#}: {why} after {} of {needed} runs", runs.runs);
    let not_excluded = findings.runs.not_excluded();
    if runs.runs > 0 && not_excluded < 1.0 {
        let (rate, sure) = (often(not_excluded), percent(findings.confidence));
        let _ = writeln!(
            text,
            "so far it passed each time: a test that fails {rate} or more would have shown itself \
             with {sure}"
        );
    }
    if findings.end != FixEnd::NotReached {
        let _ = writeln!(text, "{DIM}run it again with more time{DIM:#}");
    }
}

/// How it failed, and how to see that again.
fn failure(text: &mut String, findings: &FixFindings) {
    if let Some(failure) = &findings.failure {
        let lines: Vec<&str> = failure.text.trim_end().lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            let _ = writeln!(text, "    {DIM}{line}{DIM:#}");
        }
    }
    if let Some(command) = &findings.reproduce {
        let command = typeable(command, &findings.test);
        let _ = writeln!(text, "reproduce: {STRONG}{command}{STRONG:#}");
    }
}

/// A rate as people say it.
fn often(rate: f64) -> String {
    if rate >= 1.0 {
        "every time".to_owned()
    } else if rate > 0.1 {
        format!("{} of the time", percent(rate))
    } else {
        // A nearby fraction with a one above it; exact rates like 1/30 must survive.
        format!("1 time in {:.0}", 1.0 / rate)
    }
}

/// A share in percent, with the digits that it needs to be told from its neighbours.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 99.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A bar on a terminal, with what is planned above it; lines elsewhere.
pub(crate) struct VerifyProgress {
    bar: ProgressBar,
    needed: u32,
    begin: Instant,
}

impl VerifyProgress {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        Self { bar: terminal::bar_while_collecting().0, needed: 0, begin: Instant::now() }
    }

    /// Say what is about to happen, and why so often.
    pub(crate) fn plan(
        &mut self,
        test: &TestId,
        lever: Option<&LeverValue>,
        claim: &Claim,
        was: FormerRate,
        confidence: f64,
    ) {
        self.line(planned(test, lever, claim, was, confidence).trim_end());
        (self.needed, self.begin) = (claim.runs.needed(), Instant::now());
        if claim.isolation == Isolation::Fork {
            self.line(&format!("{DIM}and then in new processes{DIM:#}"));
        }
        let template = "{wide_bar} {pos}/{len} clean runs, {elapsed}, about {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_length(u64::from(self.needed));
        self.bar.reset();
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: VerifyEvent) {
        match event {
            VerifyEvent::Ran(tally) => {
                if tally.runs == 1 && tally.failures == 0 {
                    let each = self.begin.elapsed().as_secs_f64();
                    let all = words::lasted(each * f64::from(self.needed));
                    self.line(&format!("{DIM}about {all}: {each:.2} s for each run{DIM:#}"));
                }
                self.bar.set_position(u64::from(tally.runs));
            }
            VerifyEvent::Confirming(processes) => {
                let noun = if processes == 1 { "process" } else { "processes" };
                self.line(&format!("{DIM}confirmation in {processes} new {noun}{DIM:#}"));
            }
        }
    }

    /// A line that stays, above the bar.
    fn line(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(anstream::stderr().lock(), "{text}");
        });
    }

    /// Clear the bar.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for VerifyProgress {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flakeproof_core::{
        ExitCode, Failure, FixTest, FlakyKind, Notice, Phase, RunFacts, Seed, Signature,
    };

    use super::*;

    const VICTIM: &str = "tests/test_pay.py::test_total";

    fn orders() -> Vec<Vec<TestId>> {
        let after = |polluter: &str| vec![polluter.into(), VICTIM.into()];
        vec![after("tests/test_cart.py::test_currency"), after("tests/test_cart.py::test_rates")]
    }

    fn was() -> FormerRate {
        let tally = Tally { runs: 20, failures: 10 };
        FormerRate { rate: 0.29, source: RateSource::Seen(tally, WhereSeen::OtherOrders) }
    }

    fn findings(outcomes: &[bool], verdict: Option<FixVerdict>, end: FixEnd) -> FixFindings {
        let mut runs = FixTest::new(0.29, 0.95, 2);
        outcomes.iter().for_each(|failed| runs.observe(*failed));
        let message = "AssertionError: assert 'EUR' == 'USD'";
        let failure = outcomes.contains(&true).then(|| Failure {
            phase: Phase::Call,
            message: message.into(),
            text: format!("def test_total():\n>       assert currency == 'USD'\nE       {message}"),
            location: None,
            signature: Signature::compute(message, None),
        });
        FixFindings {
            run: RunFacts {
                id: "1".into(),
                command: vec!["pytest".into()],
                runner: "pytest 8.3.5, Python 3.11.7".into(),
                started: "2026-11-20T10:00:00Z".into(),
                duration: Duration::from_secs(2),
                seed: Seed(7),
                revision: None,
                version: "0.2.0".into(),
            },
            test: VICTIM.into(),
            kind: Some(FlakyKind::Victim),
            lever: None,
            orders: orders(),
            isolation: Isolation::Fork,
            was: was(),
            confidence: 0.95,
            executions: 2 * outcomes.len() as u64,
            runs,
            verdict,
            end,
            failure,
            reproduce: Some(format!("pytest tests/test_cart.py::test_currency {VICTIM}")),
            notices: Vec::new(),
            exit: ExitCode::Clean,
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_plan_says_how_many_runs_and_why() {
        let runs = FixTest::new(0.29, 0.95, 2);
        let isolation = Isolation::Fork;
        let (orders, control, budget) = (orders(), None, None);
        let claim = Claim { orders, control, shuffle: None, under: None, runs, isolation, budget };
        insta::assert_snapshot!(plain(&planned(&VICTIM.into(), None, &claim, was(), 0.95)));
    }

    #[test]
    fn a_fix_says_what_it_is_worth() {
        let mut fixed = findings(&[false; 20], Some(FixVerdict::Fixed), FixEnd::Decided);
        let (what, next) = ("nothing changed".into(), "hunt again".into());
        fixed.notices.push(Notice { what, next });
        insta::assert_snapshot!(plain(&rendered(&fixed)));
    }

    #[test]
    fn a_failure_is_shown_with_its_text() {
        let flaky = findings(&[false, true], Some(FixVerdict::StillFlaky), FixEnd::Decided);
        insta::assert_snapshot!(plain(&rendered(&flaky)));
    }

    #[test]
    fn a_spent_budget_says_what_can_be_said() {
        let text = plain(&rendered(&findings(&[false; 6], None, FixEnd::BudgetSpent)));
        assert!(text.contains("not decided: the budget is spent after 6 of 18 runs"), "{text}");
        assert!(text.contains("fails 63 % of the time or more would have shown"), "{text}");
    }

    #[test]
    fn a_broken_test_is_not_called_flaky() {
        let broken = findings(&[true], Some(FixVerdict::AlwaysFails), FixEnd::Decided);
        let text = plain(&rendered(&broken));
        assert!(text.contains("fails every time, also where it used to pass: broken"), "{text}");
    }

    #[test]
    fn rates_are_said_as_they_were_given() {
        let said = [1.0 / 30.0, 0.03, 0.05, 0.25, 1.0].map(often);
        let expected =
            ["1 time in 30", "1 time in 33", "1 time in 20", "25 % of the time", "every time"];
        assert_eq!(said, expected);
    }
}
