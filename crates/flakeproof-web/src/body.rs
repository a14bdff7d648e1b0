//! What an answer carries: bytes that are packed and named once, however often they are asked for.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Below this, packing saves no packet.
const WORTH_PACKING: usize = 1400;

/// The bytes of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    /// What they are.
    pub(crate) kind: BodyKind,
    /// The bytes themselves.
    pub(crate) plain: Bytes,
    /// The same bytes as gzip, where that is smaller.
    pub(crate) packed: Option<Bytes>,
    /// Their name: equal bytes have equal names.
    pub(crate) tag: String,
}

/// What bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// A page with its own script and style in it.
    Page,
    /// JSON.
    Json,
    /// Trouble, as RFC 9457 has it.
    Problem,
}

impl BodyKind {
    /// The media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::Problem => "application/problem+json",
        }
    }

    /// What a browser may do with it. Pages bring their script and style along and load nothing.
    pub(crate) fn policy(self) -> String {
        let policy = match self {
            Self::Page => flakeproof_report::CONTENT_SECURITY_POLICY,
            Self::Json | Self::Problem => "default-src 'none'",
        };
        // A page cannot say this about itself.
        format!("{policy}; frame-ancestors 'none'")
    }
}

impl Body {
    /// The body that these bytes are.
    pub(crate) fn new(kind: BodyKind, bytes: Vec<u8>) -> Self {
        let tag = blake3::hash(&bytes).to_hex()[..32].to_owned();
        let packed = packed(&bytes).map(Bytes::from);
        Self { kind, plain: Bytes::from(bytes), packed, tag }
    }
}

fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < WORTH_PACKING {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A `Vec` takes all that is written to it.
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().filter(|packed| packed.len() < bytes.len())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn long_text_is_packed_and_comes_back_as_it_was() {
        let text = b"flaky ".repeat(1000);
        let body = Body::new(BodyKind::Json, text.clone());
        let packed = body.packed.unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert!(packed.len() < text.len() && unpacked == text);
    }

    #[test]
    fn short_text_is_not_packed() {
        assert_eq!(Body::new(BodyKind::Json, b"{}".to_vec()).packed, None);
    }
}
