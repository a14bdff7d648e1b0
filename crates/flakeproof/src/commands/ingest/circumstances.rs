//! What is known of the run that wrote the reports: typed, from the CI system, or from git.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flakeproof_core::{Origin, RunRecord, Seed, Surroundings, TreeState};
use flakeproof_runner::ci::CiFacts;
use flakeproof_runner::git::Repository;
use jiff::Timestamp;

use super::report_files::{self, Report};
use crate::cli::IngestArguments;
use crate::problem::Problem;

/// What is known of the run.
#[derive(Debug, Default)]
pub(super) struct Circumstances {
    ci: CiFacts,
    revision: Option<String>,
    branch: Option<String>,
    job: Option<String>,
    /// Whether the revision is known to be what ran, and not only what lies here now.
    is_certain: bool,
    started: Option<Timestamp>,
}

impl Circumstances {
    /// What was typed wins over what the CI system says, and that over git.
    pub(super) fn gather(
        typed: &IngestArguments,
        variables: &BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let ci = CiFacts::of(variables).unwrap_or_default();
        let named = typed.revision.clone().or_else(|| ci.revision.clone());
        let branch = typed.branch.clone().or_else(|| ci.branch.clone());
        let here = match (&named, &branch) {
            (Some(_), Some(_)) => TreeState::default(),
            _ => Repository::containing(folder).map(|it| it.tree_state()).unwrap_or_default(),
        };
        // A CI system that is not known checks out what it runs; elsewhere the reports may be of
        // any revision.
        let is_ci = variables.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let is_certain = named.is_some() || (is_ci && here.revision.is_some());
        // The branch of this folder is that of the revision only if both are from here.
        let own_branch = here.branch.filter(|_| named.is_none() || named == here.revision);
        Ok(Self {
            revision: named.or(here.revision),
            branch: branch.or(own_branch),
            job: typed.job.clone().or_else(|| ci.job.clone()),
            is_certain,
            started: started(typed)?,
            ci,
        })
    }

    /// The folders in which the tests may have run, that of the project first.
    pub(super) fn folders(&self, project: &Path) -> Vec<PathBuf> {
        let real = project.canonicalize().ok();
        let workspace = self.ci.workspace.as_ref().map(PathBuf::from);
        [Some(project.to_path_buf()), real, workspace].into_iter().flatten().collect()
    }

    /// Whether failures and passes of these reports say anything about the code.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// The run that these reports are of.
    pub(super) fn run(&self, reports: &[&Report]) -> RunRecord {
        let ran = reports.iter().filter_map(|report| report.ran).min();
        let of_ci = self.ci.started.as_deref().and_then(report_files::parse_time);
        let written = reports.iter().map(|report| report.written).min();
        let started = self.started.or(ran).or(of_ci).or(written).unwrap_or(Timestamp::UNIX_EPOCH);
        RunRecord {
            id: self.id(reports),
            started: report_files::written_time(started),
            command: Vec::new(),
            folder: String::new(),
            seed: Seed(0),
            tree: TreeState {
                revision: self.revision.clone(),
                branch: self.branch.clone(),
                edited: BTreeMap::new(),
                is_complete: self.is_certain,
            },
            surroundings: Surroundings { runtime: self.runtime(), ..Surroundings::default() },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: Origin::Reports { job: self.job.clone() },
        }
    }

    /// A test that fails on one system and passes on another is not flaky: what surrounds the code
    /// differs from job to job and from machine to machine.
    fn runtime(&self) -> Vec<String> {
        let job = self.job.iter().map(|job| format!("job {job}"));
        job.chain(self.ci.machine.iter().cloned()).collect()
    }

    /// The same reports of the same attempt have the same id, in whatever order they are named.
    fn id(&self, reports: &[&Report]) -> String {
        let mut digests: Vec<&[u8; 32]> = reports.iter().map(|it| it.digest.as_bytes()).collect();
        digests.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for digest in digests {
            hasher.update(digest);
        }
        for part in [&self.revision, &self.job, &self.ci.build, &self.ci.attempt] {
            hasher.update(part.as_deref().unwrap_or_default().as_bytes()).update(b"\0");
        }
        format!("reports-{}", &hasher.finalize().to_hex()[..16])
    }
}

fn started(typed: &IngestArguments) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = &typed.started else { return Ok(None) };
    match report_files::parse_time(text) {
        Some(time) => Ok(Some(time)),
        None => Err(Problem::usage(
            format!("`{text}` after `--started` is no time"),
            "write it as `2026-11-15T10:15:00Z`, or as seconds since 1970",
        )),
    }
}
