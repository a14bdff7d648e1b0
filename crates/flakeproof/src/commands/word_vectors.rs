//! Vectors of words from a file.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flakeproof_learn::network::{Embeddings, EmbeddingsError, PathCorpus};

use crate::problem::Problem;

/// The vectors of the words that are on paths.
pub(super) fn read(path: &Path, paths: &PathCorpus) -> Result<Embeddings, Problem> {
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
