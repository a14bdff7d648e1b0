//! A JVM that starts while another one runs tests.
//!
//! Half of what a new JVM takes is its start, in which nothing of the project runs: that may happen
//! beside the tests of another one.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::JvmSession;
use super::launch::Purpose;
use super::live::Jvm;
use crate::adapter::Result;
use crate::levers::Intervention;

/// At most one JVM that was started before somebody asked for it.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<Option<Coming>>);

#[derive(Debug)]
struct Coming {
    /// What was in force when it started.
    in_force: Intervention,
    start: JoinHandle<Result<Jvm>>,
}

impl Ahead {
    /// Start one, unless one is there.
    pub(super) fn start(
        &self,
        session: &Arc<JvmSession>,
        module: usize,
        purpose: impl Fn() -> Purpose<'static> + Send + 'static,
    ) {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_some() {
            return;
        }
        let (session, in_force) = (Arc::clone(session), session.request.in_force.now());
        let start = std::thread::spawn(move || Jvm::start(&session, module, purpose()));
        *place = Some(Coming { in_force, start });
    }

    /// The one that was started, if it lives and is like one that starts now.
    pub(super) fn take(&self, session: &JvmSession) -> Option<Jvm> {
        let coming = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        // What kept it from starting shows itself to the one who starts another.
        let jvm = coming.start.join().ok()?.ok()?;
        let is_alike = coming.in_force == session.request.in_force.now();
        (is_alike && !jvm.is_gone()).then_some(jvm)
    }

    /// End the one that was started.
    pub(super) fn end(&self) {
        let coming = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(coming.map(|it| it.start.join()));
    }
}
