//! Which tests of a history were renamed or moved: git says which files differ between the last run of an id
//! that is gone and the first of one that is new, and the source at both says which tests are the same.
//!
//! A test is the same only if its syntax tree is, comments, white space and its own name apart; if git
//! takes both files for one, or neither its file nor else its name is another; and if there is exactly one
//! such test on each side. Nothing is written: whoever looks without this sees all as it was recorded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use flakeproof_core::{Rename, Renames, TestId, TestTimeline, Timeline};
use flakeproof_runner::git::{FileMove, Repository};
use flakeproof_syntax::{Language, Layout, SourceFile, TestStructure, may_hold_tests};

use crate::cli::Naming;
use crate::source::files::{FinderWithDeadline, files_in, layout};
use crate::source::source_tests::without_parameters;

/// So many revisions that brought new tests are looked at, the latest first, and for each so many revisions
/// from before that had tests that are gone.
const MOST_REVISIONS: usize = 20;
const MOST_BEFORE: usize = 3;

/// Of a change of more files than this, nothing is told.
const MOST_FILES: usize = 400;

/// Find out what was renamed, for a project in this folder, if that is wanted; nothing where git or its
/// commits are missing.
pub(crate) fn find(timeline: &Timeline, folder: &Path, naming: Naming) -> Renames {
    if naming == Naming::AsRecorded {
        return Renames::default();
    }
    let questions = questions(timeline);
    if questions.is_empty() {
        return Renames::default();
    }
    let Ok(repository) = Repository::containing(folder) else { return Renames::default() };
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let below = whole.strip_prefix(repository.root()).unwrap_or(Path::new(""));
    let below = below.to_string_lossy().replace('\\', "/");
    let manifests = files_in(&[".".into()], folder);
    let layout = manifests.map(|listing| layout(&listing.files, folder)).unwrap_or_default();
    let asker = Asker { repository: &repository, below, layout };
    let mut found = Vec::new();
    for question in questions {
        found.extend(asker.answer(&question));
    }
    Renames::new(&found, timeline)
}

/// What may have become of tests between two revisions.
struct Question<'t> {
    before: &'t str,
    after: &'t str,
    gone: Vec<&'t TestId>,
    new: Vec<&'t TestId>,
}

/// What to ask about a history, that about the latest revisions first.
fn questions(timeline: &Timeline) -> Vec<Question<'_>> {
    let Some(newest) = timeline.runs.len().checked_sub(1) else { return Vec::new() };
    let revision = |run: u32| timeline.runs.get(run as usize)?.revision.as_deref();
    let ends = |test: &TestTimeline| Some((test.marks.first()?.run, test.marks.last()?.run));
    let mut new: BTreeMap<u32, Vec<&TestId>> = BTreeMap::new();
    let mut gone: BTreeMap<u32, Vec<&TestId>> = BTreeMap::new();
    for test in &timeline.tests {
        let Some((first, last)) = ends(test) else { continue };
        if first > 0 {
            new.entry(first).or_default().push(&test.test);
        }
        if (last as usize) < newest {
            gone.entry(last).or_default().push(&test.test);
        }
    }
    let mut questions = Vec::new();
    for (first, new) in new.iter().rev().take(MOST_REVISIONS) {
        let Some(after) = revision(*first) else { continue };
        let from = questions.len();
        for (last, gone) in gone.range(..first).rev() {
            let Some(before) = revision(*last).filter(|before| *before != after) else { continue };
            let is_asked = |question: &Question<'_>| question.before == before;
            match questions[from..].iter().position(is_asked) {
                Some(at) => questions[from + at].gone.extend(gone),
                None if questions.len() - from == MOST_BEFORE => break,
                None => {
                    let (gone, new) = (gone.clone(), new.clone());
                    questions.push(Question { before, after, gone, new });
                }
            }
        }
    }
    questions
}

/// Asks git and the source.
struct Asker<'r> {
    repository: &'r Repository,
    /// The folder of the project, relative to the repository.
    below: String,
    layout: Layout,
}

/// A test of a revision, in a file that differs from the other revision.
struct Seen {
    structure: TestStructure,
    /// The number of the pair of files that it is in.
    pair: usize,
}

impl Asker<'_> {
    fn answer(&self, question: &Question<'_>) -> Vec<Rename> {
        let Some(moves) = self.repository.moves_between(question.before, question.after) else {
            return Vec::new();
        };
        let is_source = |path: &Option<String>| {
            path.as_deref().is_none_or(|path| Language::of_path(path).is_some())
        };
        let moves: Vec<FileMove> =
            moves.into_iter().filter(|it| is_source(&it.before) && is_source(&it.after)).collect();
        if moves.len() > MOST_FILES {
            return Vec::new();
        }
        let before = self.seen(question.before, &moves, |it| it.before.as_deref());
        let after = self.seen(question.after, &moves, |it| it.after.as_deref());
        let ids = |seen: &[Seen]| -> BTreeSet<String> {
            seen.iter().map(|it| canonical(it.structure.id.as_str())).collect()
        };
        let (ids_before, ids_after) = (ids(&before), ids(&after));
        let is_gone = |it: &&Seen| !ids_after.contains(&canonical(it.structure.id.as_str()));
        let is_new = |it: &&Seen| !ids_before.contains(&canonical(it.structure.id.as_str()));
        let gone: Vec<&Seen> = before.iter().filter(is_gone).collect();
        let new: Vec<&Seen> = after.iter().filter(is_new).collect();
        let same = pairs(&gone, &new, &moves);
        let ids = |ids: &[&TestId]| -> HashMap<(String, String), TestId> {
            ids.iter().map(|id| (parts(id.as_str()), (*id).clone())).collect()
        };
        let (gone, new) = (ids(&question.gone), ids(&question.new));
        let mut renames = Vec::new();
        for ((function, parameters), from) in &gone {
            let Some(to) = same.get(function) else { continue };
            if let Some(to) = new.get(&(to.clone(), parameters.clone())) {
                let revision = Some(question.after.to_owned());
                renames.push(Rename { from: from.clone(), to: to.clone(), revision });
            }
        }
        renames
    }

    /// The tests of one side of a change.
    fn seen<'m>(
        &self,
        revision: &str,
        moves: &'m [FileMove],
        side: impl Fn(&'m FileMove) -> Option<&'m str>,
    ) -> Vec<Seen> {
        let mut finder = FinderWithDeadline::new();
        let mut seen = Vec::new();
        for (pair, path) in moves.iter().enumerate().filter_map(|(at, it)| Some((at, side(it)?))) {
            let prefix = format!("{}/", self.below);
            let below = if self.below.is_empty() { Some(path) } else { path.strip_prefix(&prefix) };
            let (Some(below), Some(language)) = (below, Language::of_path(path)) else { continue };
            let Some(text) = self.repository.text_at(revision, path) else { continue };
            if !may_hold_tests(language, below, &text) {
                continue;
            }
            let file = SourceFile { path: below, text: &text };
            let structures = finder.for_next_file().structures(&file, &self.layout);
            seen.extend(structures.into_iter().map(|structure| Seen { structure, pair }));
        }
        seen
    }
}

/// Which function that is gone is which one that is new, by their ids.
fn pairs(gone: &[&Seen], new: &[&Seen], moves: &[FileMove]) -> HashMap<String, String> {
    // Where git takes two files for one, a test of the same name is the same if its source is.
    let in_renamed = |one: &Seen, other: &Seen| {
        one.pair == other.pair
            && moves[one.pair].is_rename()
            && one.structure.name == other.structure.name
    };
    let is_same = |one: &Seen, other: &Seen| one.structure.structure == other.structure.structure;
    let mut same = HashMap::new();
    let mut taken = BTreeSet::new();
    for one in gone {
        let mut others = new.iter().filter(|other| in_renamed(one, other) && is_same(one, other));
        if let (Some(other), None) = (others.next(), others.next()) {
            taken.insert(other.structure.id.as_str());
            let to = canonical(other.structure.id.as_str());
            same.insert(canonical(one.structure.id.as_str()), to);
        }
    }
    let is_free = |other: &Seen| !taken.contains(other.structure.id.as_str());
    let open = |one: &Seen| !same.contains_key(&canonical(one.structure.id.as_str()));
    // Else it has another name or another file, not both, and nothing else is like it.
    let may_be = |one: &Seen, other: &Seen| {
        one.pair == other.pair || one.structure.name == other.structure.name
    };
    let mut moved = Vec::new();
    for one in gone.iter().filter(|one| open(one)) {
        let alike_before = gone.iter().filter(|it| open(it) && is_same(one, it)).count();
        let mut alike = new.iter().filter(|it| is_free(it) && is_same(one, it));
        if let (1, Some(other), None) = (alike_before, alike.next(), alike.next())
            && may_be(one, other)
        {
            moved.push([one, other].map(|it| canonical(it.structure.id.as_str())));
        }
    }
    same.extend(moved.into_iter().map(|[from, to]| (from, to)));
    same
}

/// The id of a test's function, and its parameters.
fn parts(id: &str) -> (String, String) {
    let function = without_parameters(id);
    (canonical(function), id[function.len()..].to_owned())
}

/// An id in the one form that the finder and all runners come to.
fn canonical(id: &str) -> String {
    without_parameters(id).replacen("::", " > ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(id: &str, structure: &str, pair: usize) -> Seen {
        let name = id.rsplit("::").next().unwrap_or_default().to_owned();
        Seen { structure: TestStructure { id: id.into(), name, structure: structure.into() }, pair }
    }

    fn told(gone: &[Seen], new: &[Seen]) -> Vec<(String, String)> {
        let moved = |before: &str, after: &str| FileMove {
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        let moves = [moved("a.py", "b.py"), moved("c.py", "c.py"), moved("d.py", "d.py")];
        let (gone, new): (Vec<&Seen>, Vec<&Seen>) = (gone.iter().collect(), new.iter().collect());
        let mut told: Vec<_> = pairs(&gone, &new, &moves).into_iter().collect();
        told.sort();
        told
    }

    fn link(from: &str, to: &str) -> (String, String) {
        (canonical(from), canonical(to))
    }

    #[test]
    fn in_a_file_that_moved_names_tell_tests_of_the_same_source_apart() {
        let gone = [seen("a.py::test_x", "pass", 0), seen("a.py::test_y", "pass", 0)];
        let new = [seen("b.py::test_y", "pass", 0), seen("b.py::test_x", "pass", 0)];
        let wanted = [link("a.py::test_x", "b.py::test_x"), link("a.py::test_y", "b.py::test_y")];
        assert_eq!(told(&gone, &new), wanted);
        let edited = [seen("b.py::test_x", "fail", 0)];
        assert_eq!(told(&gone, &edited), []);
    }

    #[test]
    fn elsewhere_the_source_must_be_like_no_other_and_the_name_or_the_file_the_same() {
        let gone = [seen("c.py::test_x", "f", 1)];
        assert_eq!(
            told(&gone, &[seen("c.py::test_z", "f", 1)]),
            [link("c.py::test_x", "c.py::test_z")]
        );
        assert_eq!(
            told(&gone, &[seen("d.py::test_x", "f", 2)]),
            [link("c.py::test_x", "d.py::test_x")]
        );
        assert_eq!(told(&gone, &[seen("d.py::test_z", "f", 2)]), []);
        let two = [seen("c.py::test_z", "f", 1), seen("d.py::test_x", "f", 2)];
        assert_eq!(told(&gone, &two), []);
        let twins = [seen("c.py::test_x", "f", 1), seen("c.py::test_y", "f", 1)];
        assert_eq!(told(&twins, &[seen("c.py::test_z", "f", 1)]), []);
    }
}
