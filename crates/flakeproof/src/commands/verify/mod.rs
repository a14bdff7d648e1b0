//! `flakeproof verify`: prove that a flaky test is mended.
//!
//! A test that is proven to be mended leaves the list of known flaky tests, as it does after a hunt
//! that finds nothing. If nothing changed since the hunt that found it, nothing can have been
//! mended: then it stays, and the reader is told.

pub(super) mod subject;

use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{
    Cause, CauseAnswer, CauseProgress, CauseRecord, ExitCode, FixEnd, FixFindings, FixTest,
    FixVerdict, FormerRate, HuntCost, HuntEnd, HuntFindings, HuntRecord, HuntedTest, Isolation,
    KnownFlaky, Notice, RunFacts, Seed, Suite, Surroundings, TestId,
};
use flakeproof_detect::verify::{Claim, Verified, VerifyEvent, verify};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::levers::InForce;
use flakeproof_runner::{Adapter, Cancel, Waiting};

use flakeproof_store::StoreLocation;

use self::subject::Subject;
use super::hunt::kept_hunt::Fingerprint;
use super::repro::isolation_of;
use crate::cli::VerifyArguments;
use crate::problem::{self, Problem};
use crate::session::known_cause::{known_cause, known_id, lever_to_pull, pulled};
use crate::session::reports::report_fix;
use crate::session::{
    Code, Recorder, Start, code_in, current_folder, listen_for_interrupts, naming,
};
use crate::settings::{ConfigurationFile, ReporterKind, locate};
use crate::view::VerifyProgress;

/// Run the command.
pub(crate) fn run(typed: &VerifyArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    only_json(typed)?;
    let folder = current_folder()?;
    let known = subject::known(typed, &folder)?;
    let cause = known_cause(&typed.test, typed.store.as_ref(), &folder)?;
    let lever = lever_to_pull(typed.lever.as_ref(), cause.as_ref(), known.as_ref());
    let was = subject::former_rate(typed, known.as_ref(), lever.as_ref())?;
    let lever = lever.map(|it| it.lever);
    let facts = facts(typed, known.as_ref(), cause.as_ref(), &folder)?;
    let cancel = listen_for_interrupts(&Waiting::default());
    let code = code_in(&folder);
    let mut progress = VerifyProgress::start();
    let in_force = InForce::default();
    let adapter = adapter_for(typed, &facts, &folder, &cancel, &in_force)?;
    let suite = adapter.discover().map_err(problem::explain)?;
    let list = naming::how_to_list(&*adapter);
    let mut subject = match &lever {
        Some(_) => {
            let id = known_id(known.as_ref(), cause.as_ref()).map_or(&*typed.test, TestId::as_str);
            Subject::alone(id, known.as_ref(), &suite, &list)?
        }
        None => Subject::find(&typed.test, known.as_ref(), &suite, &list)?,
    };
    let under = lever.as_ref().map(|it| pulled(it, &*adapter, &in_force, &suite)).transpose()?;
    let since = Since::compare(known.as_ref(), code.wait(), &suite, &adapter.surroundings());
    subject.notices.extend(adapter.notices());
    subject.notices.extend(since.notice.clone());
    let claim = Claim { under, ..claim(typed, was, &mut subject, &*adapter, &suite) };

    progress.plan(&subject.test, lever.as_ref(), &claim, was, typed.confidence.0);
    let clock = || begin.elapsed();
    let mut sink = |event: VerifyEvent| progress.show(event);
    let verified = verify(&*adapter, &claim, &clock, &cancel, &mut sink);
    progress.end();
    let verified =
        verified.map_err(|error| problem::explain_after_start(error, &adapter.output()))?;
    let facts = RunFacts {
        runner: adapter.can().runner,
        revision: since.revision.clone(),
        duration: begin.elapsed(),
        ..facts
    };
    let mut findings = findings(typed, (was, claim), subject, verified, facts, &*adapter);
    let store = locate(typed.store.as_ref(), &folder)?;
    if let Some(lever) = lever {
        let found = cause.as_ref().and_then(|it| it.found.as_ref());
        findings.reproduce = found.and_then(|it| it.command.clone());
        (findings.lever, findings.isolation) = (Some(lever), Isolation::Spawn);
        findings
            .notices
            .extend(found.and_then(|it| keep_that_it_is_gone(it, &findings, &store, &folder)));
    }
    findings.notices.extend(since.keep(&findings, &store, &folder));
    report_fix(&findings, &typed.reporter)?;
    Ok(findings.exit)
}

/// There is one test with one verdict: other reports have nothing to show.
fn only_json(typed: &VerifyArguments) -> Result<(), Problem> {
    match typed.reporter.iter().any(|it| it.kind != ReporterKind::Json) {
        true => Err(Problem::usage("`verify` writes JSON only", "write `--reporter json=FILE`")),
        false => Ok(()),
    }
}

/// What is known before anything runs.
fn facts(
    typed: &VerifyArguments,
    known: Option<&KnownFlaky>,
    cause: Option<&CauseRecord>,
    folder: &Path,
) -> Result<RunFacts, Problem> {
    let start = Start::now();
    let seed_of_hunt = known.map(|known| known.hunt.seed.parse()).transpose();
    let damaged = |_| Problem::broken("the record of the hunt cannot be read", "hunt again");
    let seed: Option<Seed> = typed.seed.or(seed_of_hunt.map_err(damaged)?);
    Ok(RunFacts {
        id: start.id(),
        command: match (typed.command.as_slice(), known, cause) {
            ([], Some(known), _) => known.hunt.command.clone(),
            ([], None, Some(cause)) => cause.command.clone(),
            ([], None, None) => adapters::usual_command(folder),
            (command, ..) => command.to_vec(),
        },
        runner: String::new(),
        started: start.at.to_string(),
        duration: Duration::ZERO,
        seed: seed.unwrap_or(start.seed()),
        revision: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn adapter_for(
    typed: &VerifyArguments,
    facts: &RunFacts,
    folder: &Path,
    cancel: &Cancel,
    in_force: &InForce,
) -> Result<Box<dyn Adapter>, Problem> {
    adapters::open(RunRequest {
        command: facts.command.clone(),
        folder: folder.to_path_buf(),
        adapter: typed.adapter.clone(),
        timeout: typed.timeout.map(|time| time.0).filter(|time| !time.is_zero()),
        run: facts.id.clone(),
        seed: facts.seed,
        is_output_shown: typed.show_runner,
        profiles: ConfigurationFile::find(None, folder)?.runners(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: cancel.clone(),
        in_force: in_force.clone(),
    })
    .map_err(problem::explain)
}

/// What the detector is asked to prove.
fn claim(
    typed: &VerifyArguments,
    was: FormerRate,
    subject: &mut Subject,
    adapter: &dyn Adapter,
    suite: &Suite,
) -> Claim {
    let order = subject.orders.first().cloned().unwrap_or_default();
    let orders = u32::try_from(subject.orders.len()).unwrap_or(u32::MAX);
    Claim {
        orders: subject.orders.clone(),
        control: subject.control.clone(),
        shuffle: subject.shuffle.clone(),
        under: None,
        runs: FixTest::new(was.rate, typed.confidence.0, orders).failing_at_most(was.high()),
        isolation: match subject.shuffle {
            Some(_) => Isolation::Spawn,
            None => isolation_of(typed.isolation, adapter, suite, &order, &mut subject.notices),
        },
        budget: typed.budget.map(|time| time.0).filter(|time| !time.is_zero()),
    }
}

fn findings(
    typed: &VerifyArguments,
    (was, claim): (FormerRate, Claim),
    subject: Subject,
    verified: Verified,
    run: RunFacts,
    adapter: &dyn Adapter,
) -> FixFindings {
    let order = verified.failing.as_ref().or(claim.orders.first());
    let reproduce = order.and_then(|order| adapter.command_for_order(order));
    let mut notices = subject.notices;
    notices.extend(verified.ended_by.as_ref().map(|by| flakeproof_core::Notice {
        what: format!("`{by}`, which runs before it, ended the process"),
        next: "mend that test first, or hunt again".into(),
    }));
    FixFindings {
        run,
        test: subject.test,
        kind: subject.kind,
        lever: None,
        orders: claim.orders,
        isolation: claim.isolation,
        was,
        confidence: typed.confidence.0,
        runs: verified.runs,
        executions: verified.executions,
        verdict: verified.verdict,
        end: verified.end,
        failure: verified.failure,
        reproduce,
        notices,
        exit: exit_of(verified.verdict, verified.end),
    }
}

fn exit_of(verdict: Option<FixVerdict>, end: FixEnd) -> ExitCode {
    match (end, verdict) {
        (FixEnd::Interrupted, _) => ExitCode::Interrupted,
        (_, Some(FixVerdict::Fixed)) => ExitCode::Clean,
        (_, Some(FixVerdict::StillFlaky | FixVerdict::AlwaysFails)) => ExitCode::Failures,
        (_, None) => ExitCode::Inconclusive,
    }
}

/// What is here now, beside what a hunt had before it.
struct Since {
    now: Fingerprint,
    /// The revision checked out.
    pub(super) revision: Option<String>,
    /// Whether a hunt found the test, and something changed since.
    has_changed: bool,
    /// What to say if nothing did, or nobody knows.
    pub(super) notice: Option<Notice>,
}

impl Since {
    /// Compare what is about to run with what the hunt ran.
    pub(super) fn compare(
        known: Option<&KnownFlaky>,
        code: Code,
        suite: &Suite,
        surroundings: &Surroundings,
    ) -> Self {
        let now = Fingerprint::take(&code, suite, surroundings);
        let is_same = |known: &KnownFlaky| now.changed_since(&known.hunt.fingerprint).is_none();
        let notice = known.filter(|it| is_same(it)).map(|_| Notice {
            what: match &code.repository {
                Ok(_) => "neither code nor packages changed since the hunt that found it".into(),
                Err(why) => format!("whether the code changed since the hunt is not known: {why}"),
            },
            next: "it stays in `flakeproof list` until a hunt finds it sound".into(),
        });
        let has_changed = known.is_some() && notice.is_none();
        Self { now, revision: code.tree.revision, has_changed, notice }
    }

    /// Keep that a test is mended, if it is; gives what went wrong with that.
    pub(super) fn keep(
        &self,
        findings: &FixFindings,
        store: &StoreLocation,
        folder: &Path,
    ) -> Option<Notice> {
        if !self.has_changed || findings.verdict != Some(FixVerdict::Fixed) {
            return None;
        }
        let mut recorder = Recorder::open(store, folder);
        let run = &findings.run;
        recorder.begin_hunt(&HuntRecord {
            id: run.id.clone(),
            started: run.started.clone(),
            command: run.command.clone(),
            fingerprint: self.now.text(),
            seed: run.seed.to_string(),
            settings: "verify".to_owned(),
            version: run.version.clone(),
        });
        recorder.finish_hunt(&as_hunt(findings));
        recorder.hunt_notice().map(|notice| Notice {
            what: notice.what,
            next: "the verdict stands; `flakeproof list` shows the test until the next hunt".into(),
        })
    }
}

/// Keep that a lever no longer makes a test fail, if a fix is proven under it; gives what went wrong with
/// that.
fn keep_that_it_is_gone(
    cause: &Cause,
    findings: &FixFindings,
    store: &StoreLocation,
    folder: &Path,
) -> Option<Notice> {
    let known = cause.failing_under().map(|(lever, _)| lever);
    if findings.verdict != Some(FixVerdict::Fixed) || known != findings.lever {
        return None;
    }
    let run = &findings.run;
    let record = CauseRecord {
        id: run.id.clone(),
        started: run.started.clone(),
        command: run.command.clone(),
        seed: run.seed.to_string(),
        test: findings.test.clone(),
        found: Some(Cause {
            answer: CauseAnswer::NotReproduced,
            levers: Vec::new(),
            plain: findings.runs.tally(),
            command: None,
            failure: None,
            ..cause.clone()
        }),
        progress: CauseProgress::default(),
    };
    let recorder = Recorder::open(store, folder);
    let kept = recorder.shared().borrow_mut().keep_cause(&record);
    kept.err().map(|error| Notice {
        what: format!("the history does not take it: {error}"),
        next: "the verdict stands; `flakeproof list` shows the test as before".into(),
    })
}

/// A hunt that looked at one test and found it sound.
fn as_hunt(findings: &FixFindings) -> HuntFindings {
    let mut test = HuntedTest::new(findings.test.clone(), None);
    if findings.orders.iter().all(|order| order.len() == 1) {
        test.alone = findings.runs.tally();
    } else {
        test.shuffled = findings.runs.tally();
    }
    let (executions, time) = (findings.executions, findings.run.duration);
    HuntFindings {
        run: findings.run.clone(),
        tests: vec![test],
        cost: HuntCost { executions, time, ..HuntCost::default() },
        end: HuntEnd::Finished,
        latent: Vec::new(),
        hidden: None,
        notices: Vec::new(),
        exit: ExitCode::Clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_ends_as_it_is_documented() {
        let exit = |verdict, end| exit_of(verdict, end).number();
        assert_eq!(exit(Some(FixVerdict::Fixed), FixEnd::Decided), 0);
        assert_eq!(exit(Some(FixVerdict::StillFlaky), FixEnd::Decided), 1);
        assert_eq!(exit(Some(FixVerdict::AlwaysFails), FixEnd::Decided), 1);
        assert_eq!(exit(Some(FixVerdict::StillFlaky), FixEnd::BudgetSpent), 1);
        assert_eq!(exit(None, FixEnd::BudgetSpent), 5);
        assert_eq!(exit(None, FixEnd::NotReached), 5);
        assert_eq!(exit(None, FixEnd::Interrupted), 130);
    }
}
