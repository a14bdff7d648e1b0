//! Where models come from: a file, the one inside the program, or the project's own, which are
//! written to a place where they are found again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flakeproof_learn::cannier::{self, ForestModel};
use flakeproof_learn::ensemble::{self, Basis, Ensemble};
use flakeproof_learn::flast::{self, Corpus, Flast, HoldOut, Neighbourhood, ThresholdLevels};
use flakeproof_learn::model_file;
use memmap2::Mmap;

use crate::problem::Problem;

/// Trained on public Java data by `cargo xtask model`, for projects without a model of their own.
const SHIPPED: &[u8] = include_bytes!("../../models/java.jury.lz4");

/// The bytes of a model, and where they come from.
pub(crate) struct ModelSource {
    /// Of the model inside the program, once it is needed.
    bytes: OnceLock<Bytes>,
    /// The file, or `None` for the model inside the program.
    path: Option<PathBuf>,
}

/// A model that says which tests look flaky.
pub(crate) enum Model<'a> {
    Flast(Box<Flast<'a>>),
    Ensemble(Box<Ensemble<'a>>),
}

impl<'a> Model<'a> {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Flast(_) => flast::KIND,
            Self::Ensemble(_) => ensemble::KIND,
        }
    }

    /// The known tests in their space.
    pub(crate) fn neighbourhood(&self) -> Neighbourhood<'_, 'a> {
        match self {
            Self::Flast(flast) => flast.neighbourhood(),
            Self::Ensemble(ensemble) => ensemble.neighbourhood(),
        }
    }

    /// The known tests.
    pub(crate) fn corpus(&self) -> &Corpus<'a> {
        match self {
            Self::Flast(flast) => flast.corpus(),
            Self::Ensemble(ensemble) => ensemble.corpus(),
        }
    }

    /// The probability that a test with this score is flaky.
    pub(crate) fn probability(&self, score: f64, basis: Basis) -> f64 {
        match self {
            Self::Flast(flast) => flast.about.probability(score),
            Self::Ensemble(ensemble) => ensemble.about.probability(score, basis),
        }
    }

    pub(crate) fn thresholds(&self, basis: Basis) -> &ThresholdLevels {
        match self {
            Self::Flast(flast) => &flast.about.thresholds,
            Self::Ensemble(ensemble) => ensemble.about.thresholds(basis),
        }
    }

    pub(crate) fn hold_out(&self) -> HoldOut {
        match self {
            Self::Flast(flast) => flast.about.hold_out,
            Self::Ensemble(ensemble) => ensemble.about.hold_out,
        }
    }

    /// How many tests it knows, and how many of them are flaky.
    pub(crate) fn tests(&self) -> (usize, usize) {
        match self {
            Self::Flast(flast) => (flast.about.tests, flast.about.flaky),
            Self::Ensemble(ensemble) => (ensemble.about.tests, ensemble.about.flaky),
        }
    }

    /// The variant of it, how many projects it knows, and the digest of its data.
    pub(crate) fn origin(&self) -> (&str, usize, &str) {
        match self {
            Self::Flast(flast) => {
                let about = &flast.about;
                (&about.recipe.name, about.projects.len(), &about.data)
            }
            Self::Ensemble(ensemble) => {
                let about = &ensemble.about;
                (&about.recipe.name, about.projects.len(), &about.data)
            }
        }
    }
}

enum Bytes {
    Mapped(Mmap),
    /// Words, because the arrays in it lie on boundaries of words.
    Unpacked(Vec<u64>, usize),
}

impl ModelSource {
    /// The model that was named, else the project's own, else the one inside the program.
    pub(crate) fn choose(named: Option<&Path>, folder: &Path) -> Result<Self, Problem> {
        if let Some(path) = named {
            return Self::of_file(path);
        }
        match predictor_in(folder) {
            Some(path) => Self::of_file(&path),
            None => Ok(Self { bytes: OnceLock::new(), path: None }),
        }
    }

    /// The model in this file, nothing of it checked yet.
    fn of_file(path: &Path) -> Result<Self, Problem> {
        let file = File::open(path).map_err(|error| {
            Problem::usage(
                format!("the model {} cannot be opened: {error}", path.display()),
                "check the path, or train one with `flakeproof train jury`",
            )
        })?;
        // A mapping of an empty file fails on some systems; an empty file is no model anyway.
        if file.metadata().is_ok_and(|about| about.len() == 0) {
            let nothing = Bytes::Unpacked(Vec::new(), 0);
            return Ok(Self { bytes: nothing.into(), path: Some(path.into()) });
        }
        #[expect(unsafe_code, reason = "memory-mapping; the digest is checked before use")]
        // SAFETY: the bytes are only read, and everything read from them is checked. Whoever cuts
        // the file short while it is in use ends the program, as with any mapped file.
        let map = unsafe { Mmap::map(&file) };
        let map = map.map_err(|error| {
            Problem::usage(
                format!("the model {} cannot be read: {error}", path.display()),
                "name a plain file",
            )
        })?;
        Ok(Self { bytes: Bytes::Mapped(map).into(), path: Some(path.into()) })
    }

    /// The model, its every byte checked.
    pub(crate) fn open(&self) -> Result<Model<'_>, Problem> {
        if self.bytes.get().is_none() {
            let _ = self.bytes.set(unpacked(SHIPPED)?);
        }
        let opened = match model_file::kind_of(self.bytes()).as_deref() {
            Ok(ensemble::KIND) => {
                Ensemble::of_file(self.bytes()).map(|ensemble| Model::Ensemble(Box::new(ensemble)))
            }
            _ => Flast::of_file(self.bytes()).map(|flast| Model::Flast(Box::new(flast))),
        };
        opened.map_err(|error| {
            Problem::usage(
                format!("the model {} cannot be used: {error}", self.name()),
                "train it again with `flakeproof train jury` or `flakeproof train flast`, or name \
                 another with `--model`",
            )
        })
    }

    /// The bytes, on a boundary that arrays in them can be used from; none of the model inside the program
    /// before it was opened.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self.bytes.get() {
            Some(Bytes::Mapped(map)) => &map[..],
            Some(Bytes::Unpacked(words, length)) => &bytemuck::cast_slice(words)[..*length],
            None => &[],
        }
    }

    /// What tells it from any other model: nothing for the one inside the program, which changes with the
    /// program alone.
    pub(crate) fn digest(&self) -> String {
        let of_file = self.path.as_ref().map(|_| blake3::hash(self.bytes()).to_hex().to_string());
        of_file.unwrap_or_default()
    }

    /// What to call it.
    pub(crate) fn name(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "built-in".to_owned(),
        }
    }

    /// Whether it is the one inside the program, which knows nothing of this project.
    pub(crate) fn is_shipped(&self) -> bool {
        self.path.is_none()
    }
}

fn unpacked(packed: &[u8]) -> Result<Bytes, Problem> {
    let broken = |error: &dyn std::fmt::Display| {
        Problem::broken(
            format!("the model inside the program cannot be unpacked: {error}"),
            "please report this as a bug",
        )
    };
    let (size, block) = lz4_flex::block::uncompressed_size(packed).map_err(|it| broken(&it))?;
    let mut words = vec![0u64; size.div_ceil(size_of::<u64>())];
    let place = &mut bytemuck::cast_slice_mut(&mut words)[..size];
    lz4_flex::block::decompress_into(block, place).map_err(|error| broken(&error))?;
    Ok(Bytes::Unpacked(words, size))
}

/// Where `train` puts a project's own FLAST, and `predict` looks for it.
pub(crate) const FLAST: &str = ".flakeproof/flast.model";

/// Where `train` puts a project's own ensemble, and `predict` looks for it first.
pub(crate) const ENSEMBLE: &str = ".flakeproof/jury.model";

/// Where `train` puts a network that reads paths.
pub(crate) const PEELER: &str = ".flakeproof/peeler.model";

/// Where `train` puts a project's own forest for a problem, and `explain` looks for it.
pub(crate) fn forest_path(problem: cannier::Problem) -> PathBuf {
    format!(".flakeproof/{}.forest", problem.word()).into()
}

/// The project's own model for `predict`, in the folder or above it; an ensemble before a FLAST.
fn predictor_in(folder: &Path) -> Option<PathBuf> {
    let kept = |above: &Path| [ENSEMBLE, FLAST].map(|file| above.join(file));
    folder.ancestors().flat_map(kept).find(|path| path.is_file())
}

/// The project's own forest for a problem, in the folder or above it.
pub(crate) fn forest_in(problem: cannier::Problem, folder: &Path) -> Option<PathBuf> {
    let file = forest_path(problem);
    folder.ancestors().map(|above| above.join(&file)).find(|path| path.is_file())
}

/// Whether the project has a model of its own.
pub(crate) fn is_any_in(folder: &Path) -> bool {
    let mut forests = cannier::Problem::ALL.into_iter();
    predictor_in(folder).is_some() || forests.any(|problem| forest_in(problem, folder).is_some())
}

/// The forest in a file.
pub(crate) fn open_forest(path: &Path) -> Result<ForestModel, Problem> {
    let source = ModelSource::of_file(path)?;
    ForestModel::of_file(source.bytes()).map_err(|error| {
        Problem::usage(
            format!("the model {} cannot be used: {error}", path.display()),
            "train it again with `flakeproof train forest`",
        )
    })
}

/// What to call a model: as was typed, else like its file.
pub(crate) fn name_of(typed: Option<&str>, file: &Path) -> String {
    let of_file = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    typed.map_or_else(of_file, str::to_owned)
}

/// Write a model. One in the project's own folder is kept out of git.
pub(crate) fn write_model(
    path: &Path,
    bytes: &[u8],
    is_in_own_folder: bool,
) -> Result<(), Problem> {
    write_whole(path, bytes).map_err(|error| {
        Problem::broken(
            format!("the model {} cannot be written: {error}", path.display()),
            "name a place that can be written with `-o`",
        )
    })?;
    if is_in_own_folder {
        keep_out_of_git(path);
    }
    Ok(())
}

/// The project's own folder for what can be made again is nobody's to commit.
fn keep_out_of_git(model: &Path) {
    if let Some(folder) = model.parent() {
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            // A model that git sees is no reason to fail.
            let _ = std::fs::write(ignore, "*\n");
        }
    }
}

/// Write a file so that nobody ever sees a part of it.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_model_inside_the_program_is_whole() {
        let nowhere = Path::new("/nonexistent");
        let source = ModelSource::choose(None, nowhere).expect("it is inside");
        let model = source.open().expect("it is whole");
        assert!(model.tests().1 > 2000, "{} flaky tests", model.tests().1);
        assert!(model.thresholds(Basis::Project).balanced.is_some());
    }

    /// README and the book take their figures from this file.
    #[test]
    fn the_file_of_figures_has_those_of_the_model() {
        let figures: Value =
            serde_json::from_str(include_str!("../../models/figures.json")).expect("it is JSON");
        let source = ModelSource::choose(None, Path::new("/nonexistent")).expect("it is inside");
        let Model::Ensemble(model) = source.open().expect("it is whole") else {
            panic!("the model inside the program is an ensemble")
        };
        let balanced = model.about.thresholds.balanced.expect("it has a threshold");
        let wanted = json!({
            "average_precision": model.about.average_precision,
            "flaky": model.about.flaky,
            "precision": balanced.precision,
            "projects": model.about.projects.len(),
            "recall": balanced.recall,
            "tests": model.about.tests,
            "text_average_precision": model.about.text.as_ref().and_then(|it| it.average_precision),
        });
        assert_eq!(figures["model"], wanted);
    }
}
