//! Proof by the opposite, and the mildest setting that is enough.

use flakeproof_core::{CauseAnswer, FailureTrace, RunPair, RunPairs};
use flakeproof_runner::Error;
use flakeproof_runner::levers::{Intervention, Setting};

use super::arm::{Arm, ArmState};
use super::experiment::{ALPHA, Experiment, Stop};
use super::trial::may_break_a_runner;
use super::{CauseEnd, CauseEvent};

/// In turns, so many times over.
const TIMES: usize = 3;
/// So many turns are made at most where it should fail each time, and where it fails more often or less.
const MOST_TURNS: (usize, usize) = (10, 40);
/// So many other tests are asked whether the runner works.
const NEIGHBOURS: usize = 5;
/// So many steps lead to the mildest setting.
const MOST_STEPS: usize = 14;
/// So many failures in a row say that a setting is enough.
const ENOUGH: u32 = 2;

impl Experiment<'_> {
    /// Prove what an arm is believed to do, in new pairs.
    pub(super) fn prove(&mut self, at: usize) -> Result<(), Stop> {
        let samples = self.arms[at].samples(&self.known);
        let Some(answer) = CauseAnswer::of_tallies(samples.plain(), samples.with()) else {
            self.arms[at].state = ArmState::Dropped;
            return Ok(());
        };
        let (name, value) = (self.arms[at].name(), self.arms[at].setting.value.clone());
        (self.sink)(CauseEvent::Proving(name, value));
        if answer != CauseAnswer::StabilisedBy && !self.is_about_the_test(at)? {
            return Ok(());
        }
        match self.take_turns(at, answer)? {
            Some(answer) => {
                self.arms[at].state = ArmState::Proven(answer);
                if answer == CauseAnswer::CausedBy {
                    self.cut_down(at)?;
                }
            }
            None if self.arms[at].is_open() => {
                let why = "its effect did not hold when it was tried in turns with its opposite";
                self.give_up(at, why.to_owned());
            }
            None => {}
        }
        Ok(())
    }

    /// Turns of the setting and its opposite; what they prove.
    fn take_turns(&mut self, at: usize, answer: CauseAnswer) -> Result<Option<CauseAnswer>, Stop> {
        let control = self.arms[at].control();
        let most = match answer {
            CauseAnswer::CausedBy => MOST_TURNS.0,
            _ => MOST_TURNS.1,
        };
        self.arms[at].proof = RunPairs::default();
        for _ in 0..most {
            let Some(pair) = self.run_pair(at, &control)? else { return Ok(None) };
            self.arms[at].proof.pairs.push(pair);
            let proven = self.proven(&self.arms[at], answer);
            if proven.is_some() {
                return Ok(proven);
            }
        }
        Ok(None)
    }

    /// What the turns so far prove, if they do.
    fn proven(&self, arm: &Arm<'_>, answer: CauseAnswer) -> Option<CauseAnswer> {
        let turns = &arm.proof.pairs;
        let samples = arm.proof.samples(&self.known);
        let (with, without) = match answer {
            CauseAnswer::StabilisedBy => (false, true),
            _ => (true, false),
        };
        let holds = |turn: &RunPair| {
            turn.with.is_some() == with
                && turn.plain.is_some() == without
                && turn.with.iter().all(|trace| self.is_credited(trace))
        };
        let have_held = match answer {
            CauseAnswer::CausedBy => {
                turns.len() >= TIMES && turns.iter().rev().take(TIMES).all(holds)
            }
            _ => turns.iter().filter(|turn| holds(turn)).count() >= TIMES,
        };
        let lots = arm.all_pairs().samples(&self.known).lot_evidence();
        let is_believed = samples.evidence() >= 1.0 / ALPHA && lots >= 1.0 / ALPHA;
        // The turns may say less than what came before, and never more.
        let now = CauseAnswer::of_tallies(samples.plain(), samples.with())?;
        (have_held && is_believed && now >= answer).then_some(now).filter(|now| {
            (*now == CauseAnswer::StabilisedBy) == (answer == CauseAnswer::StabilisedBy)
        })
    }

    fn is_credited(&self, trace: &FailureTrace) -> bool {
        self.known.is_empty() || self.known.iter().any(|it| it.is_like(trace))
    }

    /// Whether a failure under an arm is the test's own: raised in the project, or not in other tests.
    ///
    /// A limit that keeps a runner from working says nothing about the test.
    fn is_about_the_test(&mut self, at: usize) -> Result<bool, Stop> {
        let intervention = self.arms[at].setting.intervention.clone();
        if !may_break_a_runner(&intervention) {
            return Ok(true);
        }
        let is_own =
            |trace: &FailureTrace| trace.is_in_project() && !trace.outcome().ends_environment();
        let mut traces = self.arms[at].runs.pairs.iter().filter_map(|pair| pair.with.as_ref());
        if traces.all(is_own) {
            return Ok(true);
        }
        for other in self.lab.neighbours(&self.question.test).into_iter().take(NEIGHBOURS) {
            self.may_go_on()?;
            match self.lab.run(&other, &intervention) {
                Ok(trial) => {
                    self.count(trial.executions);
                    if trial.execution.is_some_and(|it| !it.outcome.is_failure()) {
                        return Ok(true);
                    }
                }
                Err(Error::Cancelled) => return Err(Stop::Early(CauseEnd::Interrupted)),
                Err(_) => {}
            }
        }
        self.give_up(
            at,
            "no other test passes under it: the runner itself may be what fails".into(),
        );
        Ok(false)
    }

    /// Look for the mildest setting that is enough, and prove that one.
    fn cut_down(&mut self, at: usize) -> Result<(), Stop> {
        let lever = self.arms[at].lever;
        let (mut passes, mut fails): (Option<Setting>, _) = (None, self.arms[at].setting.clone());
        let first = fails.clone();
        for _ in 0..MOST_STEPS {
            let Some(next) = lever.between(passes.as_ref(), &fails) else { break };
            match self.is_enough(at, &next.intervention)? {
                true => fails = next,
                false => passes = Some(next),
            }
        }
        if fails == first {
            return Ok(());
        }
        let mut milder = Arm::new(lever, fails, RunPairs::default());
        milder.failure.clone_from(&self.arms[at].failure);
        let place = self.arms.len();
        self.arms.push(milder);
        // It is believed only at the bound of a setting of its own.
        while self.arms[place].is_open()
            && self.arms[place].samples(&self.known).evidence() < self.bound()
        {
            let Some(pair) = self.run_pair(place, &Intervention::Nothing)? else { break };
            self.arms[place].runs.pairs.push(pair);
            let samples = self.arms[place].samples(&self.known);
            if samples.with().failures < samples.with().runs || samples.plain().failures > 0 {
                break;
            }
        }
        let is_believed = self.arms[place].samples(&self.known).evidence() >= self.bound();
        let proven = match is_believed {
            true => self.take_turns(place, CauseAnswer::CausedBy)?,
            false => None,
        };
        match proven {
            Some(answer) => {
                self.arms[place].state = ArmState::Proven(answer);
                // The mildest one is the answer; it stands before the one that led to it.
                self.arms.swap(at, place);
            }
            None => {
                self.arms.pop();
            }
        }
        Ok(())
    }

    fn is_enough(&mut self, at: usize, intervention: &Intervention) -> Result<bool, Stop> {
        let state = self.arms[at].state.clone();
        for _ in 0..ENOUGH {
            let seen = self.run_arm(at, intervention)?;
            // What is proven stays proven where a runner does not work under something else.
            self.arms[at].state.clone_from(&state);
            match seen {
                Some(Some(trace)) if self.is_credited(&trace) => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
