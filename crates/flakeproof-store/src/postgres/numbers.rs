//! The numbers of tests and signatures, which are kept once for each project.

use std::collections::HashMap;

use flakeproof_core::{Signature, TestId};
use postgres::Transaction;

use super::connection::Done;
use super::words::kept;

/// The number of a project among others in the database; its row is made if it is missing.
pub(super) fn project(transaction: &mut Transaction<'_>, name: &str) -> Done<i64> {
    const FIND: &str = "SELECT number FROM project WHERE name = $1";
    const INSERT: &str = "INSERT INTO project (name) VALUES ($1) ON CONFLICT DO NOTHING";
    let name = kept(name);
    if let Some(row) = transaction.query_opt(FIND, &[&name])? {
        return Ok(row.get(0));
    }
    transaction.execute(INSERT, &[&name])?;
    Ok(transaction.query_one(FIND, &[&name])?.get(0))
}

/// A kind of text that is kept once and has a number.
pub(super) trait Numbered {
    /// Finds the numbers of digests.
    const FIND: &'static str;
    /// Adds those that are missing.
    const INSERT: &'static str;
    /// The text.
    fn text(&self) -> &str;
}

impl Numbered for TestId {
    const FIND: &'static str =
        "SELECT digest, number FROM test WHERE project = $1 AND digest = ANY($2)";
    const INSERT: &'static str = "
        INSERT INTO test (project, digest, id)
        SELECT $1, digest, id FROM unnest($2::bytea[], $3::text[]) AS new (digest, id)
        ON CONFLICT DO NOTHING";

    fn text(&self) -> &str {
        self.as_str()
    }
}

impl Numbered for Signature {
    const FIND: &'static str =
        "SELECT digest, number FROM signature WHERE project = $1 AND digest = ANY($2)";
    const INSERT: &'static str = "
        INSERT INTO signature (project, digest, text)
        SELECT $1, digest, text FROM unnest($2::bytea[], $3::text[]) AS new (digest, text)
        ON CONFLICT DO NOTHING";

    fn text(&self) -> &str {
        self.as_str()
    }
}

/// The numbers of those of these texts that have rows.
pub(super) fn known_numbers<'t, T: Numbered + 't>(
    transaction: &mut Transaction<'_>,
    project: i64,
    texts: impl Iterator<Item = &'t T>,
) -> Done<Vec<i64>> {
    let digests: Vec<Vec<u8>> = texts.map(|it| digest(it.text().as_bytes())).collect();
    let rows = transaction.query(T::FIND, &[&project, &digests])?;
    Ok(rows.iter().map(|row| row.get(1)).collect())
}

/// The numbers of these texts, whose rows are made if they are missing.
///
/// Rows are added by rising digests, so that two who add the same ones wait for each other in turn
/// instead of for ever.
pub(super) fn numbers<'t, T: Numbered + 't>(
    transaction: &mut Transaction<'_>,
    project: i64,
    texts: impl Iterator<Item = &'t T>,
) -> Done<HashMap<Vec<u8>, i64>> {
    let mut sought: Vec<(Vec<u8>, &str)> =
        texts.map(|it| (digest(it.text().as_bytes()), it.text())).collect();
    sought.sort_unstable();
    sought.dedup();
    let digests: Vec<&[u8]> = sought.iter().map(|(digest, _)| digest.as_slice()).collect();
    let mut known = found::<T>(transaction, project, &digests)?;
    sought.retain(|(digest, _)| !known.contains_key(digest));
    if !sought.is_empty() {
        let digests: Vec<&[u8]> = sought.iter().map(|(digest, _)| digest.as_slice()).collect();
        let texts: Vec<_> = sought.iter().map(|(_, text)| kept(text)).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        transaction.execute(T::INSERT, &[&project, &digests, &texts])?;
        known.extend(found::<T>(transaction, project, &digests)?);
    }
    Ok(known)
}

fn found<T: Numbered>(
    transaction: &mut Transaction<'_>,
    project: i64,
    digests: &[&[u8]],
) -> Done<HashMap<Vec<u8>, i64>> {
    let rows = transaction.query(T::FIND, &[&project, &digests])?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Sixteen bytes that stand for others in keys.
pub(super) fn digest(bytes: &[u8]) -> Vec<u8> {
    blake3::hash(bytes).as_bytes()[..16].to_vec()
}

/// The number of a test that is there.
pub(super) const TEST: &str = "(SELECT number FROM test WHERE project = $1 AND digest = $2)";
