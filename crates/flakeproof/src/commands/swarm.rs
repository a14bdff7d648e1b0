//! What each feature does to the answers of a forest, as a picture.

use flakeproof_core::Seed;
use flakeproof_learn::cannier::{Dataset, LearnError, Pipeline, Sample};
use flakeproof_learn::forest::Table;
use flakeproof_report::svg::{Beeswarm, Point, Swarm};

/// Tests in the picture at the most; more dots would hide each other.
const MOST_TESTS: usize = 1500;

/// The contributions of all features for the tests of a data set, the strongest feature first.
pub(super) fn of(data: &Dataset, pipeline: Pipeline, seed: Seed) -> Result<Beeswarm, LearnError> {
    let table = data.table(Sample::All)?;
    let forest = pipeline.fit(&table, &data.labels(), seed)?;
    let step = data.len().div_ceil(MOST_TESTS).max(1);
    let rows: Vec<u32> = (0u32..).take(data.len()).step_by(step).collect();
    let asked = table.select(&rows);
    let shap = forest.shap(&asked)?;
    let mut rows: Vec<(f64, Swarm)> = data
        .features
        .iter()
        .enumerate()
        .map(|(column, feature)| {
            let levels = levels(&asked, column);
            let points: Vec<Point> = levels
                .into_iter()
                .enumerate()
                .map(|(row, level)| Point { contribution: shap.row(row)[column], level })
                .collect();
            let strength: f64 = points.iter().map(|point| point.contribution.abs()).sum();
            (strength, Swarm { name: feature.name().to_owned(), points })
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let title = format!(
        "{}: what each feature does to the answer ({} of {} tests)",
        data.problem.word(),
        asked.rows(),
        data.len()
    );
    let axis = format!("SHAP value: towards {} on the right", data.problem.positive());
    Ok(Beeswarm { title, axis, rows: rows.into_iter().map(|(_, swarm)| swarm).collect() })
}

/// The rank of each value in its column, from 0 to 1; `None` where it is missing.
fn levels(table: &Table, column: usize) -> Vec<Option<f64>> {
    let values = &table.columns()[column];
    let mut sorted: Vec<f32> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f32::total_cmp);
    let last = sorted.len().saturating_sub(1).max(1);
    let rank = |value: &f32| sorted.partition_point(|it| it < value);
    #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^52")]
    let level = |value: &f32| rank(value) as f64 / last as f64;
    values.iter().map(|value| (!value.is_nan()).then(|| level(value))).collect()
}
