//! Which tests are being waited for, so that one that takes long can be named while it does.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use flakeproof_core::{
    Execution, Isolation, LeverName, Notice, Shuffle, State, Suite, Surroundings, TestId,
};

use crate::adapter::{
    Adapter, Capabilities, Environment, Error, OpenOrders, Probe, Result, Then, Workers,
};
use crate::levers::RandomNumbers;

/// The tests whose outcome somebody waits for at this moment.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    next: Arc<AtomicU64>,
    tests: Arc<Mutex<Vec<(u64, TestId, Instant)>>>,
    given_up: Arc<Mutex<Option<TestId>>>,
}

impl Waiting {
    /// The test that is waited for longest, and for how long.
    #[must_use]
    pub fn longest(&self) -> Option<(TestId, Duration)> {
        let tests = self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        tests.first().map(|(_, test, begin)| (test.clone(), begin.elapsed()))
    }

    /// The last test that was running when its work was cancelled.
    #[must_use]
    pub fn given_up(&self) -> Option<TestId> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn begin(&self, test: &TestId) -> Wait<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut tests = self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        tests.push((number, test.clone(), Instant::now()));
        Wait { waiting: self, number }
    }
}

/// One test is waited for as long as this lives.
struct Wait<'a> {
    waiting: &'a Waiting,
    number: u64,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut tests = self.waiting.tests.lock().unwrap_or_else(PoisonError::into_inner);
        tests.retain(|(number, _, _)| *number != self.number);
    }
}

/// An adapter whose environments say what they wait for.
pub struct Watched {
    adapter: Box<dyn Adapter>,
    waiting: Waiting,
}

impl Watched {
    /// Watch what the environments of an adapter wait for.
    #[must_use]
    pub fn new(adapter: Box<dyn Adapter>, waiting: Waiting) -> Self {
        Self { adapter, waiting }
    }

    fn watch(&self, environment: Box<dyn Environment>) -> Box<dyn Environment> {
        Box::new(WatchedEnvironment { environment, waiting: self.waiting.clone() })
    }
}

impl Adapter for Watched {
    fn discover(&self) -> Result<Suite> {
        self.adapter.discover()
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        Ok(self.watch(self.adapter.open(how)?))
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        Ok(self.watch(self.adapter.reopen(order, then)?))
    }

    fn narrow(&self, part: &[TestId]) -> Result<Vec<Notice>> {
        self.adapter.narrow(part)
    }

    fn open_orders(&self) -> OpenOrders {
        self.adapter.open_orders()
    }

    fn open_shuffled(&self, shuffle: &Shuffle) -> Result<Box<dyn Environment>> {
        Ok(self.watch(self.adapter.open_shuffled(shuffle)?))
    }

    fn calls_shuffled(&self, test: &TestId, shuffle: &Shuffle) -> Result<Vec<String>> {
        self.adapter.calls_shuffled(test, shuffle)
    }

    fn command_shuffled(&self, test: &TestId, shuffle: &Shuffle) -> Option<String> {
        self.adapter.command_shuffled(test, shuffle)
    }

    fn take_in(&self, files: &[PathBuf]) -> Result<()> {
        self.adapter.take_in(files)
    }

    fn can(&self) -> Capabilities {
        self.adapter.can()
    }

    fn find_orders(&self) -> Result<Vec<Notice>> {
        self.adapter.find_orders()
    }

    fn runnable(&self, order: &[TestId]) -> Vec<TestId> {
        self.adapter.runnable(order)
    }

    fn surroundings(&self) -> Surroundings {
        self.adapter.surroundings()
    }

    fn root(&self) -> Option<PathBuf> {
        self.adapter.root()
    }

    fn own_failure(&self) -> Option<String> {
        self.adapter.own_failure()
    }

    fn notices(&self) -> Vec<Notice> {
        self.adapter.notices()
    }

    fn obstacle_to(&self, lever: LeverName) -> Option<String> {
        self.adapter.obstacle_to(lever)
    }

    fn random_numbers(&self) -> std::result::Result<RandomNumbers, String> {
        self.adapter.random_numbers()
    }

    fn output(&self) -> String {
        self.adapter.output()
    }

    fn workers(&self) -> Option<Workers> {
        self.adapter.workers()
    }

    fn most_environments(&self) -> Option<usize> {
        self.adapter.most_environments()
    }

    fn command_to_list(&self) -> Option<String> {
        self.adapter.command_to_list()
    }

    fn command_for(&self, test: &TestId) -> String {
        self.adapter.command_for(test)
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        self.adapter.command_for_order(order)
    }

    fn command_for_all(&self) -> String {
        self.adapter.command_for_all()
    }
}

struct WatchedEnvironment {
    environment: Box<dyn Environment>,
    waiting: Waiting,
}

impl Environment for WatchedEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        self.environment.expect(upcoming, then)
    }

    fn get_ready(&mut self) -> Result<()> {
        self.environment.get_ready()
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let _wait = self.waiting.begin(test);
        let ran = self.environment.run(test, probe);
        if matches!(ran, Err(Error::Cancelled)) {
            let mut given_up = self.waiting.given_up.lock().unwrap_or_else(PoisonError::into_inner);
            *given_up = Some(test.clone());
        }
        ran
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        let environment = self.environment.snapshot()?;
        Ok(Box::new(Self { environment, waiting: self.waiting.clone() }))
    }

    fn look(&mut self) -> Result<State> {
        self.environment.look()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.environment.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_the_first_that_is_still_waited_for() {
        let waiting = Waiting::default();
        let longest = || waiting.longest().map(|(test, _)| test.to_string());
        assert_eq!(longest(), None);
        let first = waiting.begin(&"a".into());
        let second = waiting.begin(&"b".into());
        assert_eq!(longest(), Some("a".to_owned()));
        drop(first);
        assert_eq!(longest(), Some("b".to_owned()));
        drop(second);
        assert_eq!(longest(), None);
    }
}
