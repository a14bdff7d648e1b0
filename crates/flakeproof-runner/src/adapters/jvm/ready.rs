//! What the JVMs of a module need besides what the build tool tells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::frameworks::Frameworks;
use super::jdk::Jdk;
use super::module::Module;
use super::selection::Selection;
use super::sources::Sources;
use super::touched::Compiled;
use super::worker::Worker;
use super::{Session, archive, worker};
use crate::adapter::Result;

/// JVMs after which an archive is made: it costs as much as ten of them save.
const WORTHWHILE: u32 = 10;

/// A module, and what its JVMs need besides.
#[derive(Debug)]
pub(super) struct ReadyModule {
    pub(super) module: Module,
    pub(super) jdk: Jdk,
    worker: Worker,
    /// Jars that stand in front of the rest of the class path.
    first: Vec<PathBuf>,
    can_archive: bool,
    /// An archive of classes, with which a JVM starts faster.
    archive: Mutex<Option<PathBuf>>,
    /// JVMs that were asked for so far.
    starts: AtomicU32,
    compiled: OnceLock<Compiled>,
}

impl ReadyModule {
    /// Prepare what the JVMs of a module need.
    pub(super) fn new(session: &Session, module: Module) -> Result<Self> {
        let jdk = Jdk::of(&module.java);
        let frameworks = Frameworks::on(&module.class_path);
        let worker = worker::compiled(session, &jdk, &frameworks)?;
        let can_archive = jdk.can_archive_classes() && archive::suits(&module, &worker);
        let ready = Self {
            first: if can_archive { frameworks.movable } else { Vec::new() },
            module,
            jdk,
            worker,
            can_archive,
            archive: Mutex::new(None),
            starts: AtomicU32::new(0),
            compiled: OnceLock::new(),
        };
        if can_archive {
            ready.set_archive(archive::kept(&ready));
        }
        Ok(ready)
    }

    /// The same for sample tests, on a class path of frameworks alone.
    pub(super) fn of_samples(&self, options: Vec<String>) -> Self {
        let module = Module {
            options,
            properties: BTreeMap::new(),
            class_path: Vec::new(),
            classes: self.worker.samples.clone(),
            groups: String::new(),
            excluded_groups: String::new(),
            parameters: BTreeMap::new(),
            selection: Selection::default(),
            ..self.module.clone()
        };
        Self {
            module,
            jdk: self.jdk.clone(),
            worker: self.worker.clone(),
            first: self.first.clone(),
            can_archive: false,
            archive: Mutex::new(None),
            starts: AtomicU32::new(0),
            compiled: OnceLock::new(),
        }
    }

    /// The class path of its JVMs: the worker, the frameworks where they can be archived, the rest.
    pub(super) fn class_path(&self) -> Vec<PathBuf> {
        let mut entries = self.archived();
        let rest = self.module.class_path.iter().filter(|entry| !self.first.contains(entry));
        entries.extend(rest.cloned());
        entries
    }

    /// The beginning of the class path that an archive is made of.
    pub(super) fn archived(&self) -> Vec<PathBuf> {
        let mut entries = vec![self.worker.place.clone()];
        entries.extend(self.first.iter().cloned());
        entries
    }

    /// What its classes were compiled from, looked up when it is first needed.
    pub(super) fn compiled(&self, root: &Path, sources: &Sources) -> &Compiled {
        self.compiled.get_or_init(|| {
            let folders = self.module.class_folders().cloned().collect();
            Compiled::of(folders, root, sources)
        })
    }

    /// Options that make a JVM use the archive, if there is one.
    pub(super) fn archive_options(&self) -> Vec<String> {
        let archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        let file = archive.iter().map(|file| format!("-XX:SharedArchiveFile={}", file.display()));
        file.collect()
    }

    /// Count the JVMs that are asked for; where there are many, make an archive for the next ones.
    ///
    /// # Errors
    /// Only when the user interrupts.
    pub(super) fn count_start(&self, session: &Session) -> Result<()> {
        let count = self.starts.fetch_add(1, Ordering::Relaxed) + 1;
        if count == WORTHWHILE && self.can_archive && self.archive_options().is_empty() {
            self.set_archive(archive::made(session, self)?);
        }
        Ok(())
    }

    fn set_archive(&self, archive: Option<PathBuf>) {
        *self.archive.lock().unwrap_or_else(PoisonError::into_inner) = archive;
    }

    /// Start without the archive from now on; false if there was none.
    pub(super) fn forget_archive(&self) -> bool {
        self.archive.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}
