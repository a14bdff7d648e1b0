//! What `list` shows, in the terminal and to coding agents: what hunts, runs and experiments have shown
//! about the tests that need work, who owns them, and which of them fail together.

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::{
    Cause, Cluster, History, HistoryError, KnownFlaky, PastFailure, Renames, Scores, Signature,
    Standing, TestId, Traits,
};
use flakeproof_report::words;

use super::ownership::{Owned, Ownership};
use super::renames;
use crate::cli::Naming;

/// What is known about the tests that need work.
#[derive(Debug, Default)]
pub(crate) struct ListedHistory {
    pub(crate) hunted: Vec<KnownFlaky>,
    pub(crate) scores: Scores,
    pub(crate) causes: Vec<Cause>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) owned: BTreeMap<TestId, Owned>,
    pub(crate) renames: Renames,
}

impl ListedHistory {
    /// Read it from a history, for a project in this folder.
    pub(crate) fn read(
        history: &dyn History,
        folder: &Path,
        naming: Naming,
    ) -> Result<Self, HistoryError> {
        let hunted = history.known_flaky()?;
        let causes: Vec<Cause> = history.causes()?.into_iter().filter_map(|it| it.found).collect();
        let known = hunted.iter().map(|it| &it.test.id).chain(causes.iter().map(|it| &it.test));
        let timeline = history.brief_timeline(&known.cloned().collect::<Vec<_>>())?;
        let renames = renames::find(&timeline, folder, naming);
        let timeline = renames.in_timeline(timeline);
        let hunted = renames.in_known(hunted);
        let scores = Scores::new(&timeline, &hunted);
        let mut clusters = Cluster::all(&timeline, &scores);
        let owned = owned(folder, &hunted, &scores, &causes, &clusters);
        if !clusters.is_empty() {
            let tests = clusters.iter().flat_map(|cluster| &cluster.tests);
            let known = |test: &TestId| [&[test.clone()][..], renames.formerly(test)].concat();
            let failures = history.past_failures(Some(&tests.flat_map(known).collect()))?;
            let failures = renames.in_lists(failures);
            find_shared(&mut clusters, &owned, &failures);
        }
        Ok(Self { hunted, scores, causes, clusters, owned, renames })
    }

    /// What else is to be said about a test: what it was called before, who owns it, what fails with it.
    pub(crate) fn besides(&self, test: &TestId) -> Vec<String> {
        let formerly =
            self.renames.formerly(test).iter().map(|former| format!("formerly {former}"));
        let owners = self.owners(test).join(" ");
        let owned = (!owners.is_empty()).then(|| format!("owned by {owners}"));
        let cluster = self.clusters.iter().find(|cluster| cluster.tests.contains(test));
        formerly.chain(owned).chain(cluster.map(words::cluster)).collect()
    }

    /// Who owns a test.
    pub(crate) fn owners(&self, test: &TestId) -> &[String] {
        self.owned.get(test).map_or(&[], |owned| &owned.owners)
    }
}

/// Where the tests that need work are written, and who owns that.
fn owned(
    folder: &Path,
    hunted: &[KnownFlaky],
    scores: &Scores,
    causes: &[Cause],
    clusters: &[Cluster],
) -> BTreeMap<TestId, Owned> {
    let files: BTreeMap<&TestId, &str> = hunted
        .iter()
        .filter_map(|it| Some((&it.test.id, it.test.location.as_ref()?.file.as_str())))
        .collect();
    let listed = scores.tests.iter().filter(|score| score.standing != Standing::Steady);
    let tests = listed.map(|score| &score.test).chain(causes.iter().map(|cause| &cause.test));
    let tests = tests.chain(clusters.iter().flat_map(|cluster| &cluster.tests));
    let known = |test: &TestId| files.get(test).map(|file| (*file).to_owned());
    Ownership::read(folder).of(tests.map(|test| (test, known(test))))
}

/// Find out what tests that fail together have in common.
pub(crate) fn find_shared(
    clusters: &mut [Cluster],
    owned: &BTreeMap<TestId, Owned>,
    failures: &BTreeMap<TestId, Vec<PastFailure>>,
) {
    for cluster in clusters {
        cluster.find_shared(|test| traits_of(test, owned.get(test), failures.get(test)));
    }
}

/// What one test has that others may have, too. Where nobody kept in which way it failed, the message
/// stands for it.
fn traits_of(test: &TestId, owned: Option<&Owned>, failures: Option<&Vec<PastFailure>>) -> Traits {
    let failure = |it: &PastFailure| {
        let place = format!(" @ {test}");
        let kept = it.signature.as_ref().map(Signature::as_str);
        let signature = kept
            .map_or(it.message.as_str(), |kept| kept.strip_suffix(place.as_str()).unwrap_or(kept));
        (signature.to_owned(), it.message.lines().next().unwrap_or_default().to_owned())
    };
    let owned = owned.cloned().unwrap_or_default();
    let failures = failures.into_iter().flatten().filter(|it| !it.message.trim().is_empty());
    Traits { owners: owned.owners, file: owned.file, failures: failures.map(failure).collect() }
}
