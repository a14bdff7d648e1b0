//! `flakeproof run`: run a suite, rerun what fails, say what each failure is.

use std::path::Path;
use std::time::Instant;

use flakeproof_core::{
    ExitCode, Findings, Notice, Origin, RunFacts, RunRecord, Seed, Shard, Suite, SuiteCounts,
    Surroundings, Verdict,
};
use flakeproof_detect::change::{BeforeTheChange, ChangeSince};
use flakeproof_detect::triage::{self, Experiments, Triaged};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::git::Repository;
use flakeproof_runner::{Adapter, Cancel, Error, Waiting, Watched, machine};

use crate::cli::{RunArguments, RunSettings};
use crate::problem::{self, Problem, last_line};
use crate::session::reports::report_findings;
use crate::session::sharing::{Sharing, known_times};
use crate::session::side_by_side;
use crate::session::{Code, Recorder, Start, code_in, current_folder, listen_for_interrupts};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &RunArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    let start = Start::now();
    let folder = current_folder()?;
    let settings = RunSettings::resolve(typed, &folder)?;
    let seed = settings.seed.unwrap_or(start.seed());
    let id = settings.shard.map_or_else(|| start.id(), |shard| shard.of_run(&start.id()));
    let waiting = Waiting::default();
    let cancel = listen_for_interrupts(&waiting);
    let code = code_in(&folder);

    let adapter = adapter_for(&settings, &id, seed, &cancel).map_err(problem::explain)?;
    let adapter = Watched::new(adapter, waiting.clone());
    let mut progress = view::RunProgress::start(waiting);
    let discovered = adapter.discover();
    let suite = match discovered {
        Err(Error::CollectOnly { output }) => {
            view::verbatim(&output);
            return Ok(ExitCode::Clean);
        }
        other => other.map_err(problem::explain)?,
    };
    if suite.tests.is_empty() {
        return Err(problem::no_tests(&settings.command));
    }
    let code = code.wait();
    let mut recorder = Recorder::open(&settings.store, &folder);
    let sharing = share(&suite, &adapter, &recorder, &code, settings.shard)?;
    let (suite, shard_notices) = match &sharing {
        Some(sharing) => sharing.narrow(suite, &adapter).map_err(problem::explain)?,
        None => (suite, Vec::new()),
    };
    let (jobs, workers) = side_by_side::jobs(settings.jobs, &adapter);
    let surroundings = side_by_side::with_jobs(adapter.surroundings(), jobs);
    let surroundings = side_by_side::with_shard(surroundings, settings.shard);
    let surroundings = Surroundings { machine: machine(), ..surroundings };
    recorder.begin(&RunRecord {
        id: id.clone(),
        started: start.at.to_string(),
        command: settings.command.clone(),
        folder: folder_in(&code.repository, &folder),
        seed,
        tree: code.tree.clone(),
        surroundings: surroundings.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        origin: Origin::Run,
    });
    let mut triage_settings = settings.triage.clone();
    triage_settings.durations = recorder.durations();
    triage_settings.jobs = jobs;
    let named = settings.base.as_deref();
    let change = ChangeSince::new(&code.repository, named, surroundings, &code.beginning, start.at);
    let compare = &settings.compare_base;
    let before =
        BeforeTheChange::new(&code.repository, named, compare, &code.tree, &code.beginning);

    let triaged = {
        let history = recorder.shared();
        let request = request(&settings, &id, seed, &cancel);
        let experiments = Experiments {
            since_pass: &|test, touched| change.facts(&**history.borrow(), test, touched),
            hidden_change: &|| before.hidden(&change),
            since_base: &|_, touched| change.facts_for(before.base()?.1, touched),
            record: &|test, signature| before.record(&**history.borrow(), test, signature),
            base: &|| {
                let since = change.facts_since(before.base()?.1)?.change.files;
                let changed = since.into_iter().map(|file| file.path).collect();
                before.project(&request, changed, sharing.as_ref().map(Sharing::part_of_suite))
            },
            clock: &|| begin.elapsed(),
        };
        let mut sink = |event: triage::Event| {
            progress.show(&event);
            recorder.keep(event);
        };
        triage::triage(&adapter, &suite, &triage_settings, &experiments, &cancel, &mut sink)
    };
    progress.end();
    let mut triaged =
        triaged.map_err(|error| problem::explain_after_start(error, &adapter.output()))?;

    let facts = RunFacts {
        id,
        command: settings.command.clone(),
        runner: adapter.can().runner,
        started: start.at.to_string(),
        duration: begin.elapsed(),
        seed,
        revision: code.tree.revision.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    if let Some(changed) = changed_meanwhile(&code) {
        recorder.unsettle();
        triaged.doubt(&changed);
    }
    let quarantine = settings.quarantine.clone().today(code.tree.branch.as_deref());
    for test in &mut triaged.tests {
        test.quarantine = quarantine.judge(test);
    }
    let exit = exit_of(&triaged, &settings, &recorder);
    let mut findings = findings(triaged, &suite, facts, exit);
    if let Some(why) = adapter.own_failure() {
        fail_besides_tests(&mut findings, why);
    }
    if let Some(sharing) = &sharing {
        sharing.tell_victims(&mut findings, &adapter, &settings.command);
    }
    let first = shard_notices.into_iter().chain(adapter.notices()).chain(workers);
    findings.notices.splice(0..0, first);
    recorder.finish(&findings);
    findings.notices.extend(recorder.notices());
    report_findings(&findings, &settings)?;
    Ok(findings.exit)
}

/// Share the suite among the shards, where only one of them is to be run.
fn share(
    suite: &Suite,
    adapter: &dyn Adapter,
    recorder: &Recorder,
    code: &Code,
    shard: Option<Shard>,
) -> Result<Option<Sharing>, Problem> {
    let Some(shard) = shard else { return Ok(None) };
    let times = known_times(&**recorder.shared().borrow(), code, &std::env::vars().collect())?;
    recorder.check_readable()?;
    Ok(Some(Sharing::new(suite, &times, adapter.can().piece, shard)))
}

/// Where the command runs, relative to the repository.
fn folder_in(repository: &Result<Repository, String>, folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let below = repository.as_ref().ok().and_then(|it| folder.strip_prefix(it.root()).ok());
    below.unwrap_or(&folder).to_string_lossy().into_owned()
}

/// A file under version control that is another one than when the run began, if there is one. What the
/// tests themselves leave in the project is none.
fn changed_meanwhile(code: &Code) -> Option<String> {
    let repository = code.repository.as_ref().ok()?;
    let now = repository.tree_state();
    if now == code.tree {
        return None;
    }
    if now.revision != code.tree.revision {
        return Some("the revision checked out".to_owned());
    }
    let tracked = repository.tracked_files().ok()?;
    let then = &code.tree.edited;
    let mut names = then.keys().chain(now.edited.keys());
    names.find(|name| then.get(*name) != now.edited.get(*name) && tracked.contains(*name)).cloned()
}

fn adapter_for(
    settings: &RunSettings,
    id: &str,
    seed: Seed,
    cancel: &Cancel,
) -> Result<Box<dyn Adapter>, Error> {
    adapters::open(request(settings, id, seed, cancel))
}

fn request(settings: &RunSettings, id: &str, seed: Seed, cancel: &Cancel) -> RunRequest {
    RunRequest {
        command: settings.command.clone(),
        folder: settings.folder.clone(),
        adapter: settings.adapter.clone(),
        timeout: settings.timeout,
        run: id.to_owned(),
        seed,
        is_output_shown: settings.is_runner_shown,
        profiles: settings.runners.clone(),
        is_whole_suite_next: settings.jobs.is_none_or(|jobs| jobs == 1) && settings.shard.is_none(),
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: cancel.clone(),
        in_force: flakeproof_runner::levers::InForce::default(),
    }
}

/// How the run ends. A history that cannot be read must not make a red build green.
fn exit_of(triaged: &Triaged, settings: &RunSettings, recorder: &Recorder) -> ExitCode {
    let exit = triage::exit_code(&triaged.tests, triaged.is_interrupted, settings.policies);
    let has_flaky = triaged.tests.iter().any(|test| test.verdict == Some(Verdict::Flaky));
    match exit {
        ExitCode::Clean if has_flaky && recorder.is_unreadable() => ExitCode::Failures,
        exit => exit,
    }
}

fn findings(triaged: Triaged, suite: &Suite, run: RunFacts, exit: ExitCode) -> Findings {
    let mut counts = SuiteCounts { tests: suite.tests.len(), ..SuiteCounts::default() };
    for test in &triaged.tests {
        counts.add(test.outcome);
    }
    let mut notices = triaged.notices;
    let mut exit = exit;
    if counts.run < counts.tests && matches!(exit, ExitCode::Clean | ExitCode::Flaky) {
        exit = ExitCode::Inconclusive;
    }
    for problem in &suite.problems {
        notices.push(Notice {
            what: format!("{} could not be collected: {}", problem.place, last_line(&problem.text)),
            next: "its tests did not run; mend the import".into(),
        });
        if matches!(exit, ExitCode::Clean | ExitCode::Flaky | ExitCode::Inconclusive) {
            exit = ExitCode::Failures;
        }
    }
    Findings { run, suite: counts, tests: triaged.tests, groups: triaged.groups, notices, exit }
}

/// The command failed for a reason of its own: that stands, whatever its tests are.
fn fail_besides_tests(findings: &mut Findings, why: String) {
    let next = "a coverage threshold or a plugin can do that; `--show-runner` shows what it prints";
    findings.notices.push(Notice { what: why, next: next.into() });
    let is_harmless = matches!(findings.exit, ExitCode::Clean | ExitCode::Flaky);
    if is_harmless || findings.exit == ExitCode::Inconclusive {
        findings.exit = ExitCode::Failures;
    }
}
