//! One network: its layers in a row, forwards and backwards (Figure 3).

use super::batch::{Batch, NONE, SLOTS};
use super::classifier::{
    AttentionTape, Classifier, ClassifierGradients, ClassifierTape, attend, attend_back,
};
use super::layers::{Linear, NormTanh, NormTape};
use super::lstm::{Lstm, LstmTape};
use super::matrix::{Buffer, add_scaled};
use super::vocabulary::WordTable;
use super::weights::{CLASSES, LAYERS, Places, Shape, small};
use crate::Chance;

/// One network: what it knows about words, and what it does with them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) shape: Shape,
    pub(super) words: WordTable,
    pub(super) weights: Vec<f32>,
}

/// What each layer made of a batch.
pub(super) struct Forward {
    step_inputs: Buffer,
    steps: NormTape,
    lstm: [LstmTape; LAYERS],
    /// What each number of the paths' states was multiplied by; empty where nothing was dropped.
    kept: Vec<f32>,
    paths: Buffer,
    attention: Vec<AttentionTape>,
    tests: Buffer,
    classified: ClassifierTape,
}

/// How the loss on a batch changes with what the network has learned.
pub(super) struct Gradient {
    /// The loss itself.
    pub(super) loss: f64,
    pub(super) weights: Buffer,
    /// The gradients of the vectors of the batch's words.
    pub(super) words: Buffer,
}

impl Forward {
    /// The probability of each test to be flaky.
    pub(super) fn flaky(&self) -> &[f64] {
        &self.classified.flaky
    }

    /// What each path of each test counts.
    pub(super) fn attention(&self) -> impl Iterator<Item = &[f32]> {
        self.attention.iter().map(|tape| &tape.shares[..])
    }

    /// The mean cross-entropy of the tests.
    #[cfg(test)]
    pub(super) fn loss(&self, truth: &[bool]) -> f64 {
        self.classified.loss(truth) / crate::real(truth.len())
    }
}

impl Member {
    /// Answer as if half of all tests were flaky, after learning from a smaller or larger share.
    pub(super) fn answer_as_if_half_were_flaky(&mut self, learned: f64) {
        let bias = self.shape.places().second_bias;
        self.weights[bias][1] += small(((1.0 - learned) / learned).ln());
    }

    /// Compute the tests of a batch.
    pub(super) fn forward(&self, batch: &Batch, dropout: Option<(f64, &mut Chance)>) -> Forward {
        let places = self.shape.places();
        let hidden = self.shape.hidden;
        let step_inputs = self.step_inputs(batch);
        let steps = self.norm(&places).forward(self.step(&places).forward(&step_inputs));
        // What a step gives to the gates is computed once, however many paths it is on.
        let step_gates = self.lstm_input(&places, 0).forward(&steps.outputs);
        let gates = Buffer::gathered(&step_gates, &batch.tree.steps, self.shape.gates());
        let first = self.lstm(&places, 0).forward(gates, &batch.tree);
        let gates = self.lstm_input(&places, 1).forward(&first.states);
        let second = self.lstm(&places, 1).forward(gates, &batch.tree);
        let mut paths = Buffer::gathered(&second.states, &batch.path_ends, hidden);
        let kept = dropout.map_or_else(Vec::new, |(share, chance)| drop(&mut paths, share, chance));
        let mut tests = Buffer::zeros(batch.test_count() * hidden);
        let learned = &self.weights[places.attention.clone()];
        let attention = batch
            .tests()
            .zip(tests.chunks_exact_mut(hidden))
            .map(|(range, test)| {
                attend(&paths[range.start * hidden..range.end * hidden], learned, test)
            })
            .collect();
        let classified = self.classifier(&places).forward(&tests);
        Forward {
            step_inputs,
            steps,
            lstm: [first, second],
            kept,
            paths,
            attention,
            tests,
            classified,
        }
    }

    /// The gradients of the tests' cross-entropies, each of which counts `weight`.
    pub(super) fn backward(
        &self,
        batch: &Batch,
        forward: Forward,
        truth: &[bool],
        weight: f64,
    ) -> Gradient {
        let places = self.shape.places();
        let loss = weight * forward.classified.loss(truth);
        let mut gradient = Buffer::zeros(places.count);
        let of_paths = self.paths_back(&places, batch, &forward, truth, weight, &mut gradient);
        let Forward { step_inputs, steps, lstm, .. } = forward;
        let of_steps = self.lstm_back(&places, batch, &steps, lstm, &of_paths, &mut gradient);
        let [of_gain, of_shift] = parts(&mut gradient, [&places.gain, &places.shift]);
        let of_steps = self.norm(&places).backward(&steps, of_steps, of_gain, of_shift);
        let of_matrix = &mut gradient[places.step.clone()];
        let of_inputs = self.step(&places).backward(&step_inputs, &of_steps, of_matrix, &mut []);
        let words = self.words.spread(batch, &self.of_bags(batch, &of_inputs));
        Gradient { loss, weights: gradient, words }
    }

    /// From the loss back to the states of the paths.
    fn paths_back(
        &self,
        places: &Places,
        batch: &Batch,
        forward: &Forward,
        truth: &[bool],
        weight: f64,
        gradient: &mut [f32],
    ) -> Buffer {
        let hidden = self.shape.hidden;
        let Forward { classified, tests, paths, attention, kept, .. } = forward;
        let wanted = [&places.first, &places.first_bias, &places.second, &places.second_bias];
        let [first, first_bias, second, second_bias] = parts(gradient, wanted);
        let gradients = ClassifierGradients { first, first_bias, second, second_bias };
        let of_tests =
            self.classifier(places).backward(classified, tests, truth, weight, gradients);
        let learned = &self.weights[places.attention.clone()];
        let mut of_paths = Buffer::zeros(paths.len());
        let rows = batch.tests().zip(attention).zip(of_tests.chunks_exact(hidden));
        for ((range, tape), of_test) in rows {
            let range = range.start * hidden..range.end * hidden;
            let of_learned = &mut gradient[places.attention.clone()];
            let states = &paths[range.clone()];
            attend_back(tape, states, learned, of_test, &mut of_paths[range], of_learned);
        }
        of_paths.iter_mut().zip(kept).for_each(|(slope, kept)| *slope *= kept);
        of_paths
    }

    /// From the states of the paths back to the vectors of the steps.
    fn lstm_back(
        &self,
        places: &Places,
        batch: &Batch,
        steps: &NormTape,
        lstm: [LstmTape; LAYERS],
        of_paths: &[f32],
        gradient: &mut [f32],
    ) -> Buffer {
        let (hidden, gates) = (self.shape.hidden, self.shape.gates());
        let [first, second] = lstm;
        let mut of_states = Buffer::zeros(second.states.len());
        add_rows(&mut of_states, &batch.path_ends, of_paths, hidden);
        let of_recurrent = &mut gradient[places.lstm[1].recurrent.clone()];
        let of_gates = self.lstm(places, 1).backward(second, &batch.tree, of_states, of_recurrent);
        let [of_input, of_bias] = parts(gradient, [&places.lstm[1].input, &places.lstm[1].bias]);
        let input = self.lstm_input(places, 1);
        let of_states = input.backward(&first.states, &of_gates, of_input, of_bias);
        let of_recurrent = &mut gradient[places.lstm[0].recurrent.clone()];
        let of_gates = self.lstm(places, 0).backward(first, &batch.tree, of_states, of_recurrent);
        let mut of_step_gates = Buffer::zeros(batch.steps.len() * gates);
        add_rows(&mut of_step_gates, &batch.tree.steps, &of_gates, gates);
        let [of_input, of_bias] = parts(gradient, [&places.lstm[0].input, &places.lstm[0].bias]);
        let input = self.lstm_input(places, 0);
        input.backward(&steps.outputs, &of_step_gates, of_input, of_bias)
    }

    /// The vectors of each step's bags side by side; zeros where there is no bag.
    fn step_inputs(&self, batch: &Batch) -> Buffer {
        let dimension = self.shape.dimension;
        let means = self.words.means(batch);
        let mut inputs = Buffer::zeros(batch.steps.len() * self.shape.step_width());
        let bags = batch.steps.as_flattened();
        for (row, bag) in inputs.chunks_exact_mut(dimension).zip(bags) {
            if *bag != NONE {
                row.copy_from_slice(&means[*bag as usize * dimension..][..dimension]);
            }
        }
        inputs
    }

    fn of_bags(&self, batch: &Batch, of_inputs: &[f32]) -> Buffer {
        let dimension = self.shape.dimension;
        let mut of_bags = Buffer::zeros(batch.bag_ends.len() * dimension);
        debug_assert_eq!(of_inputs.len(), batch.steps.len() * SLOTS * dimension);
        add_rows(&mut of_bags, batch.steps.as_flattened(), of_inputs, dimension);
        of_bags
    }

    fn step(&self, places: &Places) -> Linear<'_> {
        let weights = &self.weights[places.step.clone()];
        Linear { weights, bias: &[], outputs: self.shape.hidden }
    }

    fn norm(&self, places: &Places) -> NormTanh<'_> {
        NormTanh {
            gain: &self.weights[places.gain.clone()],
            shift: &self.weights[places.shift.clone()],
        }
    }

    fn lstm_input(&self, places: &Places, layer: usize) -> Linear<'_> {
        let places = &places.lstm[layer];
        Linear {
            weights: &self.weights[places.input.clone()],
            bias: &self.weights[places.bias.clone()],
            outputs: self.shape.gates(),
        }
    }

    fn lstm(&self, places: &Places, layer: usize) -> Lstm<'_> {
        let recurrent = &self.weights[places.lstm[layer].recurrent.clone()];
        Lstm { recurrent, hidden: self.shape.hidden }
    }

    fn classifier(&self, places: &Places) -> Classifier<'_> {
        let linear = |weights: &std::ops::Range<usize>, bias: &std::ops::Range<usize>, outputs| {
            let (weights, bias) = (&self.weights[weights.clone()], &self.weights[bias.clone()]);
            Linear { weights, bias, outputs }
        };
        Classifier {
            first: linear(&places.first, &places.first_bias, self.shape.hidden),
            second: linear(&places.second, &places.second_bias, CLASSES),
        }
    }
}

/// Add each row to the row with its number; a row without a number is left out.
fn add_rows(to: &mut [f32], numbers: &[u32], rows: &[f32], width: usize) {
    for (row, number) in rows.chunks_exact(width).zip(numbers) {
        if *number != NONE {
            add_scaled(&mut to[*number as usize * width..][..width], 1.0, row);
        }
    }
}

/// Set a share of the numbers to zero and make the others as much larger; return what each was
/// multiplied by.
fn drop(values: &mut [f32], share: f64, chance: &mut Chance) -> Vec<f32> {
    if share <= 0.0 {
        return Vec::new();
    }
    let larger = small(1.0 / (1.0 - share));
    let kept: Vec<f32> =
        values.iter().map(|_| if chance.unit() < share { 0.0 } else { larger }).collect();
    values.iter_mut().zip(&kept).for_each(|(value, kept)| *value *= kept);
    kept
}

/// Several parts of one vector at once. They lie one behind the other.
fn parts<'a, const N: usize>(
    whole: &'a mut [f32],
    places: [&std::ops::Range<usize>; N],
) -> [&'a mut [f32]; N] {
    let mut rest = whole;
    let mut passed = 0;
    places.map(|place| {
        let (before, after) = std::mem::take(&mut rest).split_at_mut(place.end - passed);
        let part = &mut before[place.start - passed..];
        passed = place.end;
        rest = after;
        part
    })
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;

    use super::super::batch::Reading;
    use super::super::corpus::{PathCorpus, PathStep};
    use super::super::layers::gradient_check::{Numbers, check};
    use super::*;

    const SHAPE: Shape = Shape { dimension: 3, hidden: 4 };

    /// Three tests, of which the last has no path; paths share beginnings, and words.
    fn batch() -> Batch {
        let mut corpus = PathCorpus::default();
        let bags = [["a", "b"], ["b", "c"], ["d", "d"], ["e", "a"]].map(|bag| corpus.bag(bag));
        let step = |node: usize, operation: usize, body: Option<usize>| PathStep {
            node: bags[node],
            operation: Some(bags[operation]),
            body: body.map(|body| bags[body]),
        };
        let long = vec![step(0, 1, None), step(1, 2, Some(3)), PathStep::last(bags[2])];
        let fork = vec![step(0, 1, None), step(3, 0, None), PathStep::last(bags[2])];
        corpus.push_test([long.clone(), fork, vec![PathStep::last(bags[1])]]);
        corpus.push_test([long, vec![step(2, 3, Some(0)), PathStep::last(bags[0])]]);
        corpus.push_test::<Vec<PathStep>>([]);
        let reading = Reading {
            corpus: &corpus,
            // One word is not in the vocabulary.
            vocabulary: |word| (word != 4).then_some(word),
            most_paths: 9,
            word_dropout: 0.0,
        };
        reading.read(&[0, 1, 2], &mut Chance::new(Seed(1)))
    }

    fn member(values: &[Vec<f32>]) -> Member {
        let known = vec![true, true, true, false];
        let words = WordTable { dimension: 3, vectors: values[1].clone(), known };
        Member { shape: SHAPE, words, weights: values[0].clone() }
    }

    fn values() -> [Vec<f32>; 2] {
        let mut weights = SHAPE.first_weights(Seed(3));
        // There is no slope where the classifier cuts: its middle is well above or below that.
        for (at, bias) in SHAPE.places().first_bias.enumerate() {
            weights[bias] = if at % 2 == 0 { 1.0 } else { -1.0 };
        }
        [weights, Numbers::new(7).draw(12)]
    }

    #[test]
    fn the_gradients_of_the_whole_network_are_the_slopes_of_its_loss() {
        let (batch, truth) = (batch(), [true, false, true]);
        let loss = |values: &[Vec<f32>]| {
            let forward = member(values).forward(&batch, Some((0.25, &mut chance())));
            vec![small(10.0 * forward.loss(&truth))]
        };
        check(&values(), &[1.0], loss, |values| {
            let member = member(values);
            let forward = member.forward(&batch, Some((0.25, &mut chance())));
            let gradient = member.backward(&batch, forward, &truth, 10.0 / 3.0);
            let mut of_words = vec![0.0; 12];
            add_rows(&mut of_words, &batch.words, &gradient.words, 3);
            vec![gradient.weights.to_vec(), of_words]
        });
    }

    fn chance() -> Chance {
        Chance::new(Seed(9))
    }

    #[test]
    fn a_test_is_answered_the_same_alone_and_with_others() {
        let mut corpus = PathCorpus::default();
        let bags = ["a", "b", "c"].map(|word| corpus.bag([word]));
        for turn in 0..3 {
            let paths: Vec<Vec<PathStep>> = (1..4)
                .map(|length| (0..length).map(|at| bags[(at * turn + 1) % 3]))
                .map(|path| path.map(PathStep::last).collect())
                .collect();
            corpus.push_test(paths);
        }
        let member = member(&values());
        let reading =
            Reading { corpus: &corpus, vocabulary: Some, most_paths: 9, word_dropout: 0.0 };
        let together = member.forward(&reading.read(&[0, 1, 2], &mut chance()), None);
        for (test, flaky) in (0..).zip(together.flaky()) {
            let alone = member.forward(&reading.read(&[test], &mut chance()), None);
            assert!((alone.flaky()[0] - flaky).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_is_dropped_where_nothing_is_to_be() {
        let mut values = [1.0, 2.0];
        assert!(drop(&mut values, 0.0, &mut chance()).is_empty());
        let mut values = vec![1.0; 4000];
        let kept = drop(&mut values, 0.25, &mut chance());
        assert_eq!(kept, values);
        let sum: f32 = values.iter().sum();
        assert!((3800.0..4200.0).contains(&sum), "the mean stays: {sum}");
    }
}
