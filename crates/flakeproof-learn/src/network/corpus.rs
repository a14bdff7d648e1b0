//! The contextual paths of tests as numbers: what the network reads.
//!
//! Words, bags of words, and steps are kept once each and referred to by number, so that a set of
//! 17,500 tests with 100 paths of 20 steps takes four bytes a step. The paper's tuple is a node and
//! the edge that leaves it, and an edge into the code under test is its body *instead of* its
//! operation (section III-B). Here a step keeps both, so that nothing is lost.

use flakeproof_syntax::dependence::{ContextualPath, Graph};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::ProjectIndex;
use rustc_hash::FxHashMap;

/// Of a longer body, the words at its beginning are read.
pub(super) const LONGEST_BODY: usize = 120;

/// A bag of words in a [`PathCorpus`]: a node, an operation, or the body of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bag(u32);

impl Bag {
    /// The bag without a word. It is in every corpus.
    pub const EMPTY: Self = Self(0);

    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// One step of a contextual path: a node and the edge that leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PathStep {
    /// The sub-words of the node.
    pub node: Bag,
    /// The sub-words of the operation on the edge; the last step of a path has none.
    pub operation: Option<Bag>,
    /// The sub-words of the method's body, where the edge calls into the code under test.
    pub body: Option<Bag>,
}

impl PathStep {
    /// The last step of a path: a node that no edge leaves.
    #[must_use]
    pub fn last(node: Bag) -> Self {
        Self { node, operation: None, body: None }
    }

    /// Its bags in the order in which the network reads them.
    pub(super) fn bags(self) -> [Option<Bag>; 3] {
        [Some(self.node), self.operation, self.body]
    }
}

/// Tests as lists of contextual paths, each a list of steps from START to ASSERT.
///
/// ```
/// use flakeproof_learn::network::{PathCorpus, PathStep};
///
/// let mut corpus = PathCorpus::default();
/// let node = corpus.bag(["server"]);
/// let operation = Some(corpus.bag(["start"]));
/// let step = PathStep { node, operation, body: None };
/// let last = PathStep::last(corpus.bag(["is", "running"]));
/// let test = corpus.push_test([[step, last]]);
/// assert_eq!(corpus.path_count(test), 1);
/// ```
#[derive(Debug, Clone)]
pub struct PathCorpus {
    words: Vec<String>,
    word_numbers: FxHashMap<String, u32>,
    bags: Lists,
    bag_numbers: FxHashMap<Box<[u32]>, u32>,
    steps: Vec<PathStep>,
    step_numbers: FxHashMap<PathStep, u32>,
    /// The numbers of the steps of each path.
    paths: Lists,
    /// Up to which path the paths of each test go.
    test_ends: Vec<u32>,
}

/// Lists of numbers one after another; list `i` lies between `ends[i - 1]` and `ends[i]`.
#[derive(Debug, Clone, Default)]
struct Lists {
    numbers: Vec<u32>,
    ends: Vec<u64>,
}

impl Default for PathCorpus {
    fn default() -> Self {
        let mut corpus = Self {
            words: Vec::new(),
            word_numbers: FxHashMap::default(),
            bags: Lists::default(),
            bag_numbers: FxHashMap::default(),
            steps: Vec::new(),
            step_numbers: FxHashMap::default(),
            paths: Lists::default(),
            test_ends: Vec::new(),
        };
        corpus.bag_of_numbers(Vec::new());
        corpus
    }
}

impl PathCorpus {
    /// The bag of these words, in whatever order; a word that comes twice counts twice.
    pub fn bag<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) -> Bag {
        let numbers = words.into_iter().map(|word| self.word(word)).collect();
        self.bag_of_numbers(numbers)
    }

    /// Add a test with these paths, and return its number. A path without a step is left out.
    ///
    /// The bags must come from this corpus.
    pub fn push_test<P: AsRef<[PathStep]>>(&mut self, paths: impl IntoIterator<Item = P>) -> u32 {
        for path in paths {
            let steps = path.as_ref();
            if !steps.is_empty() {
                let numbers: Vec<u32> = steps.iter().map(|step| self.step(*step)).collect();
                self.paths.push(&numbers);
            }
        }
        self.test_ends.push(number(self.paths.len()));
        number(self.test_ends.len() - 1)
    }

    /// Add the tests of another corpus behind those of this one, so that many threads can make one.
    pub fn append(&mut self, other: &Self) {
        let bags: Vec<Bag> = (0..number(other.bags.len()))
            .map(|bag| {
                self.bag(other.bag_words(Bag(bag)).iter().map(|word| other.word_text(*word)))
            })
            .collect();
        self.append_changed(other, |_, step| PathStep {
            node: bags[step.node.0 as usize],
            operation: step.operation.map(|bag| bags[bag.0 as usize]),
            body: step.body.map(|bag| bags[bag.0 as usize]),
        });
    }

    /// How many tests there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.test_ends.len()
    }

    /// Whether there is no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.test_ends.is_empty()
    }

    /// Whether a word is on a path of a test, or was put into a bag.
    #[must_use]
    pub fn has_word(&self, word: &str) -> bool {
        self.word_numbers.contains_key(word)
    }

    /// How many paths a test has; none if there is no such test.
    #[must_use]
    pub fn path_count(&self, test: u32) -> usize {
        self.path_numbers(test).len()
    }

    /// The steps of one path of a test, from START on; empty if there is no such path.
    pub fn path(&self, test: u32, path: usize) -> impl Iterator<Item = PathStep> + '_ {
        let numbers =
            self.path_numbers(test).nth(path).map_or(&[][..], |path| self.path_steps(path));
        numbers.iter().map(|step| self.steps[*step as usize])
    }

    /// The words of a bag, in the order in which they came into the corpus.
    pub fn words_of(&self, bag: Bag) -> impl Iterator<Item = &str> {
        self.bag_words(bag).iter().map(|word| self.word_text(*word))
    }

    /// The same tests with each step changed, by a step's predecessor on its path and itself.
    #[must_use]
    pub fn with_steps(&self, change: impl Fn(Option<PathStep>, PathStep) -> PathStep) -> Self {
        let mut changed = Self {
            words: self.words.clone(),
            word_numbers: self.word_numbers.clone(),
            bags: self.bags.clone(),
            bag_numbers: self.bag_numbers.clone(),
            ..Self::default()
        };
        changed.append_changed(self, change);
        changed
    }

    /// Add the tests of another corpus, each step changed.
    fn append_changed(
        &mut self,
        other: &Self,
        change: impl Fn(Option<PathStep>, PathStep) -> PathStep,
    ) {
        let mut numbers = Vec::new();
        for test in 0..number(other.len()) {
            for path in other.path_numbers(test) {
                let steps = other.path_steps(path);
                numbers.clear();
                let mut before = None;
                for step in steps {
                    let step = other.steps[*step as usize];
                    numbers.push(self.step(change(before, step)));
                    before = Some(step);
                }
                self.paths.push(&numbers);
            }
            self.test_ends.push(number(self.paths.len()));
        }
    }

    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    pub(super) fn word_text(&self, word: u32) -> &str {
        &self.words[word as usize]
    }

    pub(super) fn bag_count(&self) -> usize {
        self.bags.len()
    }

    pub(super) fn bag_words(&self, bag: Bag) -> &[u32] {
        self.bags.get(bag.0)
    }

    pub(super) fn step_of(&self, step: u32) -> PathStep {
        self.steps[step as usize]
    }

    /// The numbers of a test's paths.
    pub(super) fn path_numbers(&self, test: u32) -> std::ops::Range<u32> {
        let test = test as usize;
        let end = self.test_ends.get(test).copied();
        let start = if test == 0 { Some(0) } else { self.test_ends.get(test - 1).copied() };
        start.zip(end).map_or(0..0, |(start, end)| start..end)
    }

    /// The numbers of a path's steps.
    pub(super) fn path_steps(&self, path: u32) -> &[u32] {
        self.paths.get(path)
    }

    fn word(&mut self, text: &str) -> u32 {
        if let Some(word) = self.word_numbers.get(text) {
            return *word;
        }
        let word = number(self.words.len());
        self.words.push(text.to_owned());
        self.word_numbers.insert(text.to_owned(), word);
        word
    }

    fn bag_of_numbers(&mut self, mut words: Vec<u32>) -> Bag {
        words.sort_unstable();
        if let Some(bag) = self.bag_numbers.get(&words[..]) {
            return Bag(*bag);
        }
        let bag = number(self.bags.len());
        self.bags.push(&words);
        self.bag_numbers.insert(words.into_boxed_slice(), bag);
        Bag(bag)
    }

    fn step(&mut self, step: PathStep) -> u32 {
        let next = number(self.steps.len());
        let found = *self.step_numbers.entry(step).or_insert(next);
        if found == next {
            self.steps.push(step);
        }
        found
    }
}

/// Puts the paths of a project's tests into a corpus. A body that many tests call is cut into words
/// once.
#[derive(Debug)]
pub struct PathWriter<'p> {
    project: &'p ProjectIndex,
    corpus: PathCorpus,
    bodies: FxHashMap<Declared, Bag>,
}

impl<'p> PathWriter<'p> {
    /// A writer for the tests of this project.
    #[must_use]
    pub fn new(project: &'p ProjectIndex) -> Self {
        Self { project, corpus: PathCorpus::default(), bodies: FxHashMap::default() }
    }

    /// Add a test with these paths of its graph, and return its number.
    pub fn push(&mut self, graph: &Graph, paths: &[ContextualPath]) -> u32 {
        let paths: Vec<Vec<PathStep>> = paths
            .iter()
            .map(|path| {
                path.steps
                    .iter()
                    .map(|(node, edge)| {
                        let node = self.bag(graph.node_words(self.project, *node));
                        let operation =
                            edge.map(|edge| self.bag(graph.edge_words(self.project, edge)));
                        let code =
                            edge.and_then(|edge| graph.edge(edge)).and_then(|edge| edge.code);
                        PathStep { node, operation, body: code.map(|code| self.body(code)) }
                    })
                    .collect()
            })
            .collect();
        self.corpus.push_test(paths)
    }

    /// The corpus of all tests added.
    #[must_use]
    pub fn into_corpus(self) -> PathCorpus {
        self.corpus
    }

    fn bag(&mut self, words: Vec<&str>) -> Bag {
        let words: Vec<String> = words.into_iter().map(str::to_lowercase).collect();
        self.corpus.bag(words.iter().map(String::as_str))
    }

    fn body(&mut self, code: Declared) -> Bag {
        if let Some(bag) = self.bodies.get(&code) {
            return *bag;
        }
        let words: Vec<&str> = self.project.body_words(code).take(LONGEST_BODY).collect();
        let bag = self.bag(words);
        self.bodies.insert(code, bag);
        bag
    }
}

impl Lists {
    fn push(&mut self, list: &[u32]) {
        self.numbers.extend_from_slice(list);
        self.ends.push(self.numbers.len() as u64);
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, at: u32) -> &[u32] {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let place = |end: u64| usize::try_from(end).unwrap_or(usize::MAX);
        &self.numbers[place(start)..place(self.ends[at])]
    }
}

/// A count as a number of 32 bits, of which there are enough for everything that fits into memory.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(corpus: &PathCorpus, bag: Bag) -> Vec<&str> {
        let mut words: Vec<&str> = corpus.words_of(bag).collect();
        words.sort_unstable();
        words
    }

    #[test]
    fn equal_bags_are_kept_once_in_whatever_order_their_words_come() {
        let mut corpus = PathCorpus::default();
        let bag = corpus.bag(["get", "item", "get"]);
        assert_eq!(corpus.bag(["item", "get", "get"]), bag);
        assert_ne!(corpus.bag(["get", "item"]), bag);
        assert_eq!(words(&corpus, bag), ["get", "get", "item"]);
        assert_eq!(corpus.bag([]), Bag::EMPTY);
    }

    #[test]
    fn a_path_comes_back_as_it_was_given() {
        let mut corpus = PathCorpus::default();
        let [a, b, c] = ["a", "b", "c"].map(|word| corpus.bag([word]));
        let step = PathStep { node: a, operation: Some(b), body: Some(c) };
        let none: [Vec<PathStep>; 0] = [];
        assert_eq!(corpus.push_test(none), 0);
        let paths = [vec![step, PathStep::last(b)], vec![], vec![PathStep::last(c)]];
        assert_eq!(corpus.push_test(paths), 1);
        assert_eq!([0, 1, 2].map(|test| corpus.path_count(test)), [0, 2, 0]);
        assert_eq!(corpus.path(1, 0).collect::<Vec<_>>(), [step, PathStep::last(b)]);
        assert_eq!(corpus.path(1, 1).collect::<Vec<_>>(), [PathStep::last(c)]);
        assert_eq!(corpus.path(1, 2).count() + corpus.path(9, 0).count(), 0);
    }

    #[test]
    fn an_appended_corpus_keeps_its_words() {
        let mut first = PathCorpus::default();
        let bag = first.bag(["a", "b"]);
        first.push_test([[PathStep::last(bag)]]);
        let mut second = PathCorpus::default();
        let bags = [second.bag(["c"]), second.bag(["b", "a"])];
        let step = PathStep { node: bags[0], operation: None, body: Some(bags[1]) };
        second.push_test([[step], [PathStep::last(bags[1])]]);
        first.append(&second);
        assert_eq!(first.len(), 2);
        let step = first.path(1, 0).next().expect("one step");
        assert_eq!(words(&first, step.node), ["c"]);
        assert_eq!(words(&first, step.body.expect("a body")), ["a", "b"]);
        assert_eq!(first.path(1, 1).next(), first.path(0, 0).next());
    }
}
