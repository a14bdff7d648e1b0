//! One setting of a lever, and what the runs with it say so far.

use flakeproof_core::{
    CauseAnswer, Failure, FailureTrace, LeverName, RunPairs, Tally, TriedLever, TwoSamples,
};
use flakeproof_runner::levers::{Control, Intervention, Lever, Machines, Setting};

use super::trial::is_left_to_chance;

/// One setting of a lever under trial.
pub(super) struct Arm<'a> {
    pub(super) lever: &'a dyn Lever,
    pub(super) setting: Setting,
    /// Pairs with plain runs, or with those of another setting that makes the test pass.
    pub(super) runs: RunPairs,
    /// Pairs of the proof.
    pub(super) proof: RunPairs,
    pub(super) state: ArmState,
    /// How the test fails with it.
    pub(super) failure: Option<Failure>,
    /// Whether its control is known not to do the same.
    pub(super) is_control_checked: bool,
    /// Whether its control is another value of the lever.
    has_contrast: bool,
}

/// How far the trial of a setting is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArmState {
    /// It may matter.
    Open,
    /// It showed nothing.
    Dropped,
    /// Something happened that proves nothing, and this is why.
    Unusable(String),
    /// It matters.
    Proven(CauseAnswer),
}

impl<'a> Arm<'a> {
    pub(super) fn new(lever: &'a dyn Lever, setting: Setting, runs: RunPairs) -> Self {
        let proof = RunPairs::default();
        Self {
            lever,
            setting,
            runs,
            proof,
            state: ArmState::Open,
            failure: None,
            is_control_checked: false,
            has_contrast: false,
        }
    }

    pub(super) fn name(&self) -> LeverName {
        self.lever.name()
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == ArmState::Open
    }

    pub(super) fn samples(&self, known: &[FailureTrace]) -> TwoSamples {
        self.runs.samples(known)
    }

    /// Whether a machine may be like this.
    pub(super) fn may_be_met(&self) -> bool {
        self.setting.machines == Machines::SomeAreLikeIt
    }

    /// What the run beside one with the setting has.
    pub(super) fn control(&self) -> Intervention {
        self.setting.control.as_ref().map_or(Intervention::Nothing, |it| it.intervention.clone())
    }

    /// What the run beside one with the setting has already while nothing is proven: that of another value
    /// of the lever.
    pub(super) fn proof_control(&self) -> Option<Intervention> {
        self.has_contrast.then(|| self.control())
    }

    /// Compare it with another value of its lever from now on; all pairs so far are forgotten.
    pub(super) fn take_control(&mut self, control: Control) {
        self.setting.control = Some(control);
        (self.has_contrast, self.is_control_checked) = (true, true);
        self.runs = RunPairs::default();
    }

    /// Whether no run with it said anything.
    pub(super) fn has_never_run(&self) -> bool {
        self.runs.pairs.is_empty() && self.proof.pairs.is_empty()
    }

    /// Whether more runs may show what a few did not.
    pub(super) fn is_left_to_chance(&self) -> bool {
        is_left_to_chance(&self.setting.intervention)
    }

    /// All pairs, those of the proof included where both sides are the same.
    pub(super) fn all_pairs(&self) -> RunPairs {
        let pairs = match self.setting.control {
            None => [self.runs.pairs.as_slice(), &self.proof.pairs].concat(),
            Some(_) if self.has_contrast => {
                [self.runs.pairs.as_slice(), &self.proof.pairs].concat()
            }
            Some(_) if self.proof.pairs.is_empty() => self.runs.pairs.clone(),
            Some(_) => self.proof.pairs.clone(),
        };
        RunPairs { pairs }
    }

    /// What is told about it.
    pub(super) fn tried(&self, known: &[FailureTrace]) -> TriedLever {
        let pairs = self.all_pairs();
        let samples = pairs.samples(known);
        let others = pairs.other_failures(known);
        let remark = match &self.state {
            ArmState::Unusable(why) => Some(why.clone()),
            _ if others > 0 => Some(format!("failed {others} times in another way")),
            _ => None,
        };
        let is_compared = self.has_contrast || !self.proof.pairs.is_empty();
        let control = self.setting.control.as_ref().filter(|_| is_compared);
        TriedLever {
            name: self.name(),
            value: self.setting.value.clone(),
            answer: match self.state {
                ArmState::Proven(answer) => Some(answer),
                ArmState::Open | ArmState::Dropped | ArmState::Unusable(_) => None,
            },
            plain: samples.plain(),
            with: samples.with(),
            beside: control.map(|it| it.value.clone()),
            remark,
        }
    }

    /// The runs with it that failed as the test is known to fail.
    pub(super) fn with(&self, known: &[FailureTrace]) -> Tally {
        self.all_pairs().samples(known).with()
    }
}
