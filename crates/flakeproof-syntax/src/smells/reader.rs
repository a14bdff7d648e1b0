//! Counts smells around tests, and gathers the words of each circle.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use super::{Circle, Smell};
use crate::flow::Declared;
use crate::project::{Project, ReachLimits};
use crate::words::{Comments, Token, parts, tokens};

/// Files further out than these many are not looked at.
const MOST_NAMED: usize = 20;
const MOST_MENTIONED: usize = 120;
const MOST_BEYOND: usize = 400;

/// The most bytes of a word in a family.
const LONGEST_WORD: usize = 16;

/// Counts smells around the tests of a project. What it finds out about a file it keeps.
#[derive(Debug)]
pub struct SmellReader<'p> {
    project: &'p Project,
    files: Vec<OnceLock<File>>,
    /// The outer circles, which all tests of a file share.
    outer: Vec<OnceLock<Outer>>,
}

/// Which files and functions are in the circles that words are taken of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestWords {
    /// The test and what runs with it.
    pub test: Vec<Declared>,
    /// The file it stands in, by its place in the project.
    pub file: Option<u32>,
    /// The files of its base classes.
    pub bases: Vec<u32>,
    /// The files of the classes that its text names.
    pub named: Vec<u32>,
}

impl<'p> SmellReader<'p> {
    /// A reader of this project.
    #[must_use]
    pub fn new(project: &'p Project) -> Self {
        let files = project.units().iter().map(|_| OnceLock::new()).collect();
        let outer = project.units().iter().map(|_| OnceLock::new()).collect();
        Self { project, files, outer }
    }

    /// What the numbers of a test mean, in their order.
    #[must_use]
    pub fn names() -> Vec<String> {
        let counted = Circle::ALL.iter().flat_map(|circle| {
            let smells = Smell::ALL.iter().map(|smell| smell.name());
            smells.chain(["words"]).map(move |what| format!("{what} {}", circle.name()))
        });
        let sizes = ["files its file mentions", "files those mention", "functions it reaches"];
        counted.chain(sizes.map(str::to_owned)).collect()
    }

    /// The numbers of a test, as it runs in a class: its own, or one that inherits it.
    #[must_use]
    pub fn numbers(&self, test: Declared, class: Option<&str>) -> Vec<f32> {
        let place = self.words(test, class);
        let mut circles: Vec<Counts> = vec![Counts::default(); Circle::ALL.len()];
        let mut add = |circle: Circle, counts: &Counts| circles[circle as usize].add(counts);
        add(Circle::Test, &self.of_function(test));
        let reached = self.project.reach_of_test(test, class, ReachLimits::default());
        for it in reached.iter().filter(|it| it.function != test) {
            let circle = match it.hops {
                _ if self.project.is_test_code(it.function) => Circle::Helpers,
                0 | 1 => Circle::Called,
                _ => Circle::Reached,
            };
            add(circle, &self.of_function(it.function));
        }
        for (circle, files) in [(Circle::Bases, &place.bases), (Circle::Named, &place.named)] {
            files.iter().for_each(|unit| add(circle, &self.file(*unit).counts));
        }
        let mut sizes = [0.0; 2];
        if let Some(unit) = place.file {
            add(Circle::File, &self.file(unit).counts);
            let outer = self.outer(unit, &place.bases);
            add(Circle::Mentioned, &outer.mentioned);
            add(Circle::Beyond, &outer.beyond);
            sizes = outer.sizes;
        }
        let numbers = circles.iter().flat_map(Counts::logarithms);
        #[expect(clippy::cast_precision_loss, reason = "some hundred functions")]
        let functions = (reached.len() as f32).ln_1p();
        numbers.chain(sizes).chain([functions]).collect()
    }

    /// The numbers of a test whose project is not at hand: all but its own circle are missing.
    #[must_use]
    pub fn numbers_of_text(source: &str, comments: Comments) -> Vec<f32> {
        let mut numbers: Vec<f32> = Counts::new(source, comments).logarithms().collect();
        numbers.resize(Self::names().len(), f32::NAN);
        numbers
    }

    /// Where the words of a test stand.
    #[must_use]
    pub fn words(&self, test: Declared, class: Option<&str>) -> TestWords {
        let project = self.project;
        let id = class.and_then(|class| project.find_class(class)).or_else(|| project.owner(test));
        let file = id.and_then(|id| project.files_of(id).first().copied()).unwrap_or(test.unit);
        let mut bases: Vec<u32> = id.map(|id| project.files_of_bases(id)).unwrap_or_default();
        if test.unit != file && !bases.contains(&test.unit) {
            bases.push(test.unit);
        }
        bases.retain(|unit| *unit != file);
        let text = project.unit(test).zip(project.function(test));
        let mut named = text.map_or_else(Vec::new, |(unit, function)| {
            self.mentioned_in(test.unit, unit.text_of(function.span))
        });
        named.retain(|unit| *unit != file);
        named.truncate(MOST_NAMED);
        let mut with_it = vec![test];
        with_it.extend(project.test_hooks(test, id).iter());
        TestWords { test: with_it, file: Some(file), bases, named }
    }

    fn of_function(&self, declared: Declared) -> Counts {
        let found = self.project.unit(declared).zip(self.project.function(declared));
        found.map_or_else(Counts::default, |(unit, function)| {
            Counts::new(unit.text_of(function.span), unit.language.into())
        })
    }

    fn file(&self, unit: u32) -> &File {
        self.files[unit as usize].get_or_init(|| {
            let file = &self.project.units()[unit as usize];
            let counts = Counts::new(&file.text, file.language.into());
            let mut mentions = self.mentioned_in(unit, &file.text);
            mentions.retain(|other| *other != unit);
            File { counts, mentions }
        })
    }

    fn outer(&self, unit: u32, bases: &[u32]) -> &Outer {
        self.outer[unit as usize].get_or_init(|| {
            let inner: FxHashSet<u32> = bases.iter().copied().chain([unit]).collect();
            let mut seen = inner;
            let own: Vec<u32> = std::iter::once(unit).chain(bases.iter().copied()).collect();
            let near = self.mentioned_by(&own, &mut seen, MOST_MENTIONED);
            let far = self.mentioned_by(&near, &mut seen, MOST_BEYOND);
            let (mut mentioned, mut beyond) = (Counts::default(), Counts::default());
            near.iter().for_each(|unit| mentioned.add(&self.file(*unit).counts));
            far.iter().for_each(|unit| beyond.add_presence(&self.file(*unit).counts));
            #[expect(clippy::cast_precision_loss, reason = "some hundred files")]
            let sizes = [near.len(), far.len()].map(|size| (size as f32).ln_1p());
            Outer { mentioned, beyond, sizes }
        })
    }

    fn mentioned_by(&self, units: &[u32], seen: &mut FxHashSet<u32>, most: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for unit in units {
            for other in &self.file(*unit).mentions {
                if found.len() < most && seen.insert(*other) {
                    found.push(*other);
                }
            }
        }
        found
    }

    /// The files whose classes a piece of a file names, each once, in the order of the text.
    fn mentioned_in(&self, unit: u32, text: &str) -> Vec<u32> {
        let comments = self.project.units()[unit as usize].language.into();
        let mut seen_names: FxHashSet<&str> = FxHashSet::default();
        let mut found: Vec<u32> = Vec::new();
        for name in names(text, comments).filter(|name| seen_names.insert(name)) {
            let files = self.project.files_named(unit, name);
            found
                .extend(files.into_iter().filter(|file| !found.contains(file)).collect::<Vec<_>>());
        }
        found
    }
}

#[derive(Debug)]
struct File {
    counts: Counts,
    mentions: Vec<u32>,
}

#[derive(Debug)]
struct Outer {
    mentioned: Counts,
    beyond: Counts,
    sizes: [f32; 2],
}

fn names(text: &str, comments: Comments) -> impl Iterator<Item = &str> {
    tokens(text, comments).filter_map(|token| match token {
        Token::Name(name) => Some(name),
        Token::Number(_) | Token::Text(_) | Token::Symbol(_) => None,
    })
}

/// How often each smell occurs, and how many words there are.
#[derive(Debug, Clone, PartialEq)]
struct Counts {
    smells: Vec<f32>,
    words: f32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { smells: vec![0.0; Smell::ALL.len()], words: 0.0 }
    }
}

impl Counts {
    /// The smells in a piece of code.
    fn new(text: &str, comments: Comments) -> Self {
        let mut counts = Self::default();
        for token in tokens(text, comments) {
            if let Token::Name(text) | Token::Text(text) = token {
                parts(text).for_each(|word| counts.see(word));
            }
        }
        counts
    }

    fn see(&mut self, word: &str) {
        self.words += 1.0;
        let mut small = [0; LONGEST_WORD];
        let Some(small) = small.get_mut(..word.len()) else { return };
        small.copy_from_slice(word.as_bytes());
        small.make_ascii_lowercase();
        let Ok(word) = std::str::from_utf8(small) else { return };
        for smell in Smell::of_word(word) {
            self.smells[*smell as usize] += 1.0;
        }
    }

    /// Add another piece of code.
    fn add(&mut self, other: &Self) {
        self.smells.iter_mut().zip(&other.smells).for_each(|(sum, count)| *sum += count);
        self.words += other.words;
    }

    /// Add which smells another piece of code has, each once.
    fn add_presence(&mut self, other: &Self) {
        let pairs = self.smells.iter_mut().zip(&other.smells);
        pairs.for_each(|(sum, count)| *sum += count.min(1.0));
        self.words += other.words;
    }

    /// The logarithms of all counts, the words last: how much more matters less and less.
    fn logarithms(&self) -> impl Iterator<Item = f32> {
        self.smells.iter().chain([&self.words]).map(|count| count.ln_1p())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words_and_comments_are_not_code() {
        let counts =
            Counts::new("Thread.sleep(10); // sleep\nnew ServerSocket(0);", Comments::Slashes);
        let of = |smell: Smell| counts.smells[smell as usize];
        assert_eq!((of(Smell::Sleep), of(Smell::Threads)), (1.0, 1.0));
        assert_eq!((of(Smell::Servers), of(Smell::Sockets), of(Smell::Creations)), (1.0, 1.0, 1.0));
        assert_eq!(counts.words, 5.0);
    }
}
