//! Tests one after another, in the processes in which cargo would run them.
//!
//! The tests of a binary share a process of Rust's own harness, which runs them in its own order, or
//! shuffled by a seed (see `switch`), and cannot run one of them again. So an order that the harness
//! cannot be brought to is refused rather than torn into processes that share nothing, and a test
//! that is run again gets a new process in which first everything runs that ran before it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flakeproof_core::{Execution, Measured, Outcome, State, TestId};

use super::command::Runner;
use super::found::{Binary, Found, Group, Place, Way};
use super::live::{Ahead, HeldWork, Live, Start};
use super::measure::Measure;
use super::piece::TestResult;
use super::process::Section;
use super::session::{Bequest, CargoSession, THREADS, Variables};
use super::switch::{ALLOWANCE, Launch, Switch};
use super::{apart, execution};
use crate::adapter::{Environment, Error, Measuring, Probe, Result, Then};
use crate::adapters::command;
use crate::lock::locked;
use crate::process::{Death, Instructions};

/// Where tests run.
#[derive(Debug)]
pub(super) struct CargoEnvironment {
    session: Arc<CargoSession>,
    standing: Standing,
    /// The announced order.
    order: Vec<Place>,
    /// The next position of the order.
    next: usize,
    /// What ran here before, in order.
    before: Vec<Place>,
    live: Option<Live>,
    /// The process after it.
    ahead: Option<Ahead>,
    /// How tests ended that are still to be asked for, in a process that is gone.
    known: HashMap<Place, TestResult>,
    /// What it came to for tests that ran when their process died.
    judged: HashMap<Place, Execution>,
}

/// For what an environment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The suite as the user's own command runs it.
    Suite,
    /// The same once more.
    SuiteAgain,
    /// Something else, where nothing runs at the same time.
    Apart,
}

impl CargoEnvironment {
    pub(super) fn new(session: &Arc<CargoSession>, standing: Standing) -> Self {
        Self {
            session: Arc::clone(session),
            standing,
            order: Vec::new(),
            next: 0,
            before: Vec::new(),
            live: None,
            ahead: None,
            known: HashMap::new(),
            judged: HashMap::new(),
        }
    }

    fn is_the_suites_own(&self) -> bool {
        self.standing != Standing::Apart
    }

    fn place(&self, test: &TestId) -> Result<Place> {
        let place = self.session.found()?.places.get(test).copied();
        place.ok_or_else(|| Error::UnknownTest { test: test.clone() })
    }

    /// Whether the tests of a group run in one process.
    fn is_shared(&self, group: &Group) -> bool {
        self.session.command.runner == Runner::Test && group.is_shared()
    }

    /// Run the next test of the announced order, or hear how it ended if it ran already.
    fn run_next(&mut self, place: Place, probe: Probe) -> Result<Execution> {
        let execution = if let Some(judged) = self.judged.remove(&place) {
            judged
        } else if let Some(told) = self.known.remove(&place) {
            self.execution(place, told)?
        } else {
            let is_under_way = |live: &Live| live.places.contains(&place);
            if !self.live.as_ref().is_some_and(is_under_way) {
                self.finish_live()?;
                self.start_next(probe)?;
            }
            self.hear(place, probe)?
        };
        self.next += 1;
        self.note_that_it_ran(place);
        Ok(execution)
    }

    fn note_that_it_ran(&mut self, place: Place) {
        if !self.before.contains(&place) {
            self.before.push(place);
        }
    }

    /// Start the process for what comes next.
    fn start_next(&mut self, probe: Probe) -> Result<()> {
        let Some(first) = self.order.get(self.next).copied() else { return Ok(()) };
        let rest = self.order[self.next..].iter().copied();
        let rest = rest.take_while(|place| place.group == first.group);
        let is_open =
            |place: &Place| !self.known.contains_key(place) && !self.judged.contains_key(place);
        let rest: Vec<Place> = rest.filter(is_open).collect();
        let start = self.plan(rest)?;
        self.start(start, probe)?;
        self.hold_next(first.group, probe)
    }

    /// How to run the tests of a group that come next: in the suite's own order as many at a time as
    /// cargo would run, and otherwise one after the other, after those that ran before.
    fn plan(&self, mut rest: Vec<Place>) -> Result<Start> {
        let session = &self.session;
        let Some(first) = rest.first().copied() else {
            return Err(Error::Agent("asked for a test that was not announced".into()));
        };
        let group = &session.found()?.groups[first.group];
        if !self.is_shared(group) {
            let launch = session.launches.launch(session, &[first])?;
            return Ok(Start { launch, wanted: 1, at_once: 1 });
        }
        if let (true, Way::Harness(binary), true) =
            (self.is_the_suites_own(), &group.way, rest.is_sorted())
        {
            let (wanted, at_once) = (rest.len(), session.at_once(binary));
            let places = with_the_suites_rest(session, group, rest.clone());
            if at_once > 1 && places.len() > 1 {
                return Ok(Start { launch: Launch { places, seed: None }, wanted, at_once });
            }
        }
        let mut places = self.before_in_group(first);
        places.append(&mut rest);
        let launch = session.launches.launch(session, &places)?;
        Ok(Start { launch, wanted: places.len(), at_once: 1 })
    }

    /// Run a test alone, and measure what its process uses.
    fn run_measured(&mut self, place: Place, probe: Probe) -> Result<Execution> {
        self.finish_live()?;
        let session = Arc::clone(&self.session);
        let mut alone = Self::new(&session, Standing::Apart);
        alone.start(Start::alone(place, None), probe)?;
        if let Some(live) = &mut alone.live {
            live.work.watch();
        }
        let execution = alone.hear(place, probe)?;
        let Some(live) = &mut alone.live else { return Ok(execution) };
        live.work.finish(&session)?;
        let measured = live.work.usage().map(|(used, peak)| {
            let all = command::measured(used, peak, live.measure.lines(&session));
            Box::new(Measured { run_time: execution.duration, ..all })
        });
        Ok(Execution { measured, ..execution })
    }

    /// Run a test once more, after all that had run before it.
    fn run_again(&mut self, place: Place, probe: Probe) -> Result<Execution> {
        self.finish_live()?;
        let launch = self.launch_again(self.before_in_group(place), place)?;
        let wanted = launch.places.iter().position(|it| *it == place).map_or(0, |at| at + 1);
        // Results of the process that is ahead are still to be asked for.
        let ahead = self.live.take();
        let execution = self.start(Start { launch, wanted, at_once: 1 }, probe).and_then(|()| {
            if let Some(live) = &mut self.live {
                live.is_rerun = true;
            }
            let execution = self.hear(place, probe)?;
            self.finish_what_was_not_wanted()?;
            Ok(execution)
        });
        self.live = ahead;
        self.note_that_it_ran(place);
        execution
    }

    /// Wait until no process runs: two at once could disturb each other.
    fn finish_live(&mut self) -> Result<()> {
        match &mut self.live {
            Some(live) => live.work.finish(&self.session),
            None => Ok(()),
        }
    }

    /// Wait for tests that only run because the order of others needs them: one that is killed on its
    /// way could leave half a file behind.
    fn finish_what_was_not_wanted(&mut self) -> Result<()> {
        match &self.live {
            Some(live) if live.wanted < live.places.len() => self.finish_live(),
            Some(_) | None => Ok(()),
        }
    }

    /// What ran here and shares a process with a test, up to it.
    fn before_in_group(&self, place: Place) -> Vec<Place> {
        let is_shared =
            self.session.found().is_ok_and(|it| self.is_shared(&it.groups[place.group]));
        if !is_shared {
            return Vec::new();
        }
        let others = self.before.iter().take_while(|it| **it != place);
        others.filter(|it| it.group == place.group).copied().collect()
    }

    /// How to run these tests, of which the last one was not announced where it stands now: after
    /// all that ran before it, or, where the harness cannot be brought to that, after those that it
    /// lists before it.
    fn launch_again(&self, mut places: Vec<Place>, place: Place) -> Result<Launch> {
        places.push(place);
        let launches = &self.session.launches;
        let announced: Vec<Place> =
            self.order.iter().filter(|it| it.group == place.group).copied().collect();
        match launches.launch(&self.session, &places) {
            Err(Error::NotPossible { .. }) if announced.starts_with(&places) => {
                launches.launch(&self.session, &announced)
            }
            Err(Error::NotPossible { .. }) => {
                places.retain(|it| it.index <= place.index);
                places.sort_unstable();
                launches.launch(&self.session, &places)
            }
            launch => launch,
        }
    }

    /// Start a process.
    fn start(&mut self, start: Start, probe: Probe) -> Result<()> {
        let session = Arc::clone(&self.session);
        let is_it = |ahead: &mut Ahead| ahead.start == start && ahead.probe == probe;
        let held = match self.ahead.take_if(is_it) {
            Some(ahead) => Some(ahead),
            None => self.hold(start, probe)?,
        };
        self.live = held.map(|ahead| ahead.go(session.launches.known())).transpose()?;
        Ok(())
    }

    /// Have the guard of a process started; tests that have a process of their own in any case get none here.
    fn hold(&self, start: Start, probe: Probe) -> Result<Option<Ahead>> {
        let session = &self.session;
        let found = session.found()?;
        let places = &start.launch.places;
        let Some(group) = places.first().map(|place| &found.groups[place.group]) else {
            return Err(Error::Agent("asked for a test that was not announced".into()));
        };
        let Way::Harness(binary) = &group.way else { return Ok(None) };
        let measure = Measure::begin(session, probe, group, places.len())?;
        let instructions = instructions(session, group, binary, &start, probe, &measure);
        let work = HeldWork::new(session, &instructions, group, &start)?;
        Ok(Some(Ahead { start, probe, measure, work }))
    }

    /// Have the guard of the process after this group's started, in the suite's own order.
    fn hold_next(&mut self, group: usize, probe: Probe) -> Result<()> {
        if !self.is_the_suites_own() {
            return Ok(());
        }
        let rest = self.order[self.next..].iter().skip_while(|place| place.group == group);
        let mut rest = rest.copied().peekable();
        let Some(next) = rest.peek().map(|place| place.group) else { return Ok(()) };
        let is_new = !self.before.iter().any(|place| place.group == next);
        if is_new && self.is_shared(&self.session.found()?.groups[next]) {
            let start = self.plan(rest.take_while(|place| place.group == next).collect())?;
            self.ahead = self.hold(start, probe)?;
        }
        Ok(())
    }

    /// How a test ended that runs, or ran, in the process under way.
    fn hear(&mut self, place: Place, probe: Probe) -> Result<Execution> {
        let session = Arc::clone(&self.session);
        let found = session.found()?;
        let group = &found.groups[place.group];
        let listed = &group.tests[place.index];
        let test = group.id(listed);
        let Some(live) = &mut self.live else {
            return apart::run(&session, group, listed, &test, probe);
        };
        let Some(at) = live.places.iter().position(|it| *it == place) else {
            return Err(Error::Agent(format!("`{test}` does not run in this process")));
        };
        let told = live.work.result_of(at, &session)?;
        let is_own_end =
            live.places.len() > 1 && self.standing != Standing::Apart && !live.is_rerun;
        let unexplained = live.work.unexplained_end().filter(|_| is_own_end);
        let unexplained = unexplained.map(|why| format!("`{}` {why}", test_binary(group)));
        // Where tests ran when it died, they are judged for it.
        if let (Some(why), None) = (&unexplained, live.work.died_among()) {
            locked(&session.own_failure).get_or_insert_with(|| why.clone());
        }
        let told = match told {
            // Who else than the last test is to blame is not known; the run is not clean.
            TestResult::DiedAfter(section, _) if is_own_end => TestResult::Passed(section),
            TestResult::Unclear if live.is_shuffled() => {
                let cause = format!("what was printed does not tell how `{test}` ended");
                return Err(Error::EnvironmentLost { cause });
            }
            TestResult::Unclear => {
                let Some((death, running)) = live.work.died_among() else {
                    return self.run_again(place, probe);
                };
                let running: Vec<Place> = running.into_iter().map(|at| live.places[at]).collect();
                let is_told = self.judge_a_death(death, &running, probe)?;
                if let (false, Some(why)) = (is_told, unexplained) {
                    locked(&session.own_failure).get_or_insert(why);
                }
                return match self.judged.remove(&place) {
                    Some(judged) => Ok(judged),
                    None => self.run_again(place, probe),
                };
            }
            TestResult::NeverBegan => {
                self.keep_what_is_known();
                self.start_next(probe)?;
                return self.hear(place, probe);
            }
            TestResult::Lost(printed, death) => {
                let printed = printed.trim();
                let cause = format!("{} before `{test}` ran\n{printed}", execution::died(death));
                return Err(Error::EnvironmentLost { cause });
            }
            told => told,
        };
        let execution = self.execution(place, told)?;
        match self.live.as_ref().is_some_and(|live| live.is_allowed) {
            true => self.doubted(place, execution),
            false => {
                session.controls.note(place, execution.outcome);
                Ok(execution)
            }
        }
    }

    /// Find out who ended a process in which several tests ran. One that ends its own process again and
    /// again, alone, is to blame, and the others are as they are alone; else all of them have crashed, and how
    /// they fare from here on tells. Say whether somebody is blamed for it in either way.
    fn judge_a_death(&mut self, death: Death, running: &[Place], probe: Probe) -> Result<bool> {
        let mut alone: HashMap<Place, Execution> = HashMap::new();
        let mut culprit = None;
        for place in running {
            let mut ran = self.alone(*place, probe)?;
            if ran.outcome.ends_environment() && culprit.is_none() {
                let mut times = 1;
                while times < SURELY && ran.outcome.ends_environment() {
                    ran = self.alone(*place, probe)?;
                    times += 1;
                }
                culprit = ran.outcome.ends_environment().then_some(*place);
            }
            alone.insert(*place, ran);
        }
        if culprit.is_none() {
            let session = Arc::clone(&self.session);
            let found = session.found()?;
            let id = |place: &Place| {
                let group = &found.groups[place.group];
                group.id(&group.tests[place.index])
            };
            for place in running {
                let others = running.iter().filter(|other| *other != place);
                let others: Vec<String> = others.map(|other| format!("`{}`", id(other))).collect();
                let text = match others.is_empty() {
                    true => String::new(),
                    false => format!("{} ran at the same time", others.join(", ")),
                };
                let section = Section { text, duration: Duration::ZERO };
                let message = execution::died(death);
                alone.insert(*place, execution::crashed(&id(place), &section, message));
            }
        }
        self.judged.extend(alone);
        // What somebody does by chance may hide what another does for good: the run is not clean then.
        Ok(culprit.is_none() && !running.is_empty())
    }

    /// A test in a process of its own.
    fn alone(&self, place: Place, probe: Probe) -> Result<Execution> {
        let mut other = Self::new(&self.session, Standing::Apart);
        other.start(Start::alone(place, None), probe)?;
        other.hear(place, probe)
    }

    /// What a process told about a test, with what it touched.
    fn execution(&self, place: Place, told: TestResult) -> Result<Execution> {
        let session = &self.session;
        let group = &session.found()?.groups[place.group];
        let listed = &group.tests[place.index];
        let execution = execution::execution_of(session, &group.id(listed), &listed.name, told);
        let measure = self.live.as_ref().map(|live| &live.measure);
        let dependencies = measure.and_then(|measure| measure.dependencies(session, group));
        Ok(Execution { dependencies, ..execution })
    }

    /// Keep how tests ended whose process is gone and that are still to be asked for.
    fn keep_what_is_known(&mut self) {
        let Some(live) = self.live.take().filter(|live| !live.is_rerun) else { return };
        let ahead = &self.order[self.next.min(self.order.len())..];
        for (at, told) in live.work.known_results() {
            let place = live.places[at];
            if ahead.contains(&place) {
                self.known.insert(place, told);
            }
        }
    }

    /// Leave to the environment that goes on after this one how tests ended that it will ask for: what
    /// failed here is not to get another chance.
    fn bequeath(&mut self) {
        self.keep_what_is_known();
        let Some(next) = self.order.get(self.next).copied() else { return };
        let known = std::mem::take(&mut self.known);
        let judged = std::mem::take(&mut self.judged);
        locked(&self.session.bequests).insert(next, Bequest { known, judged });
    }

    /// What a process with the variable showed, if it is not the variable's doing.
    fn doubted(&mut self, place: Place, execution: Execution) -> Result<Execution> {
        let session = Arc::clone(&self.session);
        let mut alone = |is_allowed: bool| {
            self.finish_live()?;
            let mut other = Self::new(&session, Standing::Apart);
            other.start(Start::alone(place, is_allowed.then_some(0)), Probe::attempt(1))?;
            other.outcome_of_only(place)
        };
        let outcome = execution.outcome;
        match session.controls.is_the_variables_doing(place, outcome, &mut alone)? {
            false => Ok(execution),
            true => {
                let what =
                    format!("not counted: it does something else where `{ALLOWANCE}` is set");
                let skipped =
                    execution::plain(&execution.test, Outcome::Skipped, execution.duration, "");
                Ok(Execution { note: Some(what), ..skipped })
            }
        }
    }

    /// How the only test of the process under way ended; one whose process says nothing is skipped.
    fn outcome_of_only(&mut self, place: Place) -> Result<Outcome> {
        let session = Arc::clone(&self.session);
        let found = session.found()?;
        let group = &found.groups[place.group];
        let listed = &group.tests[place.index];
        let Some(live) = &mut self.live else { return Ok(Outcome::Skipped) };
        match live.work.result_of(0, &session)? {
            TestResult::Unclear | TestResult::NeverBegan | TestResult::Lost(..) => {
                Ok(Outcome::Skipped)
            }
            told => {
                let test = group.id(listed);
                Ok(execution::execution_of(&session, &test, &listed.name, told).outcome)
            }
        }
    }

    /// Refuse an order that the harness cannot be brought to.
    fn check_order(&self, found: &Found, order: &[Place]) -> Result<()> {
        let all: Vec<Place> = self.before.iter().chain(order).copied().collect();
        for (at, place) in all.iter().enumerate().skip(self.before.len()) {
            let group = &found.groups[place.group];
            let earlier = all[..at].iter().rposition(|it| it.group == place.group);
            let Some(earlier) = earlier.filter(|_| self.is_shared(group)) else { continue };
            if earlier + 1 != at || all[..at].contains(place) {
                let ids = [earlier, at].map(|it| group.id(&group.tests[all[it].index]));
                let why = match all[..at].contains(place) {
                    true => "Rust's test harness runs a test once",
                    false => "another binary would have to run in between",
                };
                return Err(Error::NotPossible {
                    what: format!("`{}` after `{}` in one process", ids[1], ids[0]),
                    why: why.into(),
                });
            }
        }
        for together in all.chunk_by(|one, other| one.group == other.group) {
            if self.is_shared(&found.groups[together[0].group]) {
                self.session.launches.launch(&self.session, together)?;
            }
        }
        Ok(())
    }
}

/// The binary of a group, for people.
fn test_binary(group: &Group) -> &str {
    match &group.way {
        Way::Harness(binary) | Way::OwnHarness(binary) | Way::Whole(binary) => {
            binary.path.rsplit('/').next().unwrap_or(&binary.path)
        }
        Way::Documentation => "rustdoc",
    }
}

/// How to run some tests of a binary in one process.
fn instructions(
    session: &CargoSession,
    group: &Group,
    binary: &Binary,
    start: &Start,
    probe: Probe,
    measure: &Measure,
) -> Instructions {
    let (command, launch) = (&session.command, &start.launch);
    let are_all = launch.places.len() == group.tests.len();
    let names = launch.places.iter().map(|place| &*group.tests[place.index].name);
    // All of them need not be named, which could be more than a command line holds.
    let arguments = match are_all && command.runner == Runner::Test {
        true => command.harness.selecting(&command.all_filters()),
        false => command.harness.naming(names),
    };
    let mut words = measure.words_before();
    words.push(measure.program().unwrap_or(&binary.path).to_owned());
    words.extend(arguments);
    words.extend(launch.seed.iter().flat_map(|seed| Switch::arguments(*seed)));
    words.extend(["--color=never", "--format=pretty"].map(str::to_owned));
    let mut variables: Variables = binary.variables.clone();
    variables.extend(session.variables_for_tests(probe.attempt));
    if start.at_once > 1 {
        let typed = command.harness.threads.iter();
        words.extend(typed.map(|threads| format!("--test-threads={threads}")));
        variables.extend(threads_in_variables(binary));
    } else {
        words.extend(["--test-threads=1", "--nocapture"].map(str::to_owned));
    }
    variables.extend(measure.variables());
    let switch = launch.seed.and(session.launches.known());
    variables.extend(switch.map(Switch::variables).unwrap_or_default());
    if command.runner == Runner::Nextest {
        variables.extend(super::discovery::variables_of_nextest(group, &session.settings.run));
    }
    session.instructions(words, &binary.folder, variables)
}

impl Environment for CargoEnvironment {
    fn expect(&mut self, upcoming: &[TestId], _then: Then) -> Result<()> {
        self.finish_live()?;
        let order = upcoming.iter().map(|test| self.place(test)).collect::<Result<Vec<_>>>()?;
        let session = Arc::clone(&self.session);
        self.check_order(session.found()?, &order)?;
        let next = order.first().filter(|_| self.is_the_suites_own());
        let bequest = next.and_then(|next| locked(&session.bequests).remove(next));
        let bequest = bequest.unwrap_or_default();
        (self.known, self.judged) = (bequest.known, bequest.judged);
        if self.standing == Standing::Suite {
            locked(&session.suite).push(order.clone());
        }
        (self.order, self.next, self.live, self.ahead) = (order, 0, None, None);
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let place = self.place(test)?;
        if probe.features == Measuring::On {
            return self.run_measured(place, probe);
        }
        let execution = match self.order.get(self.next) == Some(&place) {
            true => self.run_next(place, probe),
            false => self.run_again(place, probe),
        }?;
        if self.is_the_suites_own() && execution.outcome.ends_environment() {
            self.bequeath();
        }
        Ok(execution)
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible {
            what: "a snapshot".into(),
            why: "a compiled program cannot be copied while it runs".into(),
        })
    }

    fn look(&mut self) -> Result<State> {
        Err(Error::NotPossible {
            what: "a look at what tests leave behind".into(),
            why: "a compiled program does not tell what it holds".into(),
        })
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        // All that was asked for has ended; what was announced and not asked for dies with its guard.
        self.finish_what_was_not_wanted()
    }
}

/// All that the suite has of a group, where these tests are its beginning: who runs beside them
/// belongs to how they run.
fn with_the_suites_rest(session: &CargoSession, group: &Group, tests: Vec<Place>) -> Vec<Place> {
    let number = tests.first().map_or(0, |place| place.group);
    let of_group = |part: &Vec<Place>| -> Vec<Place> {
        part.iter().filter(|place| place.group == number).copied().collect()
    };
    let parts = locked(&session.suite);
    let all: Vec<Vec<Place>> = match parts.is_empty() {
        true => vec![(0..group.tests.len()).map(|index| Place { group: number, index }).collect()],
        false => parts.iter().map(of_group).collect(),
    };
    all.into_iter().find(|all| all.starts_with(&tests)).unwrap_or(tests)
}

/// So often in a row a test must end its process to be the one that ended that of several.
const SURELY: usize = 3;

/// What tells the harness how many tests run at a time, as cargo would give it.
fn threads_in_variables(binary: &Binary) -> Variables {
    let typed = binary.variables.get(THREADS).cloned().flatten();
    let threads = typed.or_else(|| std::env::var(THREADS).ok());
    let kept = [(THREADS, threads), ("RUST_TEST_NOCAPTURE", None)];
    kept.map(|(name, value)| (name.to_owned(), value)).into()
}
