//! An experiment on behalf of a client: its progress, its end, and what its report comes to.
//!
//! Experiments follow one another: two at once would disturb each other. Each is a thread that waits for the
//! program; it is told to stop when its call is cancelled, its client is gone or the server ends, and the
//! server does not end before the thread has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::asked::Experiment;
use crate::project::{Project, Trouble};

/// What an experiment came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Its exit code.
    pub exit_code: i32,
    /// Its report; `None` if it did not write one.
    pub report: Option<Value>,
    /// What it printed for people.
    pub text: String,
    /// What it said of its trouble, if it had some.
    pub trouble: String,
}

/// Tells an experiment that it should end. Clones share the same state.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<StopState>>);

#[derive(Default)]
struct StopState {
    is_stopped: bool,
    then: Vec<Box<dyn FnOnce() + Send>>,
}

impl Stop {
    /// Do this when the experiment should end; at once, if it should already.
    pub fn when_stopped(&self, then: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        if state.is_stopped {
            drop(state);
            then();
        } else {
            state.then.push(Box::new(then));
        }
    }

    /// Whether the experiment should end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// End the experiment.
    pub fn stop(&self) {
        let then = {
            let mut state = self.lock();
            state.is_stopped = true;
            std::mem::take(&mut state.then)
        };
        for then in then {
            then();
        }
    }

    fn lock(&self) -> MutexGuard<'_, StopState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Stop").field(&self.is_stopped()).finish()
    }
}

/// Stops an experiment whose call is given up.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The experiments of a server.
pub(crate) struct Experiments {
    project: Arc<dyn Project>,
    /// One at a time.
    turn: Semaphore,
    /// Those that may still run.
    running: Mutex<Vec<(Stop, JoinHandle<()>)>>,
}

/// How often a client hears that its experiment is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);

impl Experiments {
    pub(crate) fn new(project: Arc<dyn Project>) -> Self {
        Self { project, turn: Semaphore::new(1), running: Mutex::default() }
    }

    /// Conduct an experiment to its end, or to that of the call or of the client.
    pub(crate) async fn conduct(
        &self,
        experiment: Experiment,
        budget: Duration,
        context: &RequestContext<RoleServer>,
        gone: &CancellationToken,
    ) -> Result<Ended, Trouble> {
        let mut progress = Progress::new(context, budget);
        let _turn = tokio::select! {
            turn = self.turn.acquire() => turn.map_err(|_| ended_by_server())?,
            () = context.ct.cancelled() => return Err(cancelled()),
            () = gone.cancelled() => return Err(cancelled()),
        };
        let stop = Stop::default();
        let _given_up = StopOnDrop(stop.clone());
        let (mut lines, mut ended) = self.start(experiment, budget, &stop);
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        loop {
            tokio::select! {
                biased;
                ended = &mut ended => return ended.map_err(|_| broke_off())?,
                () = context.ct.cancelled(), if !stop.is_stopped() => stop.stop(),
                () = gone.cancelled(), if !stop.is_stopped() => stop.stop(),
                Some(line) = lines.recv() => progress.say(&line).await,
                _ = heartbeat.tick() => progress.heartbeat().await,
            }
        }
    }

    fn start(
        &self,
        experiment: Experiment,
        budget: Duration,
        stop: &Stop,
    ) -> (mpsc::UnboundedReceiver<String>, oneshot::Receiver<Result<Ended, Trouble>>) {
        let (said, lines) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let (project, stopped) = (Arc::clone(&self.project), stop.clone());
        let thread = std::thread::spawn(move || {
            // A client that is gone hears nothing more, which is no trouble.
            let heard = Box::new(move |line: &str| drop(said.send(line.to_owned())));
            let _ = end.send(project.run(&experiment, budget, &stopped, heard));
        });
        let mut running = self.running();
        running.retain(|(_, thread)| !thread.is_finished());
        running.push((stop.clone(), thread));
        (lines, ended)
    }

    /// End every experiment, and wait until nothing is left of it.
    pub(crate) fn close(&self) {
        self.turn.close();
        let running = std::mem::take(&mut *self.running());
        running.iter().for_each(|(stop, _)| stop.stop());
        for (_, thread) in running {
            // A thread that panicked has nothing running any more.
            let _ = thread.join();
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<(Stop, JoinHandle<()>)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client hears while it waits: seconds of the budget, and the latest line.
struct Progress<'c> {
    peer: &'c Peer<RoleServer>,
    context: &'c RequestContext<RoleServer>,
    begin: Instant,
    budget: Duration,
    latest: f64,
    line: String,
}

impl<'c> Progress<'c> {
    fn new(context: &'c RequestContext<RoleServer>, budget: Duration) -> Self {
        let begin = Instant::now();
        Self { peer: &context.peer, context, begin, budget, latest: 0.0, line: String::new() }
    }

    async fn say(&mut self, line: &str) {
        self.line = crate::UntrustedText::line(line.trim()).as_str().to_owned();
        if !self.line.is_empty() {
            self.send(self.line.clone()).await;
        }
    }

    async fn heartbeat(&mut self) {
        let seconds = self.begin.elapsed().as_secs();
        if seconds > 0 {
            let before = if self.line.is_empty() { "running" } else { &self.line };
            self.send(format!("{before} · {seconds} s")).await;
        }
    }

    async fn send(&mut self, message: String) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        // It must grow with every message.
        let spent = self.begin.elapsed().as_secs_f64().max(self.latest + 0.001);
        self.latest = spent;
        let progress = ProgressNotificationParam::new(token, spent).with_message(message);
        let total = self.budget.as_secs_f64();
        let progress = if spent < total { progress.with_total(total) } else { progress };
        // Who does not listen any more is noticed elsewhere.
        let _ = self.peer.notify_progress(progress).await;
    }
}

fn cancelled() -> Trouble {
    Trouble::new("the call was cancelled before it began", "call the tool again when you like")
}

fn ended_by_server() -> Trouble {
    Trouble::new("the server is ending", "start it again")
}

fn broke_off() -> Trouble {
    Trouble::new(
        "the experiment broke off",
        "call the tool again; if it happens again, report a bug",
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_is_to_be_done_at_the_end_is_done_once_and_never_too_late() {
        let (stop, times) = (Stop::default(), Arc::new(AtomicU32::new(0)));
        let count = |times: &Arc<AtomicU32>| {
            let times = Arc::clone(times);
            move || {
                times.fetch_add(1, Ordering::Relaxed);
            }
        };
        stop.when_stopped(count(&times));
        assert_eq!(times.load(Ordering::Relaxed), 0);
        stop.stop();
        stop.clone().stop();
        stop.when_stopped(count(&times));
        assert_eq!(times.load(Ordering::Relaxed), 2);
    }
}
