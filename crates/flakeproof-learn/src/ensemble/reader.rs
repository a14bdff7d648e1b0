//! From source to what an ensemble reads.

use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::Project;
use flakeproof_syntax::smells::SmellReader;
use flakeproof_syntax::words::{self, Comments, parts};

use super::readings::Reading;
use super::siblings::SiblingPosition;
use crate::linear::{WordBag, WordSpace};

/// Reads the tests of a project. What it finds out about a file it keeps: make one for all tests.
#[derive(Debug)]
pub struct SourceReader<'p> {
    project: &'p Project,
    smells: SmellReader<'p>,
}

impl<'p> SourceReader<'p> {
    /// A reader of this project.
    #[must_use]
    pub fn new(project: &'p Project) -> Self {
        Self { project, smells: SmellReader::new(project) }
    }

    /// What is read of a test, as it runs in a class: its own, or one that inherits it.
    #[must_use]
    pub fn read(&self, test: Declared, class: &str, source: &str, comments: Comments) -> Reading {
        let project = self.project;
        let place = self.smells.words(test, Some(class));
        let mut bag = own_words(source, class, comments);
        let around = place.test.iter().filter(|function| **function != test);
        bag.add(WordSpace::Around, around.flat_map(|function| project.body_words(*function)));
        let spaces = [
            (WordSpace::File, place.file.as_slice()),
            (WordSpace::Bases, &place.bases),
            (WordSpace::Named, &place.named),
        ];
        for (space, files) in spaces {
            let units = files.iter().filter_map(|unit| project.units().get(*unit as usize));
            let texts = units.map(|unit| (unit.text.as_str(), Comments::from(unit.language)));
            bag.add(space, texts.flat_map(|(text, comments)| words::of_code(text, comments)));
        }
        let smells = self.smells.numbers(test, Some(class));
        Reading { words: bag, smells, standing: self.standing(test, class) }
    }

    /// Where a test stands; what others call this project is not known here.
    fn standing(&self, test: Declared, class: &str) -> Option<SiblingPosition> {
        let function = self.project.function(test)?;
        Some(SiblingPosition {
            project: String::new(),
            class: class.to_owned(),
            name: function.name.clone(),
            line: Some(function.span.line),
        })
    }
}

impl Reading {
    /// What can be read of a test when its project is not at hand.
    #[must_use]
    pub fn of_text(source: &str, class: &str, comments: Comments) -> Self {
        Self {
            words: own_words(source, class, comments),
            smells: SmellReader::numbers_of_text(source, comments),
            standing: None,
        }
    }
}

fn own_words(source: &str, class: &str, comments: Comments) -> WordBag {
    let mut bag = WordBag::default();
    bag.add(WordSpace::Test, words::of_code(source, comments));
    let simple = class.rsplit(['.', '/']).next().unwrap_or(class);
    bag.add(WordSpace::ClassName, parts(simple));
    bag
}
