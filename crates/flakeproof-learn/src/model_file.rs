//! One file for a trained model: named arrays, a header about them, and a digest over everything.
//!
//! The layout is safetensors, so the arrays can be used where they lie (memory-mapped) and read
//! from Python. The header is one JSON text; its digest is taken over the whole file with the
//! digest's own 64 characters replaced by zeros, so that no byte can change unnoticed.

use std::collections::HashMap;

use bytemuck::Pod;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the layout. A file of another version is refused.
pub const VERSION: u32 = 1;

const HEADER: &str = "flakeproof";
const DIGEST_LENGTH: usize = 64;

/// What every model file says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// What kind of model it is, such as `flast`.
    pub kind: String,
    /// The version of the layout.
    pub version: u32,
    /// The digest of the file, 64 hexadecimal characters.
    pub digest: String,
    /// What only this kind of model knows.
    pub model: Value,
}

/// Why a file cannot be used as a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelFileError {
    /// It is not such a file, or its beginning is damaged.
    #[error("it is no model file, or its beginning is damaged ({0})")]
    NotAModel(String),
    /// It ends too early.
    #[error("it is cut off: {found} bytes are there, its header promises more")]
    CutOff {
        /// How many bytes there are.
        found: usize,
    },
    /// It was written by another version of the program.
    #[error("its layout has version {found}, and this program reads version {VERSION}")]
    OtherVersion {
        /// The version it has.
        found: u32,
    },
    /// It holds another kind of model.
    #[error("it holds a model of kind `{found}`, not `{wanted}`")]
    OtherKind {
        /// The kind it holds.
        found: String,
        /// The kind that was asked for.
        wanted: String,
    },
    /// A byte changed after it was written.
    #[error("it is damaged: its content does not match its digest")]
    Damaged,
    /// It is whole, but its content makes no sense.
    #[error("its content is inconsistent ({0})")]
    Inconsistent(String),
}

/// The arrays of a model on their way into a file.
#[derive(Debug, Default)]
pub struct Arrays {
    named: Vec<(&'static str, Dtype, usize, Vec<u8>)>,
}

impl Arrays {
    /// Add an array of bytes.
    pub fn bytes(&mut self, name: &'static str, values: &[u8]) {
        self.add(name, Dtype::U8, values);
    }

    /// Add an array of 32-bit numbers.
    pub fn numbers(&mut self, name: &'static str, values: &[u32]) {
        self.add(name, Dtype::U32, values);
    }

    /// Add an array of 64-bit real numbers.
    pub fn reals(&mut self, name: &'static str, values: &[f64]) {
        self.add(name, Dtype::F64, values);
    }

    fn add<T: Pod>(&mut self, name: &'static str, kind: Dtype, values: &[T]) {
        self.named.push((name, kind, values.len(), bytemuck::cast_slice(values).to_vec()));
    }

    /// The bytes of a file with these arrays and this header.
    ///
    /// # Errors
    /// When two arrays have the same name.
    pub fn into_file(self, kind: &str, model: Value) -> Result<Vec<u8>, ModelFileError> {
        let inconsistent = |error: String| ModelFileError::Inconsistent(error);
        let blank = "0".repeat(DIGEST_LENGTH);
        let header = Header { kind: kind.to_owned(), version: VERSION, digest: blank, model };
        let header = serde_json::to_string(&header).map_err(|e| inconsistent(e.to_string()))?;
        let views: Vec<(&str, TensorView<'_>)> = self
            .named
            .iter()
            .map(|(name, kind, length, bytes)| {
                TensorView::new(*kind, vec![*length], bytes).map(|view| (*name, view))
            })
            .collect::<Result<_, _>>()
            .map_err(|error| inconsistent(error.to_string()))?;
        let about = HashMap::from([(HEADER.to_owned(), header)]);
        let mut file = safetensors::serialize(views, Some(about))
            .map_err(|error| inconsistent(error.to_string()))?;
        let digest = blake3::hash(&file).to_hex();
        let place = digest_place(&file, &"0".repeat(DIGEST_LENGTH))
            .ok_or_else(|| inconsistent("the header has no digest".to_owned()))?;
        file[place..place + DIGEST_LENGTH].copy_from_slice(digest.as_bytes());
        Ok(file)
    }
}

/// What kind of model a file says it holds; nothing else of it is checked.
///
/// # Errors
/// When it is no model file.
pub fn kind_of(bytes: &[u8]) -> Result<String, ModelFileError> {
    Ok(read_header(bytes)?.kind)
}

/// A model file whose every byte was checked.
#[derive(Debug)]
pub struct ModelFile<'a> {
    /// What it says about itself.
    pub header: Header,
    arrays: SafeTensors<'a>,
}

impl<'a> ModelFile<'a> {
    /// Check the bytes of a file and give access to its arrays, where they lie.
    ///
    /// # Errors
    /// When the file is not a whole, unchanged model of this kind and version.
    pub fn open(bytes: &'a [u8], kind: &str) -> Result<Self, ModelFileError> {
        let header = read_header(bytes)?;
        if header.version != VERSION {
            return Err(ModelFileError::OtherVersion { found: header.version });
        }
        if header.kind != kind {
            let wanted = kind.to_owned();
            return Err(ModelFileError::OtherKind { found: header.kind, wanted });
        }
        let place = digest_place(bytes, &header.digest).ok_or(ModelFileError::Damaged)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes[..place]);
        hasher.update(&[b'0'; DIGEST_LENGTH]);
        hasher.update(&bytes[place + DIGEST_LENGTH..]);
        if hasher.finalize().to_hex().as_str() != header.digest {
            return Err(ModelFileError::Damaged);
        }
        let arrays = SafeTensors::deserialize(bytes).map_err(|_| ModelFileError::Damaged)?;
        Ok(Self { header, arrays })
    }

    /// The array of bytes with this name.
    ///
    /// # Errors
    /// When there is no such array.
    pub fn bytes(&self, name: &str) -> Result<&'a [u8], ModelFileError> {
        self.array(name, Dtype::U8)
    }

    /// The array of 32-bit numbers with this name.
    ///
    /// # Errors
    /// When there is no such array, or it does not lie on a boundary of 32 bits.
    pub fn numbers(&self, name: &str) -> Result<&'a [u32], ModelFileError> {
        bytemuck::try_cast_slice(self.array(name, Dtype::U32)?)
            .map_err(|error| ModelFileError::Inconsistent(format!("`{name}`: {error}")))
    }

    /// The array of 64-bit real numbers with this name.
    ///
    /// # Errors
    /// When there is no such array, or it does not lie on a boundary of 64 bits.
    pub fn reals(&self, name: &str) -> Result<&'a [f64], ModelFileError> {
        bytemuck::try_cast_slice(self.array(name, Dtype::F64)?)
            .map_err(|error| ModelFileError::Inconsistent(format!("`{name}`: {error}")))
    }

    fn array(&self, name: &str, kind: Dtype) -> Result<&'a [u8], ModelFileError> {
        let view = self
            .arrays
            .tensor(name)
            .map_err(|_| ModelFileError::Inconsistent(format!("there is no `{name}`")))?;
        if view.dtype() != kind {
            return Err(ModelFileError::Inconsistent(format!("`{name}` has another type")));
        }
        Ok(view.data())
    }
}

fn read_header(bytes: &[u8]) -> Result<Header, ModelFileError> {
    let (_, about) = SafeTensors::read_metadata(bytes).map_err(|error| {
        use safetensors::SafeTensorError as Why;
        match error {
            Why::MetadataIncompleteBuffer | Why::HeaderTooSmall | Why::InvalidHeaderLength => {
                ModelFileError::CutOff { found: bytes.len() }
            }
            other => ModelFileError::NotAModel(other.to_string()),
        }
    })?;
    let text = about
        .metadata()
        .as_ref()
        .and_then(|all| all.get(HEADER))
        .ok_or_else(|| ModelFileError::NotAModel("no flakeproof header".to_owned()))?;
    serde_json::from_str(text).map_err(|error| ModelFileError::NotAModel(error.to_string()))
}

/// Where the digest stands in the header at the beginning of the file.
fn digest_place(bytes: &[u8], digest: &str) -> Option<usize> {
    if digest.len() != DIGEST_LENGTH {
        return None;
    }
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let header = bytes.get(8..8 + usize::try_from(length).ok()?)?;
    // The first one: only the kind and the version stand before it.
    header.windows(DIGEST_LENGTH).position(|window| window == digest.as_bytes()).map(|at| 8 + at)
}

/// A copy of the bytes of a file inside a file, on a boundary that its arrays can be used from.
pub(crate) struct Aligned {
    words: Vec<u64>,
    length: usize,
}

impl Aligned {
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        let mut words = vec![0u64; bytes.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self { words, length: bytes.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn file() -> Vec<u8> {
        let mut arrays = Arrays::default();
        arrays.bytes("labels", &[0, 1, 1, 0, 1]);
        arrays.numbers("columns", &[3, 5, 1_000_000]);
        arrays.into_file("flast", json!({"neighbours": 7})).expect("two arrays with two names")
    }

    /// Arrays are used where they lie, so tests need the alignment a mapped file has.
    fn aligned(bytes: &[u8]) -> Vec<u64> {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        words
    }

    fn open(bytes: &[u8], kind: &str) -> Result<(Header, Vec<u32>, Vec<u8>), ModelFileError> {
        let words = aligned(bytes);
        let file = ModelFile::open(&bytemuck::cast_slice(&words)[..bytes.len()], kind)?;
        let numbers = file.numbers("columns")?.to_vec();
        Ok((file.header.clone(), numbers, file.bytes("labels")?.to_vec()))
    }

    #[test]
    fn what_was_written_is_read() {
        let (header, numbers, labels) = open(&file(), "flast").expect("a whole file");
        assert_eq!(header.model, json!({"neighbours": 7}));
        assert_eq!(numbers, [3, 5, 1_000_000]);
        assert_eq!(labels, [0, 1, 1, 0, 1]);
    }

    #[test]
    fn the_same_model_has_the_same_bytes() {
        assert_eq!(file(), file());
    }

    #[test]
    fn another_kind_and_another_version_are_named() {
        let other = open(&file(), "forest").expect_err("it is no forest");
        assert_eq!(other.to_string(), "it holds a model of kind `flast`, not `forest`");
        let text = String::from_utf8_lossy(&file()).replace("version\\\":1", "version\\\":9");
        let newer = open(text.as_bytes(), "flast");
        assert_eq!(newer.expect_err("it is newer"), ModelFileError::OtherVersion { found: 9 });
    }

    #[test]
    fn a_file_that_ends_anywhere_is_refused() {
        let whole = file();
        for end in 0..whole.len() {
            assert!(open(&whole[..end], "flast").is_err(), "cut at {end}");
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_noticed(at in 0usize..4096, flip in 1u8..=255) {
            let mut bytes = file();
            let at = at % bytes.len();
            bytes[at] ^= flip;
            prop_assert!(open(&bytes, "flast").is_err());
        }

        #[test]
        fn any_bytes_are_refused_without_a_panic(bytes: Vec<u8>) {
            prop_assert!(open(&bytes, "flast").is_err());
        }
    }
}
