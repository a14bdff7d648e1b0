//! Known tests, condensed to what similarity needs: the content of a model.
//!
//! A corpus is kept as it was counted; weights, projections and the index are derived from it when
//! it is used. A model file is therefore small, and there is no second form that could disagree.

use std::borrow::Cow;
use std::collections::HashMap;

use super::bags::{Bags, Texts, Vocabulary};
use super::recipe::{Cut, TestText};
use crate::labelled::LabelledTest;
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// Known tests as bags of terms, with their labels and names.
#[derive(Debug, Clone)]
pub struct Corpus<'a> {
    pub(crate) vocabulary: Vocabulary<'a>,
    pub(crate) bags: Bags<'a>,
    flaky: Cow<'a, [u8]>,
    ids: Texts<'a>,
    projects: Named<'a>,
    /// The empty name says that the category is not known.
    categories: Named<'a>,
    classes: Cow<'a, [u32]>,
}

/// A name for each row, where many rows share one.
#[derive(Debug, Clone)]
struct Named<'a> {
    of_row: Cow<'a, [u32]>,
    names: Texts<'a>,
}

impl Corpus<'static> {
    /// Condense labelled tests.
    #[must_use]
    pub fn of_tests(tests: &[LabelledTest], cut: Cut) -> Self {
        let texts: Vec<TestText<'_>> = tests
            .iter()
            .map(|test| TestText {
                source: &test.source,
                class: &test.class,
                comments: test.comments,
            })
            .collect();
        let (cut_tests, names) =
            rayon::join(|| Vocabulary::default().cut(&texts, cut), || Names::from_tests(tests));
        let mut vocabulary = Vocabulary::default();
        vocabulary.extend(cut_tests.new_terms);
        let Names { ids, projects, categories, classes } = names;
        let flaky = tests.iter().map(|test| u8::from(test.flaky)).collect();
        Self { vocabulary, bags: cut_tests.bags, flaky, ids, projects, categories, classes }
    }
}

/// What tests are called, and where they belong.
struct Names {
    ids: Texts<'static>,
    projects: Named<'static>,
    categories: Named<'static>,
    classes: Cow<'static, [u32]>,
}

impl Names {
    fn from_tests(tests: &[LabelledTest]) -> Self {
        let mut ids = Texts::default();
        tests.iter().for_each(|test| ids.push(&test.id));
        // A test whose class nobody knows stands alone.
        let classes = Named::from_names(tests.iter().enumerate().map(|(row, test)| {
            let class = if test.class.is_empty() { &row.to_string() } else { &test.class };
            format!("{}\n{class}", test.project)
        }));
        let category = |test: &LabelledTest| test.category.clone().unwrap_or_default();
        Self {
            ids,
            projects: Named::from_names(tests.iter().map(|test| test.project.clone())),
            categories: Named::from_names(tests.iter().map(category)),
            classes: classes.of_row,
        }
    }
}

impl<'a> Corpus<'a> {
    /// How many tests there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flaky.len()
    }

    /// Whether there is no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flaky.is_empty()
    }

    /// Whether the test of this row is flaky.
    #[must_use]
    pub fn is_flaky(&self, row: u32) -> bool {
        self.flaky[row as usize] != 0
    }

    /// The labels of all rows.
    #[must_use]
    pub fn labels(&self) -> Vec<bool> {
        self.flaky.iter().map(|label| *label != 0).collect()
    }

    /// The id of the test of this row.
    #[must_use]
    pub fn id(&self, row: u32) -> &str {
        self.ids.get(row as usize)
    }

    /// The project of the test of this row.
    #[must_use]
    pub fn project(&self, row: u32) -> &str {
        self.projects.name(row)
    }

    /// Why the test of this row is flaky, where that is known.
    #[must_use]
    pub fn category(&self, row: u32) -> Option<&str> {
        Some(self.categories.name(row)).filter(|name| !name.is_empty())
    }

    /// The number of the class of each row.
    #[must_use]
    pub fn class_numbers(&self) -> &[u32] {
        &self.classes
    }

    /// The number of the project of each row.
    #[must_use]
    pub fn project_numbers(&self) -> &[u32] {
        &self.projects.of_row
    }

    /// The names of all projects.
    #[must_use]
    pub fn project_names(&self) -> Vec<String> {
        self.projects.names.iter().map(str::to_owned).collect()
    }

    /// Put everything into the arrays of a model file.
    pub(crate) fn save(&self, arrays: &mut Arrays) {
        arrays.numbers("bag_ends", &self.bags.ends);
        arrays.numbers("bag_terms", &self.bags.terms);
        arrays.bytes("bag_counts", &self.bags.counts);
        arrays.bytes("flaky", &self.flaky);
        arrays.numbers("classes", &self.classes);
        arrays.numbers("projects", &self.projects.of_row);
        arrays.numbers("categories", &self.categories.of_row);
        for ([bytes, ends], texts) in [
            (["term_bytes", "term_ends"], self.vocabulary.texts()),
            (["id_bytes", "id_ends"], &self.ids),
            (["project_name_bytes", "project_name_ends"], &self.projects.names),
            (["category_name_bytes", "category_name_ends"], &self.categories.names),
        ] {
            let (text_bytes, text_ends) = texts.arrays();
            arrays.bytes(bytes, text_bytes);
            arrays.numbers(ends, text_ends);
        }
    }

    /// Use the arrays of a model file, where they lie.
    pub(crate) fn load(file: &ModelFile<'a>) -> Result<Self, ModelFileError> {
        let texts = |bytes: &str, ends: &str| {
            Texts::of_arrays(file.bytes(bytes)?, file.numbers(ends)?)
                .map_err(ModelFileError::Inconsistent)
        };
        let corpus = Self {
            vocabulary: Vocabulary::of_texts(texts("term_bytes", "term_ends")?),
            bags: Bags {
                ends: file.numbers("bag_ends")?.into(),
                terms: file.numbers("bag_terms")?.into(),
                counts: file.bytes("bag_counts")?.into(),
            },
            flaky: file.bytes("flaky")?.into(),
            ids: texts("id_bytes", "id_ends")?,
            projects: Named {
                of_row: file.numbers("projects")?.into(),
                names: texts("project_name_bytes", "project_name_ends")?,
            },
            categories: Named {
                of_row: file.numbers("categories")?.into(),
                names: texts("category_name_bytes", "category_name_ends")?,
            },
            classes: file.numbers("classes")?.into(),
        };
        if corpus.fits_together() {
            Ok(corpus)
        } else {
            Err(ModelFileError::Inconsistent("its arrays do not fit together".to_owned()))
        }
    }

    /// Whether every number points to something, so that nothing later can be out of bounds.
    fn fits_together(&self) -> bool {
        let rows = self.flaky.len();
        let entries = self.bags.ends.last().map_or(0, |end| *end as usize);
        self.bags.ends.len() == rows
            && self.bags.ends.is_sorted()
            && self.bags.terms.len() == entries
            && self.bags.counts.len() == entries
            && self.ids.len() == rows
            && self.classes.len() == rows
            && self.projects.fits(rows)
            && self.categories.fits(rows)
            && self.bags.terms.iter().all(|term| (*term as usize) < self.vocabulary.len())
            && (0..rows).all(|row| self.bags.row(row).is_sorted_by(|a, b| a.0 < b.0))
    }
}

impl Named<'static> {
    fn from_names(names: impl Iterator<Item = String>) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut texts = Texts::default();
        let of_row: Vec<u32> = names
            .map(|name| {
                let next = u32::try_from(texts.len()).unwrap_or(u32::MAX);
                *numbers.entry(name).or_insert_with_key(|name| {
                    texts.push(name);
                    next
                })
            })
            .collect();
        Self { of_row: of_row.into(), names: texts }
    }
}

impl Named<'_> {
    fn name(&self, row: u32) -> &str {
        self.names.get(self.of_row[row as usize] as usize)
    }

    fn fits(&self, rows: usize) -> bool {
        self.of_row.len() == rows
            && self.of_row.iter().all(|name| (*name as usize) < self.names.len())
    }
}
