//! The experiment: who is run next, and who is believed.

use std::time::Duration;

use flakeproof_core::{
    Cause, CauseAnswer, CauseEnd, CauseProgress, Execution, Failure, FailureTrace, NotTried,
    Outcome, RunPair, Tally, TestId, TriedLever,
};
use flakeproof_runner::levers::{InForce, Intervention};
use flakeproof_runner::{Adapter, Cancel, Error, Result};

use super::arm::{Arm, ArmState};
use super::trial::{Laboratory, is_too_slow_for};
use super::{CauseEvent, Found, Question};

/// The chance of a wrong answer, all arms together.
pub(super) const ALPHA: f64 = 0.05;
/// So many plain runs come first.
const FIRST_RUNS: u32 = 3;
/// So many arms share a plain run.
const GROUP: usize = 4;
/// The pairs that an open arm has had after each stage.
const STAGES: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// After so many pairs without any effect, an arm that is left to chance is dropped too.
const CHANCES: usize = 8;
/// A test that fails now and then by itself hides the effect of an arm in fewer pairs than this.
const FIRST_HALVING: usize = 4;
/// After so many pairs a closer look ends unless there is evidence.
const CLOSER_LOOK: usize = 5;
/// So many runs of a control tell whether it does the same.
const CONTROL_RUNS: u32 = 3;
/// More pairs are not worth their time.
const MOST_PAIRS: usize = 60;
/// So many runs in a row may say nothing.
const MOST_SILENT: u32 = 3;
/// So many failures in another way are enough to say so.
const MOST_OTHERS: usize = 3;

/// Why an experiment stops before its end.
pub(super) enum Stop {
    Early(CauseEnd),
    Trouble(Error),
}

/// An experiment under way.
pub(super) struct Experiment<'a> {
    pub(super) lab: Laboratory<'a>,
    pub(super) question: &'a Question,
    clock: &'a dyn Fn() -> Duration,
    cancel: &'a Cancel,
    pub(super) sink: &'a mut dyn FnMut(CauseEvent),
    pub(super) arms: Vec<Arm<'a>>,
    pub(super) known: Vec<FailureTrace>,
    plain: Tally,
    /// How it failed when nothing was changed.
    plain_failure: Option<Failure>,
    /// The longest that a plain run took.
    plain_time: Duration,
    executions: u64,
    lots: u64,
}

/// What one run says: `None` is a pass.
pub(super) type Seen = Option<FailureTrace>;

impl<'a> Experiment<'a> {
    pub(super) fn new(
        adapter: &'a dyn Adapter,
        in_force: &'a InForce,
        question: &'a Question,
        clock: &'a dyn Fn() -> Duration,
        cancel: &'a Cancel,
        sink: &'a mut dyn FnMut(CauseEvent),
    ) -> Self {
        let before = &question.progress;
        let pairs_of = |arm: &Arm<'_>| {
            let found = before
                .tried
                .iter()
                .find(|(lever, value, _)| *lever == arm.name() && *value == arm.setting.value);
            found.map(|(.., pairs)| pairs.clone()).unwrap_or_default()
        };
        let mut arms = Vec::new();
        for tries in &question.tries {
            for setting in &tries.settings {
                let mut arm = Arm::new(&*tries.lever, setting.clone(), Default::default());
                arm.runs = pairs_of(&arm);
                arms.push(arm);
            }
        }
        let mut known = question.known.clone();
        known.extend(before.known.iter().cloned());
        Self {
            lab: Laboratory { adapter, in_force, suite: &question.suite },
            question,
            clock,
            cancel,
            sink,
            arms,
            known,
            plain: before.plain,
            plain_failure: None,
            plain_time: Duration::ZERO,
            executions: 0,
            // Lots that were drawn before must not be drawn again.
            lots: u64::from(before.plain.runs) * 1000,
        }
    }

    pub(super) fn find(mut self) -> Result<Found> {
        let end = match self.conduct() {
            Ok(()) => CauseEnd::Decided,
            Err(Stop::Early(end)) => end,
            Err(Stop::Trouble(error)) => return Err(error),
        };
        Ok(self.found(end))
    }

    fn conduct(&mut self) -> Result<(), Stop> {
        for _ in 0..FIRST_RUNS {
            self.run_plain()?;
        }
        for target in STAGES {
            self.stage(target)?;
            self.learned();
            if self.has_answer(target) {
                return Ok(());
            }
            self.drop_some(target);
            if !self.arms.iter().any(Arm::is_open) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether what is proven is worth more than what could still be found.
    fn has_answer(&self, target: usize) -> bool {
        self.arms.iter().any(|arm| match arm.state {
            ArmState::Proven(CauseAnswer::CausedBy) => arm.may_be_met() || target >= 2,
            ArmState::Proven(_) => target >= 2,
            ArmState::Open | ArmState::Dropped | ArmState::Unusable(_) => false,
        })
    }

    /// Bring every open arm to this number of pairs, and look closer at those that show something.
    fn stage(&mut self, target: usize) -> Result<(), Stop> {
        loop {
            let behind: Vec<usize> = (0..self.arms.len())
                .filter(|at| self.arms[*at].is_open() && self.arms[*at].runs.pairs.len() < target)
                .collect();
            if behind.is_empty() {
                return Ok(());
            }
            for group in behind.chunks(GROUP) {
                self.run_group(group)?;
                for at in group {
                    self.look_closer(*at)?;
                }
            }
        }
    }

    /// One run of each arm, and a plain one that they share, in an order drawn by lot.
    fn run_group(&mut self, group: &[usize]) -> Result<(), Stop> {
        let mut slots: Vec<Option<usize>> = group.iter().copied().map(Some).collect();
        slots.push(None);
        self.shuffle(&mut slots);
        let mut plain = None;
        let mut seen: Vec<(usize, Seen)> = Vec::new();
        for slot in slots {
            match slot {
                None => plain = Some(self.run_plain()?),
                Some(at) => {
                    let intervention = self.arms[at].setting.intervention.clone();
                    seen.extend(self.run_arm(at, &intervention)?.map(|it| (at, it)));
                }
            }
        }
        let Some(plain) = plain else { return Ok(()) };
        for (at, with) in seen {
            self.arms[at].runs.pairs.push(RunPair { plain: plain.clone(), with });
        }
        self.learned();
        Ok(())
    }

    /// More pairs for an arm that shows something, until it is believed or shows nothing any more.
    fn look_closer(&mut self, at: usize) -> Result<(), Stop> {
        let lever = self.arms[at].name();
        let is_answered = |arm: &Arm<'_>| {
            arm.name() == lever && arm.state == ArmState::Proven(CauseAnswer::CausedBy)
        };
        if self.arms.iter().any(is_answered) {
            return Ok(());
        }
        let shows_something = self.arms[at].samples(&self.known).evidence() > 1.0;
        if !shows_something && !self.contrast(at)? {
            return Ok(());
        }
        self.check_control(at)?;
        while self.arms[at].is_open() {
            let arm = &self.arms[at];
            let pairs = arm.runs.pairs.len();
            let evidence = arm.samples(&self.known).evidence();
            if evidence >= self.bound() {
                return self.prove(at);
            }
            if arm.runs.other_failures(&self.known) >= MOST_OTHERS {
                return Ok(());
            }
            if self.contrast(at)? {
                continue;
            }
            if (evidence <= 1.0 && pairs >= CLOSER_LOOK) || pairs >= MOST_PAIRS {
                return Ok(());
            }
            let (name, value) = (self.arms[at].name(), self.arms[at].setting.value.clone());
            (self.sink)(CauseEvent::Looking(name, value));
            self.pair_up(at)?;
        }
        Ok(())
    }

    /// Give an arm up if it raises no more than its control does, and with it all that share the control.
    fn check_control(&mut self, at: usize) -> Result<(), Stop> {
        let arm = &self.arms[at];
        let raises = arm.samples(&self.known).difference() > 0.0;
        if arm.is_control_checked || arm.setting.control.is_none() || !raises {
            return Ok(());
        }
        let control = arm.control();
        let mut failures = 0;
        for _ in 0..CONTROL_RUNS {
            failures += u32::from(self.run_arm(at, &control)?.flatten().is_some());
        }
        for at in 0..self.arms.len() {
            if self.arms[at].control() == control {
                self.arms[at].is_control_checked = true;
                if failures > CONTROL_RUNS / 2 && self.arms[at].is_open() {
                    let beside = self.arms[at].setting.control.as_ref().map(|it| it.value.clone());
                    let beside = beside.unwrap_or_default();
                    self.give_up(at, format!("the test fails with its control, too: {beside}"));
                }
            }
        }
        Ok(())
    }

    /// The evidence at which one of all arms is believed.
    pub(super) fn bound(&self) -> f64 {
        f64::from(u32::try_from(self.arms.len()).unwrap_or(u32::MAX)) / ALPHA
    }

    fn pair_up(&mut self, at: usize) -> Result<(), Stop> {
        let control = match self.arms[at].proof_control() {
            Some(control) => control,
            None => Intervention::Nothing,
        };
        if let Some(pair) = self.run_pair(at, &control)? {
            self.arms[at].runs.pairs.push(pair);
            self.learned();
        }
        Ok(())
    }

    /// A run with an arm and one with its control, in an order drawn by lot; `None` if the arm turned out
    /// to be unusable.
    pub(super) fn run_pair(
        &mut self,
        at: usize,
        control: &Intervention,
    ) -> Result<Option<RunPair>, Stop> {
        let own = self.arms[at].setting.intervention.clone();
        let is_control_first = self.lot().is_multiple_of(2);
        let (with, plain);
        if is_control_first {
            plain = self.run_control(at, control)?;
            with = self.run_arm(at, &own)?;
        } else {
            with = self.run_arm(at, &own)?;
            plain = self.run_control(at, control)?;
        }
        Ok(plain.zip(with).map(|(plain, with)| RunPair { plain, with }))
    }

    fn run_control(&mut self, at: usize, control: &Intervention) -> Result<Option<Seen>, Stop> {
        match control {
            Intervention::Nothing => self.run_plain().map(Some),
            control => self.run_arm(at, control),
        }
    }

    /// Where a test fails by itself now and then, and always under one value of a lever: a value of the
    /// same lever under which it passes is a better control than nothing. Whether one was found.
    fn contrast(&mut self, at: usize) -> Result<bool, Stop> {
        let arm = &self.arms[at];
        let with = arm.samples(&self.known).with();
        let is_flaky = self.plain.is_inconsistent();
        if arm.setting.control.is_some() || arm.is_left_to_chance() || !is_flaky {
            return Ok(false);
        }
        if with.runs < 3 || !with.always_fails() {
            return Ok(false);
        }
        let lever = arm.name();
        let siblings: Vec<usize> = (0..self.arms.len())
            .filter(|it| *it != at && self.arms[*it].name() == lever && self.arms[*it].is_open())
            .collect();
        for sibling in siblings {
            if self.arms[sibling].with(&self.known).failures > 0 {
                continue;
            }
            let setting = self.arms[sibling].setting.clone();
            let mut passes = 0;
            while passes < 3 && self.run_arm(sibling, &setting.intervention)? == Some(None) {
                passes += 1;
            }
            if passes == 3 {
                let value = format!("{lever} {}", setting.value);
                let control = flakeproof_runner::levers::Control {
                    value,
                    intervention: setting.intervention,
                };
                self.arms[at].take_control(control);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Successive halving.
    fn drop_some(&mut self, target: usize) {
        if target < 2 {
            return;
        }
        let known = &self.known;
        if self.plain.failures == 0 {
            for arm in self.arms.iter_mut().filter(|arm| arm.is_open()) {
                let shows_nothing = arm.samples(known).with().failures == 0;
                if shows_nothing && (target >= CHANCES || !arm.is_left_to_chance()) {
                    arm.state = ArmState::Dropped;
                }
            }
            return;
        }
        if target < FIRST_HALVING && !self.plain.always_fails() {
            return;
        }
        let mut open: Vec<(f64, usize)> = (0..self.arms.len())
            .filter(|at| self.arms[*at].is_open())
            .map(|at| (self.arms[at].samples(known).evidence(), at))
            .collect();
        open.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(&two.1)));
        // A test that always fails is mended by an arm at once, or not.
        let half = if self.plain.always_fails() { 0 } else { open.len().div_ceil(2) };
        for (evidence, at) in open.into_iter().skip(half) {
            if evidence < 1.0 {
                self.arms[at].state = ArmState::Dropped;
            }
        }
    }

    /// A run in which nothing is changed.
    pub(super) fn run_plain(&mut self) -> Result<Seen, Stop> {
        for _ in 0..MOST_SILENT {
            self.may_go_on()?;
            let trial = self.lab.run(&self.question.test, &Intervention::Nothing);
            let trial = trial.map_err(|error| match error {
                Error::Cancelled => Stop::Early(CauseEnd::Interrupted),
                error => Stop::Trouble(error),
            })?;
            self.executions += trial.executions;
            if let Some(execution) = trial.execution {
                self.plain_time = self.plain_time.max(execution.duration);
                return Ok(self.take_in_plain(&execution));
            }
        }
        Err(Stop::Early(CauseEnd::NotReached))
    }

    fn take_in_plain(&mut self, execution: &Execution) -> Seen {
        let seen = FailureTrace::of(execution);
        self.plain.count(seen.is_some());
        if let Some(trace) = &seen {
            if !self.known.iter().any(|it| it.is_like(trace)) {
                self.known.push(trace.clone());
            }
            if self.plain_failure.is_none() {
                self.plain_failure.clone_from(&execution.failure);
            }
        }
        self.ran();
        seen
    }

    /// A run with an arm, or its control; `None` if the arm cannot be used.
    pub(super) fn run_arm(
        &mut self,
        at: usize,
        intervention: &Intervention,
    ) -> Result<Option<Seen>, Stop> {
        self.may_go_on()?;
        let trial = match self.lab.run(&self.question.test, intervention) {
            Ok(trial) => trial,
            Err(Error::Cancelled) => return Err(Stop::Early(CauseEnd::Interrupted)),
            Err(error) => {
                self.give_up(
                    at,
                    format!("the runner does not work under it: {}", shortened(&error)),
                );
                return Ok(None);
            }
        };
        self.executions += trial.executions;
        self.ran();
        let Some(execution) = trial.execution else {
            self.give_up(at, "the test is skipped, or never reached, under it".into());
            return Ok(None);
        };
        let timed_out = execution.outcome == Outcome::TimedOut;
        let deadline = self.question.timeout;
        if timed_out && is_too_slow_for(intervention, self.plain_time, deadline) {
            self.give_up(at, "it takes longer than the limit of `--timeout` under it".into());
            return Ok(None);
        }
        let seen = FailureTrace::of(&execution);
        let is_own = *intervention == self.arms[at].setting.intervention;
        if seen.is_some() && is_own && self.arms[at].failure.is_none() {
            self.arms[at].failure = execution.failure;
        }
        Ok(Some(seen))
    }

    pub(super) fn give_up(&mut self, at: usize, why: String) {
        self.arms[at].state = ArmState::Unusable(why);
    }

    /// Count what another test took.
    pub(super) fn count(&mut self, executions: u64) {
        self.executions += executions;
    }

    pub(super) fn may_go_on(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            Err(Stop::Early(CauseEnd::Interrupted))
        } else if self.question.budget.is_some_and(|budget| (self.clock)() >= budget) {
            Err(Stop::Early(CauseEnd::BudgetSpent))
        } else {
            Ok(())
        }
    }

    fn ran(&mut self) {
        let open = self.arms.iter().filter(|arm| arm.is_open()).count();
        (self.sink)(CauseEvent::Ran { plain: self.plain, open: (open, self.arms.len()) });
    }

    fn learned(&mut self) {
        let progress = self.progress();
        (self.sink)(CauseEvent::Learned(progress));
    }

    fn progress(&self) -> CauseProgress {
        let tried = self.arms.iter().filter(|arm| !arm.runs.pairs.is_empty());
        CauseProgress {
            plain: self.plain,
            known: self.known.clone(),
            tried: tried
                .map(|arm| (arm.name(), arm.setting.value.clone(), arm.runs.clone()))
                .collect(),
        }
    }

    fn lot(&mut self) -> u64 {
        self.lots += 1;
        self.question.seed.split(&format!("lot {}", self.lots)).0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            let below = u64::try_from(at).unwrap_or(u64::MAX).saturating_add(1);
            let other = usize::try_from(self.lot() % below).unwrap_or(at);
            items.swap(at, other);
        }
    }

    fn found(self, end: CauseEnd) -> Found {
        let progress = self.progress();
        let known = &self.known;
        let is_proven = |arm: &Arm<'_>| matches!(arm.state, ArmState::Proven(_));
        // What no machine lacks is a need beside a cause. Where there is no cause, the first need is it: who
        // needs a network needs its names and connections as well.
        let has_cause = self.arms.iter().any(|arm| is_proven(arm) && arm.may_be_met());
        let needs = self.arms.iter().filter(|arm| is_proven(arm) && !arm.may_be_met());
        let first_need = needs.map(Arm::name).min();
        let is_need = |arm: &Arm<'_>| {
            let is_cause = arm.may_be_met() || (!has_cause && Some(arm.name()) == first_need);
            is_proven(arm) && !is_cause
        };
        let mut order: Vec<&Arm<'_>> = self.arms.iter().collect();
        // What is proven first, strongest first; the rest as it was tried.
        order.sort_by_key(|arm| match arm.state {
            ArmState::Proven(answer) if !is_need(arm) => answer,
            ArmState::Proven(_) | ArmState::Open | ArmState::Dropped | ArmState::Unusable(_) => {
                CauseAnswer::NotReproduced
            }
        });
        let best = order.first().filter(|arm| is_proven(arm));
        let has_failed = self.plain.failures > 0
            || !self.question.known.is_empty()
            || self.arms.iter().any(|arm| arm.with(known).failures > 0);
        let answer = match best.map(|arm| &arm.state) {
            Some(ArmState::Proven(answer)) => *answer,
            _ if has_failed => CauseAnswer::None,
            _ => CauseAnswer::NotReproduced,
        };
        let told = |arm: &Arm<'_>| match is_need(arm) {
            true => TriedLever {
                answer: None,
                remark: Some("it needs what is taken away here, as any machine has it".into()),
                ..arm.tried(known)
            },
            false => arm.tried(known),
        };
        let mut not_tried = self.question.not_tried.clone();
        let (unusable, tried): (Vec<&Arm<'_>>, Vec<&Arm<'_>>) =
            order.iter().partition(|arm| arm.has_never_run());
        for arm in unusable {
            let is_elsewhere = |lever| tried.iter().any(|it| it.name() == lever);
            if let ArmState::Unusable(why) = &arm.state
                && !is_elsewhere(arm.name())
                && !not_tried.iter().any(|it: &NotTried| it.name == arm.name())
            {
                not_tried.push(NotTried { name: arm.name(), why: why.clone() });
            }
        }
        let untouched = self.arms.iter().filter(|arm| arm.is_open() && arm.has_never_run());
        for arm in untouched {
            let is_named = not_tried.iter().any(|it| it.name == arm.name());
            if !is_named && !tried.iter().any(|it| it.name() == arm.name()) {
                let why = "there was no time left".to_owned();
                not_tried.push(NotTried { name: arm.name(), why });
            }
        }
        not_tried.sort_by_key(|it| it.name);
        let test = &self.question.test;
        let command = best.and_then(|arm| self.command(arm));
        let command = command
            .or_else(|| (self.plain.failures > 0).then(|| self.lab.adapter.command_for(test)));
        let failure = best.and_then(|arm| arm.failure.clone()).or(self.plain_failure.clone());
        Found {
            cause: Cause {
                test: test.clone(),
                answer,
                plain: self.plain,
                levers: tried.iter().map(|arm| told(arm)).collect(),
                not_tried,
                category: best.map(|arm| arm.name().category().to_owned()),
                command,
                failure,
            },
            executions: self.executions,
            end,
            progress,
        }
    }

    /// A command that a person types to see what an arm does.
    fn command(&self, arm: &Arm<'_>) -> Option<String> {
        let test: &TestId = &self.question.test;
        if let Intervention::Company(company) = arm.setting.intervention
            && let Some(order) = self.lab.order(test, company)
        {
            return self.lab.adapter.command_for_order(&order);
        }
        if let Intervention::OpenOrders(shuffle) = &arm.setting.intervention {
            return self.lab.adapter.command_shuffled(test, shuffle);
        }
        arm.setting.command(&self.lab.adapter.command_for(test))
    }
}

fn shortened(error: &Error) -> String {
    const LONGEST: usize = 160;
    let text = error.to_string();
    text.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}
