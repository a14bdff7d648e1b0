//! Forests as a whole: from a table to probabilities, explanations and model files.

use flakeproof_core::Seed;
use flakeproof_learn::balance::Balance;
use flakeproof_learn::forest::{
    AskError, ClassWeight, FeaturesPerSplit, Forest, ForestFitError, ForestKind, ForestParams,
    Table,
};
use flakeproof_learn::model_file::ModelFileError;
use proptest::prelude::*;
use serde::Deserialize;

const KINDS: [ForestKind; 2] = [ForestKind::RandomForest, ForestKind::ExtraTrees];

fn params(kind: ForestKind, trees: usize) -> ForestParams {
    ForestParams { trees, ..ForestParams::new(kind, Seed(11)) }
}

/// Rows of four numbers: the first two decide, with some mistakes; the third is constant.
fn rows(count: u32) -> (Vec<[f32; 4]>, Vec<bool>) {
    let number = |row: u32, salt: u32| {
        let mixed = (row * 4 + salt).wrapping_mul(2_654_435_761);
        f32::from(u16::try_from(mixed >> 20).expect("twelve bits")) / 4096.0
    };
    let make = |row| {
        let [a, b, c] = [0, 1, 2].map(|salt| number(row, salt));
        ([a, b, 7.0, c], (a + b > 1.1) != (row % 17 == 0))
    };
    (0..count).map(make).unzip()
}

fn table(count: u32) -> (Table, Vec<bool>) {
    let (rows, positive) = rows(count);
    (Table::from_rows(&rows).expect("finite numbers"), positive)
}

#[test]
fn a_tree_is_the_one_drawn_by_hand() {
    // 1 to 4 are negative, 5 and 6 positive, 7 negative: cuts at 4.5 and 6.5.
    let table = Table::from_columns(vec![(1u8..=7).map(f32::from).collect()]).expect("one column");
    let positive = [false, false, false, false, true, true, false];
    // With all seven rows the first cut of a best tree is at 4.5; rows drawn with putting back may
    // differ, so a forest of many trees is asked at the clear places.
    let forest = params(ForestKind::RandomForest, 200).fit(&table, &positive).expect("a forest");
    let asked = Table::from_columns(vec![vec![1.5, 5.5, 4.0, 9.0]]).expect("one column");
    let shares = forest.predict(&asked).expect("one column");
    assert!(
        shares[0] < 0.05 && shares[1] > 0.9 && shares[2] < 0.4 && shares[3] < 0.5,
        "{shares:?}"
    );
    // Extra trees see every row, and cut until all is pure: they know their rows by heart.
    let forest = params(ForestKind::ExtraTrees, 20).fit(&table, &positive).expect("a forest");
    let shares = forest.predict(&table).expect("one column");
    assert_eq!(shares, positive.map(|label| f64::from(u8::from(label))));
}

#[test]
fn what_decides_is_learned() {
    let (table, positive) = table(2000);
    let train: Vec<u32> = (0..1500).collect();
    let test: Vec<u32> = (1500..2000).collect();
    for kind in KINDS {
        let forest = params(kind, 50).fit(&table.select(&train), &positive[..1500]).expect("fits");
        let shares = forest.predict(&table.select(&test)).expect("the same columns");
        let right = shares.iter().zip(&positive[1500..]).filter(|(p, is)| (**p > 0.5) == **is);
        assert!(right.count() > 440, "{kind:?}");
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_one_and_on_two_threads() {
    let (table, positive) = table(600);
    for kind in KINDS {
        let on = |threads: usize| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let balanced = Balance::SmoteTomek.apply(&table, &positive, Seed(3));
                let (table, positive) = balanced.expect("two classes");
                let forest = params(kind, 12).fit(&table, &positive).expect("fits");
                let shap = forest.shap(&table).expect("the same columns");
                (forest.to_file(&"small").expect("a short header"), shap)
            })
        };
        let (one, two) = (on(1), on(2));
        assert!(one == two, "{kind:?}");
    }
}

#[test]
fn other_seeds_give_other_forests() {
    let (table, positive) = table(300);
    for kind in KINDS {
        let one = params(kind, 5).fit(&table, &positive).expect("fits");
        let other = ForestParams { seed: Seed(12), ..params(kind, 5) };
        assert_ne!(Ok(one), other.fit(&table, &positive));
    }
}

#[test]
fn what_cannot_be_learned_is_said() {
    let (table, positive) = table(20);
    let fit = |table: &Table, labels: &[bool]| params(ForestKind::ExtraTrees, 3).fit(table, labels);
    let nothing = Table::from_columns(vec![vec![]]).expect("an empty column");
    let no_columns = Table::from_columns(vec![]).expect("no column");
    assert_eq!(fit(&nothing, &[]).err(), Some(ForestFitError::NoRows));
    assert_eq!(fit(&no_columns, &[]).err(), Some(ForestFitError::NoColumns));
    let lengths = ForestFitError::Lengths { rows: 20, labels: 19 };
    assert_eq!(fit(&table, &positive[..19]).err(), Some(lengths));
    let one_class = ForestFitError::OneClass { rows: 20, label: "positive" };
    assert_eq!(fit(&table, &[true; 20]).err(), Some(one_class));
    let no_trees = params(ForestKind::RandomForest, 0).fit(&table, &positive);
    assert_eq!(no_trees.err(), Some(ForestFitError::NoTrees));
}

#[test]
fn another_number_of_columns_is_refused() {
    let (table, positive) = table(50);
    let forest = params(ForestKind::RandomForest, 3).fit(&table, &positive).expect("fits");
    let narrow = table.select_columns(&[0, 1]);
    let refused = AskError::Columns { found: 2, expected: 4 };
    assert_eq!(forest.predict(&narrow), Err(refused.clone()));
    assert_eq!(forest.shap(&narrow), Err(refused));
}

#[test]
fn constant_features_and_equal_rows_end_in_a_leaf() {
    let table = Table::from_columns(vec![vec![1.0; 6], vec![2.0; 6]]).expect("two columns");
    let positive = [true, false, false, false, false, false];
    let forest = params(ForestKind::ExtraTrees, 4).fit(&table, &positive).expect("fits");
    let shares = forest.predict(&table).expect("the same columns");
    assert!(shares.iter().all(|share| (share - 1.0 / 6.0).abs() < 1e-12));
    let shap = forest.shap(&table).expect("the same columns");
    assert!(shap.values.iter().all(|value| *value == 0.0));
}

#[test]
fn missing_numbers_go_where_they_tell_most() {
    // The number is missing in positive rows alone.
    let values: Vec<f32> =
        (0..40u8).map(|row| if row % 4 == 0 { f32::NAN } else { f32::from(row) }).collect();
    let positive: Vec<bool> = values.iter().map(|value| value.is_nan()).collect();
    let table = Table::from_columns(vec![values, vec![0.0; 40]]).expect("two columns");
    for kind in KINDS {
        let forest = params(kind, 30).fit(&table, &positive).expect("fits");
        let shares = forest.predict(&table).expect("the same columns");
        for (share, is) in shares.iter().zip(&positive) {
            assert!((*share > 0.8) == *is && (*share < 0.2) != *is, "{kind:?} {share} {is}");
        }
        let shap = forest.shap(&table).expect("the same columns");
        adds_up(&forest, &table, &shap);
    }
}

#[test]
fn a_missing_number_at_a_cut_that_never_saw_one_is_answered() {
    let (table, positive) = table(200);
    let asked = Table::from_rows(&[[f32::NAN; 4], [0.9, f32::NAN, 7.0, 0.2]]).expect("two rows");
    for kind in KINDS {
        let forest = params(kind, 10).fit(&table, &positive).expect("fits");
        let shares = forest.predict(&asked).expect("the same columns");
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        adds_up(&forest, &asked, &forest.shap(&asked).expect("the same columns"));
    }
}

#[test]
fn limits_are_kept() {
    let (table, positive) = table(500);
    for kind in KINDS {
        let stump = ForestParams { max_depth: Some(1), ..params(kind, 7) };
        assert!(stump.fit(&table, &positive).expect("fits").nodes() <= 21);
        let wide = ForestParams { min_samples_leaf: 100, ..params(kind, 7) };
        assert!(wide.fit(&table, &positive).expect("fits").nodes() <= 7 * 9);
    }
}

#[test]
fn balanced_classes_count_the_same() {
    let (table, _) = table(300);
    let positive: Vec<bool> = (0..300).map(|row| row % 30 == 0).collect();
    let mean = |class_weight| {
        let params = ForestParams { class_weight, max_depth: Some(1), ..params(KINDS[0], 40) };
        let forest = params.fit(&table, &positive).expect("fits");
        let shares = forest.predict(&table).expect("the same columns");
        shares.iter().sum::<f64>() / 300.0
    };
    assert!(mean(ClassWeight::None) < 0.1);
    assert!((mean(ClassWeight::Balanced) - 0.5).abs() < 0.1);
}

/// Arrays are used where they lie, so tests need the alignment a mapped file has.
fn read(bytes: &[u8]) -> Result<(Forest, String), ModelFileError> {
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    Forest::of_file(&bytemuck::cast_slice(&words)[..bytes.len()])
}

#[test]
fn a_stored_forest_is_read_back() {
    let (table, positive) = table(200);
    for kind in KINDS {
        let forest = params(kind, 5).fit(&table, &positive).expect("fits");
        let bytes = forest.to_file(&"small").expect("a short header");
        assert_eq!(read(&bytes), Ok((forest, "small".to_owned())));
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let (table, positive) = table(60);
    let forest = params(ForestKind::ExtraTrees, 2).fit(&table, &positive).expect("fits");
    let bytes = forest.to_file(&"small").expect("a short header");
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        assert!(read(&damaged).is_err(), "byte {at}");
        assert!(read(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    forest: serde_json::Value,
    rows: Vec<Vec<f32>>,
    probabilities: Vec<f64>,
    base: f64,
    shap: Vec<Vec<f64>>,
}

#[test]
fn forests_of_scikit_learn_say_what_scikit_learn_and_shap_say() {
    let text = include_str!("data/scikit_learn_forests.json");
    let cases: Vec<Case> = serde_json::from_str(text).expect("the committed cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let forest = Forest::from_scikit_learn(&case.forest.to_string()).expect("a forest");
        let table = Table::from_rows(&case.rows).expect("finite numbers");
        let shares = forest.predict(&table).expect("the same columns");
        let shap = forest.shap(&table).expect("the same columns");
        assert!((shap.base - case.base).abs() < 1e-9, "{}", case.kind);
        for (row, share) in shares.iter().enumerate() {
            assert!((share - case.probabilities[row]).abs() < 1e-12, "{}", case.kind);
            for (ours, theirs) in shap.row(row).iter().zip(&case.shap[row]) {
                assert!((ours - theirs).abs() < 1e-6, "{}: {ours} {theirs}", case.kind);
            }
        }
    }
}

fn adds_up(forest: &Forest, table: &Table, shap: &flakeproof_learn::forest::Shap) {
    let shares = forest.predict(table).expect("the same columns");
    for (row, share) in shares.iter().enumerate() {
        let sum = shap.base + shap.row(row).iter().sum::<f64>();
        assert!((sum - share).abs() < 1e-9, "row {row}: {sum} {share}");
    }
}

/// A tree as scikit-learn writes it, small enough to ask for every set of features.
#[derive(Debug, Clone)]
struct HandTree {
    /// Inner nodes of a full tree of depth 3: feature and threshold.
    cuts: Vec<(usize, f64)>,
    /// The eight leaves: share and weight.
    leaves: Vec<(f64, f64)>,
}

impl HandTree {
    fn covers(&self) -> Vec<f64> {
        let mut covers = vec![0.0; 15];
        for node in (0..15).rev() {
            covers[node] = if node >= 7 {
                self.leaves[node - 7].1
            } else {
                covers[2 * node + 1] + covers[2 * node + 2]
            };
        }
        covers
    }

    fn json(&self) -> String {
        let child = |side: i64| -> Vec<i64> {
            (0..15).map(|node| if node < 7 { 2 * node + side } else { -1 }).collect()
        };
        let of = |leaf: f64, cut: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..15).map(|node| if node < 7 { cut(node) } else { leaf }).collect()
        };
        let feature: Vec<i64> = (0..15)
            .map(|node| {
                self.cuts.get(node).map_or(-2, |cut| i64::try_from(cut.0).expect("four features"))
            })
            .collect();
        let value: Vec<f64> =
            (0..15).map(|node| if node < 7 { 0.5 } else { self.leaves[node - 7].0 }).collect();
        serde_json::json!({"features": 4, "trees": [{
            "children_left": child(1), "children_right": child(2), "feature": feature,
            "threshold": of(-2.0, &|node| self.cuts[node].1), "value": value,
            "weighted_n_node_samples": self.covers(),
        }]})
        .to_string()
    }

    /// What the tree says when only some features are known.
    fn expected(&self, row: &[f32; 4], known: usize, node: usize) -> f64 {
        if node >= 7 {
            return self.leaves[node - 7].0;
        }
        let (feature, threshold) = self.cuts[node];
        let [left, right] = [1, 2].map(|side| self.expected(row, known, 2 * node + side));
        if known >> feature & 1 == 1 {
            return if f64::from(row[feature]) <= threshold { left } else { right };
        }
        let covers = self.covers();
        let (to_left, to_right) = (covers[2 * node + 1], covers[2 * node + 2]);
        (to_left * left + to_right * right) / (to_left + to_right)
    }

    /// Shapley's formula over all sets of the four features.
    fn shapley(&self, row: &[f32; 4], feature: usize) -> f64 {
        let weights = [1.0 / 4.0, 1.0 / 12.0, 1.0 / 12.0, 1.0 / 4.0];
        (0..16usize)
            .filter(|set| set >> feature & 1 == 0)
            .map(|set| {
                let moved = self.expected(row, set | 1 << feature, 0) - self.expected(row, set, 0);
                weights[set.count_ones() as usize] * moved
            })
            .sum()
    }
}

proptest! {
    #[test]
    fn explanations_are_shapley_values(
        cuts in proptest::collection::vec((0usize..4, 0u8..8), 7),
        leaves in proptest::collection::vec((0.0f64..=1.0, 1u8..50), 8),
        row in proptest::array::uniform4(0u8..8),
    ) {
        let cuts = cuts.into_iter().map(|(feature, at)| (feature, f64::from(at) + 0.5)).collect();
        let leaves = leaves.into_iter().map(|(share, weight)| (share, f64::from(weight))).collect();
        let tree = HandTree { cuts, leaves };
        let forest = Forest::from_scikit_learn(&tree.json()).expect("a full tree");
        let row = row.map(f32::from);
        let shap = forest.shap(&Table::from_rows(&[row]).expect("one row")).expect("four columns");
        for feature in 0..4 {
            let wanted = tree.shapley(&row, feature);
            prop_assert!((shap.row(0)[feature] - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn explanations_add_up_and_do_not_depend_on_the_other_rows(seed: u64, extra: bool) {
        let (table, positive) = table(120);
        let kind = if extra { ForestKind::ExtraTrees } else { ForestKind::RandomForest };
        let features_per_split = FeaturesPerSplit::Count(2);
        let params = ForestParams { seed: Seed(seed), features_per_split, ..params(kind, 4) };
        let forest = params.fit(&table, &positive).expect("fits");
        let shap = forest.shap(&table).expect("the same columns");
        adds_up(&forest, &table, &shap);
        let order = [77, 3, 50];
        let some = forest.shap(&table.select(&order)).expect("the same columns");
        let shares = forest.predict(&table).expect("the same columns");
        let asked = forest.predict(&table.select(&order)).expect("the same columns");
        for (at, row) in order.iter().enumerate() {
            prop_assert_eq!(some.row(at), shap.row(*row as usize));
            prop_assert!(asked[at] == shares[*row as usize]);
        }
    }
}
