//! A file of records that can all be made again: each under the digest of what it was made of.
//!
//! Nothing in it is ever trusted more than what it is made of: a pack of another program, a damaged one and
//! a damaged record are as if they were not there. A pack is replaced as a whole, never changed, so that
//! processes that read it while another one writes see the old or the new one. It grows no larger than what
//! was used last and as much again of what was not.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a record is kept under.
pub(crate) type Digest = [u8; 32];

/// The first bytes of a pack, with the number of its form.
const MAGIC: &[u8; 8] = b"FLKPACK1";
/// The first bytes, who made it, and the number of its records.
const HEAD: usize = MAGIC.len() + size_of::<Digest>() + size_of::<u32>();
/// The key, the length and the first half of the digest of a record.
const ENTRY: usize = size_of::<Digest>() + size_of::<u32>() + CHECK;
const CHECK: usize = 16;
/// No pack is larger: reading it would cost more than making it again.
const LARGEST: usize = 256 << 20;
/// What was not used is kept up to this size at least.
const UNUSED_AT_LEAST: usize = 8 << 20;
/// So many bytes are handed to the system together.
const WRITTEN_AT_ONCE: usize = 1 << 20;
/// What a process that was killed left behind is removed after this time.
const ABANDONED: Duration = Duration::from_secs(3600);
/// How many packs this process has written: no two threads write the same part.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// The records of a file, and what is to be added to it.
#[derive(Debug)]
pub(crate) struct Pack {
    path: PathBuf,
    maker: Digest,
    bytes: Vec<u8>,
    /// In the order of the file, which is that of their last use.
    records: Vec<Record>,
    places: HashMap<Digest, usize>,
    changes: Mutex<Changes>,
}

/// Where a record is.
#[derive(Debug)]
struct Record {
    key: Digest,
    /// The first half of the digest of its bytes.
    check: [u8; CHECK],
    place: Range<usize>,
}

/// What became of the records since the pack was opened.
#[derive(Debug, Default)]
struct Changes {
    used: HashSet<Digest>,
    added: Vec<Added>,
}

/// A record that is not in the file yet.
#[derive(Debug)]
struct Added {
    key: Digest,
    check: [u8; CHECK],
    packed: Vec<u8>,
}

/// A record as it is written.
struct Written<'p> {
    key: Digest,
    check: [u8; CHECK],
    packed: &'p [u8],
}

impl Pack {
    /// The pack in a file, as far as this maker wrote it and nothing is damaged.
    pub(crate) fn open(path: PathBuf, maker: Digest) -> Self {
        let small = fs::metadata(&path).is_ok_and(|it| it.len() <= LARGEST as u64);
        let bytes = if small { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let records = records_in(&bytes, &maker).unwrap_or_default();
        let places = records.iter().enumerate().map(|(at, record)| (record.key, at)).collect();
        Self { path, maker, bytes, records, places, changes: Mutex::default() }
    }

    /// The record under a key.
    pub(crate) fn get(&self, key: &Digest) -> Option<Vec<u8>> {
        let record = self.records.get(*self.places.get(key)?)?;
        let packed = self.bytes.get(record.place.clone())?;
        if check_of(packed) != record.check {
            return None;
        }
        let record = lz4_flex::block::decompress_size_prepended(packed).ok()?;
        self.changes().used.insert(*key);
        Some(record)
    }

    /// Put a record under a key, in place of what was there.
    pub(crate) fn put(&self, key: Digest, record: &[u8]) {
        let packed = lz4_flex::block::compress_prepend_size(record);
        let check = check_of(&packed);
        let mut changes = self.changes();
        changes.used.insert(key);
        changes.added.push(Added { key, check, packed });
    }

    /// Write what was added, if anything was. A pack that cannot be written is no reason to fail.
    pub(crate) fn save(&self) {
        let changes = std::mem::take(&mut *self.changes());
        if !changes.added.is_empty() {
            let _ = self.written(&changes);
        }
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self, changes: &Changes) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        remove_abandoned(folder);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let mut part = self.path.as_os_str().to_owned();
        part.push(format!(".{}-{number}.part", std::process::id()));
        let written = self.write_to(&part, changes).and_then(|()| fs::rename(&part, &self.path));
        written.inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
    }

    /// Write the whole pack, with what was added, into a new file.
    fn write_to(&self, part: &OsStr, changes: &Changes) -> std::io::Result<()> {
        let records = self.records_after(changes);
        let mut head = Vec::with_capacity(HEAD + records.len() * ENTRY + size_of::<Digest>());
        head.extend(MAGIC);
        head.extend(self.maker);
        head.extend(count(records.len()).to_le_bytes());
        for record in &records {
            head.extend(record.key);
            head.extend(count(record.packed.len()).to_le_bytes());
            head.extend(record.check);
        }
        let digest = blake3::hash(&head);
        head.extend(digest.as_bytes());
        let mut file = BufWriter::with_capacity(WRITTEN_AT_ONCE, File::create(part)?);
        file.write_all(&head)?;
        records.iter().try_for_each(|record| file.write_all(record.packed))?;
        file.flush()
    }

    /// The records of the new file: what was used first, and of the rest as much as there is room for.
    fn records_after<'p>(&'p self, changes: &'p Changes) -> Vec<Written<'p>> {
        let added: HashSet<&Digest> = changes.added.iter().map(|added| &added.key).collect();
        let old = self.records.iter().filter(|record| !added.contains(&record.key));
        let (used, unused): (Vec<&Record>, Vec<&Record>) =
            old.partition(|record| changes.used.contains(&record.key));
        let kept = |record: &Record| {
            let packed = self.bytes.get(record.place.clone()).unwrap_or_default();
            Written { key: record.key, check: record.check, packed }
        };
        let new = |it: &'p Added| Written { key: it.key, check: it.check, packed: &it.packed };
        let mut records: Vec<Written<'p>> = changes.added.iter().map(new).collect();
        records.extend(used.into_iter().map(kept));
        let size: usize = records.iter().map(|record| record.packed.len()).sum();
        let mut room = size.max(UNUSED_AT_LEAST).min(LARGEST.saturating_sub(size));
        for record in unused.into_iter().map(kept) {
            let Some(left) = room.checked_sub(record.packed.len()) else { break };
            room = left;
            records.push(record);
        }
        records
    }
}

/// Where the records of a pack are, if it is whole as far as that and of this maker.
fn records_in(bytes: &[u8], maker: &Digest) -> Option<Vec<Record>> {
    let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(maker.as_slice())?;
    let number = u32::from_le_bytes(*rest.first_chunk()?) as usize;
    let end = HEAD.checked_add(number.checked_mul(ENTRY)?)?;
    let (told, rest) = bytes.split_at_checked(end)?;
    if rest.get(..size_of::<Digest>())? != blake3::hash(told).as_bytes() {
        return None;
    }
    let mut begin = end + size_of::<Digest>();
    let mut records = Vec::with_capacity(number);
    for entry in told.get(HEAD..)?.chunks_exact(ENTRY) {
        let (key, rest) = entry.split_first_chunk::<32>()?;
        let (length, check) = rest.split_first_chunk()?;
        let end = begin.checked_add(u32::from_le_bytes(*length) as usize)?;
        records.push(Record { key: *key, check: *check.first_chunk()?, place: begin..end });
        begin = end;
    }
    Some(records)
}

fn check_of(packed: &[u8]) -> [u8; CHECK] {
    blake3::hash(packed).as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Lengths here are below [`LARGEST`].
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Remove files that a process was killed while it wrote them.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_part = path.extension().is_some_and(|ending| ending == "part");
        let age = entry.metadata().ok().and_then(|it| it.modified().ok()?.elapsed().ok());
        if is_part && age.is_some_and(|age| age > ABANDONED) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAKER: Digest = [7; 32];

    fn key(number: u8) -> Digest {
        [number; 32]
    }

    /// A pack with these records, in a folder of its own.
    fn written(records: &[(u8, &[u8])]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("cache/files");
        let pack = Pack::open(path.clone(), MAKER);
        records.iter().for_each(|(number, record)| pack.put(key(*number), record));
        pack.save();
        (folder, path)
    }

    #[test]
    fn what_was_put_is_there_for_the_next_process() {
        let (_folder, path) = written(&[(1, b"one"), (2, b"two"), (3, b"")]);
        let pack = Pack::open(path, MAKER);
        assert_eq!(pack.get(&key(1)).as_deref(), Some(&b"one"[..]));
        assert_eq!(pack.get(&key(3)).as_deref(), Some(&b""[..]));
        assert_eq!(pack.get(&key(4)), None);
    }

    #[test]
    fn a_pack_of_another_program_is_as_if_it_were_not_there() {
        let (_folder, path) = written(&[(1, b"one")]);
        assert_eq!(Pack::open(path, [8; 32]).get(&key(1)), None);
    }

    #[test]
    fn no_byte_that_is_changed_and_no_cut_gives_another_record() {
        let (_folder, path) = written(&[(1, b"one, which is a little longer"), (2, b"two")]);
        let whole = fs::read(&path).expect("it is there");
        let is_honest = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("it can be written");
            let pack = Pack::open(path.clone(), MAKER);
            let records = [pack.get(&key(1)), pack.get(&key(2))];
            let wanted = [&b"one, which is a little longer"[..], &b"two"[..]];
            records
                .iter()
                .zip(wanted)
                .all(|(it, wanted)| it.as_deref().is_none_or(|it| it == wanted))
        };
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            assert!(is_honest(&damaged), "byte {at}");
            assert!(is_honest(&whole[..at]), "cut at {at}");
        }
    }

    #[test]
    fn of_what_is_not_used_no_more_is_kept_than_there_is_room_for() {
        // Bytes that cannot be packed.
        let noise = |seed: u8| -> Vec<u8> {
            let mut reader = blake3::Hasher::new().update(&[seed]).finalize_xof();
            let mut bytes = vec![0; 3 << 20];
            reader.fill(&mut bytes);
            bytes
        };
        let (_folder, path) = written(&[(1, &noise(1)), (2, &noise(2)), (3, &noise(3))]);
        let pack = Pack::open(path.clone(), MAKER);
        pack.put(key(4), b"four");
        pack.save();
        let pack = Pack::open(path, MAKER);
        let there: Vec<bool> = (1..=4).map(|number| pack.get(&key(number)).is_some()).collect();
        assert_eq!(there, [true, true, false, true], "two of three megabytes fit into eight");
    }

    #[test]
    fn processes_that_write_at_the_same_time_leave_a_whole_pack() {
        let (_folder, path) = written(&[(0, b"first")]);
        std::thread::scope(|threads| {
            for number in 1..=8 {
                let path = path.clone();
                threads.spawn(move || {
                    let pack = Pack::open(path, MAKER);
                    pack.put(key(number), &[number; 1000]);
                    pack.save();
                });
            }
        });
        let pack = Pack::open(path, MAKER);
        assert_eq!(pack.get(&key(0)).as_deref(), Some(&b"first"[..]));
    }
}
