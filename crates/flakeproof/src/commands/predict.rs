//! `flakeproof predict`: which tests look flaky, from their source alone.

use std::path::{Component, Path, PathBuf};

use flakeproof_core::{Base, ChangeStatus, ChangedFile, ExitCode, Predictions};
use flakeproof_report::{Error, GithubAnnotations, GithubSummary, Json, Renderer, Sarif};
use flakeproof_runner::git::Repository;

use super::asking::{self, Detail};
use super::model::ModelSource;
use super::sources::{self, SourceTest};
use super::{current_folder, files};
use crate::cli::{PredictArguments, PredictionFormat};
use crate::problem::Problem;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &PredictArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let source = ModelSource::choose(typed.model.model.as_deref(), &folder)?;
    let model = source.open()?;
    let mut found = sources::read(&typed.paths, &folder)?;
    if found.tests.is_empty() {
        view::notices(&found.notices);
        return Err(sources::no_tests(&typed.paths));
    }
    if let Some(base) = &typed.diff {
        found.tests = changed_since(base, &folder, found.tests)?;
    }
    let mut predictions =
        asking::ask(&source, &model, &found.tests, typed.model.threshold, Detail::OfSuspects);
    predictions.notices.extend(found.notices);
    // The terminal comes first: a report that cannot be written loses nothing.
    let is_stdout_taken = typed.reporter.iter().any(|it| it.path == Path::new("-"));
    match typed.output_format {
        PredictionFormat::Text => {
            let shown = view::Shown {
                sources: found.tests.iter().map(|test| test.source.as_str()).collect(),
                most: typed.show,
                is_model_shipped: source.is_shipped(),
                is_stdout_taken,
            };
            view::predictions(&predictions, &shown);
        }
        other => view::data(&rendered(&predictions, other)?),
    }
    for reporter in &typed.reporter {
        files::put(&reporter.path, &rendered(&predictions, reporter.format)?)?;
    }
    let has_suspects = predictions.tests.iter().any(|test| test.flaky);
    let fails = has_suspects && typed.fail_on_suspects;
    Ok(if fails { ExitCode::Failures } else { ExitCode::Clean })
}

/// The tests whose lines differ from those at a revision.
fn changed_since(
    base: &str,
    folder: &Path,
    tests: Vec<SourceTest>,
) -> Result<Vec<SourceTest>, Problem> {
    let advice = "name a revision of this repository: `main`, `HEAD~3`, a hash";
    let repository = Repository::containing(folder)
        .map_err(|why| Problem::usage(format!("`--diff {base}` needs git: {why}"), advice))?;
    let parted = repository.parting_from(base);
    let named = Base::Named { revision: parted.unwrap_or_else(|| base.to_owned()) };
    let change = repository
        .change_since(named, None)
        .map_err(|why| Problem::usage(format!("`--diff {base}`: {why}"), advice))?;
    let below = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let below = below.strip_prefix(repository.root()).unwrap_or(Path::new("")).to_path_buf();
    let touched = |test: &SourceTest| {
        let path = without_detours(&below.join(&test.file));
        change
            .files
            .iter()
            .filter(|file| Path::new(&file.path) == path)
            .any(|file| touches(file, test))
    };
    Ok(tests.into_iter().filter(touched).collect())
}

/// The same path without `..`, as git writes it.
fn without_detours(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

fn touches(file: &ChangedFile, test: &SourceTest) -> bool {
    match (file.status, &file.lines) {
        (ChangeStatus::Added | ChangeStatus::Special, _) | (ChangeStatus::Modified, None) => true,
        (ChangeStatus::Deleted, _) => false,
        (ChangeStatus::Modified, Some(lines)) => lines.iter().any(|range| {
            // A deletion lies between two lines, and counts if both belong to the test.
            let (first, last) = match range.count {
                0 => (range.first + 1, range.first),
                count => (range.first, range.first + count - 1),
            };
            first <= test.last_line && last >= test.first_line
        }),
    }
}

/// The predictions in a format for programs.
pub(super) fn rendered(
    predictions: &Predictions,
    format: PredictionFormat,
) -> Result<Vec<u8>, Problem> {
    let rendered: Result<Vec<u8>, Error> = match format {
        PredictionFormat::Json | PredictionFormat::Text => Json.render(predictions),
        PredictionFormat::Sarif => Sarif.render(predictions),
        PredictionFormat::Github => {
            GithubAnnotations { folder: files::below_workspace() }.render(predictions)
        }
        PredictionFormat::Markdown => GithubSummary.render(predictions),
    };
    rendered.map_err(|error| files::cannot_render(&error))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::LineRange;
    use flakeproof_syntax::Language;

    use super::*;

    fn test(first_line: u32, last_line: u32) -> SourceTest {
        SourceTest {
            id: "a::b".into(),
            file: "a.py".into(),
            first_line,
            last_line,
            language: Language::Python,
            class: String::new(),
            source: String::new(),
            features: None,
        }
    }

    fn modified(first: u32, count: u32) -> ChangedFile {
        ChangedFile {
            path: "a.py".into(),
            status: ChangeStatus::Modified,
            lines: Some(vec![LineRange { first, count }]),
        }
    }

    #[test]
    fn a_test_is_touched_when_one_of_its_lines_is() {
        assert!(touches(&modified(10, 1), &test(5, 10)));
        assert!(touches(&modified(1, 5), &test(5, 10)));
        assert!(!touches(&modified(11, 3), &test(5, 10)));
        assert!(!touches(&modified(1, 4), &test(5, 10)));
    }

    #[test]
    fn a_deletion_inside_a_test_touches_it_and_one_beside_it_does_not() {
        assert!(touches(&modified(7, 0), &test(5, 10)));
        assert!(!touches(&modified(4, 0), &test(5, 10)));
        assert!(!touches(&modified(10, 0), &test(5, 10)));
    }
}
