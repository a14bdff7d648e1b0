//! Tests one after another, in the processes in which cargo would run them.
//!
//! The tests of a binary share a process of Rust's own harness, which runs them in its own order, or
//! shuffled by a seed (see `switch`), and cannot run one of them again. So an order that the harness
//! cannot be brought to is refused rather than torn into processes that share nothing, and a test
//! that is run again gets a new process in which first everything runs that ran before it.
//!
//! Tests in documentation are each run by cargo and rustdoc in a process of their own. rustdoc
//! takes its arguments apart at spaces, and the names of these tests have some. So a test is named
//! by a part of its name without any, and what that selects besides it is left out by parts of the
//! other names. Where that does not succeed, others run along, and only this one's line is read.

use std::sync::Arc;
use std::time::Duration;

use flakeproof_core::{
    Execution, Failure, Location, Measured, Outcome, Phase, Signature, State, TestId,
};

use super::command::Runner;
use super::execution;
use super::found::{Binary, Found, Group, Listed, Place, Target, Way};
use super::measure::{self, Measure};
use super::piece::{HeldPiece, Piece, PieceTest, TestResult};
use super::process::{self, Foretold, Process, Section};
use super::session::{CargoSession, Variables};
use super::switch::{ALLOWANCE, Launch, Switch};
use crate::adapter::{Environment, Error, Measuring, Probe, Result, Then};
use crate::adapters::command;
use crate::lock::locked;
use crate::process::{Death, End, Instructions, run_to_end};

/// Where tests run.
#[derive(Debug)]
pub(super) struct CargoEnvironment {
    session: Arc<CargoSession>,
    is_the_suites_own: bool,
    /// The announced order.
    order: Vec<Place>,
    /// The next position of the order.
    next: usize,
    /// What ran here before, in order.
    before: Vec<Place>,
    live: Option<Live>,
    /// The process after it.
    ahead: Option<Ahead>,
}

/// A process that waits for the one before it to end: its guard takes longer to start than some tests do.
#[derive(Debug)]
struct Ahead {
    launch: Launch,
    probe: Probe,
    measure: Measure,
    piece: HeldPiece,
}

/// A process that is under way.
#[derive(Debug)]
struct Live {
    piece: Piece,
    /// All that it runs, in order.
    places: Vec<Place>,
    /// So many of them were wanted; the others run because the order of these needs them.
    wanted: usize,
    /// Whether its tests see the variable that allows shuffled orders.
    is_allowed: bool,
    measure: Measure,
    /// Whether it runs a test again, after all that ran before it.
    is_rerun: bool,
}

impl CargoEnvironment {
    pub(super) fn new(session: &Arc<CargoSession>, is_the_suites_own: bool) -> Self {
        Self {
            session: Arc::clone(session),
            is_the_suites_own,
            order: Vec::new(),
            next: 0,
            before: Vec::new(),
            live: None,
            ahead: None,
        }
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
        let is_under_way = self.live.as_ref().is_some_and(|live| live.places.contains(&place));
        if !is_under_way {
            self.finish_live()?;
            let places = self.rest_of_group();
            let launch = self.session.launches.launch(&self.session, &places)?;
            self.start(launch, places.len(), probe)?;
            self.hold_next(place.group, probe)?;
        }
        let execution = self.hear(place, probe)?;
        (self.next, _) = (self.next + 1, self.before.push(place));
        Ok(execution)
    }

    /// Run a test alone, and measure what its process uses.
    fn run_measured(&mut self, place: Place, probe: Probe) -> Result<Execution> {
        self.finish_live()?;
        let session = Arc::clone(&self.session);
        let mut alone = Self::new(&session, false);
        alone.start(Launch { places: vec![place], seed: None }, 1, probe)?;
        if let Some(live) = &mut alone.live {
            live.piece.watch();
        }
        let execution = alone.hear(place, probe)?;
        let Some(live) = &mut alone.live else { return Ok(execution) };
        live.piece.finish(&session)?;
        let measured = live.piece.usage().map(|(used, peak)| {
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
        let execution = self.start(launch, wanted, probe).and_then(|()| {
            if let Some(live) = &mut self.live {
                live.is_rerun = true;
            }
            let execution = self.hear(place, probe)?;
            self.finish_what_was_not_wanted()?;
            Ok(execution)
        });
        self.live = ahead;
        if !self.before.contains(&place) {
            self.before.push(place);
        }
        execution
    }

    /// Wait until no process runs: two at once could disturb each other.
    fn finish_live(&mut self) -> Result<()> {
        match &mut self.live {
            Some(live) => live.piece.finish(&self.session),
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

    /// The tests that run in one process from here on, after those that ran before.
    fn rest_of_group(&self) -> Vec<Place> {
        let rest = &self.order[self.next..];
        let Some(first) = rest.first() else { return Vec::new() };
        let is_shared =
            self.session.found().is_ok_and(|it| self.is_shared(&it.groups[first.group]));
        if !is_shared {
            return vec![*first];
        }
        let mut places = self.before_in_group(*first);
        places.extend(rest.iter().take_while(|place| place.group == first.group));
        places
    }

    /// Start a process, of whose tests so many are wanted.
    fn start(&mut self, launch: Launch, wanted: usize, probe: Probe) -> Result<()> {
        let session = Arc::clone(&self.session);
        let is_it = |ahead: &mut Ahead| ahead.launch == launch && ahead.probe == probe;
        let held = match self.ahead.take_if(is_it) {
            Some(ahead) => Some(ahead),
            None => self.hold(launch, probe)?,
        };
        let Some(Ahead { launch, measure, piece, .. }) = held else {
            self.live = None;
            return Ok(());
        };
        let piece = piece.start()?;
        let switch = launch.seed.and(session.launches.known());
        let is_allowed = switch.is_some_and(|switch| switch.needs_allowance);
        let places = launch.places;
        self.live = Some(Live { piece, places, wanted, is_allowed, measure, is_rerun: false });
        Ok(())
    }

    /// Have the guard of a process started; tests that have a process of their own in any case get none here.
    fn hold(&self, launch: Launch, probe: Probe) -> Result<Option<Ahead>> {
        let session = &self.session;
        let found = session.found()?;
        let Some(group) = launch.places.first().map(|place| &found.groups[place.group]) else {
            return Err(Error::Agent("asked for a test that was not announced".into()));
        };
        let Way::Harness(binary) = &group.way else { return Ok(None) };
        let measure = Measure::begin(session, probe, group, launch.places.len())?;
        let instructions = instructions(session, group, binary, &launch, probe, &measure);
        let listed = launch.places.iter().map(|place| &group.tests[place.index]);
        let tests = listed
            .map(|test| PieceTest { name: test.name.clone(), is_ignored: test.is_ignored })
            .collect();
        let foretold = launch.seed.map_or(Foretold::Listed, |_| Foretold::Shuffled);
        let piece = HeldPiece::new(session, &instructions, tests, foretold)?;
        Ok(Some(Ahead { launch, probe, measure, piece }))
    }

    /// Have the guard of the process after this group's started, in the suite's own order.
    fn hold_next(&mut self, group: usize, probe: Probe) -> Result<()> {
        if !self.is_the_suites_own {
            return Ok(());
        }
        let rest = self.order[self.next..].iter().skip_while(|place| place.group == group);
        let mut rest = rest.copied().peekable();
        let Some(next) = rest.peek().map(|place| place.group) else { return Ok(()) };
        let is_new = !self.before.iter().any(|place| place.group == next);
        if is_new && self.is_shared(&self.session.found()?.groups[next]) {
            let places: Vec<Place> = rest.take_while(|place| place.group == next).collect();
            let launch = self.session.launches.launch(&self.session, &places)?;
            self.ahead = self.hold(launch, probe)?;
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
            return self.run_alone(found, place, &test, probe);
        };
        let Some(at) = live.places.iter().position(|it| *it == place) else {
            return Err(Error::Agent(format!("`{test}` does not run in this process")));
        };
        let told = live.piece.result_of(at, &session)?;
        let is_own_end = live.places.len() > 1 && self.is_the_suites_own && !live.is_rerun;
        if let (true, Some(death)) = (is_own_end, live.piece.unexplained_end()) {
            let why = format!("`{}` ends with {death} after its last test", test_binary(group));
            locked(&session.own_failure).get_or_insert(why);
        }
        let told = match told {
            // Who else than the last test is to blame is not known; the run is not clean.
            TestResult::DiedAfter(section, _) if is_own_end => TestResult::Passed(section),
            TestResult::Unclear if live.is_shuffled() => {
                let cause = format!("what was printed does not tell how `{test}` ended");
                return Err(Error::EnvironmentLost { cause });
            }
            TestResult::Unclear => return self.run_again(place, probe),
            TestResult::Lost(printed, death) => {
                let printed = printed.trim();
                let cause = format!("{} before `{test}` ran\n{printed}", execution::died(death));
                return Err(Error::EnvironmentLost { cause });
            }
            told => told,
        };
        let mut execution = execution::execution_of(&session, &test, &listed.name, told);
        execution.dependencies = live.measure.dependencies(&session, group);
        if live.is_allowed {
            return self.doubted(place, execution);
        }
        session.controls.note(place, execution.outcome);
        Ok(execution)
    }

    /// What a process with the variable showed, if it is not the variable's doing.
    fn doubted(&mut self, place: Place, execution: Execution) -> Result<Execution> {
        let session = Arc::clone(&self.session);
        let mut alone = |is_allowed: bool| {
            self.finish_live()?;
            let mut other = Self::new(&session, false);
            let launch = Launch { places: vec![place], seed: is_allowed.then_some(0) };
            other.start(launch, 1, Probe::attempt(1))?;
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
        match live.piece.result_of(0, &session)? {
            TestResult::Unclear | TestResult::Lost(..) => Ok(Outcome::Skipped),
            told => {
                let test = group.id(listed);
                Ok(execution::execution_of(&session, &test, &listed.name, told).outcome)
            }
        }
    }

    /// Run a test that has a process of its own in any case.
    fn run_alone(
        &self,
        found: &Found,
        place: Place,
        test: &TestId,
        probe: Probe,
    ) -> Result<Execution> {
        let group = &found.groups[place.group];
        let listed = &group.tests[place.index];
        let session = &self.session;
        let mut execution = match &group.way {
            Way::Documentation => run_documented(session, group, listed, test, probe)?,
            Way::OwnHarness(binary) | Way::Whole(binary) => {
                run_whole(session, binary, listed, test, probe)?
            }
            Way::Harness(_) => return Err(Error::Agent(format!("`{test}` was not started"))),
        };
        execution.dependencies = measure::by_crates(session, probe, group);
        Ok(execution)
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

impl Live {
    /// Whether its order is another than the harness's own.
    fn is_shuffled(&self) -> bool {
        !self.places.is_sorted_by(|first, second| first.index < second.index)
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
    launch: &Launch,
    probe: Probe,
    measure: &Measure,
) -> Instructions {
    let command = &session.command;
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
    let shown = ["--test-threads=1", "--nocapture", "--color=never", "--format=pretty"];
    words.extend(shown.map(str::to_owned));
    let mut variables: Variables = binary.variables.clone();
    variables.extend(session.variables_for_tests(probe.attempt));
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
        (self.order, self.next, self.live, self.ahead) = (order, 0, None, None);
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let place = self.place(test)?;
        if probe.features == Measuring::On {
            return self.run_measured(place, probe);
        }
        match self.order.get(self.next) == Some(&place) {
            true => self.run_next(place, probe),
            false => self.run_again(place, probe),
        }
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

/// Run a test of a harness of the project's own, or a binary that is one test.
pub(super) fn run_whole(
    session: &CargoSession,
    binary: &Binary,
    listed: &Listed,
    test: &TestId,
    probe: Probe,
) -> Result<Execution> {
    let mut command = vec![binary.path.clone()];
    if listed.name.is_empty() {
        command.extend(session.command.filters.iter().cloned());
        command.extend(session.command.harness.typed.iter().cloned());
    } else {
        command.extend(session.command.harness.naming(std::iter::once(&*listed.name)));
    }
    let mut variables = binary.variables.clone();
    variables.extend(session.variables_for_tests(probe.attempt));
    let instructions = session.instructions(command, &binary.folder, variables);
    let limit = session.settings.timeout;
    let mut where_it_hangs = String::new();
    let ended = run_to_end(&session.hub, &instructions, limit, &session.settings.cancel, |pid| {
        where_it_hangs = process::describe_threads(pid);
    })?;
    let text = [ended.stdout.trim_end(), ended.stderr.trim_end()].join("\n");
    let section = Section { text, duration: ended.duration };
    Ok(match ended.how {
        End::Died(Death::Exit(0)) => {
            execution::plain(test, Outcome::Passed, section.duration, &section.text)
        }
        End::Died(death @ Death::Exit(_)) => failed(test, &section, death),
        End::Died(death @ Death::Signal(_)) => {
            execution::crashed(test, &section, execution::died(death))
        }
        End::TimedOut => execution::timed_out(session, test, &section, &where_it_hangs),
    })
}

fn failed(test: &TestId, section: &Section, death: Death) -> Execution {
    let message = format!("the program ended with {death}");
    let own = Location { file: test.to_string(), line: None };
    let failure = Failure {
        phase: Phase::Call,
        signature: Signature::compute(&message, Some(&own)),
        text: format!("{message}\n\n{}", section.text.trim()),
        message,
        location: None,
    };
    let execution = execution::plain(test, Outcome::Failed, section.duration, &section.text);
    Execution { failure: Some(failure), ..execution }
}

/// How long rustdoc may take to compile, on top of the limit for a test.
const COMPILING: Duration = Duration::from_secs(60);

/// Run one test in documentation.
fn run_documented(
    session: &CargoSession,
    group: &Group,
    listed: &Listed,
    test: &TestId,
    probe: Probe,
) -> Result<Execution> {
    let names: Vec<&str> = group.tests.iter().map(|test| test.name.as_str()).collect();
    let mut command = session.command.cargo(&["test", "--color", "never"]);
    command.extend(session.command.only_building());
    command.extend(["-p".to_owned(), group.package.clone()]);
    command.extend(Target::Documentation.options());
    command.push("--".to_owned());
    command.extend(session.command.harness.for_any());
    command.extend(selection(&listed.name, &names));
    command.extend(["--test-threads=1", "--color=never", "--format=pretty"].map(str::to_owned));
    let variables = session.variables_for_tests(probe.attempt);
    let instructions = session.instructions(command, &session.settings.folder, variables);
    let limit = session.settings.timeout.map(|limit| limit + COMPILING);
    let (how, text, duration) = Process::run_merged(session, &instructions, limit)?;
    let section = Section { text, duration };
    Ok(match (how, result_line(&section.text, &listed.name)) {
        (_, Some("ok")) => execution::plain(test, Outcome::Passed, duration, ""),
        (_, Some("FAILED")) => failed_in_documentation(test, &listed.name, &section),
        (_, Some(ignored)) if ignored.starts_with("ignored") => {
            execution::plain(test, Outcome::Skipped, duration, "")
        }
        (End::TimedOut, _) => execution::timed_out(session, test, &section, ""),
        (End::Died(death), _) => execution::crashed(test, &section, execution::died(death)),
    })
}

/// The arguments that select a test, and as few others as possible.
fn selection(name: &str, names: &[&str]) -> Vec<String> {
    let selected = |part: &str| names.iter().filter(|other| other.contains(part)).count();
    // The line number is at the end, and tells most.
    let parts = name.split_whitespace().rev();
    let Some(part) = parts.min_by_key(|part| selected(part)) else { return Vec::new() };
    let mut arguments = vec![part.to_owned()];
    let mut others: Vec<&str> =
        names.iter().copied().filter(|other| *other != name && other.contains(part)).collect();
    while let Some(other) = others.pop() {
        let skipped = other.split_whitespace().rev().find(|part| !name.contains(part));
        if let Some(skipped) = skipped {
            arguments.extend(["--skip".to_owned(), skipped.to_owned()]);
            others.retain(|other| !other.contains(skipped));
        }
    }
    arguments
}

/// The result in the line `test src/lib.rs - add (line 3) ... ok`.
fn result_line<'a>(printed: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("test {name}");
    let rest = printed.lines().filter_map(|line| line.strip_prefix(start.as_str()));
    rest.filter_map(|rest| rest.split_once(" ... ")).map(|(_, result)| result.trim()).next_back()
}

fn failed_in_documentation(test: &TestId, name: &str, section: &Section) -> Execution {
    let head = format!("---- {name} stdout ----\n");
    let text = section.text.find(&head).map_or("", |at| &section.text[at + head.len()..]);
    let text = text[..text.find("\n\nfailures:\n").unwrap_or(text.len())].trim();
    let found = execution::failure(test, "main", text, None);
    let compiling = text.lines().find(|line| line.starts_with("error"));
    let message = compiling.map_or(found.message, str::to_owned);
    let location = place_in_documentation(name);
    let failure = Failure {
        phase: Phase::Call,
        signature: Signature::compute(&message, location.as_ref()),
        message,
        text: text.to_owned(),
        location,
    };
    let execution = execution::plain(test, Outcome::Failed, section.duration, "");
    Execution { failure: Some(failure), ..execution }
}

/// Where a test in documentation is written: `src/lib.rs - add (line 3)`.
pub(super) fn place_in_documentation(name: &str) -> Option<Location> {
    let (file, rest) = name.split_once(" - ")?;
    let line =
        rest.rsplit_once("(line ").and_then(|(_, line)| line.split(')').next()?.parse().ok());
    Some(Location { file: file.to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(name: &str, names: &[&str]) -> Vec<String> {
        let arguments = selection(name, names);
        let (part, skipped) = arguments.split_first().expect("a part of the name");
        let skipped: Vec<&String> = skipped.iter().filter(|it| *it != "--skip").collect();
        let runs =
            |it: &&&str| it.contains(part.as_str()) && !skipped.iter().any(|s| it.contains(*s));
        names.iter().filter(runs).map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_name_with_spaces_is_selected_by_parts() {
        let names = [
            "src/lib.rs - add (line 3)",
            "src/lib.rs - add (line 13)",
            "src/lib.rs - sub (line 23)",
            "src/a.rs - add (line 3)",
            "src/a.rs - add (line 31) - compile_fail",
        ];
        for name in names {
            assert_eq!(runs(name, &names), [name]);
        }
    }

    #[test]
    fn the_line_of_the_test_is_read_and_no_other() {
        let printed =
            "test src/lib.rs - a (line 3) ... ok\ntest src/lib.rs - b (line 9) ... FAILED";
        assert_eq!(result_line(printed, "src/lib.rs - a (line 3)"), Some("ok"));
        assert_eq!(result_line(printed, "src/lib.rs - b (line 9)"), Some("FAILED"));
        assert_eq!(result_line(printed, "src/lib.rs - c (line 1)"), None);
        let place = place_in_documentation("src/lib.rs - a (line 3) - compile").expect("a place");
        assert_eq!((place.file.as_str(), place.line), ("src/lib.rs", Some(3)));
    }
}
