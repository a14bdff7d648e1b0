//! What is known about the test that is to be mended: what hunts found, else a hunt that is made for it.

use std::path::Path;

use clap::Parser as _;
use flakeproof_core::statistics::failure_rate;
use flakeproof_core::{
    Cause, CauseRecord, ExitCode, FlakyKind, FormerRate, HuntedTest, KnownFlaky, LeverName,
    LeverValue, RateSource, Suite, Tally, TestId, WhereSeen,
};
use flakeproof_detect::cause::UnderLever;
use flakeproof_report::words;
use flakeproof_runner::levers;

use super::advice::{self, Idiom};
use super::caused::Decides;
use super::copies::{Copies, Times};
use super::proof::{Failing, LeverInForce};
use crate::cli::{Cli, Command, FixArguments};
use crate::commands::hunt;
use crate::commands::verify::subject::Subject;
use crate::problem::Problem;
use crate::session::known_cause::{known_cause, pulled};
use crate::session::{history, naming};
use crate::settings::{StoreName, locate};

/// What is known about the test: what hunts found, what an experiment found, or both.
pub(super) struct Evidence {
    known: Option<KnownFlaky>,
    cause: Option<CauseRecord>,
}

impl Evidence {
    /// What hunts and experiments know about the test; it is hunted where none does and a command is given.
    pub(super) fn find(typed: &FixArguments, folder: &Path) -> Result<Self, Problem> {
        let cause = cause(typed, folder)?;
        if let Some(known) = known(typed, folder)? {
            return Ok(Self { known: Some(known), cause });
        }
        let test = words::command(std::slice::from_ref(&typed.test));
        if typed.command.is_empty() && cause.is_some() {
            return Ok(Self { known: None, cause });
        }
        if typed.command.is_empty() {
            return Err(Problem::usage(
                format!("no hunt knows a flaky test `{}`", typed.test),
                format!(
                    "give the command that runs it, and it is hunted first: `flakeproof fix {test} -- \
                     pytest`; `flakeproof list` shows those that are known"
                ),
            ));
        }
        hunt_for(typed)?;
        match (known(typed, folder)?, cause) {
            (None, None) => Err(Problem::new(
                ExitCode::Inconclusive,
                format!("the hunt did not find `{}` to be flaky", typed.test),
                format!("`flakeproof cause {test} -- COMMAND` tries what else may make it fail"),
            )),
            (known, cause) => Ok(Self { known, cause }),
        }
    }

    /// The test.
    pub(super) fn test(&self) -> TestId {
        let hunted = self.known.as_ref().map(|it| it.test.id.clone());
        let caused = || self.cause.as_ref().map(|it| it.test.clone());
        hunted.or_else(caused).unwrap_or_else(|| TestId::from(""))
    }

    /// How it is flaky, if a hunt said so.
    pub(super) fn kind(&self) -> Option<FlakyKind> {
        self.known.as_ref().and_then(|it| it.test.kind)
    }

    /// What a hunt found about a test that an order makes fail, which says what to change.
    pub(super) fn ordered(&self) -> Option<&HuntedTest> {
        let hunted = self.known.as_ref().map(|it| &it.test);
        hunted.filter(|it| matches!(it.kind, Some(FlakyKind::Victim | FlakyKind::Brittle)))
    }

    /// The command and the seed of the hunt or the experiment.
    pub(super) fn command_and_seed(&self) -> (&[String], &str) {
        match (&self.known, &self.cause) {
            (Some(known), _) => (&known.hunt.command, &known.hunt.seed),
            (None, Some(cause)) => (&cause.command, &cause.seed),
            (None, None) => (&[], ""),
        }
    }

    /// What the experiment found, where it names a cause.
    pub(super) fn cause(&self) -> Option<&Cause> {
        let found = self.cause.as_ref().and_then(|it| it.found.as_ref());
        found.filter(|it| it.answer.is_cause())
    }

    /// What was shown to decide whether the test passes, where that says what to change in it.
    pub(super) fn decides(&self) -> Option<Decides> {
        let of_cause = self.cause().and_then(|it| Decides::of(it.lever()?.name));
        of_cause.or_else(|| (self.kind() == Some(FlakyKind::Id)).then_some(Decides::HashOrder))
    }

    /// What to pin first, by what the experiment showed: values under which the test passed each time.
    pub(super) fn passing_values(&self) -> Vec<&str> {
        let Some((cause, name)) = self.cause().and_then(|it| Some((it, it.lever()?.name))) else {
            return Vec::new();
        };
        let passes = |with: Tally| with.runs > 0 && with.failures == 0;
        let all = cause.levers.iter().filter(|it| it.name == name && passes(it.with));
        all.map(|it| it.value.as_str()).collect()
    }

    /// What helps where no order says what to change.
    pub(super) fn advice(&self, measured: &[(String, Times)]) -> Option<String> {
        let test = self.test();
        let idiom = match (test.as_str().contains("::"), test.as_str().contains('#')) {
            (true, _) => Some(Idiom::Python),
            (false, true) => Some(Idiom::Java),
            (false, false) => None,
        };
        let shown = idiom.and_then(|idiom| advice::for_cause(self.cause()?, idiom, measured));
        shown.or_else(|| advice::for_kind(&test, self.kind()))
    }

    /// The test in the suite as it is, and how what an experiment showed makes it fail.
    pub(super) fn failing_by_its_cause(
        &self,
        typed: &FixArguments,
        copies: &Copies<'_>,
    ) -> Result<Failing, Problem> {
        let Some((cause, lever)) = self.cause().and_then(|it| Some((it, it.lever()?))) else {
            return self.failing(typed, &copies.without.suite);
        };
        let (adapter, suite) = (&*copies.without.adapter, &copies.without.suite);
        let subject = Subject::find(cause.test.as_str(), None, suite, "")?;
        let pull = |value: LeverValue| {
            let under = pulled(&value, adapter, &copies.in_force, suite).map_err(|it| {
                let next = "mend it on a machine like the one that found the cause";
                Problem { next: next.to_owned(), ..it }
            })?;
            Ok::<_, Problem>(LeverInForce { value, under })
        };
        let this = LeverValue { name: lever.name, value: lever.value.clone() };
        let shown = pull(this)?;
        // Locales are compiled for each look at them.
        let others = match (lever.name, levers::by_name(lever.name)) {
            (LeverName::Zone | LeverName::HashSeed, Some(found)) => {
                found.settings(&shown.under.machine).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let others = others.into_iter().filter(|it| it.value != lever.value).map(|it| {
            let value = LeverValue { name: lever.name, value: it.value };
            let under = UnderLever { intervention: it.intervention, ..shown.under.clone() };
            LeverInForce { value, under }
        });
        let mut others: Vec<LeverInForce> = others.collect();
        let (was, under) = match cause.failing_under() {
            Some((_, tally)) => (FormerRate::under_lever(tally), Some(shown)),
            None => {
                others.push(shown);
                let source = RateSource::Seen(cause.plain, WhereSeen::Alone);
                (FormerRate { rate: failure_rate(cause.plain).low, source }, None)
            }
        };
        Ok(Failing {
            passing: vec![subject.test.clone()],
            test: subject.test,
            orders: subject.orders,
            shuffle: None,
            under,
            others,
            was,
            confidence: typed.confidence.0,
        })
    }

    /// The test in the suite as it is, and how it fails.
    pub(super) fn failing(&self, typed: &FixArguments, suite: &Suite) -> Result<Failing, Problem> {
        let of_hunt = self.known.as_ref().ok_or_else(|| {
            let next = "hunt first: `flakeproof hunt`";
            Problem::usage(format!("no hunt knows a flaky test `{}`", typed.test), next)
        })?;
        let known = &of_hunt.test;
        let subject = Subject::find(&typed.test, Some(of_hunt), suite, "")?;
        let was = FormerRate::from_hunted(known).ok_or_else(|| {
            Problem::usage(
                format!("how often `{}` failed was not measured", known.id),
                "hunt again: `flakeproof hunt`",
            )
        })?;
        let alone = vec![known.id.clone()];
        Ok(Failing {
            test: subject.test,
            orders: subject.orders,
            passing: subject.control.unwrap_or(alone),
            shuffle: subject.shuffle,
            under: None,
            others: Vec::new(),
            was,
            confidence: typed.confidence.0,
        })
    }
}

fn cause(typed: &FixArguments, folder: &Path) -> Result<Option<CauseRecord>, Problem> {
    let store = typed.store.as_ref();
    if store.is_some() && !locate(store, folder)?.may_be_there() {
        return Ok(None);
    }
    known_cause(&typed.test, store, folder)
}

fn known(typed: &FixArguments, folder: &Path) -> Result<Option<KnownFlaky>, Problem> {
    let store = typed.store.as_ref();
    // A store that is still to be made by the hunt is no mistake.
    if store.is_some() && !locate(store, folder)?.may_be_there() && !typed.command.is_empty() {
        return Ok(None);
    }
    let mut known = history::flaky_tests(store, folder)?;
    if !known.iter().any(|it| it.test.id.as_str().ends_with(&typed.test)) {
        return Ok(None);
    }
    let ids: Vec<&TestId> = known.iter().map(|it| &it.test.id).collect();
    let at = naming::the_one(&typed.test, &ids, "`flakeproof list` shows those that are known")?;
    Ok(Some(known.swap_remove(at)))
}

/// Hunt for what makes this test fail.
fn hunt_for(typed: &FixArguments) -> Result<(), Problem> {
    let mut line: Vec<String> =
        ["flakeproof", "hunt", "--victim", &typed.test].map(str::to_owned).into();
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            line.extend([name.to_owned(), value]);
        }
    };
    let secret = |it: &StoreName| it.secret().to_string_lossy().into_owned();
    option("--store", typed.store.as_ref().map(secret));
    option("--adapter", typed.adapter.clone());
    option("--seed", typed.seed.map(|it| it.to_string()));
    line.push("--".to_owned());
    line.extend(typed.command.iter().cloned());
    let parsed = Cli::try_parse_from(line).map(|it| it.command);
    let Ok(Command::Hunt(arguments)) = parsed else {
        return Err(Problem::broken(
            "the hunt for it cannot be started",
            "hunt yourself: `flakeproof hunt -- COMMAND`",
        ));
    };
    match hunt::run(&arguments)? {
        ExitCode::Interrupted => Err(Problem::new(
            ExitCode::Interrupted,
            "the hunt for what makes it fail was interrupted",
            "run it again when you like; nothing was changed",
        )),
        _ => Ok(()),
    }
}
