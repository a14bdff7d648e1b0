//! The JVMs in which an order of tests runs: one for each module, used in turn.
//!
//! A worker runs ahead to the end of a class, so results may come before they are asked for. They
//! are kept, and a rerun waits for the end of the class.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use flakeproof_core::{Execution, Isolation, State, TestId};

use super::JvmSession;
use super::launch::Purpose;
use super::live::{Heard, Jvm, is_measuring};
use super::project::Sharing;
use super::shuffling::Shuffling;
use crate::adapter::{Environment, Error, Measuring, Probe, Result, Then};

/// JVMs that start when they are needed, and live until the end.
#[derive(Debug)]
pub(super) struct JvmEnvironment {
    session: Arc<JvmSession>,
    isolation: Isolation,
    order: Vec<TestId>,
    then: Then,
    /// The next position of the order that is asked for.
    next: usize,
    /// Executions from there on that have happened already.
    kept: VecDeque<Execution>,
    /// By module.
    jvms: BTreeMap<usize, LiveJvm>,
    /// The module whose JVM runs the announced order.
    running: Option<usize>,
    /// Why the environment is gone.
    lost: Option<String>,
    /// What decides the orders that are left open, if not the JDK.
    shuffling: Option<Shuffling>,
}

#[derive(Debug)]
struct LiveJvm {
    jvm: Jvm,
    /// The only class that may run there, where classes do not share JVMs.
    class: Option<String>,
}

impl JvmEnvironment {
    pub(super) fn new(session: &Arc<JvmSession>, isolation: Isolation) -> Self {
        Self {
            session: Arc::clone(session),
            isolation,
            order: Vec::new(),
            then: Then::End,
            next: 0,
            kept: VecDeque::new(),
            jvms: BTreeMap::new(),
            running: None,
            lost: None,
            shuffling: None,
        }
    }

    /// The same in new JVMs with other orders where they are left open.
    pub(super) fn shuffled(session: &Arc<JvmSession>, shuffling: Shuffling) -> Self {
        Self { shuffling: Some(shuffling), ..Self::new(session, Isolation::Spawn) }
    }

    /// What its JVMs wrote down of the calls that got a shuffled order.
    pub(super) fn shuffled_calls(&self) -> Vec<String> {
        self.jvms.values().flat_map(|live| live.jvm.shuffled_calls()).collect()
    }

    /// Run the next test of the order.
    fn run_next(&mut self, probe: Probe) -> Result<Execution> {
        loop {
            if let Some(mut execution) = self.kept.pop_front() {
                self.next += 1;
                self.measure(&mut execution, probe);
                return Ok(execution);
            }
            self.check_alive()?;
            self.get_going(probe)?;
            self.listen()?;
        }
    }

    /// Run a test that is not the next one.
    fn rerun(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        while self.running.is_some() {
            self.listen()?;
        }
        self.check_alive()?;
        let (module, class) = self.home_of(test)?;
        if let Some(live) = self.jvms.get(&module)
            && live.class != class
        {
            let cause = "the class ran in a JVM of its own, which has ended".into();
            return Err(Error::EnvironmentLost { cause });
        }
        let jvm = self.jvm(module, class, probe)?;
        jvm.rerun(test, probe)?;
        let mut found = None;
        loop {
            match jvm.hear()? {
                Heard::Ended(execution) => found = Some(*execution),
                Heard::Paused => break,
                Heard::Lost { cause, of } => {
                    self.lost = Some(cause.clone());
                    let of = of.filter(|execution| execution.test == *test);
                    return of.map(|it| *it).ok_or(Error::EnvironmentLost { cause });
                }
            }
        }
        let mut execution = found.filter(|execution| execution.test == *test);
        if let Some(execution) = &mut execution {
            self.measure(execution, probe);
        }
        execution.ok_or_else(|| Error::Agent(format!("`{test}` was run again without a result")))
    }

    /// See to it that a JVM runs the order from the first position that has not happened.
    fn get_going(&mut self, probe: Probe) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        let module = self.prepare(probe)?;
        let live = self.jvms.get_mut(&module);
        let live = live.ok_or_else(|| Error::Agent("a JVM that was not started".into()))?;
        live.jvm.go_on(probe)?;
        self.running = Some(module);
        Ok(())
    }

    /// Start the JVM of the next tests and announce them there; give its module.
    fn prepare(&mut self, probe: Probe) -> Result<usize> {
        let position = self.next + self.kept.len();
        let first = self.order.get(position).cloned();
        let first = first.ok_or_else(|| Error::Agent("the order is at its end".into()))?;
        let (module, class) = self.home_of(&first)?;
        let mut end = position + 1;
        while let Some(test) = self.order.get(end)
            && self.home_of(test)? == (module, class.clone())
        {
            end += 1;
        }
        let upcoming = self.order[position..end].to_vec();
        let then = if end < self.order.len() { Then::End } else { self.then.clone() };
        self.make_room(module, class.as_ref());
        let jvm = self.jvm(module, class, probe)?;
        if jvm.left() != upcoming {
            jvm.announce(&upcoming, &then)?;
        }
        Ok(module)
    }

    /// The module of a test, and its class where classes do not share JVMs.
    fn home_of(&self, test: &TestId) -> Result<(usize, Option<String>)> {
        let project = self.session.project()?;
        let place = project.place(test);
        let place = place.ok_or_else(|| Error::UnknownTest { test: test.clone() })?;
        let sharing = project.modules.get(place.module).map(|it| it.module.sharing);
        let class = match sharing {
            Some(Sharing::OneClass) => Some(place.top_class().to_owned()),
            Some(Sharing::All) | None => None,
        };
        Ok((place.module, class))
    }

    /// End a JVM that was for another class.
    fn make_room(&mut self, module: usize, class: Option<&String>) {
        let is_other = |live: &LiveJvm| live.class.as_ref() != class;
        if self.jvms.get(&module).is_some_and(is_other)
            && let Some(other) = self.jvms.remove(&module)
        {
            // Its tests are over; how it ends is the outcome of none of them.
            let _ = self.put_away(module, other.jvm);
        }
    }

    /// The JVM of a module, started if there is none.
    fn jvm(&mut self, module: usize, class: Option<String>, probe: Probe) -> Result<&mut Jvm> {
        let live = match self.jvms.remove(&module) {
            Some(live) => live,
            None => LiveJvm { jvm: self.new_jvm(module, probe)?, class },
        };
        Ok(&mut self.jvms.entry(module).or_insert(live).jvm)
    }

    fn new_jvm(&self, module: usize, probe: Probe) -> Result<Jvm> {
        let (granularity, attempt) = (probe.dependencies, probe.attempt);
        match self.isolation {
            Isolation::Fork
                if !is_measuring(probe) && probe.features == Measuring::Off && attempt == 1 =>
            {
                self.session.module(module)?.warmth.take(&self.session, module)
            }
            Isolation::Fork | Isolation::Spawn | Isolation::Same => {
                let (shuffle, features) = (self.shuffling.as_ref(), probe.features);
                let purpose = Purpose::One { granularity, attempt, shuffle, features };
                match purpose.is_plain() {
                    true => self.plain_jvm(module),
                    false => Jvm::start(&self.session, module, purpose),
                }
            }
        }
    }

    /// A new JVM in which nothing is measured; one may have started already.
    fn plain_jvm(&self, number: usize) -> Result<Jvm> {
        let module = self.session.module(number)?;
        let jvm = match module.spare.take(&self.session) {
            Some(jvm) => jvm,
            None => Jvm::start(&self.session, number, Purpose::PLAIN)?,
        };
        if module.warmth.needs_another_new_one() {
            module.spare.start(&self.session, number, || Purpose::PLAIN);
        }
        Ok(jvm)
    }

    /// End a JVM, or keep it for another environment.
    fn put_away(&self, module: usize, jvm: Jvm) -> Result<()> {
        match self.isolation {
            Isolation::Fork if self.lost.is_none() => {
                self.session.module(module)?.warmth.put_away(jvm);
                Ok(())
            }
            Isolation::Fork | Isolation::Spawn | Isolation::Same => jvm.close(self.isolation),
        }
    }

    /// Take in the next thing that happens in the JVM that runs the order.
    fn listen(&mut self) -> Result<()> {
        let Some(module) = self.running else { return Ok(()) };
        let live = self.jvms.get_mut(&module);
        let live = live.ok_or_else(|| Error::Agent("a JVM that was not started".into()))?;
        match live.jvm.hear()? {
            Heard::Ended(execution) => self.keep(*execution)?,
            Heard::Paused => self.running = None,
            Heard::Lost { cause, of } => {
                self.running = None;
                self.lost = Some(cause);
                if let Some(execution) = of {
                    self.keep(*execution)?;
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, execution: Execution) -> Result<()> {
        let expected = self.order.get(self.next + self.kept.len());
        if expected != Some(&execution.test) {
            let test = &execution.test;
            return Err(Error::Agent(format!("`{test}` ran out of the announced order")));
        }
        self.kept.push_back(execution);
        Ok(())
    }

    fn check_alive(&mut self) -> Result<()> {
        let is_gone = |live: &LiveJvm| !live.jvm.is_running() && live.jvm.is_gone();
        if self.lost.is_none() && self.jvms.values().any(is_gone) {
            self.lost = Some("a JVM ended while no test ran in it".into());
        }
        match &self.lost {
            Some(cause) => Err(Error::EnvironmentLost { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    /// Add what the JVM of an execution touched, if that was asked for and is known.
    fn measure(&self, execution: &mut Execution, probe: Probe) {
        if execution.dependencies.is_some() || !is_measuring(probe) {
            return;
        }
        let module = self.home_of(&execution.test).ok().map(|(module, _)| module);
        let live = module.and_then(|module| self.jvms.get(&module));
        execution.dependencies =
            live.filter(|live| live.jvm.is_measured()).and_then(|live| live.jvm.dependencies());
    }
}

impl Environment for JvmEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        for test in upcoming {
            self.home_of(test)?;
        }
        while self.running.is_some() {
            self.listen()?;
        }
        self.check_alive()?;
        self.order = upcoming.to_vec();
        self.then = then;
        self.next = 0;
        self.kept.clear();
        Ok(())
    }

    fn get_ready(&mut self) -> Result<()> {
        if self.running.is_none() && self.next + self.kept.len() < self.order.len() {
            self.prepare(Probe::attempt(1))?;
        }
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        if self.order.get(self.next) == Some(test) {
            return self.run_next(probe);
        }
        self.rerun(test, probe)
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible { what: "a snapshot".into(), why: super::NO_COPIES.into() })
    }

    fn look(&mut self) -> Result<State> {
        while self.running.is_some() {
            self.listen()?;
        }
        self.check_alive()?;
        match (self.isolation, self.jvms.values_mut().next()) {
            (Isolation::Fork, Some(live)) => live.jvm.look(),
            // What was at the beginning comes with the next picture.
            (Isolation::Fork, None) => Ok(State::default()),
            (Isolation::Spawn | Isolation::Same, _) => Err(Error::NotPossible {
                what: "a look at what tests leave behind".into(),
                why: "the worker sees it in a warm JVM only".into(),
            }),
        }
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        // A warm JVM is put away only when its tests have ended.
        while self.isolation == Isolation::Fork && self.running.is_some() {
            self.listen()?;
        }
        let mut ended = Ok(());
        for (module, live) in std::mem::take(&mut self.jvms) {
            let closed = self.put_away(module, live.jvm);
            ended = ended.and(closed);
        }
        ended
    }
}
