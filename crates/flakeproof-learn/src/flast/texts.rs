//! Many short texts in two flat arrays.

use std::borrow::Cow;

/// Texts one after another; text `i` lies between `ends[i - 1]` and `ends[i]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts<'a> {
    bytes: Cow<'a, [u8]>,
    ends: Cow<'a, [u32]>,
}

impl<'a> Texts<'a> {
    /// Texts that lie in a file, or what is wrong with them.
    pub(crate) fn of_arrays(bytes: &'a [u8], ends: &'a [u32]) -> Result<Self, String> {
        if !ends.is_sorted() || ends.last().map_or(0, |end| *end as usize) != bytes.len() {
            return Err("texts do not end where they should".to_owned());
        }
        let texts = Self { bytes: bytes.into(), ends: ends.into() };
        let whole = (0..texts.len()).all(|at| std::str::from_utf8(texts.get_bytes(at)).is_ok());
        if whole { Ok(texts) } else { Err("a text is not UTF-8".to_owned()) }
    }

    /// Append a text. Texts of more than four gigabytes in all are cut off.
    pub(crate) fn push(&mut self, text: &str) {
        self.bytes.to_mut().extend_from_slice(text.as_bytes());
        let end = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.ends.to_mut().push(end);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text with this number.
    pub(crate) fn get(&self, at: usize) -> &str {
        std::str::from_utf8(self.get_bytes(at)).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The two arrays.
    pub(crate) fn arrays(&self) -> (&[u8], &[u32]) {
        (&self.bytes, &self.ends)
    }

    /// The bytes of the text with this number.
    pub(crate) fn get_bytes(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }
}
