//! Tests that fail together, in one sentence.

use flakeproof_core::Cluster;

use super::findings::{counted, excerpt};

/// How often the tests of a cluster fail together, how often chance alone would make them, and what
/// they have in common.
#[must_use]
pub fn cluster(cluster: &Cluster) -> String {
    let tests = counted(cluster.tests.len(), "test");
    let any = counted(cluster.any as usize, "run");
    let expected = match cluster.expected {
        expected if expected < 0.01 => "less than 0.01".to_owned(),
        expected if expected < 10.0 => format!("{expected:.2}"),
        expected => format!("{expected:.0}"),
    };
    let mut sentence = format!(
        "{tests} fail together in {} of the {any} in which any does, where chance alone makes \
         {expected}: probably one cause",
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
            expected: 0.314,
            ..Cluster::default()
        };
        assert_eq!(
            cluster(&known),
            "3 tests fail together in 14 of the 16 runs in which any does, where chance alone makes \
             0.31: probably one cause"
        );
        known.shared = Shared {
            owners: vec!["@data".into(), "@ops".into()],
            place: Some("tests/db/".into()),
            failure: Some("db refused".into()),
            job: Some("nightly".into()),
        };
        known.expected = 0.0001;
        let ending = "less than 0.01: probably one cause; all in tests/db/, owned by @data and @ops, \
                      only in the job nightly, each with \"db refused\"";
        assert!(cluster(&known).ends_with(ending), "{}", cluster(&known));
    }
}
