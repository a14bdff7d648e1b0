//! The network as a whole: from paths to scores, and to model files and back.

use std::ops::ControlFlow;

use flakeproof_core::Seed;
use flakeproof_learn::Chance;
use flakeproof_learn::evaluate::{average_precision, roc_auc};
use flakeproof_learn::model_file::ModelFileError;
use flakeproof_learn::network::{
    Bag, Embeddings, Fitted, Network, NetworkFitError, NetworkParams, PathCorpus, PathStep,
    Progress, TrainingSet,
};
use proptest::prelude::*;

/// Tests with some paths of common words each, which end at an assertion or elsewhere. In every
/// test one path has the word `sleep` as an operation. A test is flaky if that one reaches an
/// assertion.
struct Suite {
    corpus: PathCorpus,
    flaky: Vec<bool>,
    groups: Vec<u32>,
}

const WORDS: [&str; 24] = [
    "get", "set", "item", "list", "name", "file", "open", "close", "user", "id", "size", "map",
    "key", "value", "node", "tree", "start", "stop", "client", "server", "path", "date", "string",
    "number",
];

impl Suite {
    fn new(tests: u32, seed: u64) -> Self {
        let mut suite =
            Self { corpus: PathCorpus::default(), flaky: Vec::new(), groups: Vec::new() };
        let mut chance = Chance::new(Seed(seed));
        for test in 0..tests {
            let flaky = chance.below(6) == 0;
            let paths: Vec<Vec<PathStep>> = (0..2 + chance.below(6))
                .map(|number| suite.path(flaky, number == 0, &mut chance))
                .collect();
            suite.corpus.push_test(paths);
            suite.flaky.push(flaky);
            suite.groups.push(test / 7);
        }
        suite
    }

    fn path(&mut self, flaky: bool, guilty: bool, chance: &mut Chance) -> Vec<PathStep> {
        let steps = 1 + chance.below(6);
        let sleeps = chance.below(steps);
        let mut path: Vec<PathStep> = (0..steps)
            .map(|at| {
                let node = self.words(chance);
                let operation = if guilty && at == sleeps {
                    self.corpus.bag(["sleep"])
                } else {
                    self.words(chance)
                };
                let body = (chance.below(3) == 0).then(|| self.words(chance));
                PathStep { node, operation: Some(operation), body }
            })
            .collect();
        let asserts = if guilty { flaky } else { chance.below(2) == 0 };
        let end = if asserts { "assert" } else { "log" };
        path.push(PathStep::last(self.corpus.bag([end])));
        path
    }

    fn words(&mut self, chance: &mut Chance) -> Bag {
        let words: Vec<&str> =
            (0..1 + chance.below(3)).map(|_| WORDS[chance.below(WORDS.len())]).collect();
        self.corpus.bag(words)
    }

    fn rows(&self) -> Vec<u32> {
        (0..u32::try_from(self.flaky.len()).expect("few tests")).collect()
    }

    fn fit(&self, params: &NetworkParams) -> Result<Fitted, NetworkFitError> {
        self.fit_with(params, None, &mut |_| ControlFlow::Continue(()))
    }

    fn fit_with(
        &self,
        params: &NetworkParams,
        embeddings: Option<&Embeddings>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Fitted, NetworkFitError> {
        let (rows, flaky, groups) = (&self.rows()[..], &self.flaky[..], &self.groups[..]);
        params.fit(&TrainingSet { corpus: &self.corpus, rows, flaky, groups }, embeddings, watch)
    }

    fn scored(&self, scores: &[f64]) -> Vec<(f64, bool)> {
        scores.iter().copied().zip(self.flaky.iter().copied()).collect()
    }
}

fn params() -> NetworkParams {
    NetworkParams { dimension: 16, hidden: 16, ..NetworkParams::new(Seed(5)) }
}

/// Few epochs, for tests that do not ask how good it is.
fn quick() -> NetworkParams {
    NetworkParams { dimension: 8, hidden: 8, epochs: 2, members: 2, ..params() }
}

#[test]
fn a_word_on_a_path_that_reaches_an_assertion_is_learned() {
    let suite = Suite::new(900, 1);
    let fitted = suite.fit(&params()).expect("both classes");
    let held_out = average_precision(&suite.scored(&fitted.held_out), 1.0).expect("flaky tests");
    assert!(held_out > 0.95, "{held_out} on tests held out; {:?}", fitted.log);
    let other = Suite::new(400, 2);
    let opinions = fitted.network.ask_all(&other.corpus, &other.rows());
    let scores: Vec<f64> = opinions.iter().map(|opinion| opinion.score).collect();
    let new = average_precision(&other.scored(&scores), 1.0).expect("flaky tests");
    assert!(new > 0.95, "{new} on tests of another suite");
}

#[test]
fn labels_that_mean_nothing_are_not_learned() {
    let mut suite = Suite::new(600, 3);
    let mut chance = Chance::new(Seed(4));
    chance.shuffle(&mut suite.flaky);
    let fitted = suite.fit(&NetworkParams { epochs: 8, ..params() }).expect("both classes");
    let area = roc_auc(&suite.scored(&fitted.held_out)).expect("both classes");
    assert!((0.35..0.65).contains(&area), "{area}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_one_and_on_three_threads() {
    let suite = Suite::new(150, 6);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let fitted = pool.install(|| suite.fit(&quick())).expect("both classes");
        (fitted.network.to_file(&"about").expect("a file"), fitted.held_out, fitted.log)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn what_was_written_is_read_and_answers_the_same() {
    let suite = Suite::new(150, 7);
    let network = suite.fit(&quick()).expect("both classes").network;
    let bytes = network.to_file(&("name", 3)).expect("a file");
    let (read, about): (Network, (String, u32)) = of_file(&bytes).expect("a whole file");
    assert_eq!(about, ("name".to_owned(), 3));
    assert_eq!(read, network);
    assert_eq!(read.to_file(&("name", 3)).expect("a file"), bytes);
    for test in suite.rows() {
        assert_eq!(read.ask(&suite.corpus, test), network.ask(&suite.corpus, test));
    }
}

#[test]
fn one_test_is_answered_as_all_are() {
    let suite = Suite::new(100, 8);
    let network = suite.fit(&quick()).expect("both classes").network;
    let all = network.ask_all(&suite.corpus, &suite.rows());
    for (test, of_all) in suite.rows().iter().zip(&all) {
        let alone = network.ask(&suite.corpus, *test);
        assert!((alone.score - of_all.score).abs() < 1e-9);
        assert_eq!(alone.attention.len(), suite.corpus.path_count(*test));
        assert!((alone.attention.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    }
}

#[test]
fn words_of_another_world_and_tests_without_paths_are_answered() {
    let suite = Suite::new(100, 9);
    let network = suite.fit(&quick()).expect("both classes").network;
    let mut corpus = PathCorpus::default();
    let bag = corpus.bag(["never", "seen"]);
    let unknown = corpus.push_test([[PathStep::last(bag)]]);
    let empty = corpus.push_test::<Vec<PathStep>>([]);
    for test in [unknown, empty, 99] {
        let opinion = network.ask(&corpus, test);
        assert!((0.0..=1.0).contains(&opinion.score));
    }
    assert!(network.ask(&corpus, empty).attention.is_empty());
}

#[test]
fn vectors_that_are_given_are_begun_with() {
    let suite = Suite::new(100, 10);
    let words = ["sleep", "assert", "elsewhere"].map(str::to_owned).to_vec();
    let given = Embeddings::new(words, 5, (0u8..15).map(f32::from).collect()).expect("fits");
    let still = NetworkParams { embedding_rate: 0.0, ..quick() };
    let go_on = &mut |_| ControlFlow::Continue(());
    let fitted = suite.fit_with(&still, Some(&given), go_on).expect("both classes");
    assert!(fitted.network.word_count() > 20);
    let without = suite.fit(&still).expect("both classes");
    assert_ne!(fitted.held_out, without.held_out);
}

#[test]
fn whoever_watches_can_stop_it() {
    let suite = Suite::new(100, 11);
    let mut calls = 0;
    let stopped = suite.fit_with(&quick(), None, &mut |progress| {
        calls += 1;
        assert!(progress.batch <= progress.batches && progress.member < progress.members);
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(stopped.expect_err("it was stopped"), NetworkFitError::Stopped);
    assert_eq!(calls, 3);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let suite = Suite::new(60, 12);
    let refused = |params: &NetworkParams, rows: &[u32], flaky: &[bool]| {
        let set = TrainingSet { corpus: &suite.corpus, rows, flaky, groups: &vec![0; flaky.len()] };
        let mut go_on = |_| ControlFlow::Continue(());
        params.fit(&set, None, &mut go_on).expect_err("it makes no sense").to_string()
    };
    let rows = suite.rows();
    assert_eq!(refused(&quick(), &rows, &[true]), "there are 60 rows, 1 labels and 1 groups");
    assert_eq!(refused(&quick(), &[99], &[true]), "there is no test 99 in the corpus");
    assert_eq!(refused(&quick(), &rows, &suite.flaky), "there are fewer groups than members");
    let one = NetworkParams { members: 1, ..quick() };
    assert!(refused(&one, &rows, &suite.flaky).contains("at least two members"));
    let wild = NetworkParams { dropout: 1.0, ..quick() };
    assert!(refused(&wild, &rows, &suite.flaky).contains("dropout"));
    let mut tame = Suite::new(60, 12);
    tame.flaky.fill(false);
    let one_class = tame.fit(&quick()).expect_err("all are alike");
    assert_eq!(one_class, NetworkFitError::OneClass { member: 0 });
}

/// Arrays are used where they lie, so tests need the alignment a mapped file has.
fn of_file<A: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<(Network, A), ModelFileError> {
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    Network::of_file(&bytemuck::cast_slice(&words)[..bytes.len()])
}

fn small_file() -> Vec<u8> {
    let suite = Suite::new(60, 13);
    let tiny = NetworkParams { dimension: 2, hidden: 2, epochs: 1, ..quick() };
    suite.fit(&tiny).expect("both classes").network.to_file(&()).expect("a file")
}

#[test]
fn a_damaged_file_is_refused() {
    let whole = small_file();
    assert!(of_file::<()>(&whole).is_ok());
    for end in (0..whole.len()).step_by(7) {
        assert!(of_file::<()>(&whole[..end]).is_err(), "cut at {end}");
    }
    for at in (0..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert!(of_file::<()>(&bytes).is_err(), "changed at {at}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes: Vec<u8>) {
        prop_assert!(of_file::<()>(&bytes).is_err());
    }
}
