//! A planner beside its baselines, as a person reads it and as a program does.

use std::fmt::Write as _;

use flakeproof_lab::comparison::{AgainstPoint, BudgetLine, ComparisonResult, Everywhere};
use flakeproof_report::svg::{Curve, Curves};
use serde_json::{Value, json};

use super::terminal::{self, DIM, STRONG};

/// What came out of a benchmark.
pub(crate) struct PlanEvaluation {
    pub(crate) protocol: &'static str,
    pub(crate) cost: &'static str,
    pub(crate) tests: usize,
    pub(crate) flaky: usize,
    pub(crate) repeats: u32,
    pub(crate) max_reruns: u32,
    pub(crate) result: ComparisonResult,
}

/// Show it to a person.
pub(crate) fn plan_evaluation(evaluation: &PlanEvaluation) {
    let _ = terminal::out(&evaluation.text());
}

impl PlanEvaluation {
    fn text(&self) -> String {
        let mut text = format!(
            "{STRONG}flaky tests found of {}{STRONG:#}, {} tests, {}, {} cost, mean of {}\n\n",
            self.flaky, self.tests, self.protocol, self.cost, self.repeats
        );
        let _ = writeln!(
            text,
            "{DIM}runs a test    RERUN  CANNIER   plan, no kin     plan   oracle   often failing: \
             believed hidden, true{DIM:#}"
        );
        for line in &self.result.lines {
            let _ = writeln!(
                text,
                "{:>11} {:>8.0} {:>8.0} {:>14.0} {STRONG}{:>8.0}{STRONG:#} {:>8.0} {:>31.1} {:>5.1}",
                line.runs,
                line.rerun,
                line.cannier,
                line.plan_without_kin,
                line.plan,
                line.oracle,
                line.believed_hidden,
                line.hidden
            );
        }
        self.write_against(&mut text);
        text
    }

    fn write_against(&self, text: &mut String) {
        let beaten = self.result.front.iter().filter(|it| is_beaten(it)).count();
        let even = self.result.front.iter().filter(|it| it.point.cost <= 0.0).count();
        let _ = writeln!(
            text,
            "\nCANNIER's own front (at most {} reruns): of {} points the plan finds more at \
             {STRONG}{beaten}{STRONG:#} for the same cost, with the same claims; {even} cost nothing",
            self.max_reruns,
            self.result.front.len(),
        );
        for against in self.result.front.iter().filter(|it| !is_beaten(it) && it.point.cost > 0.0) {
            let point = &against.point;
            let _ = writeln!(
                text,
                "  not at {:.2} to {:.2}: {:.1} beside {:.1}, for {:.0} runs",
                point.thresholds.lower(),
                point.thresholds.upper(),
                against.plan,
                point.found(),
                point.cost
            );
        }
        let Everywhere { points, beaten, smallest_lead } = self.result.everywhere;
        let _ = writeln!(
            text,
            "CANNIER with any lower threshold and any number of reruns, none claimed: the plan finds \
             more at {STRONG}{beaten} of {points}{STRONG:#} points, at worst {smallest_lead:+.1} tests"
        );
        let _ = writeln!(
            text,
            "{DIM}CANNIER in the table has the thresholds and reruns that are best in hindsight; the \
             plan chose nothing in hindsight{DIM:#}"
        );
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> String {
        let lines: Vec<Value> = self.result.lines.iter().map(budget_json).collect();
        let front: Vec<Value> = self.result.front.iter().map(against_json).collect();
        let value = json!({
            "schema": 1, "what": "plan", "protocol": self.protocol, "cost": self.cost,
            "tests": self.tests, "flaky": self.flaky, "repeats": self.repeats,
            "max_reruns": self.max_reruns, "budgets": lines, "front": front,
            "everywhere": {
                "points": self.result.everywhere.points,
                "beaten": self.result.everywhere.beaten,
                "smallest_lead": self.result.everywhere.smallest_lead,
            },
        });
        format!("{value:#}\n")
    }

    /// The same as a picture.
    pub(crate) fn chart(&self) -> Curves {
        let curve = |name: &str, of: &dyn Fn(&BudgetLine) -> f64| Curve {
            name: name.to_owned(),
            points: self.result.lines.iter().map(|line| (f64::from(line.runs), of(line))).collect(),
        };
        Curves {
            title: format!(
                "Flaky tests found of {}, {}, {} cost",
                self.flaky, self.protocol, self.cost
            ),
            x: "runs of each test, on average".to_owned(),
            y: "flaky tests found".to_owned(),
            curves: vec![
                curve("oracle that knows the labels", &|line| line.oracle),
                curve("plan", &|line| line.plan),
                curve("plan without kin", &|line| line.plan_without_kin),
                curve("CANNIER, best in hindsight", &|line| line.cannier),
                curve("RERUN", &|line| line.rerun),
            ],
        }
    }
}

fn budget_json(line: &BudgetLine) -> Value {
    json!({
        "runs": line.runs, "cost": line.cost, "rerun": line.rerun, "cannier": line.cannier,
        "plan_without_kin": line.plan_without_kin, "plan": line.plan, "oracle": line.oracle,
        "often_failing_believed_hidden": line.believed_hidden,
        "often_failing_hidden": line.hidden,
    })
}

fn against_json(against: &AgainstPoint) -> Value {
    let point = &against.point;
    json!({
        "lower": point.thresholds.lower(), "upper": point.thresholds.upper(), "mcc": point.mcc,
        "cost": point.cost, "found": point.found(), "claimed": point.claimed,
        "wrongly_claimed": point.wrongly_claimed, "plan": against.plan,
    })
}

fn is_beaten(against: &AgainstPoint) -> bool {
    against.plan > against.point.found()
}
