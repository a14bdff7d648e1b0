//! Which format a report has.

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// JUnit XML in any dialect, and the results of Visual Studio (TRX).
    Junit,
    /// The Test Anything Protocol, versions 12 to 14.
    Tap,
    /// The Common Test Report Format.
    Ctrf,
    /// The events of `go test -json`.
    GoJson,
    /// The JSON of jest and of vitest.
    JestJson,
    /// The JSON of RSpec.
    RspecJson,
}

impl Format {
    /// The format of what begins like this. Whatever is neither XML nor JSON may be TAP.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Self {
        let beginning = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning);
        let beginning = beginning.trim_ascii_start();
        match beginning.first() {
            Some(b'<') => Self::Junit,
            Some(b'{') => {
                let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let has = |key: &[u8]| line.windows(key.len()).any(|window| window == key);
                // The other kinds of JSON are told apart by their keys as they are read.
                if has(b"\"Action\":") { Self::GoJson } else { Self::Ctrf }
            }
            _ => Self::Tap,
        }
    }
}
