//! What mends a flaky test, as one JSON document.
//!
//! Its schema is published as `docs/reference/fix-report.schema.json`.

use flakeproof_core::{
    Applied, FlakyKind, PatchFindings, PatchProof, ProvenPatch, TestId, TriedPatch,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, Json, NoticeReport, RunFactsReport, ToolReport, to_the_millionth};
use crate::{Error, Renderer};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer<PatchFindings> for Json {
    fn render(&self, findings: &PatchFindings) -> Result<Vec<u8>, Error> {
        document::bytes(&PatchReport::new(findings))
    }
}

/// The JSON schema of what [`Json`] makes of patches, indented, with a newline at its end.
#[must_use]
pub fn fix_schema() -> String {
    document::schema_of::<PatchReport<'_>>()
}

/// What mends a flaky test.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof fix report")]
struct PatchReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What was run, when and how.
    run: RunFactsReport<'a>,
    /// The test, by its id.
    test: &'a TestId,
    /// How it is flaky; `null` if no hunt said so.
    kind: Option<FlakyKind>,
    /// Patches that are proven, the best first.
    patches: Vec<ProvenPatchReport<'a>>,
    /// What was tried besides, and why it is not offered.
    tried: &'a [TriedPatch],
    /// What helps where no patch can be proven.
    advice: &'a [String],
    /// What was done with the first patch.
    applied: &'a Applied,
    /// What the reader should know.
    notices: Vec<NoticeReport<'a>>,
    /// The number the process ends with.
    exit_code: u8,
}

/// A patch that is proven.
#[derive(Serialize, JsonSchema)]
struct ProvenPatchReport<'a> {
    /// The first file it changes, relative to the project's root.
    file: &'a str,
    /// All files it changes.
    files: &'a [String],
    /// It as a unified diff.
    diff: &'a str,
    /// What it does and why, in one sentence.
    idea: &'a str,
    /// What it may hide; `null` if nothing.
    hides: Option<&'a str>,
    /// Always true: nothing else is offered.
    proven: bool,
    /// What proves it.
    proof: PatchProof,
}

impl<'a> PatchReport<'a> {
    fn new(findings: &'a PatchFindings) -> Self {
        Self {
            schema: SCHEMA,
            tool: ToolReport::new(&findings.run.version),
            run: RunFactsReport::new(&findings.run),
            test: &findings.test,
            kind: findings.kind,
            patches: findings.patches.iter().map(ProvenPatchReport::new).collect(),
            tried: &findings.tried,
            advice: &findings.advice,
            applied: &findings.applied,
            notices: findings.notices.iter().map(NoticeReport::new).collect(),
            exit_code: findings.exit.number(),
        }
    }
}

impl<'a> ProvenPatchReport<'a> {
    fn new(patch: &'a ProvenPatch) -> Self {
        let not_excluded = to_the_millionth(patch.proof.not_excluded);
        Self {
            file: patch.files.first().map(String::as_str).unwrap_or_default(),
            files: &patch.files,
            diff: &patch.diff,
            idea: &patch.idea,
            hides: patch.hides.as_deref(),
            proven: true,
            proof: PatchProof { not_excluded, ..patch.proof.clone() },
        }
    }
}
