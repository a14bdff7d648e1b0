//! From the graph of a test to what the network reads.

use flakeproof_syntax::dependence::{ContextualPath, Graph};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::Project;
use rustc_hash::FxHashMap;

use super::corpus::{Bag, PathCorpus, PathStep};
use super::pretrain::Methods;

/// Of a longer body, the words at its beginning are read.
const LONGEST_BODY: usize = 120;

/// Puts the paths of a project's tests into a corpus. A body that many tests call is cut into words
/// once.
#[derive(Debug)]
pub struct PathWriter<'p> {
    project: &'p Project,
    corpus: PathCorpus,
    bodies: FxHashMap<Declared, Bag>,
}

impl<'p> PathWriter<'p> {
    /// A writer for the tests of this project.
    #[must_use]
    pub fn new(project: &'p Project) -> Self {
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

impl Methods {
    /// Add all functions of a project that have a name and a body.
    pub fn push_project(&mut self, project: &Project) {
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
}
