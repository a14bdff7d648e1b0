//! `flakeproof fix`: mend a flaky test with a patch that is proven.
//!
//! What a hunt or an experiment found says what to change; [`flakeproof_fix`] writes patches from it;
//! here each is tried and proven by running tests in copies of the project.

mod advice;
mod applying;
mod caused;
mod copies;
mod evidence;
mod fewest;
mod ideas;
mod proof;
mod search;

use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{
    Applied, Cause, ExitCode, FlakyKind, Notice, PatchFindings, ProvenPatch, RunFacts, Seed, TestId,
};
use flakeproof_report::words;
use flakeproof_runner::{Cancel, Waiting};

use self::caused::{Caused, Decides};
use self::copies::{Copies, Stop, Times};
use self::evidence::Evidence;
use self::proof::exit_of;
use self::search::{Found, Search};
use crate::cli::FixArguments;
use crate::problem::{self, Problem};
use crate::session::reports::report_patches;
use crate::session::{Start, current_folder, listen_for_interrupts};
use crate::settings::ReporterKind;
use crate::view::FixProgress;

/// Run the command.
pub(crate) fn run(typed: &FixArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    if typed.reporter.iter().any(|it| it.kind != ReporterKind::Json) {
        return Err(Problem::usage("`fix` writes JSON only", "write `--reporter json=FILE`"));
    }
    let folder = current_folder()?;
    applying::can_be_done(typed.branch.as_deref(), &folder)?;
    let evidence = Evidence::find(typed, &folder)?;
    let cancel = listen_for_interrupts(&Waiting::default());
    let mut facts = facts(typed, &evidence)?;
    let progress = FixProgress::start(&evidence.test());
    if evidence.ordered().is_none() && evidence.decides().is_none() {
        return advise(typed, &evidence, &facts, &folder, &cancel, begin, &progress);
    }
    let copies = Copies::make(typed, &facts, &folder, &cancel, begin)?;
    let failing = match evidence.ordered() {
        Some(_) => evidence.failing(typed, &copies.without.suite)?,
        None => evidence.failing_by_its_cause(typed, &copies)?,
    };
    let runner = copies.without.adapter.can().runner;

    let mut findings = nothing_yet(facts.clone(), failing.test.clone(), &evidence);
    let searched = search_for(&evidence, &failing, &copies, &progress, &mut findings);
    progress.end();
    let found = match searched {
        Ok(found) => found,
        Err(Stop::Interrupted) => {
            findings.is_interrupted = true;
            None
        }
        Err(Stop::BudgetSpent) => {
            findings.notices.push(Notice {
                what: format!("the budget of {} s is spent", typed.budget.0.as_secs()),
                next: "give it more with `--budget 30m`".to_owned(),
            });
            None
        }
        Err(Stop::Trouble(error)) => {
            let output = copies.without.adapter.output();
            return Err(problem::explain_after_start(error, &output));
        }
    };
    // Where it was tried why the test is left as it is, that is the advice.
    let is_told = evidence.decides() == Some(Decides::HashOrder) && !findings.tried.is_empty();
    if found.is_none() && evidence.ordered().is_none() && !findings.is_interrupted && !is_told {
        findings.advice.extend(evidence.advice(&[]));
    }
    if let Some((Found { proposal, proof }, hides)) = found {
        if typed.apply {
            applying::to_files(&proposal, &copies.root)?;
            findings.applied = Applied::Files;
        } else if let Some(name) = &typed.branch {
            applying::to_branch(&proposal, name, &copies.root, failing.test.as_str())?;
            findings.applied = Applied::Branch { name: name.clone() };
        }
        findings.patches.push(ProvenPatch {
            files: proposal.files.iter().map(|it| it.path.clone()).collect(),
            diff: proposal.diff(),
            idea: proposal.idea,
            hides,
            proof,
        });
    }
    facts.duration = begin.elapsed();
    facts.runner = runner;
    findings.run = facts.clone();
    findings.exit = exit_of(!findings.patches.is_empty(), findings.is_interrupted);
    report_patches(&findings, &typed.reporter)?;
    Ok(findings.exit)
}

fn search_for(
    evidence: &Evidence,
    failing: &proof::Failing,
    copies: &Copies<'_>,
    progress: &FixProgress,
    findings: &mut PatchFindings,
) -> Result<Option<(Found, Option<String>)>, Stop> {
    let without = match failing.fails_in_a_copy(copies)? {
        Ok(tally) => tally,
        Err(why) => {
            let next =
                "what it relies on may lie outside of the project, or it is mended already: \
                        `flakeproof verify` tells"
                    .to_owned();
            findings.notices.push(Notice { what: why, next });
            return Ok(None);
        }
    };
    if let Some(test) = evidence.ordered() {
        let mut search = Search { failing, copies, progress, without, tried: Vec::new() };
        let found = match test.kind {
            Some(FlakyKind::Brittle) => search.brittle(&test.setters),
            Some(FlakyKind::Victim | FlakyKind::Nod | FlakyKind::Id) | None => {
                search.victim(&test.cleaners)
            }
        };
        findings.tried = search.tried;
        return Ok(found?.map(|it| (it, None)));
    }
    let Some(decides) = evidence.decides() else { return Ok(None) };
    let mut search = Caused { failing, copies, progress, without, tried: Vec::new() };
    let found = search.search(decides, &evidence.passing_values());
    findings.tried = search.tried;
    found
}

/// Findings before anything is found.
fn nothing_yet(run: RunFacts, test: TestId, evidence: &Evidence) -> PatchFindings {
    PatchFindings {
        run,
        test,
        kind: evidence.kind(),
        patches: Vec::new(),
        tried: Vec::new(),
        advice: Vec::new(),
        applied: Applied::Shown,
        is_interrupted: false,
        notices: Vec::new(),
        exit: ExitCode::Inconclusive,
    }
}

/// Say what helps where no order of tests says what to change.
fn advise(
    typed: &FixArguments,
    evidence: &Evidence,
    facts: &RunFacts,
    folder: &Path,
    cancel: &Cancel,
    begin: Instant,
    progress: &FixProgress,
) -> Result<ExitCode, Problem> {
    let mut findings = nothing_yet(facts.clone(), evidence.test(), evidence);
    let is_about_time =
        |cause: &Cause| cause.lever().is_some_and(|it| advice::is_about_time(it.name));
    let mut times = Vec::new();
    if evidence.cause().is_some_and(is_about_time) {
        let copies = Copies::make(typed, facts, folder, cancel, begin)?;
        match measure(evidence, typed, &copies, &mut times) {
            Ok(()) | Err(Stop::BudgetSpent) => {}
            Err(Stop::Interrupted) => findings.is_interrupted = true,
            Err(Stop::Trouble(error)) => {
                let output = copies.without.adapter.output();
                return Err(problem::explain_after_start(error, &output));
            }
        }
        findings.run.runner = copies.without.adapter.can().runner;
    }
    progress.end();
    findings.advice.extend(evidence.advice(&times));
    findings.run.duration = begin.elapsed();
    findings.exit = exit_of(false, findings.is_interrupted);
    report_patches(&findings, &typed.reporter)?;
    Ok(findings.exit)
}

/// How long the test takes as it is, and under the lever that makes it fail.
fn measure(
    evidence: &Evidence,
    typed: &FixArguments,
    copies: &Copies<'_>,
    times: &mut Vec<(String, Times)>,
) -> Result<(), Stop> {
    let test = evidence.test();
    times.push(("alone".to_owned(), copies.times_of(&test, None, advice::MEASURED)?));
    // A lever that cannot be pulled here leaves the distribution without it.
    let Ok(failing) = evidence.failing_by_its_cause(typed, copies) else { return Ok(()) };
    if let Some(lever) = failing.under {
        let measured = copies.times_of(&test, Some(&lever.under), advice::MEASURED)?;
        times.push((words::under_lever(&lever.value), measured));
    }
    Ok(())
}

/// What is known before anything runs.
fn facts(typed: &FixArguments, evidence: &Evidence) -> Result<RunFacts, Problem> {
    let start = Start::now();
    let damaged = |_| Problem::broken("the record of the hunt cannot be read", "hunt again");
    let (known, seed) = evidence.command_and_seed();
    let of_hunt: Seed = seed.parse().map_err(damaged)?;
    Ok(RunFacts {
        id: start.id(),
        command: match typed.command.as_slice() {
            [] => known.to_vec(),
            command => command.to_vec(),
        },
        runner: String::new(),
        started: start.at.to_string(),
        duration: Duration::ZERO,
        seed: typed.seed.unwrap_or(of_hunt),
        revision: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}
