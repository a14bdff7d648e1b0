//! Tests that fail together, in one sentence.

use flakeproof_core::Cluster;

use super::findings::{counted, excerpt};

/// How often the tests of a cluster fail together, how much oftener than chance would make them, and what
/// they have in common.
#[must_use]
pub fn cluster(cluster: &Cluster) -> String {
    let tests = counted(cluster.tests.len(), "test");
    let any = counted(cluster.any as usize, "run");
    let times = match cluster.times_chance() {
        times if times < 9.5 => format!("{times:.1}"),
        times if times < 999.5 => format!("{times:.0}"),
        _ => "more than 1000".to_owned(),
    };
    let mut sentence = format!(
        "{tests} fail together in {} of the {any} in which any does, and two of them share a failure \
         {times} times as often as by chance: probably one cause",
        cluster.together
    );
    let shared = shared(cluster);
    if !shared.is_empty() {
        sentence.push_str(&format!("; {}", shared.join(", ")));
    }
    sentence
}

/// What the tests have in common, each in a few words.
pub(crate) fn shared(cluster: &Cluster) -> Vec<String> {
    let shared = &cluster.shared;
    let owners = shared.owners.join(" and ");
    let mut words: Vec<String> = Vec::new();
    words.extend(shared.place.as_ref().map(|place| format!("all in {place}")));
    words.extend((!owners.is_empty()).then(|| format!("owned by {owners}")));
    words.extend(shared.job.as_ref().map(|job| format!("only in the job {}", excerpt(job))));
    words.extend(shared.failure.as_ref().map(|it| format!("each with \"{}\"", excerpt(it))));
    words
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Shared;

    use super::*;

    #[test]
    fn a_cluster_is_one_sentence_with_what_chance_would_do() {
        let mut known = Cluster {
            tests: vec!["a".into(), "b".into(), "c".into()],
            together: 14,
            any: 16,
            coincidences: 30,
            expected: 1.4,
            ..Cluster::default()
        };
        assert_eq!(
            cluster(&known),
            "3 tests fail together in 14 of the 16 runs in which any does, and two of them share a \
             failure 21 times as often as by chance: probably one cause"
        );
        known.shared = Shared {
            owners: vec!["@data".into(), "@ops".into()],
            place: Some("tests/db/".into()),
            failure: Some("db refused".into()),
            job: Some("nightly".into()),
        };
        known.expected = 4.0;
        let ending = "7.5 times as often as by chance: probably one cause; all in tests/db/, owned by @data and @ops, \
                      only in the job nightly, each with \"db refused\"";
        assert!(cluster(&known).ends_with(ending), "{}", cluster(&known));
    }
}
