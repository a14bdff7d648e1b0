//! A hunt that several machines go through together, with nobody who steers.
//!
//! Which trials a hunt has follows from its record, the suite, and what came of the trials before. So each
//! machine goes through the whole of it, and runs what no other has taken. Every object is written only where
//! there is none: who is first to say what came of a trial says it for all, and all find the same. That also
//! holds if two run the same trial, because one of them was taken for dead; no clock and no lease decides.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use flakeproof_core::{HistoryError, HuntRecord, TrialFailure, TrialRecord};
use serde::{Deserialize, Serialize};

use super::bucket::{Asked, Bucket, Created};
use super::document::digest;
use super::{ObjectsAddress, VERSION};

/// The folder of hunts that machines go through together.
pub(super) const KIND: &str = "shared-hunts";

/// A hunt that several machines go through together.
pub struct SharedHunt {
    bucket: Bucket,
    /// Where its objects are.
    folder: String,
    there: RefCell<There>,
}

/// What is known to be there, as of the last look.
#[derive(Default)]
struct There {
    /// Trials that somebody runs, by the digests of their keys.
    taken: BTreeSet<String>,
    done: BTreeSet<String>,
    /// Trials of which what came of them cannot be read.
    damaged: BTreeSet<String>,
    is_over: bool,
}

/// What came of a trial, as an object has it.
#[derive(Serialize, Deserialize)]
struct TrialDocument {
    key: String,
    letters: String,
    failures: Vec<TrialFailure>,
    executions: u32,
    microseconds: u64,
}

impl SharedHunt {
    /// Join the hunt with this id, and give its record: that of the machine which joined first.
    ///
    /// # Errors
    /// When the store does not answer, these credentials may not look into it, or the record is damaged.
    pub fn join(
        address: &ObjectsAddress,
        id: &str,
        record: &HuntRecord,
    ) -> Result<(Self, HuntRecord), HistoryError> {
        let folder = format!("{KIND}/v{VERSION}/{id}");
        let shared = Self { bucket: Bucket::open(address)?, folder, there: RefCell::default() };
        let own = serde_json::to_vec(record);
        let own = own.map_err(|error| shared.unwritable("hunt.json", &error.to_string()))?;
        let agreed = shared.agree_on("hunt.json", &own)?;
        let record = serde_json::from_slice(&agreed);
        let record = record.map_err(|error| shared.unreadable("hunt.json", &error.to_string()))?;
        shared.look()?;
        Ok((shared, record))
    }

    /// Say something that all must have the same; gives what the first said.
    ///
    /// # Errors
    /// When the store does not answer, or what the first said is damaged.
    pub fn agree_on(&self, what: &str, own: &[u8]) -> Result<Vec<u8>, HistoryError> {
        match self.write(what, own)? {
            Created::New => Ok(own.to_vec()),
            Created::Known => match self.read(what)? {
                Some(Ok(agreed)) => Ok(agreed),
                Some(Err(why)) => Err(self.unreadable(what, why)),
                None => Err(self.unreadable(what, "it is gone")),
            },
        }
    }

    /// See what others have done meanwhile.
    ///
    /// # Errors
    /// When the store does not answer, or these credentials may not look into it.
    pub fn look(&self) -> Result<(), HistoryError> {
        let Asked::Answer(names) = self.bucket.list(&self.folder)? else {
            return Err(self.denied("list"));
        };
        let mut there = self.there.borrow_mut();
        for name in names {
            let mut parts = name.rsplit('/');
            let (file, folder) = (parts.next().unwrap_or_default(), parts.next());
            match (folder, file.strip_suffix(".json")) {
                (Some("taken"), _) => there.taken.insert(file.to_owned()),
                (Some("trials"), Some(digest)) => there.done.insert(digest.to_owned()),
                (_, Some("over")) => std::mem::replace(&mut there.is_over, true),
                _ => false,
            };
        }
        Ok(())
    }

    /// Whether somebody went through to the end, as of the last look.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.there.borrow().is_over
    }

    /// Whether somebody runs the trial with this key, or did, as of the last look.
    #[must_use]
    pub fn is_taken(&self, key: &str) -> bool {
        self.there.borrow().taken.contains(&of_key(key))
    }

    /// How many trials were run, as of the last look.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.there.borrow().done.len()
    }

    /// Trials of which what came of them cannot be read.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.there.borrow().damaged.len()
    }

    /// Take a trial; `false` if another machine was first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn take(&self, key: &str, who: &str) -> Result<bool, HistoryError> {
        let digest = of_key(key);
        let created = self.write(&format!("taken/{digest}"), who.as_bytes())?;
        self.there.borrow_mut().taken.insert(digest);
        Ok(created == Created::New)
    }

    /// Say what came of a trial, and give what counts: what was said first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn keep(&self, key: &str, record: TrialRecord) -> Result<TrialRecord, HistoryError> {
        let digest = of_key(key);
        let document = TrialDocument {
            key: key.to_owned(),
            letters: record.letters(),
            failures: record.failures.clone(),
            executions: record.executions,
            microseconds: u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
        };
        let content = serde_json::to_vec(&document);
        let content = content.map_err(|error| self.unwritable(&digest, &error.to_string()))?;
        let created = self.write(&format!("trials/{digest}.json"), &content)?;
        self.there.borrow_mut().done.insert(digest);
        match created {
            Created::New => Ok(record),
            Created::Known => Ok(self.trial(key)?.unwrap_or(record)),
        }
    }

    /// What came of the trial with this key, as of the last look.
    ///
    /// # Errors
    /// When the store does not answer, or these credentials may not read.
    pub fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        let digest = of_key(key);
        let is_there = {
            let there = self.there.borrow();
            there.done.contains(&digest) && !there.damaged.contains(&digest)
        };
        if !is_there {
            return Ok(None);
        }
        let content = self.read(&format!("trials/{digest}.json"))?;
        let record = content.and_then(|content| trial(key, &content.ok()?));
        if record.is_none() {
            self.there.borrow_mut().damaged.insert(digest);
        }
        Ok(record)
    }

    /// Say that the hunt is over.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn end(&self) -> Result<(), HistoryError> {
        self.write("over.json", b"{}").map(drop)
    }

    /// Write an object that is not there yet: a digest, and what it is the digest of.
    fn write(&self, what: &str, content: &[u8]) -> Result<Created, HistoryError> {
        let mut sealed = digest(content).into_bytes();
        sealed.push(b'\n');
        sealed.extend_from_slice(content);
        self.bucket.create(&self.name(what), sealed).map(|(_, created)| created)
    }

    /// What was written; `None` where there is nothing.
    fn read(&self, what: &str) -> Result<Option<Result<Vec<u8>, &'static str>>, HistoryError> {
        let Asked::Answer(content) = self.bucket.get(&self.bucket.whole_name(&self.name(what)))?
        else {
            return Err(self.denied("read"));
        };
        Ok(content.map(|content| unsealed(&content).ok_or("its content is not what was written")))
    }

    fn name(&self, what: &str) -> String {
        format!("{}/{what}", self.folder)
    }

    fn denied(&self, doing: &str) -> HistoryError {
        let cause =
            format!("these credentials may not {doing}, as machines that share a hunt must");
        HistoryError::Unreachable { place: self.folder.clone(), cause }
    }

    fn unreadable(&self, what: &str, cause: &str) -> HistoryError {
        HistoryError::Unreadable { place: self.name(what), cause: cause.to_owned() }
    }

    fn unwritable(&self, what: &str, cause: &str) -> HistoryError {
        HistoryError::Unwritable { place: self.name(what), cause: cause.to_owned() }
    }
}

/// Keys have no length that every store takes.
fn of_key(key: &str) -> String {
    digest(key.as_bytes())
}

fn unsealed(sealed: &Bytes) -> Option<Vec<u8>> {
    let at = sealed.iter().position(|byte| *byte == b'\n')?;
    let (seal, content) = (sealed.get(..at)?, sealed.get(at + 1..)?);
    (seal == digest(content).as_bytes()).then(|| content.to_vec())
}

fn trial(key: &str, content: &[u8]) -> Option<TrialRecord> {
    let document: TrialDocument = serde_json::from_slice(content).ok()?;
    (document.key == key).then_some(())?;
    Some(TrialRecord {
        outcomes: TrialRecord::outcomes_of(&document.letters)?,
        failures: document.failures,
        executions: document.executions,
        duration: Duration::from_micros(document.microseconds),
    })
}
