//! Vectors of words learned from methods without labels: the words of a method's body predict the
//! words of its name.
//!
//! The task of code2vec (Alon et al., 2019), learned as word2vec learns (Mikolov et al., 2013): the
//! mean of the body's vectors is drawn towards the vectors of the name's words, and pushed away
//! from those of names drawn at random. One thread does it, in a fixed order; it takes seconds.

use flakeproof_core::Seed;
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::ProjectIndex;
use rustc_hash::FxHashMap;

use super::corpus::LONGEST_BODY;
use super::layers::sigmoid;
use super::matrix::{add_scaled, dot};
use super::vocabulary::Embeddings;
use super::weights::small;
use crate::Chance;

/// Methods to learn from: the words of their names and of their bodies.
#[derive(Debug, Clone, Default)]
pub struct Methods {
    words: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// Name and body of each method, one after another.
    all: Vec<u32>,
    /// Where each name ends, and each body.
    ends: Vec<(usize, usize)>,
}

/// How vectors are learned.
#[derive(Debug, Clone, PartialEq)]
pub struct PretrainParams {
    /// The dimension of the vectors.
    pub dimension: usize,
    /// How often all methods are learned from.
    pub epochs: usize,
    /// How many names are drawn at random for each word of a name.
    pub negatives: usize,
    /// How far vectors move at first. It falls to nothing.
    pub learning_rate: f64,
    /// The most words of a body that are read each time, drawn at random.
    pub most_words: usize,
    /// In how many bodies a word must be to get a vector.
    pub fewest_bodies: u32,
    /// The seed of all chance.
    pub seed: Seed,
}

impl Methods {
    /// Add a method. Words of the body that are also in the name are left out: copying teaches
    /// nothing.
    pub fn push<'a>(
        &mut self,
        name: impl IntoIterator<Item = &'a str>,
        body: impl IntoIterator<Item = &'a str>,
    ) {
        let start = self.all.len();
        for word in name {
            let word = self.number(word);
            self.all.push(word);
        }
        let name_end = self.all.len();
        for word in body {
            let word = self.number(word);
            if !self.all[start..name_end].contains(&word) {
                self.all.push(word);
            }
        }
        self.ends.push((name_end, self.all.len()));
    }

    /// Add all functions of a project that have a name and a body.
    pub fn push_project(&mut self, project: &ProjectIndex) {
        for (unit, file) in (0..).zip(project.units()) {
            for (place, function) in (0..).zip(&file.functions) {
                if function.name.is_empty() || function.body.is_empty() {
                    continue;
                }
                let small = |word: &str| word.to_lowercase();
                let name: Vec<String> =
                    flakeproof_syntax::words::parts(&function.name).map(small).collect();
                let words = project.body_words(Declared { unit, function: place });
                let body: Vec<String> = words.take(LONGEST_BODY).map(small).collect();
                self.push(name.iter().map(String::as_str), body.iter().map(String::as_str));
            }
        }
    }

    /// Add all methods of others.
    pub fn append(&mut self, other: &Self) {
        let numbers: Vec<u32> = other.words.iter().map(|word| self.number(word)).collect();
        let start = self.all.len();
        self.all.extend(other.all.iter().map(|word| numbers[*word as usize]));
        self.ends.extend(other.ends.iter().map(|(name, body)| (start + name, start + body)));
    }

    /// How many methods there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no method.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.push(word.to_owned());
        self.numbers.insert(word.to_owned(), number);
        number
    }

    /// The words of the name and of the body of a method.
    fn get(&self, method: usize) -> (&[u32], &[u32]) {
        let start = if method == 0 { 0 } else { self.ends[method - 1].1 };
        let (name_end, end) = self.ends[method];
        (&self.all[start..name_end], &self.all[name_end..end])
    }
}

impl PretrainParams {
    /// What was found to work, with this dimension and seed.
    #[must_use]
    pub fn new(dimension: usize, seed: Seed) -> Self {
        Self {
            dimension: dimension.max(1),
            epochs: 4,
            negatives: 5,
            learning_rate: 0.05,
            most_words: 32,
            fewest_bodies: 3,
            seed,
        }
    }

    /// Learn vectors from methods. Words in too few bodies get none.
    #[must_use]
    pub fn fit(&self, methods: &Methods) -> Embeddings {
        let mut learner = Learner::new(self, methods);
        let mut order: Vec<usize> = (0..methods.len()).collect();
        let mut chance = Chance::new(self.seed.split("order"));
        let visits = crate::real((self.epochs * methods.len()).max(1));
        let mut visit = 0;
        for _ in 0..self.epochs {
            chance.shuffle(&mut order);
            for method in &order {
                let left = 1.0 - crate::real(visit) / visits;
                learner.visit(methods.get(*method), small(self.learning_rate * left));
                visit += 1;
            }
        }
        learner.into_embeddings(methods)
    }
}

/// Vectors that are being learned.
struct Learner<'a> {
    params: &'a PretrainParams,
    /// Which words are in enough bodies.
    known: Vec<bool>,
    /// The vectors of words in bodies, and of words in names.
    bodies: Vec<f32>,
    names: Vec<f32>,
    /// Words of names, each as often as it is drawn.
    drawn: Vec<u32>,
    chance: Chance,
    /// Room for the words, the mean and the gradient of one body.
    words: Vec<u32>,
    mean: Vec<f32>,
    gradient: Vec<f32>,
}

impl<'a> Learner<'a> {
    fn new(params: &'a PretrainParams, methods: &Methods) -> Self {
        let (count, dimension) = (methods.words.len(), params.dimension);
        let (mut in_bodies, mut in_names) = (vec![0u32; count], vec![0u32; count]);
        for method in 0..methods.len() {
            let (name, body) = methods.get(method);
            name.iter().for_each(|word| in_names[*word as usize] += 1);
            body.iter().for_each(|word| in_bodies[*word as usize] += 1);
        }
        let mut chance = Chance::new(params.seed.split("vectors"));
        let most = 0.5 / crate::real(dimension);
        let bodies =
            (0..count * dimension).map(|_| small(most * (2.0 * chance.unit() - 1.0))).collect();
        Self {
            params,
            known: in_bodies.iter().map(|count| *count >= params.fewest_bodies).collect(),
            bodies,
            names: vec![0.0; count * dimension],
            drawn: draw_table(&in_names),
            chance,
            words: Vec::new(),
            mean: vec![0.0; dimension],
            gradient: vec![0.0; dimension],
        }
    }

    /// Learn from one method.
    fn visit(&mut self, (name, body): (&[u32], &[u32]), rate: f32) {
        let dimension = self.params.dimension;
        self.choose_words(body);
        if self.words.is_empty() || self.drawn.is_empty() {
            return;
        }
        let share = small(1.0 / crate::real(self.words.len()));
        self.mean.fill(0.0);
        for word in &self.words {
            let start = *word as usize * dimension;
            add_scaled(&mut self.mean, share, &self.bodies[start..start + dimension]);
        }
        self.gradient.fill(0.0);
        for word in name {
            self.pull(*word, 1.0, rate);
            for _ in 0..self.params.negatives {
                let other = self.drawn[self.chance.below(self.drawn.len())];
                if !name.contains(&other) {
                    self.pull(other, 0.0, rate);
                }
            }
        }
        // As in word2vec, each word moves by the whole gradient of the mean, not by its share.
        for word in &self.words {
            let start = *word as usize * dimension;
            add_scaled(&mut self.bodies[start..start + dimension], 1.0, &self.gradient);
        }
    }

    /// Move a word of a name towards the mean, or away from it, and note where the mean is to go.
    fn pull(&mut self, word: u32, truth: f32, rate: f32) {
        let start = word as usize * self.params.dimension;
        let vector = &mut self.names[start..start + self.params.dimension];
        let off = rate * (truth - sigmoid(dot(&self.mean, vector)));
        add_scaled(&mut self.gradient, off, vector);
        add_scaled(vector, off, &self.mean);
    }

    /// The known words of a body, or as many of them as are read, drawn at random.
    fn choose_words(&mut self, body: &[u32]) {
        let known = body.iter().copied().filter(|word| self.known[*word as usize]);
        self.words.clear();
        self.words.extend(known);
        let most = self.params.most_words;
        if self.words.len() > most {
            for at in 0..most {
                let other = at + self.chance.below(self.words.len() - at);
                self.words.swap(at, other);
            }
            self.words.truncate(most);
        }
    }

    fn into_embeddings(self, methods: &Methods) -> Embeddings {
        let vectors = self.bodies.chunks_exact(self.params.dimension);
        let all = methods.words.iter().zip(vectors).zip(&self.known);
        let (words, vectors): (Vec<String>, Vec<&[f32]>) = all
            .filter(|(_, known)| **known)
            .map(|((word, vector), _)| (word.clone(), vector))
            .unzip();
        Embeddings::of_vectors(words, self.params.dimension, vectors.concat())
    }
}

/// About how many places the table of names to draw has.
const PLACES: f64 = 1_000_000.0;

/// Words of names, each in as many places as its count to the power of three quarters says.
fn draw_table(counts: &[u32]) -> Vec<u32> {
    let weight = |count: u32| f64::from(count).powf(0.75);
    let sum: f64 = counts.iter().map(|count| weight(*count)).sum();
    let mut table = Vec::new();
    let mut passed = 0.0;
    for (word, count) in (0u32..).zip(counts) {
        passed += weight(*count);
        while crate::real(table.len()) < PLACES * passed / sum {
            table.push(word);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Methods about files and about numbers, whose bodies share a word.
    fn methods() -> Methods {
        let mut methods = Methods::default();
        for turn in 0..600usize {
            let word = |words: [&'static str; 4], salt: usize| words[(turn * 7 + salt) % 4];
            let files = ["open", "path", "stream", "close"];
            let numbers = ["plus", "sum", "modulo", "digits"];
            methods.push(["read", "file"], [word(files, turn / 4), word(files, 1), "value"]);
            methods.push(["add", "number"], [word(numbers, turn / 4), word(numbers, 1), "value"]);
        }
        methods
    }

    fn cosine(vectors: &Embeddings, one: &str, two: &str) -> f32 {
        let find = |word: &str| {
            let found = vectors.iter().find(|(known, _)| *known == word);
            found.expect("it has a vector").1.to_vec()
        };
        let (one, two) = (find(one), find(two));
        dot(&one, &two) / (dot(&one, &one) * dot(&two, &two)).sqrt()
    }

    #[test]
    fn words_of_alike_methods_come_together() {
        let vectors = PretrainParams::new(16, Seed(1)).fit(&methods());
        assert!(cosine(&vectors, "open", "stream") > 0.8);
        assert!(cosine(&vectors, "open", "modulo") < 0.2);
        assert!(vectors.iter().all(|(word, _)| word != "read"), "it is in no body");
    }

    #[test]
    fn the_same_seed_gives_the_same_vectors() {
        let fit = |seed| PretrainParams::new(8, Seed(seed)).fit(&methods());
        assert_eq!(fit(1), fit(1));
        assert_ne!(fit(1), fit(2));
    }

    #[test]
    fn words_of_the_name_are_left_out_of_the_body() {
        let mut methods = Methods::default();
        methods.push(["get", "item"], ["item", "list", "get"]);
        let (name, body) = methods.get(0);
        assert_eq!((name, body), (&[0, 1][..], &[2][..]));
        assert!(PretrainParams::new(4, Seed(1)).fit(&Methods::default()).is_empty());
    }
}
