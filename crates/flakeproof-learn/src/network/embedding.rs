//! The first layer: a bag of words is the mean of its words' vectors.

use super::batch::Batch;
use super::buffer::Buffer;
use super::matrix::add_scaled;

/// The vectors of the words of a vocabulary, as one network knows them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WordTable {
    pub(super) dimension: usize,
    /// The vectors, one after another.
    pub(super) vectors: Vec<f32>,
    /// Which words are known. Others are skipped, as if they were not in the bag.
    pub(super) known: Vec<bool>,
}

impl WordTable {
    /// The mean vector of each bag; zeros where no word is known.
    pub(super) fn means(&self, batch: &Batch) -> Buffer {
        let mut means = Buffer::zeros(batch.bag_ends.len() * self.dimension);
        for (mean, bag) in means.chunks_exact_mut(self.dimension).zip(batch.bags()) {
            let share = self.share(batch, bag);
            for word in self.known_words(batch, bag) {
                add_scaled(mean, share, self.vector(batch.words[word]));
            }
        }
        means
    }

    /// The gradient of each of the batch's words, from the gradients of its bags.
    pub(super) fn spread(&self, batch: &Batch, of_bags: &[f32]) -> Buffer {
        let mut of_words = Buffer::zeros(batch.words.len() * self.dimension);
        for (of_bag, bag) in of_bags.chunks_exact(self.dimension).zip(batch.bags()) {
            let share = self.share(batch, bag);
            for word in self.known_words(batch, bag) {
                let start = word * self.dimension;
                add_scaled(&mut of_words[start..start + self.dimension], share, of_bag);
            }
        }
        of_words
    }

    fn vector(&self, word: u32) -> &[f32] {
        &self.vectors[word as usize * self.dimension..][..self.dimension]
    }

    fn known_words<'a>(
        &'a self,
        batch: &'a Batch,
        bag: &'a [u32],
    ) -> impl Iterator<Item = usize> + 'a {
        let is_known = |word: &usize| self.known[batch.words[*word] as usize];
        bag.iter().map(|word| *word as usize).filter(is_known)
    }

    /// What each known word of a bag contributes to its mean.
    fn share(&self, batch: &Batch, bag: &[u32]) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a bag has far fewer than 2^24 words")]
        let count = self.known_words(batch, bag).count() as f32;
        1.0 / count.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_is_the_mean_of_its_known_words() {
        let table = WordTable {
            dimension: 2,
            vectors: vec![1.0, 2.0, 3.0, 4.0, 50.0, 60.0],
            known: vec![true, true, false],
        };
        let batch = Batch {
            words: vec![1, 0, 2],
            bag_words: vec![0, 1, 1, 2, 2],
            bag_ends: vec![4, 5],
            ..Batch::default()
        };
        let third = |sum: f32| sum / 3.0;
        let means = table.means(&batch);
        assert!((means[0] - third(5.0)).abs() < 1e-6 && (means[1] - third(8.0)).abs() < 1e-6);
        assert_eq!(means[2..], [0.0, 0.0]);
        let gradients = table.spread(&batch, &[3.0, 0.0, 9.0, 9.0]);
        let expected = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0];
        assert!(gradients.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}
