//! Lets a network learn from the paths of some labelled tests, with vectors of words from a file if
//! there is one.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

use flakeproof_core::Seed;
use flakeproof_learn::ensemble::Readings;
use flakeproof_learn::evaluate::HeldOut;
use flakeproof_learn::flast::HoldOut;
use flakeproof_learn::network::{
    Embeddings, EmbeddingsError, Fitted, NetworkFitError, NetworkParams, PathCorpus,
    PretrainParams, Progress, TrainingSet,
};

use super::labelled_tests::LabelledSources;
use crate::cli::NetworkArguments;
use crate::problem::Problem;

/// A teacher of networks.
pub(crate) struct NetworkTeacher<'a> {
    readings: &'a Readings,
    /// What the networks are like.
    pub(crate) params: NetworkParams,
    vectors: WordVectors<'a>,
}

/// The vectors of words that a network begins with.
enum WordVectors<'a> {
    Given(Embeddings),
    /// Learned from the methods of these projects; kept, because many folds have the same.
    Learned(BTreeSet<&'a str>, Option<Embeddings>),
}

/// What a network learned, and what it says of the tests it learned from without having seen them.
pub(crate) struct Taught {
    pub(crate) fitted: Fitted,
    pub(crate) held_out: HeldOut,
}

impl<'a> NetworkTeacher<'a> {
    /// A teacher with the network that is meant.
    pub(crate) fn new(
        read: &'a LabelledSources,
        typed: &NetworkArguments,
        seed: Seed,
    ) -> Result<Self, Problem> {
        if read.with_path == 0 {
            return Err(Problem::usage(
                "no test has a path, and paths are all that this network reads",
                "name the source of the projects with `--sources`; `flakeproof train jury` can do \
                 without",
            ));
        }
        let readings = &read.readings;
        let vectors = match &typed.embeddings {
            Some(file) => WordVectors::Given(read_vectors(file, readings.paths())?),
            None => WordVectors::Learned(BTreeSet::new(), None),
        };
        Ok(Self { readings, params: typed.params(seed), vectors })
    }

    /// Let a network learn from some tests. Only their projects are read to learn vectors of words.
    pub(crate) fn teach(
        &mut self,
        rows: &[u32],
        hold_out: HoldOut,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Taught, Problem> {
        self.learn_vectors(rows);
        let groups = self.readings.groups_of(hold_out);
        let groups: Vec<u32> = rows.iter().map(|row| groups[*row as usize]).collect();
        let flaky: Vec<bool> =
            rows.iter().map(|row| self.readings.tests()[*row as usize].flaky).collect();
        let corpus = self.readings.paths();
        let set = TrainingSet { corpus, rows, flaky: &flaky, groups: &groups };
        let vectors = match &self.vectors {
            WordVectors::Given(vectors) => Some(vectors),
            WordVectors::Learned(_, vectors) => vectors.as_ref(),
        };
        let fitted = self
            .params
            .fit(&set, vectors, &mut |progress| {
                watch(progress);
                ControlFlow::Continue(())
            })
            .map_err(|error| cannot_learn(&error))?;
        let others = flaky.iter().filter(|flaky| !**flaky).count();
        let scored = fitted.held_out.iter().copied().zip(flaky).collect();
        Ok(Taught { held_out: HeldOut::new(scored, others), fitted })
    }

    fn learn_vectors(&mut self, rows: &[u32]) {
        let WordVectors::Learned(from, vectors) = &mut self.vectors else { return };
        let tests = self.readings.tests();
        let projects: BTreeSet<&str> =
            rows.iter().map(|row| tests[*row as usize].project.as_str()).collect();
        if *from != projects {
            let methods = self.readings.methods_of(rows);
            let params = PretrainParams::new(self.params.dimension, self.params.seed);
            *vectors = (!methods.is_empty()).then(|| params.fit(&methods));
            *from = projects;
        }
    }
}

fn cannot_learn(error: &NetworkFitError) -> Problem {
    let next = match error {
        NetworkFitError::OneClass { .. } => {
            "give more tests, or hold out less at a time: whole projects and classes need several \
             of each kind"
        }
        NetworkFitError::Params(_) => "give more tests, projects or classes, or fewer `--members`",
        NetworkFitError::Lengths { .. }
        | NetworkFitError::UnknownTest(_)
        | NetworkFitError::Stopped => "please report this as a bug",
    };
    Problem::usage(format!("the network cannot learn: {error}"), next)
}

/// The vectors of the words that are on paths.
pub(crate) fn read_vectors(path: &Path, paths: &PathCorpus) -> Result<Embeddings, Problem> {
    let name = path.display();
    let unusable = |cause: &dyn std::fmt::Display| {
        Problem::usage(
            format!("the vectors {name} cannot be used: {cause}"),
            "name a text file of word2vec: a line with the number of words and their dimension, \
             then a line for each word",
        )
    };
    let file = File::open(path).map_err(|error| unusable(&error))?;
    let read = Embeddings::read_text(BufReader::new(file), |word| paths.has_word(word));
    let vectors = read.map_err(|error| match error {
        EmbeddingsError::Io(cause) => unusable(&cause),
        EmbeddingsError::Line { .. }
        | EmbeddingsError::CutOff { .. }
        | EmbeddingsError::Lengths { .. } => unusable(&error),
    })?;
    if vectors.is_empty() && !paths.is_empty() {
        return Err(unusable(&"none of its words is on a path"));
    }
    Ok(vectors)
}
