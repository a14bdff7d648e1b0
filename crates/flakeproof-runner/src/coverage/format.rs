//! Which format a coverage report has.

/// The format of a coverage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageFormat {
    /// `lcov.info`, as lcov, istanbul, c8 and llvm-cov write it.
    Lcov,
    /// Cobertura XML.
    Cobertura,
    /// JaCoCo XML.
    Jacoco,
    /// A profile of `go test -coverprofile`.
    Go,
}
