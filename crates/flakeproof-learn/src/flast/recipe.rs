//! Which variant of FLAST is at work: how a test is cut into terms and these become vectors, how
//! neighbours vote (Algorithm 1, lines 2 to 5), and from which flaky share on a test is called flaky
//! (the paper's sigma, chosen as section 6 says).

use flakeproof_syntax::words;
use flakeproof_syntax::words::{CodeToken, Comments};
use serde::{Deserialize, Serialize};

use crate::evaluate::HeldOut;

/// Everything that turns known tests into a predictor, apart from the tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What people call it.
    pub name: String,
    /// How source becomes terms.
    pub cut: Cut,
    /// How terms become vectors.
    pub weighting: Weighting,
    /// How many neighbours vote (the paper's k).
    pub neighbours: usize,
    /// How many of them may come from one class.
    pub of_a_class: usize,
    /// How much each of them weighs.
    pub vote: Vote,
    /// What the threshold is to achieve (the paper's sigma).
    pub aim: Aim,
}

/// How terms become vectors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Counts, projected at random onto few dimensions; distances change by `1 ± epsilon` at most.
    /// With `epsilon` 0 the counts stay as they are.
    Counts {
        /// How much distances may change.
        epsilon: f64,
    },
    /// Whether a term occurs, weighted by the square root of the logarithm of how rare it is.
    Rarity {
        /// Terms in a larger share of the tests (and in more than a hundred) say nothing.
        most_common: f64,
        /// Terms in fewer tests say nothing.
        fewest: u32,
        /// The length of the class name's part, where the source's part has length one.
        class: f32,
        /// The length of the package's part.
        package: f32,
    },
}

/// How much a neighbour's voice weighs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// The inverse of its cosine distance, as in the paper.
    InverseDistance,
    /// Its similarity to this power: the higher, the more the nearest decide.
    Power(f32),
}

/// What a threshold is to achieve on tests that training has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// This threshold and no other.
    Fixed(f64),
    /// The best balance of precision and recall (F1).
    Balance,
    /// As many flaky tests as possible while this share of the predicted ones is flaky.
    Precision(f64),
}

impl Recipe {
    /// FLAST as the paper measured it: with the words that its authors' program takes.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            name: "paper".to_owned(),
            cut: Cut::Runs,
            weighting: Weighting::Counts { epsilon: 0.33 },
            neighbours: 7,
            of_a_class: 7,
            vote: Vote::InverseDistance,
            aim: Aim::Fixed(0.5),
        }
    }

    /// FLAST with the words that the paper's text names: what stands between white space.
    #[must_use]
    pub fn white_space() -> Self {
        Self { name: "white-space".to_owned(), cut: Cut::WhiteSpace, ..Self::paper() }
    }

    /// The variant that was best on real data (`evaluation/flast`).
    #[must_use]
    pub fn rarity() -> Self {
        Self {
            name: "rarity".to_owned(),
            cut: Cut::Parts,
            weighting: Weighting::Rarity { most_common: 0.1, fewest: 2, class: 0.4, package: 0.5 },
            neighbours: 30,
            of_a_class: 3,
            vote: Vote::Power(4.0),
            aim: Aim::Balance,
        }
    }
}

/// Distances below this count as zero: two equal texts differ by rounding only.
const SAME: f64 = 1e-5;

impl Vote {
    /// The flaky share of the votes, 0 without a voter.
    ///
    /// At distance zero the paper's weight is infinite. A neighbour that is the very same text and
    /// not flaky then decides for "not flaky"; else one that is flaky decides for "flaky". This is
    /// what the paper's reference program does: a doubt never accuses a test.
    #[must_use]
    pub fn flaky_share(self, neighbours: impl Iterator<Item = (f32, bool)> + Clone) -> f64 {
        if self == Self::InverseDistance {
            let mut same = neighbours.clone().filter(|(similarity, _)| is_same(*similarity));
            if let Some((_, first)) = same.next() {
                return if first && same.all(|(_, flaky)| flaky) { 1.0 } else { 0.0 };
            }
        }
        let (mut flaky_votes, mut all_votes) = (0.0, 0.0);
        for (similarity, flaky) in neighbours {
            let weight = self.weight(similarity);
            all_votes += weight;
            if flaky {
                flaky_votes += weight;
            }
        }
        if all_votes > 0.0 { flaky_votes / all_votes } else { 0.0 }
    }

    /// The weight of a voice from this similarity.
    pub(crate) fn weight(self, similarity: f32) -> f64 {
        let similarity = f64::from(similarity);
        match self {
            Self::InverseDistance => 1.0 / (1.0 - similarity).max(SAME),
            Self::Power(exponent) => similarity.max(0.0).powf(f64::from(exponent)),
        }
    }
}

fn is_same(similarity: f32) -> bool {
    1.0 - f64::from(similarity) < SAME
}

/// A precision that fewer predictions than this support is chance.
const FEWEST_PREDICTIONS: usize = 5;

impl Aim {
    /// The threshold for this aim, given held-out shares. A test is called flaky when its share is
    /// at least the threshold. `None` when no threshold achieves the aim.
    #[must_use]
    pub fn threshold(self, held_out: &HeldOut) -> Option<f64> {
        match self {
            Self::Fixed(threshold) => Some(threshold),
            Self::Balance => held_out
                .steps()
                .into_iter()
                .max_by(|a, b| a.1.f1().total_cmp(&b.1.f1()).then(a.0.total_cmp(&b.0)))
                .filter(|(_, confusion)| confusion.true_positives > 0)
                .map(|(threshold, _)| threshold),
            Self::Precision(target) => held_out
                .steps()
                .into_iter()
                .filter(|(_, confusion)| {
                    let predicted = confusion.true_positives + confusion.false_positives;
                    predicted >= FEWEST_PREDICTIONS
                        && confusion.precision().is_some_and(|precision| precision >= target)
                })
                .max_by(|a, b| {
                    a.1.true_positives.cmp(&b.1.true_positives).then(a.0.total_cmp(&b.0))
                })
                .map(|(threshold, _)| threshold),
        }
    }
}

/// A test as a model sees it: its source, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct TestText<'a> {
    /// The source of the test.
    pub source: &'a str,
    /// Where it stands, dotted: package and class, or folders and file (`org.acme.FooTest`).
    pub class: &'a str,
    /// How comments begin in its language.
    pub comments: Comments,
}

/// How source becomes terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// What stands between white space, as the paper's text says.
    WhiteSpace,
    /// Runs of word characters in lower case, as the paper's program does.
    Runs,
    /// The words that names and texts are made of, in lower case, and those of class and package.
    Parts,
}

/// What a term was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermField {
    /// The source of the test.
    Source,
    /// The name of its class or file.
    Class,
    /// Its package or folders.
    Package,
}

/// Marks terms of the class and of the package. No part of a name contains a blank.
const CLASS_MARK: &str = "class ";
const PACKAGE_MARK: &str = "package ";

impl Cut {
    /// Hand each piece of the test's source to `take`, as often as it occurs. Equal pieces have equal
    /// terms, see [`terms_of`](Self::terms_of).
    pub(crate) fn pieces(self, test: &TestText<'_>, mut take: impl FnMut(&str)) {
        match self {
            Self::WhiteSpace => words::at_white_space(test.source).for_each(take),
            Self::Runs => words::runs(test.source).for_each(|run| take(&run)),
            Self::Parts => {
                for token in words::tokens(test.source, test.comments) {
                    match token {
                        CodeToken::Name(text) | CodeToken::Text(text) => take(text),
                        CodeToken::Number(_) | CodeToken::Symbol(_) => {}
                    }
                }
            }
        }
    }

    /// Hand each term of a piece to `take`, as often as it occurs.
    pub(crate) fn terms_of(self, piece: &str, mut take: impl FnMut(&str)) {
        match self {
            Self::WhiteSpace | Self::Runs => take(piece),
            Self::Parts => take_parts(piece, "", &mut String::new(), &mut take),
        }
    }

    /// Hand each term of the test's class and package to `take`, as often as it occurs.
    pub(crate) fn place_terms(self, test: &TestText<'_>, mut take: impl FnMut(&str)) {
        if self == Self::Parts {
            let mut lower = String::new();
            let (package, class) = test.class.rsplit_once('.').unwrap_or(("", test.class));
            take_parts(class, CLASS_MARK, &mut lower, &mut take);
            take_parts(package, PACKAGE_MARK, &mut lower, &mut take);
        }
    }

    /// What a term of this cut was taken from, and the term without its mark.
    pub(crate) fn field(self, term: &str) -> (TermField, &str) {
        if self != Self::Parts {
            return (TermField::Source, term);
        }
        if let Some(term) = term.strip_prefix(CLASS_MARK) {
            (TermField::Class, term)
        } else if let Some(term) = term.strip_prefix(PACKAGE_MARK) {
            (TermField::Package, term)
        } else {
            (TermField::Source, term)
        }
    }
}

/// Hand the words of a text to `take`, in lower case and with a mark. `lower` is room to write.
fn take_parts(text: &str, mark: &str, lower: &mut String, take: &mut impl FnMut(&str)) {
    for part in words::parts(text) {
        lower.clear();
        lower.push_str(mark);
        if part.is_ascii() {
            lower.push_str(part);
            lower.make_ascii_lowercase();
        } else {
            lower.extend(part.chars().flat_map(char::to_lowercase));
        }
        take(lower);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(vote: Vote, neighbours: &[(f32, bool)]) -> f64 {
        vote.flaky_share(neighbours.iter().copied())
    }

    #[test]
    fn nearer_neighbours_weigh_more() {
        // 1/0.2 = 5 flaky against 1/0.5 = 2 and 1/0.5 = 2 not flaky.
        let near = [(0.8, true), (0.5, false), (0.5, false)];
        assert!((share(Vote::InverseDistance, &near) - 5.0 / 9.0).abs() < 1e-6);
        assert!((share(Vote::Power(2.0), &near) - 0.64 / 1.14).abs() < 1e-6);
    }

    #[test]
    fn the_very_same_text_decides_and_a_doubt_never_accuses() {
        let others = [(0.9, true), (0.9, true)];
        let with = |same: &[(f32, bool)]| share(Vote::InverseDistance, &[same, &others].concat());
        assert!(with(&[(1.0, false)]) == 0.0);
        assert!(with(&[(1.0, true), (1.0, false)]) == 0.0);
        let others = [(0.9, false), (0.9, false)];
        assert!(share(Vote::InverseDistance, &[&[(1.0, true)][..], &others].concat()) == 1.0);
    }

    #[test]
    fn nobody_says_nothing() {
        assert!(share(Vote::InverseDistance, &[]) == 0.0);
        assert!(share(Vote::Power(4.0), &[]) == 0.0);
    }

    const HELD_OUT: [(f64, bool); 8] = [
        (0.9, true),
        (0.8, true),
        (0.7, true),
        (0.6, true),
        (0.5, false),
        (0.4, true),
        (0.3, false),
        (0.0, false),
    ];

    fn threshold(aim: Aim) -> Option<f64> {
        aim.threshold(&HeldOut::new(HELD_OUT.to_vec(), 3))
            .map(|threshold| (threshold * 100.0).round() / 100.0)
    }

    #[test]
    fn balance_takes_the_best_f1() {
        // Down to 0.4: five of five found, one wrong. Down to 0.6: four of five, none wrong.
        assert_eq!(threshold(Aim::Balance), Some(0.35));
    }

    #[test]
    fn a_precision_target_finds_as_many_as_it_allows() {
        assert_eq!(threshold(Aim::Precision(0.8)), Some(0.35));
        assert_eq!(threshold(Aim::Precision(0.9)), None, "4 of 4 are too few to tell");
    }

    #[test]
    fn without_a_flaky_test_there_is_no_balance() {
        let without = HeldOut::new(vec![(0.4, false)], 1);
        assert_eq!(Aim::Balance.threshold(&without), None);
        assert_eq!(Aim::Fixed(0.5).threshold(&without), Some(0.5));
    }

    fn terms(cut: Cut, source: &str, class: &str) -> Vec<String> {
        let mut terms = Vec::new();
        let test = TestText { source, class, comments: Comments::Slashes };
        cut.pieces(&test, |piece| cut.terms_of(piece, |term| terms.push(term.to_owned())));
        cut.place_terms(&test, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn the_paper_cuts_at_white_space() {
        let found = terms(Cut::WhiteSpace, "void t() {\n wait(10); }", "a.B");
        assert_eq!(found, ["void", "t()", "{", "wait(10);", "}"]);
    }

    #[test]
    fn parts_come_from_names_texts_and_the_class() {
        let found = terms(Cut::Parts, "waitFor(\"port 80\", 5) // no", "org.acme.HttpTest");
        let place = ["class http", "class test", "package org", "package acme"];
        assert_eq!(found, [&["wait", "for", "port", "80"][..], &place].concat());
        assert_eq!(Cut::Parts.field("class http"), (TermField::Class, "http"));
        assert_eq!(Cut::Parts.field("wait"), (TermField::Source, "wait"));
    }
}
