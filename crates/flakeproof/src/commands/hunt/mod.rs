//! `flakeproof hunt`: find the flaky tests, their kinds, and who makes whom fail.

mod cleaner;
mod ending;
pub(super) mod fleet;
pub(super) mod kept_hunt;
mod opinions;
mod priors;
mod provoking;
mod shard;
mod strategy;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use flakeproof_core::{
    ExitCode, FlakyKind, HuntEnd, HuntFindings, KnownFlaky, Notice, RunFacts, Shard, Suite, TestId,
    TrialRecord,
};
use flakeproof_detect::hunt::{self, Crew, HuntEvent, Hunted, Journal, Workplace};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::levers::InForce;
use flakeproof_runner::{Adapter, Cancel, Error, Waiting, Watched};
use flakeproof_store::SharedHunt;

use self::cleaner::DiskCleaner;
use self::ending::Ending;
use self::fleet::{Fleet, FleetNeeds};
use self::kept_hunt::{Fingerprint, KeptHunt};
use self::provoking::Provoker;
use self::shard::HuntShard;
use self::strategy::ChosenStrategy;
use crate::cli::{HuntArguments, HuntSettings};
use crate::problem::{self, Problem};
use crate::session::reports::report_hunt;
use crate::session::side_by_side;
use crate::session::{Code, Recorder, code_in, current_folder, listen_for_interrupts, naming};
use crate::view::{self, HuntProgress};

/// How long a test may go on that was running when the budget was spent.
const LAST_TEST: Duration = Duration::from_secs(30);

/// Run the command.
pub(crate) fn run(typed: &HuntArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    let folder = current_folder()?;
    let settings = HuntSettings::resolve(typed, &folder, strategy::usual(&folder))?;
    let mut recorder = match &settings.fleet {
        Some(_) => Recorder::of_team(&settings.store)?,
        None => Recorder::open(&settings.store, &settings.folder),
    };
    let mut session = KeptHunt::begin(typed, &settings, &mut recorder)?;
    let shared = settings.shard.as_ref().map(|it| shard::join(it, &settings, &mut session));
    let shared = shared.transpose()?;
    let waiting = Waiting::default();
    let cancel = listen_for_interrupts(&waiting);
    let code = code_in(&folder);
    let budget = settings.budget_of(&session.asked);
    let patience = budget.map_or(cancel.clone(), |budget| cancel.or_after(budget + LAST_TEST));
    let in_force = InForce::default();
    let adapter = adapter_for(&settings, &session, &patience, &in_force);
    let adapter = adapter.map_err(problem::explain)?;
    let adapter = Watched::new(adapter, waiting.clone());
    let mut progress = HuntProgress::start(waiting.clone());
    let suite = match adapter.discover() {
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
    let mut chosen = choose_strategy(&settings, &session, &suite, &adapter, &recorder)?;
    let fingerprint = Fingerprint::take(&code, &suite, &adapter.surroundings());
    let needs = |fingerprint: &Fingerprint| {
        let given = (session.record.id.as_str(), session.seed, session.asked.timeout);
        FleetNeeds::of(&settings.command, &adapter, &code, fingerprint, given)
    };
    let of_fleet = settings.fleet.as_ref().map(|_| needs(&fingerprint));
    if let Some(shared) = &shared {
        let notice = shard::agree(shared, &needs(&fingerprint), &adapter.surroundings())?;
        chosen.first.extend(notice);
        chosen.strategy = shard::agree_on_strategy(shared, &chosen.strategy)?;
    }
    session.on(&fingerprint.with_strategy(&chosen.strategy))?;
    let plan = plan(&settings, &session, &suite, &adapter, chosen.strategy.clone())?;
    let hunt = Prepared {
        typed,
        settings: &settings,
        session: &session,
        adapter: &adapter,
        in_force: &in_force,
        suite: &suite,
        code: &code,
        chosen: &chosen,
        plan: &plan,
        waiting: &waiting,
        needs: of_fleet,
        shared: shared.as_ref().zip(settings.shard.as_ref().map(|it| it.shard)),
        implementation_dependent: known_implementation_dependent(&recorder),
        begin,
    };
    if chosen.targets.as_ref().is_some_and(|targets| targets.len() == 0) {
        progress.end();
        return hunt.without_targets();
    }
    hunt.run(recorder, &cancel, progress)
}

/// A hunt of which everything is known but what it finds.
struct Prepared<'a> {
    typed: &'a HuntArguments,
    settings: &'a HuntSettings,
    session: &'a KeptHunt,
    adapter: &'a dyn Adapter,
    in_force: &'a InForce,
    suite: &'a Suite,
    code: &'a Code,
    chosen: &'a ChosenStrategy,
    plan: &'a hunt::HuntSettings,
    waiting: &'a Waiting,
    /// What other machines need to run the tests, if they do.
    needs: Option<FleetNeeds>,
    /// What machines have in common that go through the hunt together, and which of them this is.
    shared: Option<(&'a SharedHunt, Shard)>,
    /// Tests that are known to rely on an order that the language leaves open.
    implementation_dependent: BTreeSet<TestId>,
    begin: Instant,
}

impl Prepared<'_> {
    fn run(
        &self,
        mut recorder: Recorder,
        cancel: &Cancel,
        mut progress: HuntProgress,
    ) -> Result<ExitCode, Problem> {
        let cleaner = DiskCleaner::prepare(self.session, self.settings)?;
        let unfinished = match self.shared {
            // It goes on by itself.
            Some(_) => None,
            None => self.session.other_unfinished(self.settings, &mut recorder),
        };
        let fleet = self.take_fleet()?;
        let (_, workers) = side_by_side::jobs(self.settings.jobs, self.adapter);
        let about_the_command = self.adapter.notices().into_iter().chain(workers);
        about_the_command.for_each(|notice| progress.note(&notice));
        self.chosen.first.iter().chain(&unfinished).for_each(|notice| progress.note(notice));
        let invitation = self.settings.fleet.as_ref();
        let invitation = invitation.map(|it| fleet::invitation(it, &self.settings.command));
        let started = &self.session.record.started;
        let to_shards =
            self.shared.map(|(shared, shard)| shard::invitation(shared, shard, started));
        invitation.iter().chain(&to_shards).for_each(|notice| progress.note(notice));
        recorder.begin_hunt(&self.session.record);
        if let Some(budget) = self.plan.budget {
            progress.ends_in(budget.saturating_sub(self.begin.elapsed()));
        }

        let begin = self.begin;
        let clock = move || begin.elapsed();
        let tidy = || cleaner.tidy();
        let tidy: Option<&(dyn Fn() -> flakeproof_runner::Result<()> + Sync)> =
            if cleaner.is_used() { Some(&tidy) } else { None };
        let shard = self
            .shared
            .map(|(shared, shard)| HuntShard::new(shared, shard, self.adapter, self.suite.ids()));
        let hunted = match (&fleet, &shard) {
            (Some(fleet), _) => {
                let crew = Crew {
                    size: &|| fleet.size(),
                    ask: &|trials| fleet.ask(trials),
                    collect: &|keys, wait| fleet.collect(keys, wait),
                    withdraw: &|keys| fleet.withdraw(keys),
                };
                let workplace = Workplace { clock: &clock, tidy, crew: Some(&crew) };
                self.hunt_on(&mut recorder, workplace, cancel, &mut progress)
            }
            (None, Some(shard)) => {
                let crew = Crew {
                    size: &|| shard.size(),
                    ask: &|trials| {
                        shard.ask(trials);
                        Ok(())
                    },
                    collect: &|_, wait| shard.collect(wait),
                    withdraw: &|keys| {
                        shard.withdraw(keys);
                        Ok(())
                    },
                };
                let workplace = Workplace { clock: &clock, tidy, crew: Some(&crew) };
                let recall = |key: &str| shard.recall(key);
                // What comes of a trial is kept where all find it.
                let mut keep = |_: &str, _: &TrialRecord| {};
                let journal = Journal { recall: &recall, keep: &mut keep };
                self.hunt_with(journal, workplace, cancel, &mut progress)
            }
            (None, None) => {
                let workplace = Workplace { clock: &clock, tidy, crew: None };
                self.hunt_on(&mut recorder, workplace, cancel, &mut progress)
            }
        };
        progress.end();
        let fleet_notice = fleet.and_then(Fleet::end);
        let explain = |error| problem::explain_after_start(error, &self.adapter.output());
        let mut findings = self.ending().findings(hunted.map_err(explain)?, self.facts());
        if self.typed.provoke && findings.end == HuntEnd::Finished {
            self.provoke(&mut findings, &clock, cancel).map_err(explain)?;
            provoking::keep(&findings, &recorder);
        }
        findings.notices.extend(cleaner.notices());
        findings.notices.extend(fleet_notice);
        findings.notices.extend(shard.iter().flat_map(|shard| shard.end(findings.end)));
        findings.notices.extend(self.hanging_test(cancel));
        recorder.finish_hunt(&self.ending().to_keep(&findings));
        let is_kept = recorder.hunt_notice().is_none();
        findings.notices.extend(recorder.hunt_notice());
        // Of several machines each says by itself how to go on.
        let can_go_on = is_kept && shard.is_none() && findings.end != HuntEnd::Finished;
        let resume = can_go_on.then(|| self.session.resume_command(self.typed));
        report_hunt(&findings, self.settings, self.plan, resume)?;
        Ok(findings.exit)
    }

    /// The machines that run the tests, if others do.
    fn take_fleet(&self) -> Result<Option<Fleet>, Problem> {
        let settings = self.settings.fleet.as_ref().zip(self.needs.as_ref());
        settings
            .map(|(settings, needs)| Fleet::take_place(settings, &self.session.record, needs))
            .transpose()
    }

    /// Look for what only fails under a lever.
    fn provoke(
        &self,
        findings: &mut HuntFindings,
        clock: &dyn Fn() -> Duration,
        cancel: &Cancel,
    ) -> flakeproof_runner::Result<()> {
        let provoker = Provoker {
            adapter: self.adapter,
            in_force: self.in_force,
            suite: self.suite,
            clock,
            until: self.plan.budget,
            timeout: self.session.asked.timeout,
        };
        provoker.provoke(findings, cancel)
    }

    /// A pull request that changes no test is reported without running any.
    fn without_targets(&self) -> Result<ExitCode, Problem> {
        let findings = self.ending().without_targets(self.facts());
        report_hunt(&findings, self.settings, self.plan, None)?;
        Ok(findings.exit)
    }

    /// Hunt, and keep every trial as it comes.
    fn hunt_on(
        &self,
        recorder: &mut Recorder,
        workplace: Workplace<'_>,
        cancel: &Cancel,
        progress: &mut HuntProgress,
    ) -> flakeproof_runner::Result<Hunted> {
        let history = recorder.shared();
        let recall = |key: &str| history.borrow().trial(key).ok().flatten();
        // Of what others run, they keep it in the same transaction that ends it.
        let mut keep = |key: &str, trial: &TrialRecord| recorder.trial(key, trial);
        self.hunt_with(Journal { recall: &recall, keep: &mut keep }, workplace, cancel, progress)
    }

    fn hunt_with(
        &self,
        mut journal: Journal<'_>,
        workplace: Workplace<'_>,
        cancel: &Cancel,
        progress: &mut HuntProgress,
    ) -> flakeproof_runner::Result<Hunted> {
        let mut sink = |event: HuntEvent| progress.show(&event);
        let (adapter, suite, plan) = (self.adapter, self.suite, self.plan);
        hunt::hunt(adapter, suite, plan, &mut journal, workplace, cancel, &mut sink)
    }

    /// The test that did not end when the budget did.
    fn hanging_test(&self, cancel: &Cancel) -> Option<Notice> {
        let test = self.waiting.given_up().filter(|_| !cancel.is_cancelled())?;
        Some(Notice {
            what: format!("`{test}` was still running when the budget was spent, and was ended"),
            next: "if it hangs, `--timeout 60s` ends it and calls it timed out".to_owned(),
        })
    }

    fn ending(&self) -> Ending<'_> {
        Ending {
            suite: self.suite,
            victim: self.plan.victim.as_ref(),
            chosen: self.chosen,
            base: self.session.asked.diff.as_deref(),
            flaky_result: self.settings.flaky_result,
            sought: self.plan.sought,
            implementation_dependent: self.implementation_dependent.clone(),
        }
    }

    fn facts(&self) -> RunFacts {
        let runner = self.adapter.can().runner;
        self.session.facts(self.settings, runner, self.begin.elapsed(), self.code)
    }
}

/// Tests that are known to rely on an order that the language leaves open. A history that cannot be read
/// knows none.
fn known_implementation_dependent(recorder: &Recorder) -> BTreeSet<TestId> {
    let known = recorder.shared().borrow().known_flaky().unwrap_or_default();
    let is_one = |known: &KnownFlaky| known.test.kind == Some(FlakyKind::Id);
    known.into_iter().filter(is_one).map(|known| known.test.id).collect()
}

fn adapter_for(
    settings: &HuntSettings,
    session: &KeptHunt,
    cancel: &Cancel,
    in_force: &InForce,
) -> Result<Box<dyn Adapter>, Error> {
    adapters::open(RunRequest {
        command: settings.command.clone(),
        folder: settings.folder.clone(),
        adapter: settings.adapter.clone(),
        timeout: session.asked.timeout,
        run: session.record.id.clone(),
        seed: session.seed,
        is_output_shown: settings.is_runner_shown,
        profiles: settings.runners.clone(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::NewOrKept,
        cancel: cancel.clone(),
        in_force: in_force.clone(),
    })
}

/// The strategy of the hunt.
fn choose_strategy(
    settings: &HuntSettings,
    session: &KeptHunt,
    suite: &Suite,
    adapter: &dyn Adapter,
    recorder: &Recorder,
) -> Result<ChosenStrategy, Problem> {
    let folder = &settings.folder;
    let root = adapter.root().unwrap_or_else(|| folder.clone());
    let history = recorder.shared();
    ChosenStrategy::choose(&session.asked, suite, &root, folder, &**history.borrow())
}

/// What the detector is asked for.
fn plan(
    settings: &HuntSettings,
    session: &KeptHunt,
    suite: &Suite,
    adapter: &dyn Adapter,
    strategy: hunt::Strategy,
) -> Result<hunt::HuntSettings, Problem> {
    let asked = &session.asked;
    let ids: Vec<&TestId> = suite.tests.iter().map(|test| &test.id).collect();
    let list = naming::how_to_list(adapter);
    let victim = asked.victim.as_ref().map(|typed| naming::the_one(typed, &ids, &list));
    Ok(hunt::HuntSettings {
        seed: session.seed,
        runs: asked.runs,
        orders: asked.orders_of(suite, session.seed),
        kinds: asked.kinds.clone(),
        max_reruns: asked.max_reruns,
        recheck: asked.recheck,
        jobs: side_by_side::jobs(settings.jobs, adapter).0,
        // Who says a number means it.
        most_at_once: settings.jobs.unwrap_or_else(side_by_side::at_once),
        isolation: asked.isolation,
        budget: settings.budget_of(asked),
        polluters: asked.search(),
        victim: victim.transpose()?.map(|at| ids[at].clone()),
        sought: asked.sought(),
        shuffles: asked.shuffles.unwrap_or(hunt::HuntSettings::default().shuffles),
        strategy,
    })
}
