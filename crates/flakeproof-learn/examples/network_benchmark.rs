//! What the network costs: one step of training, an epoch, a prediction, and learning vectors.
//!
//! ```text
//! cargo run --release -p flakeproof-learn --example network_benchmark -- step|epoch|ask|pretrain
//! ```
//!
//! All of it on tests made up at random, whose paths share no beginning: the worst case. With
//! `shared` behind it, paths of a test begin alike, as those that start at one variable do. In
//! `step` all steps differ; else a test has a graph of 80 different steps. The number of threads is
//! that of `RAYON_NUM_THREADS`.
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use flakeproof_core::Seed;
use flakeproof_learn::Chance;
use flakeproof_learn::network::{
    Bag, Fitted, Methods, Network, NetworkParams, PathCorpus, PathStep, PretrainParams, Progress,
    TrainingSet,
};

/// How many tests, paths of a test, and steps of a path there are; how many steps are different,
/// and how many all paths of a test share.
#[derive(Clone, Copy)]
struct Size {
    tests: u32,
    paths: usize,
    steps: usize,
    different: usize,
    shared: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let shared = arguments.get(1).is_some_and(|word| word == "shared");
    match arguments.first().map(String::as_str) {
        Some("step") => step(shared),
        Some("epoch") => epoch(shared),
        Some("ask") => ask(shared),
        Some("pretrain") => pretrain(),
        _ => Err("say what to measure: step, epoch, ask or pretrain".into()),
    }
}

/// One step on 64 tests × 100 paths × 20 steps, vectors of 3 × 128 numbers, an LSTM of 2 × 128.
fn step(shared: bool) -> Result<(), Box<dyn Error>> {
    let size = Size {
        tests: 256,
        paths: 100,
        steps: 20,
        different: 2000,
        shared: if shared { 10 } else { 0 },
    };
    let params = NetworkParams {
        dimension: 128,
        hidden: 128,
        most_paths_in_training: 100,
        batch: 64,
        epochs: 1,
        members: 2,
        most_asked: 1,
        ..NetworkParams::new(Seed(1))
    };
    let (seconds, _) = timed(size, &params)?;
    let batches = seconds.iter().map(|(batch, _)| *batch).filter(|batch| *batch > 0.0);
    let least = batches.fold(f64::MAX, f64::min);
    println!("step: {least:.3} s at best of {seconds:?}");
    Ok(())
}

/// Epochs of 1,240 tests × 30 paths × 9 steps, 64 wide.
fn epoch(shared: bool) -> Result<(), Box<dyn Error>> {
    let size = Size {
        tests: 2480,
        paths: 30,
        steps: 9,
        different: 80,
        shared: if shared { 4 } else { 0 },
    };
    let params =
        NetworkParams { epochs: 3, members: 2, most_asked: 600, ..NetworkParams::new(Seed(1)) };
    let (seconds, fitted) = timed(size, &params)?;
    println!("epoch: (learning, trying on 1,220 tests) {seconds:?} s, {:?}", fitted.log);
    Ok(())
}

/// One test of 36 paths × 10 steps at a time, on one thread.
fn ask(shared: bool) -> Result<(), Box<dyn Error>> {
    let size = Size {
        tests: 200,
        paths: 36,
        steps: 10,
        different: 80,
        shared: if shared { 5 } else { 0 },
    };
    let params = NetworkParams { epochs: 1, ..NetworkParams::new(Seed(1)) };
    let (_, fitted) = timed(size, &params)?;
    let bytes = fitted.network.to_file(&())?;
    let begin = Instant::now();
    let (network, ()) = Network::of_file(&bytes)?;
    println!("reading {} bytes: {:?}", bytes.len(), begin.elapsed());
    let (corpus, ..) = made_up(Size { tests: 400, ..size }, 2);
    let mut seconds: Vec<f64> = (0..400)
        .map(|test| {
            let begin = Instant::now();
            let opinion = network.ask(&corpus, test);
            assert!(opinion.score.is_finite());
            begin.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let all: Vec<u32> = (0..400).collect();
    let begin = Instant::now();
    let opinions = network.ask_all(&corpus, &all);
    let together = begin.elapsed().as_secs_f64() / 0.4;
    println!(
        "ask: median {:.3} ms, best {:.3} ms; {} together {together:.3} ms each",
        1e3 * seconds[200],
        1e3 * seconds[0],
        opinions.len(),
    );
    Ok(())
}

/// Vectors from 300,000 methods with names of 3 words and bodies of 30.
fn pretrain() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = (0..30_000).map(|word| format!("word{word}")).collect();
    let mut chance = Chance::new(Seed(3));
    let mut methods = Methods::default();
    for _ in 0..300_000 {
        let mut draw = |count: usize| -> Vec<&str> {
            let skewed = |chance: &mut Chance| chance.below(1 + chance.clone().below(words.len()));
            (0..count).map(|_| words[skewed(&mut chance)].as_str()).collect()
        };
        let (name, body) = (draw(3), draw(30));
        methods.push(name, body);
    }
    let begin = Instant::now();
    let vectors = PretrainParams::new(64, Seed(1)).fit(&methods);
    println!("pretrain: {} words in {:?}", vectors.len(), begin.elapsed());
    Ok(())
}

/// Tests with random words, half of them flaky, each in a group of its own.
fn made_up(size: Size, seed: u64) -> (PathCorpus, Vec<bool>, Vec<u32>) {
    let mut corpus = PathCorpus::default();
    let mut chance = Chance::new(Seed(seed));
    let words: Vec<String> = (0..20_000).map(|word| format!("word{word}")).collect();
    for _ in 0..size.tests {
        let mut bag = |count: usize| -> Bag {
            let mut drawn = Vec::new();
            for _ in 0..count {
                drawn.push(words[chance.below(words.len())].as_str());
            }
            corpus.bag(drawn)
        };
        let nodes: Vec<Bag> = (0..60).map(|_| bag(3)).collect();
        let operations: Vec<Bag> = (0..40).map(|_| bag(4)).collect();
        let bodies: Vec<Bag> = (0..15).map(|_| bag(80)).collect();
        let steps: Vec<PathStep> = (0..size.different)
            .map(|_| PathStep {
                node: nodes[chance.below(nodes.len())],
                operation: Some(operations[chance.below(operations.len())]),
                body: (chance.below(3) == 0).then(|| bodies[chance.below(bodies.len())]),
            })
            .collect();
        let paths: Vec<Vec<PathStep>> = (0..size.paths)
            .map(|_| {
                let own = (size.shared..size.steps).map(|_| steps[chance.below(steps.len())]);
                steps[..size.shared].iter().copied().chain(own).collect()
            })
            .collect();
        corpus.push_test(paths);
    }
    let flaky = (0..size.tests).map(|test| test % 2 == 0).collect();
    (corpus, flaky, (0..size.tests).collect())
}

type Timed = (Vec<(f64, f64)>, Fitted);

/// Train, and return for each epoch the seconds per batch and for trying out what was learned.
fn timed(size: Size, params: &NetworkParams) -> Result<Timed, Box<dyn Error>> {
    let (corpus, flaky, groups) = made_up(size, 1);
    let set = TrainingSet { corpus: &corpus, rows: &groups, flaky: &flaky, groups: &groups };
    let mut last = Instant::now();
    let (mut learning, mut seconds) = (0.0, Vec::new());
    let by_batch = params.epochs == 1;
    let fitted = params.fit(&set, None, &mut |progress: Progress| {
        let passed = last.elapsed().as_secs_f64();
        last = Instant::now();
        if progress.finished.is_none() {
            learning += passed;
        }
        if progress.finished.is_some() || by_batch {
            seconds.push((learning, passed));
            learning = 0.0;
        }
        ControlFlow::Continue(())
    })?;
    Ok((seconds, fitted))
}
