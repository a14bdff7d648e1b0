//! Where the model comes from: a file, or the one inside the program.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flakeproof_learn::flast::Flast;
use memmap2::Mmap;

use super::kept_models;
use crate::problem::Problem;

/// Trained on public Java data by `cargo xtask model`, for projects without a model of their own.
const SHIPPED: &[u8] = include_bytes!("../../models/java.flast.zst");

/// The bytes of a model, and where they come from.
pub(super) struct ModelSource {
    bytes: Bytes,
    /// The file, or `None` for the model inside the program.
    path: Option<PathBuf>,
}

enum Bytes {
    Mapped(Mmap),
    /// Words, because the arrays in it lie on boundaries of words.
    Unpacked(Vec<u64>, usize),
}

impl ModelSource {
    /// The model that was named, else the project's own, else the one inside the program.
    pub(super) fn choose(named: Option<&Path>, folder: &Path) -> Result<Self, Problem> {
        if let Some(path) = named {
            return Self::of_file(path);
        }
        match kept_models::flast_in(folder) {
            Some(path) => Self::of_file(&path),
            None => Ok(Self { bytes: unpacked(SHIPPED)?, path: None }),
        }
    }

    /// The model in this file, nothing of it checked yet.
    pub(super) fn of_file(path: &Path) -> Result<Self, Problem> {
        let file = File::open(path).map_err(|error| {
            Problem::usage(
                format!("the model {} cannot be opened: {error}", path.display()),
                "check the path, or train one with `flakeproof train flast`",
            )
        })?;
        // A mapping of an empty file fails on some systems; an empty file is no model anyway.
        if file.metadata().is_ok_and(|about| about.len() == 0) {
            return Ok(Self { bytes: Bytes::Unpacked(Vec::new(), 0), path: Some(path.into()) });
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
        Ok(Self { bytes: Bytes::Mapped(map), path: Some(path.into()) })
    }

    /// The model, its every byte checked.
    pub(super) fn open(&self) -> Result<Flast<'_>, Problem> {
        Flast::of_file(self.bytes()).map_err(|error| {
            Problem::usage(
                format!("the model {} cannot be used: {error}", self.name()),
                "train it again with `flakeproof train flast`, or name another with `--model`",
            )
        })
    }

    /// The bytes, on a boundary that arrays in them can be used from.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => &map[..],
            Bytes::Unpacked(words, length) => &bytemuck::cast_slice(words)[..*length],
        }
    }

    /// What to call it.
    pub(super) fn name(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "built-in".to_owned(),
        }
    }

    /// Whether it is the one inside the program, which knows nothing of this project.
    pub(super) fn is_shipped(&self) -> bool {
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
    let mut bytes = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(packed)
        .map_err(|error| broken(&error))?
        .read_to_end(&mut bytes)
        .map_err(|error| broken(&error))?;
    let mut words = vec![0u64; bytes.len().div_ceil(size_of::<u64>())];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    Ok(Bytes::Unpacked(words, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_inside_the_program_is_whole() {
        let nowhere = Path::new("/nonexistent");
        let source = ModelSource::choose(None, nowhere).expect("it is inside");
        let model = source.open().expect("it is whole");
        assert!(model.about.flaky > 2000, "{} flaky tests", model.about.flaky);
        assert!(model.about.thresholds.balanced.is_some());
    }
}
