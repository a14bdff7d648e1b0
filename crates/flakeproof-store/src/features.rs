//! What was measured about tests, in the database.

use flakeproof_core::{Feature, FeatureRecord, Features, TestId};
use rusqlite::{Connection, Row, Transaction, params_from_iter};

/// Keep the features of one test in a run.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    run: i64,
    test: i64,
    features: &Features,
) -> rusqlite::Result<()> {
    let names = Features::NAMES.join(", ");
    let places = vec!["?"; Features::NAMES.len()].join(", ");
    let insert = format!("INSERT INTO feature (run, test, {names}) VALUES (?, ?, {places})");
    let place = [run.into(), test.into()].into_iter();
    let values = features.values().iter().map(|value| rusqlite::types::Value::from(*value));
    transaction.prepare_cached(&insert)?.execute(params_from_iter(place.chain(values)))?;
    Ok(())
}

/// The features on the code that was measured last, by run and test.
pub(crate) fn of_last_code(connection: &Connection) -> rusqlite::Result<Vec<FeatureRecord>> {
    let names: Vec<String> = Features::NAMES.iter().map(|name| format!("feature.{name}")).collect();
    let select = format!(
        "SELECT test.id, dense_rank() OVER (ORDER BY feature.run), {}
           FROM feature
           JOIN test ON test.number = feature.test
           JOIN run ON run.number = feature.run
           JOIN run AS last ON last.number = (SELECT max(run) FROM feature)
          WHERE run.tree = last.tree
            AND run.surroundings ->> 'runtime' = last.surroundings ->> 'runtime'
            AND run.surroundings ->> 'packages' = last.surroundings ->> 'packages'
          ORDER BY feature.run, feature.test",
        names.join(", ")
    );
    connection.prepare_cached(&select)?.query_map([], record)?.collect()
}

fn record(row: &Row<'_>) -> rusqlite::Result<FeatureRecord> {
    let test: String = row.get(0)?;
    let mut features = Features::default();
    for (column, feature) in (2..).zip(Feature::ALL) {
        features.set(feature, row.get(column)?);
    }
    Ok(FeatureRecord { test: TestId::from(test), run: row.get(1)?, features })
}
